"""What a Python user does: create, add, remove, search, ask, from one import. An agent's run: steps as they are done,
then the answer, whose facts are checked against an index again.
"""

import asyncio
import json
import logging
import threading
from collections.abc import Generator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import triplebeam
from small_world import TRIPLES, WORLD, TableExtractor
from triplebeam import Index
from triplebeam.answer import Agent, Answer, Evidence, Span, Step
from triplebeam.assemble import Context, IndexReader, Method, context_of
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, IndexMissingError
from triplebeam.generate.language_model import Completion, Prompt
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Document
from triplebeam.settings import Settings
from triplebeam.system.work import run_in_thread
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple

ROWS = [
    {"id": "film", "title": "Laughter in Hell", "text": "Laughter in Hell was directed by Edward Cahn.", "year": 1933},
    {"id": "director", "title": "Edward Cahn", "text": "Edward Cahn died on 25 August 1963."},
]
REPLIES = [json.dumps({"facts": []}), json.dumps({"found": True, "answer": "1963", "sentence": "In 1963."})]


@pytest.fixture
def empty(tmp_path: Path, words: Embedder) -> Index:
    return Index(tmp_path / "my.index", embedder=words, settings=Settings(home=tmp_path))


@pytest.fixture
def index(empty: Index) -> Index:
    empty.add_documents(ROWS, extractor=TableExtractor(TRIPLES))
    return empty


def test_rows_keep_their_ids_titles_and_other_fields(index: Index) -> None:
    assert list(index.passages.document_ids) == ["director", "film"]
    assert index.passages["film"].title == "Laughter in Hell"
    assert index.passages["film"].metadata == {"year": "1933"}
    assert len(index) == 2
    assert [passage.id for passage in index] == ["director", "film"]


def test_the_same_object_sees_what_is_added(index: Index) -> None:
    assert index.search("Great Lakes", method="bm25").ids == []
    index.add_documents([{"id": "lake", "text": "Lake Michigan is one of the Great Lakes."}], extractor="none")
    assert index.search("Great Lakes", method="bm25").ids == ["lake"]
    again = triplebeam.open(index.location, embedder=context_of(index).embedder)
    assert list(again.passages.document_ids) == ["director", "film", "lake"]


def test_texts_are_numbered_and_go_on_counting(empty: Index) -> None:
    empty.add_texts(["The first text.", "The second."], extractor="none")
    empty.add_documents([{"text": "A row without an id."}], extractor="none")
    empty.add_texts("And a third text, too long for the name of a file. " * 9, extractor="none")
    assert list(empty.passages.document_ids) == ["text-1", "text-2", "text-3", "text-4"]
    assert empty.search("third", method="bm25")[0].passage.text.startswith("And a third text, too long")


def test_a_path_a_list_of_paths_and_documents(empty: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("The lake is deep.")
    (tmp_path / "b.txt").write_text("The city is large.")
    empty.add("docs/", extractor="none")
    empty.add(["b.txt"], extractor="none")
    empty.add_documents(triplebeam.Document(id="c", text="The film is short."), extractor="none")
    assert list(empty.passages.document_ids) == ["b.txt", "c", "docs/a.txt"]
    empty.remove("./docs/a.txt", Path("b.txt"))
    assert list(empty.passages.document_ids) == ["c"]


def test_what_cannot_be_read_is_reported_and_logged(
    empty: Index, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "empty.txt").write_text(" ")
    (tmp_path / "docs" / "good.txt").write_text("The lake is deep.")
    with caplog.at_level(logging.WARNING, "triplebeam"):
        report = empty.add(tmp_path / "docs", extractor="none")
    assert len(report.unreadable) == 1
    assert "not indexed" in caplog.text
    assert "empty.txt" in caplog.text


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nowhere/", "there is no file or folder 'nowhere'"),
        ("A text.", "there is no file or folder 'A text.': check the path; add_texts takes texts"),
        ([{"id": "a"}], 'row 1 cannot be indexed: its "text" is missing or empty'),
        ([{"text": "x", "when": {1, 2}}], "row 1 cannot be indexed"),
        ([{"text": "x", "metadata": "y"}], 'its "metadata" is not a JSON object'),
        ([{"text": "x", "tags": ["y"]}], "row 1 cannot be indexed: its field 'tags' is a list: send a string"),
        ([{"text": "x", "metadata": {"by": {"name": "y"}}}], "its field 'by' is an object"),
        ([{"text": "x", 3: "y"}], "the name of its field 3 is not a string"),
        ([Document(id="a", text="x", metadata={"year": 1999})], "its 'year' is int: give a string"),  # type: ignore[dict-item]
        ([Document(id="a", text="x", metadata=["y"])], "its metadata is list: give a dict"),  # type: ignore[arg-type]
        ([Document(id="a", text=b"x")], "its 'text' is bytes: give a string"),  # type: ignore[arg-type]
        (["  "], "text 1 is empty"),
        ([3], "item 1 is int: give rows"),
        ([{"id": "a", "text": "x"}, {"id": "a", "text": "y"}], "two documents have the id 'a'"),
    ],
)
def test_what_is_no_document_is_refused(empty: Index, given: object, said: str) -> None:
    texts = isinstance(given, list) and isinstance(given[0], str)
    add: Any = empty.add if isinstance(given, str) else empty.add_texts if texts else empty.add_documents
    with pytest.raises(BadInputError, match=said.replace("(", r"\(").replace(")", r"\)")):
        add(given, extractor="none")
    assert len(empty) == 0


def test_an_unknown_document_is_an_error_with_the_nearest_and_nothing_is_removed(index: Index) -> None:
    with pytest.raises(BadInputError, match=r"no document 'filn' in the index .did you mean 'film'"):
        index.remove("director", "filn")
    assert len(index) == 2
    assert index.remove("film").documents_changed == 1
    assert "film" not in index.search("Laughter in Hell", method="bm25").ids


def test_the_last_document_leaves_an_empty_index(index: Index) -> None:
    words = context_of(index).embedder
    assert len(Index(str(index.location), embedder=words)) == 2
    index.remove("film", "director")
    assert (len(index), list(index)) == (0, [])
    with pytest.raises(IndexMissingError, match="is empty: add documents to it first"):
        triplebeam.open(index.location, embedder=words).search("anything")
    with pytest.raises(BadInputError, match="is empty"):
        index.remove("film")
    index.add_texts(["Something new."], extractor="none")
    assert index.search("new", method="bm25").ids == ["text-1#0"]


def test_an_empty_index_says_so_instead_of_finding_nothing(empty: Index) -> None:
    assert (len(empty), bool(empty), list(empty)) == (0, True, [])
    with pytest.raises(IndexMissingError, match="there is no index at"):
        empty.search("anything")
    with pytest.raises(IndexMissingError, match="there is no index at"):
        triplebeam.open(empty.location)
    assert not empty.location.state.exists(), "the first document creates it"


def test_a_hit_carries_its_text(index: Index) -> None:
    hits = index.search("Edward Cahn died", k=1)
    (hit,) = hits
    assert (hit.rank, hit.passage.id, hit.passage.title) == (1, "director", "Edward Cahn")
    assert hit.passage.text == hit.snippet.text == "Edward Cahn died on 25 August 1963."
    assert hit.score > 0
    assert "Edward Cahn" in repr(hit)


def test_results_are_explained_when_that_is_read_and_keep_it(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    question = "When did the director of Laughter in Hell die?"
    hits = index.search(question)
    assert hits.ids == index.retriever("blend").retrieve(question).ids
    director = next(hit for hit in hits if hit.passage.id == "director")
    copied = deepcopy(director)
    assert copied.chains == director.chains
    assert copied.to_dict() == director.to_dict()
    assert [each["id"] for each in hits.to_dict()["passages"]] == hits.ids  # type: ignore[attr-defined]
    monkeypatch.setattr("triplebeam.explain.explanation.explain_hits", pytest.fail)
    assert hits[0].chains == hits[0].chains
    assert index.search(question) == hits


def test_several_questions_are_searched_at_once(index: Index) -> None:
    questions = ["Edward Cahn died", "Laughter in Hell"]
    single = [index.search(question, k=2).ids for question in questions]
    assert [hits.ids for hits in index.search(questions, k=2)] == single
    assert index.search([]) == []
    assert index.search("Edward Cahn", method=Method.parse("hybrid+naive_ge")) == index.search(
        "Edward Cahn", method="naive_ge"
    )


@pytest.fixture
def asked(index: Index, words: Embedder) -> Index:
    return triplebeam.open(index.location.state, embedder=words, model=Scripted(REPLIES), settings=index.settings)


def test_the_steps_as_they_happen_then_the_answer(asked: Index) -> None:
    *steps, answer = asked.ask_stream("When did Edward Cahn die?")
    assert [type(step) for step in steps] == [triplebeam.Step]
    assert isinstance(answer, triplebeam.Answer)
    assert (answer.text, answer.sentence, len(answer.steps)) == ("1963", "In 1963.", 1)


def test_from_asyncio_a_cancelled_question_calls_no_model_any_more(index: Index, words: Embedder) -> None:
    model = Held()
    asked = triplebeam.open(index.location.state, embedder=words, model=model, settings=index.settings)

    async def cancelled() -> None:
        asking = run_in_thread(lambda: asked.ask("When did Edward Cahn die?", method="single_step"))
        task = asyncio.create_task(asking)
        await asyncio.to_thread(model.called.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        model.go_on.set()

    assert asyncio.run(run_in_thread(lambda: asked.search("Edward Cahn died", k=1))).ids == ["director"]
    asyncio.run(cancelled())  # which waits for its threads
    assert model.calls == 1


class Held:
    """A model that waits in its first call until it may go on."""

    name = "held"

    def __init__(self) -> None:
        self.called, self.go_on, self.calls = threading.Event(), threading.Event(), 0
        self.scripted = Scripted(REPLIES)

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        self.calls += 1
        self.called.set()
        self.go_on.wait()
        return self.scripted.complete(prompts)


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
def world_index(world: Snapshot, words: Embedder) -> Index:
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
def test_an_answer_holds(world_index: Index, text: str, evidence: list[Evidence], faults: list[str]) -> None:
    assert answer(text, *evidence).verify(world_index) == faults


@pytest.mark.parametrize(
    ("triple", "quoted", "fault"),
    [
        (DIED, None, "quotes nothing"),
        (DIED, Span(passage_id="gone", start=0, end=1, text="x"), "no passage 'gone'"),
        (DIED, span("director", text="He died on 26 August 1963."), "not what the answer quotes"),
        (DIED, span("director", 0, 11), "do not contain '25 August 1963'"),
        (Triple("Edward Cahn", "born on", "25 August 1963"), span("director"), "do not say 'born on'"),
        (Triple("Edward Cahn", "directed by", "Laughter in Hell"), span("film"), "do not say 'directed by'"),
    ],
)
def test_a_fact_without_support_is_named(world_index: Index, triple: Triple, quoted: Span | None, fault: str) -> None:
    (found,) = answer("yes", HOLDS[0], Evidence(triple=triple, span=quoted)).verify(world_index)
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
