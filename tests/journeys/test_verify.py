"""`triplebeam verify` over an index and answers written by hand."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from small_world import WORLD
from triplebeam.errors import BadInputError
from triplebeam.index.snapshot import Snapshot
from triplebeam.serve.cli.verify import verify

DIRECTED = ["Laughter in Hell", "directed by", "Edward Cahn"]
DIED = ["Edward Cahn", "died on", "25 August 1963"]

Verify = Callable[..., tuple[int, str]]


def span(passage_id: str, start: int = 0, end: int | None = None, text: str | None = None) -> dict[str, object]:
    whole = WORLD[passage_id][1]
    end = len(whole) if end is None else end
    return {"passage_id": passage_id, "start": start, "end": end, "text": whole[start:end] if text is None else text}


HOLDS = [{"triple": DIRECTED, "span": span("film")}, {"triple": DIED, "span": span("director")}]


@pytest.fixture
def run(world: Snapshot, tmp_path: Path) -> Verify:
    app = typer.Typer()
    app.command()(verify)

    def run_it(evidence: object, *options: str, stdin: bool = False, answer: str = "25 August 1963") -> tuple[int, str]:
        content = json.dumps({"question": "When?", "answer": answer, "evidence": evidence})
        (tmp_path / "answer.json").write_text(content, encoding="utf-8")
        place = "-" if stdin else str(tmp_path / "answer.json")
        result = CliRunner().invoke(app, [str(world.folder), place, *options], input=content)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout

    return run_it


def test_an_answer_that_holds(run: Verify) -> None:
    code, said = run(HOLDS)
    assert code == 0
    assert said.count("✔") == 2
    assert "Every hop holds: 2 of 2." in said
    assert run(HOLDS, stdin=True) == (code, said)


def test_facts_that_hold_do_not_carry_another_answer(run: Verify) -> None:
    code, said = run(HOLDS, answer="Paris")
    assert code == 1
    assert "None of these facts contains the answer itself." in said
    assert run(HOLDS, answer="yes")[0] == 0


@pytest.mark.parametrize(
    ("triple", "quoted", "fault"),
    [
        (DIED, None, "quotes nothing"),
        (DIED, {**span("director"), "passage_id": "gone"}, "no passage 'gone'"),
        (DIED, span("director", text="He died on 26 August 1963."), "not what the answer quotes"),
        (DIED, span("director", 0, 11), "do not hold '25 August 1963'"),
        (["Edward Cahn", "born on", "25 August 1963"], span("director"), "do not say 'born on'"),
        (["Edward Cahn", "directed by", "Laughter in Hell"], span("film"), "do not say 'directed by'"),
    ],
)
def test_a_hop_without_support_is_named(run: Verify, triple: list[str], quoted: object, fault: str) -> None:
    code, said = run([HOLDS[0], {"triple": triple, "span": quoted}], answer="yes")
    assert code == 1
    assert (said.count("✔"), said.count("✘")) == (1, 1)
    assert fault in said
    assert "1 of 2 hops without support" in said


def test_an_answer_without_evidence_does_not_hold(run: Verify) -> None:
    code, said = run([])
    assert code == 1
    assert "no evidence" in said


def test_as_json(run: Verify) -> None:
    code, said = run([HOLDS[0], {"triple": DIED, "span": None}], "--json")
    written = json.loads(said)
    assert (code, written["holds"]) == (1, False)
    assert [hop["holds"] for hop in written["hops"]] == [True, False]
    assert written["hops"][0]["passage_id"] == "film"


def test_input_that_cannot_be_used(run: Verify, world: Snapshot, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="list under"):
        run("none")
    (tmp_path / "torn.json").write_text('{"evidence": [', encoding="utf-8")
    with pytest.raises(BadInputError, match=r"torn\.json is not JSON"):
        verify(world.folder, str(tmp_path / "torn.json"))
    (tmp_path / "deep.json").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(BadInputError, match=r"deep\.json is not JSON"):
        verify(world.folder, str(tmp_path / "deep.json"))
    with pytest.raises(BadInputError, match="cannot be read"):
        verify(world.folder, str(tmp_path / "gone.json"))
