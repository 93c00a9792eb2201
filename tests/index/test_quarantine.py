"""What fails is kept with its reason and taken up again; too much of it, or a budget, ends a run with all work kept.

Which triples stay: those that were given or paid for are not replaced by accident.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from small_world import TRIPLES, Fickle, TableExtractor, WordEmbedder, world_documents
from triplebeam.errors import BadInputError, EndpointError, ExtractionError, IndexMissingError
from triplebeam.extract.extractor import Extraction, Extractor, kind_of
from triplebeam.extract.triples_file import TriplesFile
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.build.extraction import (
    Budget,
    OverwritePolicy,
    group_failures,
    is_paid,
    keep_existing,
    split_by_budget,
)
from triplebeam.index.build.intake import BuildReport
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.store.tables import read_extractor
from triplebeam.passage import Document, Passage
from triplebeam.triple import Triple


def documents(count: int) -> list[Document]:
    return [Document(id=f"d{n:03}", text=f"Text number {n}.", is_passage=True) for n in range(count)]


def builder(folder: Path, extractor: Fickle | None, **settings: object) -> IndexBuilder:
    return IndexBuilder(folder=folder, embedder=WordEmbedder(), extractor=extractor, **settings)  # type: ignore[arg-type]


def build(folder: Path, extractor: Fickle, count: int = 40, **settings: object) -> BuildReport:
    return builder(folder, extractor, **settings).build(documents(count))


def ends_with(*endings: str) -> Callable[[str], bool]:
    return lambda id_: id_.endswith(endings)


def test_retry_takes_up_exactly_what_failed(tmp_path: Path) -> None:
    report = build(tmp_path, Fickle(fails=ends_with("7")), max_failures=0.5)
    assert [id_ for id_, _ in report.failures] == ["d007", "d017", "d027", "d037"]
    builder(tmp_path, Fickle()).build([Document(id="new", text="Not extracted before.", is_passage=True)])
    again = Fickle(fails=ends_with("17"))
    report = builder(tmp_path, again).retry_failed()
    assert again.asked == ["d007", "d017", "d027", "d037"]
    assert [id_ for id_, _ in report.failures] == ["d017"]
    assert report.published
    manifest = Snapshot.open(tmp_path).manifest
    assert (manifest.counts["triples"], manifest.counts["passages_failed"]) == (40, 1)
    builder(tmp_path, Fickle()).retry_failed()
    assert not builder(tmp_path, Fickle()).retry_failed().published, "nothing failed, so nothing is done"


def test_retrying_needs_an_index_and_an_extractor(tmp_path: Path) -> None:
    with pytest.raises(IndexMissingError, match="make one with"):
        builder(tmp_path / "nowhere", Fickle()).retry_failed()
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(BadInputError, match="with an extractor"):
        builder(tmp_path, None).retry_failed()


def test_past_the_share_the_run_stops_and_keeps_what_is_done(tmp_path: Path) -> None:
    broken = Fickle(fails=ends_with("3", "8"))
    with pytest.raises(ExtractionError, match=r"6 of 32 passages failed, more than the 5% allowed") as stopped:
        build(tmp_path, broken, 100)
    assert "(6×): no JSON" in str(stopped.value)
    assert "triplebeam doctor" in str(stopped.value)
    assert len(broken.asked) == 32
    repaired = Fickle()
    assert build(tmp_path, repaired, 100).failures == []
    assert len(repaired.asked) == 100 - 32 + 6, "what was done well is not done again"


@pytest.mark.parametrize("count", [1, 3, 19])
def test_nothing_is_published_where_nothing_could_be_extracted(tmp_path: Path, count: int) -> None:
    with pytest.raises(ExtractionError, match=f"extraction of {count} of {count} passages failed") as stopped:
        build(tmp_path, Fickle(fails=lambda id_: True), count)
    assert "--max-failures" in str(stopped.value)
    with pytest.raises(IndexMissingError):
        Snapshot.open(tmp_path)
    report = build(tmp_path, Fickle(fails=lambda id_: True), count, max_failures=1.0)
    assert (len(report.failures), report.published) == (count, True)
    assert not build(tmp_path, Fickle(fails=lambda id_: True), count, max_failures=1.0).published, "nothing changed"


def test_the_share_can_be_set_and_few_passages_are_no_reason_to_stop(tmp_path: Path) -> None:
    assert len(build(tmp_path, Fickle(fails=ends_with("3", "8")), 100, max_failures=0.25).failures) == 20
    with pytest.raises(ExtractionError, match="1 of 32 passages"):
        build(tmp_path / "strict", Fickle(fails=ends_with("25")), 100, max_failures=0.0)
    assert len(build(tmp_path / "few", Fickle(fails=lambda id_: id_ != "d000"), 19).failures) == 18
    report = build(tmp_path / "few", Fickle(fails=lambda id_: True), 20)
    assert (report.published, len(report.failures)) == (True, 19), "it joins an index that has triples"


@pytest.mark.parametrize(("error", "kept"), [(EndpointError("it is gone."), 21), (KeyboardInterrupt(), 20)])
def test_what_came_before_an_error_is_kept(
    tmp_path: Path, error: BaseException, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triplebeam.index.build.extraction.EXTRACTION_WINDOW", 4)

    class Dying(Fickle):
        def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
            for number, extraction in enumerate(super().extract(passages)):
                if number == 21:
                    raise error
                yield extraction

    with pytest.raises(type(error)):
        build(tmp_path, Dying())
    rest = Fickle()
    build(tmp_path, rest)
    assert rest.asked == [f"d{number:03}" for number in range(kept, 40)]


def test_passages_without_triples_are_counted(tmp_path: Path) -> None:
    report = build(tmp_path, Fickle(empty=ends_with("5"), fails=ends_with("7")), max_failures=1.0)
    assert (report.passages_extracted, report.passages_without_triples) == (40, 4)
    assert Snapshot.open(tmp_path).manifest.counts["passages_without_triples"] == 4
    assert build(tmp_path / "plain", Fickle(), 3).passages_without_triples == 0


def test_a_budget_ends_a_run_and_the_next_goes_on(tmp_path: Path) -> None:
    asked: list[str] = []
    for left in (30, 20, 10, 0):
        extractor = Fickle()
        report = build(tmp_path, extractor, budget=Budget(10.0, lambda: extractor.spent))  # noqa: B023
        assert (extractor.spent, report.passages_left) == (10.0, left)
        assert report.published
        assert Snapshot.open(tmp_path).manifest.counts["passages_without_extraction"] == left
        asked += extractor.asked
    assert asked == [f"d{number:03}" for number in range(40)]


def test_what_the_cache_has_costs_nothing(tmp_path: Path) -> None:
    extractor = Fickle(price=lambda id_: 0.0 if id_ < "d020" else 1.0)
    report = build(tmp_path, extractor, budget=Budget(5.0, lambda: extractor.spent))
    assert (extractor.spent, report.passages_extracted) == (5.0, 25)


@given(prices=st.lists(st.floats(0.5, 1.5), max_size=60), limit=st.floats(0.0, 40.0))
def test_a_budget_is_overdrawn_by_a_surprise_alone(prices: list[float], limit: float) -> None:
    bought: list[float] = []
    dearest = 0.0
    budget = Budget(limit, lambda: sum(bought))
    for batch in split_by_budget(prices, budget):
        assert sum(bought) < limit
        assert sum(bought) + len(batch) * dearest <= limit + 1e-9, "it was known to be too much"
        assert len(batch) <= 1 + 2 * len(bought), "little is known, and much is bought"
        bought.extend(batch)
        dearest = max(dearest, sum(batch) / len(batch))
    assert len(bought) == len(prices) or sum(bought) + dearest > limit - 1e-9


def test_reasons_are_grouped_by_their_kind() -> None:
    failures = [
        ("a", "It is too long: 9000 tokens of 8192."),
        ("b", "The reply holds no JSON object; it begins with 'Sure'"),
        ("c", "The reply holds no JSON object; it begins with 'Here'"),
        ("d", "It is too long: 8500 tokens of 8192."),
        ("e", "The reply holds no JSON object"),
    ]
    assert [(group.reason[:8], group.passage_ids) for group in group_failures(failures)] == [
        ("The repl", ("b", "c", "e")),
        ("It is to", ("a", "d")),
    ]


SAME, LOCAL, ALL = OverwritePolicy

OF_A_MODEL = "llm:small-model:1"
WITH_KEYWORDS = "local:4+keywords:small-model:1"


class Named(TableExtractor):
    """Says by its name who it is, and again in each of its triples."""

    def __init__(self, name: str) -> None:
        super().__init__({id_: [Triple(id_, "seen by", name)] for id_ in (*TRIPLES, "new")})
        self.name = name


def extract(
    folder: Path, extractor: Extractor | None, overwrite: OverwritePolicy, documents: Sequence[Document] | None = None
) -> BuildReport:
    builder = IndexBuilder(folder=folder, embedder=WordEmbedder(), extractor=extractor, overwrite=overwrite)
    return builder.build(documents or list(world_documents()))


def extractors(folder: Path) -> dict[str, int]:
    return Snapshot.open(folder).manifest.triples_by_extractor


def write_triples(tmp_path: Path, *passage_ids: str) -> TriplesFile:
    rows = [{"passage_id": id_, "triples": [[id_, "is", "given"]]} for id_ in passage_ids]
    (tmp_path / "given.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return TriplesFile(tmp_path / "given.jsonl")


@pytest.mark.parametrize(
    ("name", "kind", "paid"),
    [
        ("local:4", "local", False),
        (OF_A_MODEL, "llm", True),
        ("llm-two-step:small:1-2", "llm-two-step", True),
        ("given:f.jsonl:abc", "given", False),
        (WITH_KEYWORDS, "local", True),
        ("given:f.jsonl:abc+keywords:small:1", "given", True),
    ],
)
def test_a_name_says_what_an_extractor_is(name: str, kind: str, paid: bool) -> None:
    assert (kind_of(name), is_paid(name)) == (kind, paid)


@pytest.mark.parametrize(
    ("made_by", "now", "replaced_by"),
    [
        # an update, a named extractor, a request to replace everything
        ("local:3", "local:4", {SAME, LOCAL, ALL}),
        ("mine:1", "mine:2", {SAME, LOCAL, ALL}),
        ("local:4", OF_A_MODEL, {LOCAL, ALL}),
        ("local:4", "mine:1", {LOCAL, ALL}),
        ("local:4", WITH_KEYWORDS, {LOCAL, ALL}),
        (OF_A_MODEL, f"{OF_A_MODEL}+keywords:small:1", {LOCAL, ALL}),
        (OF_A_MODEL, "local:4", {ALL}),
        (OF_A_MODEL, "llm:large-model:1", {ALL}),
        (WITH_KEYWORDS, "local:4", {ALL}),
        ("given:f:abc", "local:4", {ALL}),
        ("given:f:abc", OF_A_MODEL, {ALL}),
        ("mine:1", "local:4", {ALL}),
        ("given:f:abc", "given:f:def", {SAME, LOCAL, ALL}),
    ],
)
def test_what_replaces_what(made_by: str, now: str, replaced_by: set[OverwritePolicy]) -> None:
    assert {each for each in OverwritePolicy if not keep_existing(made_by, now, each)} == replaced_by


def test_an_update_keeps_given_triples(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder, local = tmp_path / "my.index", Named("local:4")
    extract(folder, write_triples(tmp_path, "film", "city"), LOCAL)
    report = extract(folder, local, SAME)
    assert sorted(local.asked) == ["actor", "director", "lake", "other"]
    assert (report.passages_kept, extractors(folder)["local:4"]) == (2, 3)
    assert caplog.messages == ["The given triples of 2 passages stay; extracting 4 passages without any with local."]
    assert not extract(folder, local, SAME).published


def test_a_changed_text_loses_its_given_triples_alone(tmp_path: Path) -> None:
    folder, local = tmp_path / "my.index", Named("local:4")
    file = write_triples(tmp_path, *TRIPLES)
    extract(folder, file, LOCAL)
    changed = [replace(each, text="More.") if each.id == "city" else each for each in world_documents()]
    extract(folder, local, SAME, changed)
    assert sorted(local.asked) == ["city", "other"]
    assert extractors(folder) == {file.name: len(TRIPLES) - 1, "local:4": 1}


def test_a_named_extractor_says_what_stays(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    extract(tmp_path, Named(OF_A_MODEL), LOCAL)
    before, local = extractors(tmp_path), Named("local:4")
    assert extract(tmp_path, local, LOCAL).passages_kept == 6
    assert (local.asked, extractors(tmp_path)) == ([], before)
    assert caplog.messages == [
        "The triples of 6 passages (llm: 6) stay, because they were given or paid for: --replace-triples extracts them"
        " again with local."
    ]


def test_what_is_replaced_is_said_first(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Late(Named):
        def extract(self, passages):  # type: ignore[no-untyped-def]
            assert caplog.messages == ["The triples of 6 passages (llm: 6) are replaced: local extracts them again."]
            return super().extract(passages)

    extract(tmp_path, Named(OF_A_MODEL), LOCAL)
    local = Late("local:4")
    extract(tmp_path, local, ALL)
    assert (len(local.asked), set(extractors(tmp_path))) == (6, {"local:4"})


def test_a_newer_version_of_the_rules_is_no_matter_for_words(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    extract(tmp_path, Named("local:3"), LOCAL)
    extract(tmp_path, Named("local:4"), SAME)
    assert (set(extractors(tmp_path)), caplog.messages) == ({"local:4"}, [])


def test_the_last_choice_is_remembered_and_published(tmp_path: Path) -> None:
    folder = tmp_path / "my.index"
    assert read_extractor(folder) is None
    killed = Named(OF_A_MODEL)
    killed.extract = Mock(side_effect=KeyboardInterrupt)  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        extract(tmp_path / "killed", killed, LOCAL)
    assert read_extractor(tmp_path / "killed") == OF_A_MODEL, "also by a build that was killed"
    extract(folder, None, LOCAL)
    assert read_extractor(folder) == "none"
    extract(folder, Named("local:4"), LOCAL)
    for passing in (None, write_triples(tmp_path, "film")):  # neither says who is to extract new passages
        extract(folder, passing, LOCAL)
        assert read_extractor(folder) == "local:4"
    extract(folder, Named(OF_A_MODEL), LOCAL)
    assert Snapshot.open(folder).manifest.extractor == read_extractor(folder) == OF_A_MODEL


def test_languages_that_the_extractor_does_not_read_are_counted_until_another_reads_them(tmp_path: Path) -> None:
    class EnglishOnly(Named):
        def extract(self, passages):  # type: ignore[no-untyped-def]
            for each in passages:
                yield Extraction(passage_id=each.id, unread_language="de" if each.id == "city" else None)

    extract(tmp_path, EnglishOnly("local:4"), LOCAL)
    assert Snapshot.open(tmp_path).manifest.unread_languages == {"de": 1}
    extract(tmp_path, Named(OF_A_MODEL), LOCAL)
    assert Snapshot.open(tmp_path).manifest.unread_languages == {}
