"""Progress as a log shows it: lines at their time, honest units, and the time left."""

import pytest

from triplebeam.serve.cli.output import progress_lines, shown_progress
from triplebeam.system.work import Progress


class Log:
    """The lines of a log, and a clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.lines: list[str] = []
        self.progress: Progress = progress_lines(self.lines.append, lambda: self.now)

    def at(self, seconds: float, stage: str, done: int, total: int) -> list[str]:
        """What is written at a report."""
        self.now = seconds
        before = len(self.lines)
        self.progress(stage, done, total)
        return self.lines[before:]


def test_short_work_is_not_worth_a_line() -> None:
    log = Log()
    for second, done in ((0.0, 0), (0.5, 5), (1.9, 10)):
        assert log.at(second, "extract", done, 10) == []


def test_a_line_after_two_seconds_then_every_ten_and_at_the_end() -> None:
    log = Log()
    written = {second: log.at(second, "extract", second, 40) for second in range(41)}
    assert {second: lines for second, lines in written.items() if lines} == {
        2: ["extracting triples: 2/40 passages, 5%"],
        12: ["extracting triples: 12/40 passages, 30%, 0:28 left"],
        22: ["extracting triples: 22/40 passages, 55%, 0:18 left"],
        32: ["extracting triples: 32/40 passages, 80%, 0:08 left"],
        40: ["extracting triples: 40 passages in 0:40"],
    }
    assert log.at(41, "extract", 40, 40) == [], "the end is told once"


def test_the_time_left_is_estimated_from_the_stage_itself() -> None:
    log = Log()
    log.at(0, "extract", 0, 10)
    log.at(600, "extract", 10, 10)
    log.at(600, "embed", 0, 1000)
    log.at(1200, "embed", 250, 1000)
    assert log.at(4800, "embed", 500, 1000) == ["encoding texts: 500/1,000 texts, 50%, 2:00:00 left"]


def test_what_comes_before_the_first_result_says_nothing_about_the_pace() -> None:
    log = Log()
    log.at(0, "extract", 0, 2000)
    assert log.at(40, "extract", 8, 2000) == ["extracting triples: 8/2,000 passages, 0%"]
    assert log.at(51, "extract", 96, 2000) == ["extracting triples: 96/2,000 passages, 5%, 3:58 left"]


def test_the_pace_is_that_of_the_last_minute() -> None:
    log = Log()
    for second in range(101):
        log.at(second, "extract", second, 1160)
    for second in range(101, 161):
        log.at(second, "extract", 100 + 10 * (second - 100), 1160)
    assert log.at(162, "extract", 720, 1160) == ["extracting triples: 720/1,160 passages, 62%, 0:44 left"]


def test_parts_of_different_kinds_have_no_pace() -> None:
    log = Log()
    for second in (0, 5, 15):
        lines = log.at(second, "publish", second, 100)
    assert lines == ["writing the index: 15/100 parts, 15%"]


def test_work_that_was_there_before_says_nothing_about_the_pace() -> None:
    log = Log()
    log.at(0, "encoding tokens", 900, 1000)
    log.at(30, "encoding tokens", 925, 1000)
    assert log.at(60, "encoding tokens", 950, 1000) == ["encoding tokens: 950/1,000 passages, 95%, 1:00 left"]


def test_reading_has_no_share_before_its_end_is_known() -> None:
    log = Log()
    log.at(0, "read", 1, 0)
    assert log.at(5, "read", 300, 0) == ["reading documents: 300 documents"]
    assert log.at(9, "read", 363, 363) == ["reading documents: 363 documents in 0:09"]


def test_a_second_download_is_a_stage_of_its_own() -> None:
    log = Log()
    log.at(0, "download", 0, 90_000_000)
    assert log.at(3, "download", 90_000_000, 90_000_000) == ["downloading: 90 MB in 0:03"]
    assert log.at(100, "download", 0, 50_000_000) == ["downloading: 0/50 MB, 0%"]
    log.at(105, "download", 12_500_000, 50_000_000)
    assert log.at(110, "download", 25_000_000, 50_000_000) == ["downloading: 25/50 MB, 50%, 0:10 left"]


def test_nothing_to_do_is_not_told() -> None:
    assert Log().at(60, "embed", 0, 0) == []


def test_a_stage_of_another_name_counts_questions() -> None:
    log = Log()
    log.at(0, "gear:bm25", 0, 5)
    log.at(1, "gear:bm25", 1, 5)
    assert log.at(5, "gear:bm25", 3, 5) == ["gear:bm25: 3/5 questions, 60%, 0:04 left"]


@pytest.mark.parametrize("quiet", [False, True])
def test_a_terminal_sees_the_same_figures(
    quiet: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    with shown_progress(quiet) as progress:
        progress("embed", 0, 1000)
        progress("embed", 500, 1000)
    assert ("500/1,000 texts, 50%" in capsys.readouterr().err) is not quiet
