"""Chains of triples against a literal reading of their conditions, and questions from them against every rule."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from scripted_loops import Gone
from small_world import TableExtractor
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, EndpointError
from triplebeam.evaluate.questions import find_gold, read_questions
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, Prompt, PromptRefusedError, Usage
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Document
from triplebeam.testing import toy
from triplebeam.testing.scripted import Scripted
from triplebeam.text.names import entity_key
from triplebeam.triple import Triple
from triplebeam_research import synthesize as module
from triplebeam_research.commands.questions import questions
from triplebeam_research.synthesize import synthesize, write_questions
from triplebeam_research.synthesize.chains import MAX_CHAINS, MAX_PASSAGES, sample_chains

Texts = dict[str, tuple[str, str]]
Make = Callable[[Texts, dict[str, list[Triple]]], Snapshot]
WED = [Triple("Ann Lee", "wed", "Bob Ray")]
MOVED = [Triple("Bob Ray", "moved to", "Paris")]
PARIS = {"a": ("Ann Lee", "Ann Lee wed Bob Ray."), "b": ("Bob Ray", "Bob Ray moved to Paris.")}
CAHN = [Triple("Laughter in Hell", "directed by", "Edward Cahn")]
DIED = [Triple("Edward Cahn", "died on", "25 August 1963")]
CAHN_ONLY = {
    "film": ("Laughter in Hell", "Laughter in Hell was directed by Edward Cahn."),
    "director": ("Edward Cahn", "Edward Cahn was a director. He died on 25 August 1963."),
}


def build(folder: Path, words: Embedder, texts: Texts, triples: dict[str, list[Triple]]) -> Snapshot:
    documents = [Document(id=id_, title=title, text=text, is_passage=True) for id_, (title, text) in texts.items()]
    IndexBuilder(folder=folder, embedder=words, extractor=TableExtractor(triples)).build(documents)
    return Snapshot.open(folder)


@pytest.fixture
def make(tmp_path: Path, words: Embedder) -> Make:
    """Return what makes an index from titles, texts and triples."""
    return partial(build, tmp_path / "made.index", words)


@pytest.fixture(scope="module")
def toy_index(tmp_path_factory: pytest.TempPathFactory, words: Embedder) -> Snapshot:
    """Return the toy corpus with the triples of its own questions' chains."""
    table: dict[str, list[Triple]] = {}
    for question in toy.questions():
        for passage_id, triple in zip(question.gold, question.chain, strict=True):
            table.setdefault(passage_id, []).append(triple)
    texts = {passage.id: (passage.title, passage.text) for passage in toy.passages()}
    return build(tmp_path_factory.mktemp("toy") / "toy.index", words, texts, table)


def literal_chains(index: Snapshot, hops: int) -> set[tuple[Triple, ...]]:
    """All chains of names whose passages hold no more than their own hop, by trying every sequence of triples."""
    triples = [index.triples.triple(number) for number in range(len(index.triples))]
    passage_of = index.triples.passage_of(list(range(len(triples))))

    def says(number: int, name: str) -> bool:
        text = entity_key(index.passages[passage_of[number]].searchable)
        return f" {entity_key(name).removeprefix('the ')} " in f" {text} "

    def whole(path: tuple[int, ...]) -> bool:
        entities = [triples[path[0]].subject, *(triples[number].object for number in path)]
        keys = [entity_key(entity) for entity in entities]
        return (
            len({passage_of[number] for number in path}) == hops
            and len(set(keys)) == hops + 1
            and all(
                says(number, entity) == (place in (hop, hop + 1))
                for hop, number in enumerate(path)
                for place, entity in enumerate(entities)
            )
        )

    paths: list[tuple[int, ...]] = [(number,) for number in range(len(triples))]
    for _ in range(hops - 1):
        onward = [(path, n) for path in paths for n in range(len(triples)) if n not in path]
        paths = [
            (*path, n) for path, n in onward if entity_key(triples[path[-1]].object) == entity_key(triples[n].subject)
        ]
    return {tuple(triples[number] for number in path) for path in paths if whole(path)}


class TestChains:
    @pytest.mark.parametrize("seed", range(3))
    def test_are_among_all_there_are_and_spread(self, toy_index: Snapshot, seed: int) -> None:
        literal = {hops: literal_chains(toy_index, hops) for hops in (2, 3)}
        drawn = list(sample_chains(toy_index, seed=seed))
        assert {len(chain.triples) for chain in drawn} == {2, 3}
        for chain in drawn:
            assert chain.triples in literal[len(chain.triples)]
            assert [triple.subject for triple in chain.triples] + [chain.answer] == list(chain.entities)
            assert all(before.object == after.subject for before, after in pairwise(chain.triples))
            for triple, passage_id in zip(chain.triples, chain.passages, strict=True):
                own = toy_index.triples.triples_of([passage_id])
                assert triple in [toy_index.triples.triple(int(number)) for number in own]
        assert max(Counter(id_ for chain in drawn for id_ in chain.passages).values()) <= MAX_CHAINS
        assert max(Counter(triple for chain in drawn for triple in chain.triples).values()) == 1
        assert max(Counter(chain.start for chain in drawn).values()) == 1
        assert drawn == list(sample_chains(toy_index, seed=seed)) != list(sample_chains(toy_index, seed=seed + 1))
        assert {len(chain.triples) for chain in sample_chains(toy_index, hops=(3,))} == {3}
        with pytest.raises(BadInputError, match="two or more"):
            next(sample_chains(toy_index, hops=(1,)))

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({}, ""),
            ({"a": ("Ann Lee", "Ann Lee wed Bob Ray. Paris.")}, "the first passage names the answer"),
            ({"b": ("Bob Ray", "Bob Ray moved to Paris with Ann Lee.")}, "the last passage names the start"),
            ({"c": ("Ann Lee", "Ann Lee saw Paris.")}, "another passage about the start names the answer"),
            ({"b": ("Bob Ray (singer)", "Bob Ray moved to Paris.")}, "the title says that there are several"),
            ({"b": ("Bob Ray", "Bob Ray moved on.")}, "the passage does not name the answer"),
        ],
    )
    def test_keep_to_the_texts(self, make: Make, change: Texts, reason: str) -> None:
        texts = {**PARIS, "c": ("", "Rain.")}
        table = {"a": WED, "b": MOVED, "c": [Triple("Ann Lee", "saw", "Rome")]}
        assert bool(list(sample_chains(make(texts | change, table), hops=(2,)))) == (not reason)

    @pytest.mark.parametrize(
        ("bridge", "answer", "good"),
        [
            ("Bob Ray", "Paris", True),
            ("Bob Ray", "12 May 1901", True),
            ("Bob Ray", "about 40 paintings", True),
            ("Bob Ray", "paintings", False),
            ("Bob Ray", "a very long answer of 9 words in all", False),
            ("bob ray", "Paris", False),
            ("He", "Paris", False),
            ("May 1901", "Paris", False),
            ("1901", "Paris", False),
            ("Bob", "Paris", False),  # one word, and no title
            ("Ann Lee Junior", "Paris", False),  # the start is part of it
            ("陈云", "北京", False),
            ("陈云 先生", "北京", True),
        ],
    )
    def test_go_over_names_to_short_answers(self, make: Make, bridge: str, answer: str, good: bool) -> None:
        texts = {"a": ("", f"Ann Lee wed {bridge}. Ann Lee sang."), "b": ("", f"{bridge} had {answer}.")}
        table = {
            "a": [Triple("Ann Lee", "wed", bridge), Triple("Ann Lee", "sang", "songs")],
            "b": [Triple(bridge, "had", answer), Triple(bridge, "was", "tall")],
        }
        assert bool(list(sample_chains(make(texts, table), hops=(2,)))) == good

    def test_need_a_passage_about_the_bridge_and_one_answer(self, make: Make) -> None:
        texts = {"a": ("Ann Lee", "Ann Lee wed Bob Ray."), "b": ("", "Bob Ray saw Rome and Paris, as did Carl Fox.")}
        carl = [Triple("Carl Fox", "saw", "Paris"), Triple("Carl Fox", "liked", "Rome")]
        for own in (
            [Triple("Bob Ray", "saw", "Rome"), *carl],
            [Triple("Bob Ray", "saw", city) for city in ("Rome", "Paris")],
        ):
            assert not list(sample_chains(make(texts, {"a": WED, "b": own}), hops=(2,)))

    def test_do_not_go_over_what_many_passages_speak_of(self, make: Make) -> None:
        others = {f"o{n}": ("", "Somebody met Bob Ray.") for n in range(MAX_PASSAGES - 1)}
        met = {id_: [Triple("somebody", f"met in {id_}", "Bob Ray")] for id_ in others}
        assert not list(sample_chains(make(PARIS | others, {"a": WED, "b": MOVED, **met}), hops=(2,)))


class Echo:
    """A model that writes a question of the expected form for whatever chain it is shown."""

    name = "echo"

    def __init__(self, **changes: object) -> None:
        self.changes = changes
        self.prompts: list[Prompt] = []

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        self.prompts += prompts
        return [Completion(text=self._reply(prompt.user), usage=Usage(calls=1)) for prompt in prompts]

    def _reply(self, user: str) -> str:
        told = dict(line.split(": ", 1) for line in user.splitlines() if line.startswith(("Start: ", "Answer: ")))
        if "Start" not in told:  # the shortcut check
            return json.dumps({"found": True, "answer": self.changes["read"], "sentence": ""})
        reply = {"sensible": True, "question": f"What follows from {told['Start']}?", "answer": told["Answer"]}
        return json.dumps({**reply, **self.changes})


WHEN = "When did the director of Laughter in Hell die?"


def reply(question: str, answer: str = "25 August 1963", *, sensible: bool = True) -> str:
    return json.dumps({"sensible": sensible, "question": question, "answer": answer})


class TestWriting:
    def test_rows_are_questions_that_can_be_read_and_reviewed(self, world: Snapshot, tmp_path: Path) -> None:
        echo = Echo()
        written = synthesize(world, echo, count=3, hops=(2,))
        [user] = [prompt.user for prompt in echo.prompts if "25 August 1963\n" in f"{prompt.user}\n"]
        assert "[1] Laughter in Hell\nLaughter in Hell is a drama film" in user
        assert "2. Edward Cahn | died on | 25 August 1963" in user
        assert "Start: Laughter in Hell\nHidden: Edward Cahn\nAnswer: 25 August 1963" in user
        assert written == synthesize(world, Echo(), count=3, hops=(2,)), "the same seed"
        with pytest.raises(BadInputError, match="at least one"):
            synthesize(world, Echo(), count=0)
        path = tmp_path / "questions.jsonl"
        write_questions(path, written.questions)
        assert [each.question for each in written.questions] == read_questions(path)
        find_gold(read_questions(path), world.passages)
        row = next(json.loads(line) for line in path.read_text().splitlines() if "Cahn" in line)
        assert row.pop("id").startswith("synthetic-")
        assert row == {
            "question": "What follows from Laughter in Hell?",
            "answers": ["25 August 1963"],
            "gold": ["film", "director"],
            "hops": 2,
            "type": "synthetic",
            "synthetic": True,
            "chain": [list(triple) for triple in (*CAHN, *DIED)],
            "model": "echo",
            "reviewed": False,
        }
        with pytest.raises(BadInputError, match="exists"):
            write_questions(path, written.questions)
        with pytest.raises(BadInputError, match="folder that exists"):
            write_questions(tmp_path / "none" / "questions.jsonl", written.questions)
        assert [file.name for file in tmp_path.iterdir()] == ["questions.jsonl"]

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("no JSON at all", module.UNREADABLE),
            (reply("", "", sensible=False), module.NOT_SENSIBLE),
            (reply(" "), module.EMPTY),
            (reply("When did its director die?"), module.START_MISSING),
            (reply("When did Edward Cahn of Laughter in Hell die?"), module.BRIDGE_NAMED),
            (reply("When did Mr Cahn, who made Laughter in Hell, die?"), module.BRIDGE_NAMED),
            (reply("Who of Laughter in Hell died on 25 August, 1963?"), module.ANSWER_NAMED),
            (reply(WHEN, "He died on 25 August 1963 as it says"), module.ANSWER_LONG),
            (reply(WHEN, "26 August 1963"), module.ANSWER_ABSENT),
            (reply("What was the director of Laughter in Hell?", "He"), module.ANSWER_OTHER),
            (reply("Who died after Laughter in Hell?", "died on 25 August 1963"), ""),
            (reply(WHEN), ""),
        ],
    )
    def test_replies_are_checked(self, make: Make, text: str, reason: str) -> None:
        index = make(CAHN_ONLY, {"film": CAHN, "director": DIED})
        model = Scripted({"Start: Laughter in Hell": text})
        if reason:
            with pytest.raises(EndpointError, match=f"wrote no usable question for 1 chains .1 times {reason}"):
                synthesize(index, model, count=1)
        else:
            assert len(synthesize(index, model, count=1).questions) == 1

    def test_an_answer_that_occurs_in_an_earlier_passage_is_no_answer(self, make: Make) -> None:
        index = make(
            {"a": ("Ann Lee", "Ann Lee of Lake County wed Bob Ray."), "b": ("Bob Ray", "Bob Ray saw Lake Erie.")},
            {"a": WED, "b": [Triple("Bob Ray", "saw", "Lake Erie")]},
        )
        with pytest.raises(EndpointError, match=module.ANSWER_EARLY):
            synthesize(index, Echo(answer="Lake"), count=1)

    def test_another_chain_is_tried_for_each_that_is_rejected(self, toy_index: Snapshot) -> None:
        chains = list(sample_chains(toy_index, hops=(2,)))
        refusal = reply("", "", sensible=False)
        good = [reply(f"What of {chain.start}?", chain.answer) for chain in chains]
        with Scripted([refusal, refusal, good[2], good[3]]) as model:
            written = synthesize(toy_index, model, count=2, hops=(2,))
        assert [each.chain for each in written.questions] == [chain.triples for chain in chains[2:4]]
        assert written.rejected == {module.NOT_SENSIBLE: 2}

    def test_shortcuts_are_dropped_when_they_are_looked_for(self, toy_index: Snapshot) -> None:
        kept = synthesize(toy_index, Echo(read="nothing of the kind"), count=2, check_shortcuts=True)
        assert len(kept.questions) == 2
        assert not kept.rejected
        [first, *_] = sample_chains(toy_index)
        written = synthesize(toy_index, Echo(read=f"It is {first.answer}."), count=1, check_shortcuts=True)
        assert written.rejected == {module.SHORTCUT: 1}


class TestFailing:
    def test_a_model_that_never_writes_a_question_is_named_with_the_reasons(self, toy_index: Snapshot) -> None:
        model = Echo(question="What?")
        with pytest.raises(EndpointError, match=r"echo wrote no usable question .* does not name the start"):
            synthesize(toy_index, model, count=40)
        assert len(model.prompts) <= module.MAX_FRUITLESS + 16
        with pytest.raises(EndpointError, match="the endpoint does not answer"):
            synthesize(toy_index, Gone(), count=2)

    def test_a_refused_prompt_is_one_chain_lost(self, toy_index: Snapshot) -> None:
        class Squeamish(Echo):
            def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
                if len(self.prompts) == 0 and len(prompts) == 1:
                    self.prompts += prompts
                    raise PromptRefusedError("filtered")
                return super().complete(prompts)

        written = synthesize(toy_index, Squeamish(), count=1)
        assert (len(written.questions), written.rejected) == (1, {module.UNREADABLE: 1})

    @pytest.mark.parametrize(
        ("table", "why"),
        [
            ({}, "it holds no triples"),
            ({"a": WED}, "all its triples come from one passage"),
            ({"a": [Triple("A", "b", "C")], "b": [Triple("D", "e", "F")]}, "no two of its passages share an entity"),
            (
                {"a": [Triple("Ann Lee", "wed", "him")], "b": [Triple("him", "saw", "Rome")]},
                "of the 1 entities that join two passages or more, 1 occur in at most",
            ),
        ],
    )
    def test_an_index_without_chains_is_refused(self, make: Make, table: dict[str, list[Triple]], why: str) -> None:
        index = make({"a": ("", "Ann Lee wed him."), "b": ("", "He saw Rome.")}, table)
        with pytest.raises(BadInputError, match=why):
            synthesize(index, Echo(), count=1)


def test_the_command(monkeypatch: pytest.MonkeyPatch, world: Snapshot, tmp_path: Path) -> None:
    monkeypatch.setattr("triplebeam.assemble.models.make_model", lambda settings: Accounted(Echo()))
    app = typer.Typer()
    app.command()(questions)

    def run(name: str, *options: str) -> Result:
        return CliRunner().invoke(app, [str(world.folder), str(tmp_path / name), *options])

    result = run("q.jsonl", "--count", "30", "--hops", "2")
    assert result.exit_code == 0, result.output
    written = len(read_questions(tmp_path / "q.jsonl"))
    for words in (f"{written} questions from {written} chains", "─ directed by →", f"{written} calls"):
        assert words in result.stdout
    assert "30 were requested" in result.stderr
    told = json.loads(run("other.jsonl", "--count", "1", "--json").stdout)
    assert (told["questions"], told["rejected"], told["usage"]["calls"]) == (1, {}, 1)
    (tmp_path / "mine.jsonl").write_text("mine")
    assert isinstance(run("mine.jsonl").exception, BadInputError), "nothing is paid for"
    assert (tmp_path / "mine.jsonl").read_text() == "mine"
