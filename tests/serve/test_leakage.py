"""Leakage: with a filter, no method shows a trace of a hidden passage, nor sends one to a model.

Every method of the table is asked for a secret that is reachable only through hidden passages, with explanations on.
Without the filter the same secrets are found: the corpus is one in which they would leak.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from planted_secrets import QUESTION, WHERE, Curious, build, find_leaks
from triplebeam.assemble import Context, Index, IndexReader, context_of
from triplebeam.assemble.table import ask_methods, list_agents, list_retrievers, search_methods
from triplebeam.errors import BadInputError
from triplebeam.explain.graph import around_entity, around_passage, find_entity, follow
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.serve.answer_shapes import answer_json
from triplebeam.serve.shapes import document_json, passage_json
from triplebeam.settings import Settings
from triplebeam.testing.hashed_words import HashedWords
from word_tokens import WordTokens

#: ``gold`` returns what an evaluation gives it.
SEARCHES = sorted(
    {*search_methods(), *list_retrievers()} - {"gold"}
    | {"hipporag[entities=verbatim]", "bm25@triples", "blend[share=1]"}
)
ANSWERS = sorted({*ask_methods(), *list_agents()} | {"ge_reasoning[stored=yes]", "read:blend"})
#: They retrieve nothing.
WITHOUT_PASSAGES = {"chain_of_thought", "closed_book", "self_consistency", "zero_plus_few_shot"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("secrets") / "secrets.index"
    build(place)
    return place


@pytest.fixture
def asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None], tuple[Index, Curious]]:
    """The index, or what a filter leaves of it, and the model it asks."""
    monkeypatch.setattr("triplebeam_research.methods.load_token_encoder", lambda *_, **__: WordTokens())

    def opened(where: str | None) -> tuple[Index, Curious]:
        model = Curious()
        index = IndexReader(Context(Snapshot.open(folder), Settings(), HashedWords(), model))
        return (index if where is None else index.filter(where)), model

    return opened


def list_shown(index: Index, method: str) -> list[object]:
    """All that a search shows, to people and to programs."""
    results = index.search(QUESTION, method=method, k=10)
    return [repr(results), results.to_dict()]


@pytest.mark.parametrize("method", SEARCHES)
def test_no_search_leaks(asked: Callable[[str | None], tuple[Index, Curious]], method: str) -> None:
    index, model = asked(None)
    assert find_leaks(*list_shown(index, method), model.said()), "without the filter the secrets are found"
    index, model = asked(WHERE)
    assert not find_leaks(*list_shown(index, method), model.said())


@pytest.mark.parametrize("method", ANSWERS)
def test_no_agent_leaks(asked: Callable[[str | None], tuple[Index, Curious]], method: str) -> None:
    index, model = asked(None)
    answer_json(index.ask(QUESTION, method=method), index.passages)
    assert bool(find_leaks(model.said())) == (method not in WITHOUT_PASSAGES)
    index, model = asked(WHERE)
    run = index.agent(method).run(QUESTION)
    steps = list(run.steps)
    assert model.prompts
    assert not find_leaks(repr(steps), repr(run.answer), answer_json(run.answer, index.passages), model.said())


def test_nothing_else_of_an_index_leaks(asked: Callable[[str | None], tuple[Index, Curious]]) -> None:
    index, _ = asked(WHERE)
    snapshot = context_of(index).snapshot
    number = find_entity(context_of(index).snapshot, context_of(index).embedder, "Mill Harbour")
    assert not find_leaks(
        *(repr(passage) for passage in index),
        *(passage_json(index, passage) for passage in index),
        *(document_json(index, id_) for id_ in list(index.passages.document_ids)),
        *(repr(around_passage(snapshot, passage.id, 100)) for passage in index),
        *(repr(around_entity(snapshot, context_of(index).embedder, name, 100)) for name in snapshot.entities.names),
        repr(follow(snapshot, context_of(index).embedder, number, QUESTION, 4, 50)),
        repr([context_of(index).triples.triple(number) for number in range(len(context_of(index).triples))]),
        list(snapshot.entities.names),
        list(snapshot.passage_terms.words) + list(snapshot.triple_terms.words),
        snapshot.manifest.model_dump_json(),
    )


@pytest.mark.parametrize(
    "wrong", ["zqxfield = 'a'", "group = 'zqxclosed'", "yeer = 1", "group > 3", "document contains 'zqx'"]
)
def test_no_error_leaks(asked: Callable[[str | None], tuple[Index, Curious]], wrong: str) -> None:
    index, _ = asked(WHERE)
    with pytest.raises(BadInputError) as refused:
        index.filter(wrong)
    assert not find_leaks(str(refused.value).replace(wrong, "").replace("zqxfield", ""))
    for passage_id in ("zqx-first.md#0", "zqx"):
        with pytest.raises(BadInputError) as refused:
            index.passages[passage_id]
        assert not find_leaks(str(refused.value).replace(passage_id, ""))
    with pytest.raises(BadInputError) as refused:
        find_entity(context_of(index).snapshot, context_of(index).embedder, "zqxvaul")
    assert not find_leaks(str(refused.value).replace("zqxvaul", "", 1))
