"""An agent's run: steps as they are done, then the answer.

`Answer.verify`: the facts of an answer are checked against an index again.
"""

from collections.abc import Generator

import pytest

from small_world import WORLD
from triplebeam.answer import Agent, Answer, Evidence, Span, Step
from triplebeam.assemble import Context, Index, IndexReader
from triplebeam.embed.embedder import Embedder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.settings import Settings
from triplebeam.triple import Triple


class TwoSteps(Agent):
    """Counts the steps it was made to take."""

    taken = 0

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        for self.taken in (1, 2):
            yield Step(number=self.taken, query=question)
        return Answer(question=question, text="done")


def test_the_answer_takes_the_steps_that_remain() -> None:
    agent = TwoSteps()
    run = agent.run("why?")
    assert agent.taken == 0, "nothing is done before the first step is taken"
    assert next(run.steps).number == 1
    assert run.answer.text == run.answer.text == "done"
    assert agent.taken == 2
    assert list(run.steps) == []


def test_a_closed_run_takes_no_further_step_and_has_no_answer() -> None:
    agent = TwoSteps()
    run = agent.run("why?")
    next(run.steps)
    run.close()
    assert list(run.steps) == []
    assert agent.taken == 1
    with pytest.raises(RuntimeError, match="before it came to an answer"):
        _ = run.answer


DIRECTED = Triple("Laughter in Hell", "directed by", "Edward Cahn")
DIED = Triple("Edward Cahn", "died on", "25 August 1963")


@pytest.fixture
def index(world: Snapshot, words: Embedder) -> Index:
    return IndexReader(Context(world, Settings(), words))


def span(passage_id: str, start: int = 0, end: int | None = None, text: str | None = None) -> Span:
    whole = WORLD[passage_id][1]
    end = len(whole) if end is None else end
    return Span(passage_id=passage_id, start=start, end=end, text=whole[start:end] if text is None else text)


def answer(text: str, *evidence: Evidence) -> Answer:
    return Answer(question="Did the director of Laughter in Hell die in 1963?", text=text, evidence=evidence)


HOLDS = Evidence(triple=DIRECTED, span=span("film")), Evidence(triple=DIED, span=span("director"))


@pytest.mark.parametrize(
    ("text", "evidence", "faults"),
    [
        ("25 August 1963", HOLDS, []),
        ("yes", HOLDS, []),
        ("Paris", HOLDS, ["none of the facts contains the answer 'Paris'"]),
        ("25 August 1963", (), ["the answer has no evidence: nothing supports it"]),
    ],
)
def test_an_answer_holds_by_its_facts(index: Index, text: str, evidence: list[Evidence], faults: list[str]) -> None:
    assert answer(text, *evidence).verify(index) == faults


@pytest.mark.parametrize(
    ("triple", "quoted", "fault"),
    [
        (DIED, None, "quotes nothing"),
        (DIED, Span(passage_id="gone", start=0, end=1, text="x"), "no passage 'gone'"),
        (DIED, span("director", text="He died on 26 August 1963."), "not what the answer quotes"),
        (DIED, span("director", 0, 11), "do not hold '25 August 1963'"),
        (Triple("Edward Cahn", "born on", "25 August 1963"), span("director"), "do not say 'born on'"),
        (Triple("Edward Cahn", "directed by", "Laughter in Hell"), span("film"), "do not say 'directed by'"),
    ],
)
def test_a_fact_without_support_is_named(index: Index, triple: Triple, quoted: Span | None, fault: str) -> None:
    (found,) = answer("yes", HOLDS[0], Evidence(triple=triple, span=quoted)).verify(index)
    assert found.startswith(f"{triple}: ")
    assert fault in found


@pytest.mark.parametrize(
    ("text", "object_", "is_named"),
    [
        ("Edward Cahn", "Cahn", True),
        ("Edward Cahn", "Sammy Cahn", False),
        ("New York", "York", False),
        ("North Korea", "Korea", False),
        ("New York", "New York", True),
        ("?", "York", False),
    ],
)
def test_an_answer_is_named_by_its_whole_name_or_a_surname(text: str, object_: str, *, is_named: bool) -> None:
    [part] = answer(text, Evidence(triple=Triple("The train", "goes to", object_))).parts
    assert bool(part.facts) is part.supported is is_named


def test_an_answer_without_words_agrees_with_none() -> None:
    assert not Answer(question="Where?", text="?", loop_text="Paris").agreed
    assert Answer(question="Where?", text="Bath, England", loop_text="Bath").agreed
