"""A view of an index is an index of its visible passages: every retriever returns the same ids, order and scores, where
both were encoded from the same texts.
"""

import gc
import os
import resource
import weakref
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import cast
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_forgetting import documents

from queries_only import QueriesOnly
from trials import examples
from triplebeam.assemble import Context, Index, IndexReader, context_of
from triplebeam.assemble.context import MAX_CACHED_RATIO
from triplebeam.assemble.table import search_methods
from triplebeam.errors import BadInputError, IndexDamagedError, TooManyOpenFilesError
from triplebeam.index.arrays.array_set import ArraySet
from triplebeam.index.arrays.folder_arrays import FolderArrays
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.manifest import generation_folder
from triplebeam.index.folder.snapshot import Snapshot, view
from triplebeam.passage import SHARED_TITLE, Document, Heading, Link
from triplebeam.settings import Settings
from triplebeam.testing.hashed_words import HashedWords
from written_facts import written_builder

#: Everything that needs no model and no encoder of tokens.
RETRIEVERS = (
    *("bm25", "dense", "hybrid", "scaled_hybrid", "hybrid+naive_ge", "gnn_ret", "scaled_hybrid+gnn_ret"),
    *("gnn_ret[beta=0.9]", "hipporag[entities=verbatim]", "hipporag2", "title_link", "blend"),
    *("bm25@triples", "dense@triples", "hybrid@triples", "scaled_hybrid[title_bonus=0.2]"),
    *("hybrid+naive_ge[scorer=exact]", "hybrid+naive_ge[scorer=pooled]", "gnn_ret[beta=0.9]", "gnn_ret[edges=all]"),
    *("hipporag2[base=hybrid]", "blend[share=1]", "blend[without=titles]"),
)


QUESTIONS = ("Where does Ada Lovelace live?", "Who knows Bath?", "What happened in 1781 at the lake?")


def builder(folder: Path) -> IndexBuilder:
    return written_builder(folder, passage_tokens=60, max_failures=1.0)


def open_reader(folder: Path) -> Index:
    return IndexReader(Context(Snapshot.open(folder), Settings(), HashedWords()))


def search_all(index: Index) -> dict[tuple[str, str], list[tuple[object, ...]]]:
    """Ids, order, scores and reasons."""
    return {
        (method, question): [tuple(hit) for hit in index.retriever(method).retrieve(question, 10)]
        for method in RETRIEVERS
        for question in QUESTIONS
    }


@settings(max_examples=examples(25, 12), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    every=st.lists(st.tuples(documents, st.sampled_from(["1999", "2020", "2021", ""])), min_size=2, max_size=9),
    where=st.sampled_from(["year >= 2020", "year = 1999", "not year = 2021", 'title in ("Bath", "Notes")']),
    sections=st.booleans(),
)
def test_a_filtered_search_is_a_search_of_an_index_of_the_visible_passages(
    every: list[tuple[Document, str]], where: str, sections: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("views")
    titles = Counter(document.title for document, _ in every)
    numbered = [
        Document(
            id=f"{document.id}-{number}",
            # Whether a title is shared by many is decided by the whole index: see below.
            title=document.title if titles[document.title] < SHARED_TITLE else f"{document.title} {number}",
            text=document.text,
            metadata={"year": year} if year else {},
            headings=(Heading(0, 1, document.text[: document.text.index(" |")]),) if sections else (),
            links=(Link(0, f"{every[number - 1][0].id}-{number - 1}"),) if number else (),
        )
        for number, (document, year) in enumerate(every)
    ]
    # Every field is known, and at least one document is visible and one is not.
    known = [Document(id="old", title="Bath", text="1781 | is | Bath", metadata={"year": "1999"})]
    known += [Document(id="new", title="", text="Lake Bath | knows | 1781", metadata={"year": "2020"})]
    builder(folder / "all").build(numbered + known)
    some = open_reader(folder / "all").filter(where)
    visible = {passage.document_id for passage in some}
    builder(folder / "some").build([each for each in numbered + known if each.id in visible])
    alone = open_reader(folder / "some")
    assert list(some.passages) == list(alone.passages)
    assert search_all(some) == search_all(alone)
    one, two = context_of(some).snapshot, context_of(alone).snapshot
    assert_same_arrays(one.arrays, two.arrays)
    assert list(one.entities.names) == list(two.entities.names)
    assert (one.entities.weights(with_passages=True) != two.entities.weights(with_passages=True)).nnz == 0
    np.testing.assert_array_equal(one.references, two.references)
    for of in ("passage_graph", "ownership", "triples_by_extractor", "counts", "share"):
        assert getattr(one.manifest, of) == getattr(two.manifest, of)


def assert_same_arrays(some: ArraySet, alone: ArraySet) -> None:
    """But for the keys, by which the next generation takes over what it needs: no view is followed by one."""
    assert isinstance(alone, FolderArrays)
    for file in alone.sizes():
        folder, _, name = file.rpartition("/")
        one, two = (each.open_subset(folder) if folder else each for each in (some, alone))
        if name.endswith(".npy") and not name.endswith("keys.npy"):
            found, expected = (each.array(name.removesuffix(".npy")) for each in (one, two))
            np.testing.assert_array_equal(found, expected, err_msg=file)
            assert found.dtype == expected.dtype, file
        elif not name.endswith("keys.npy"):
            assert one.read_bytes(name).tobytes() == two.read_bytes(name).tobytes(), file


def test_every_search_method_is_among_those_compared() -> None:
    """A new method must be added here, or be named as one that another test covers."""
    elsewhere = {"late_interaction", "hipporag", "hybrid+sync_ge", "hipporag2[filter=llm]", "rerank"}
    assert {method for method in search_methods() if method not in RETRIEVERS} <= elsewhere


def open_years(folder: Path, *years: int) -> Index:
    """An index with a document of each year."""
    builder(folder / "i").build(map(year, years))
    return open_reader(folder / "i")


def year(number: int) -> Document:
    return Document(id=f"d{number}", text="Bath | is | here\nseen: Bath", metadata={"year": str(number)})


def test_views_are_kept_shared_and_filtered_again(tmp_path: Path) -> None:
    index = open_years(tmp_path, *range(2000, 2012))
    some = index.filter("year >= 2005")
    assert context_of(some) is context_of(index.filter("year>=2005"))
    assert list(some.filter("year < 2007").passages.document_ids) == ["d2005", "d2006"]
    assert index.search("Bath", method="bm25", where="year = 2003").ids == ["d2003#0"]
    for number in range(2000, 2012):
        index.filter(f"year = {number}")
    assert context_of(some) is context_of(index.filter("year >= 2005")), "small views are kept, as many as there are"
    for number in range(2000, 2000 + MAX_CACHED_RATIO):
        index.filter(f"year != {number}")
    assert context_of(some) is not context_of(index.filter("year >= 2005"))
    assert len(index.passages.document_ids) == 12
    assert context_of(some.filter("year < 2007")).filter_text == "(year >= 2005) and (year < 2007)"
    assert (context_of(some).filter_text, context_of(index).filter_text) == ("year >= 2005", "")


def open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_a_view_keeps_no_file_open_and_goes_with_its_last_search(tmp_path: Path) -> None:
    index = open_years(tmp_path, *range(2000, 2012))
    gc.collect()
    gc.disable()  # what goes has to go by itself
    try:
        before, gone = open_files(), []
        for number, method in enumerate(RETRIEVERS, start=2000):
            some = index.filter(f"year != {number % 12 + 2000}")
            index.search("Bath", method=method, where="year > 2003")
            gone.append(weakref.ref(context_of(some).snapshot))
            some.search("Bath", method=method)
        assert open_files() == before
        context_of(index).release()
        assert some.search("Bath", method="bm25").ids, "whoever has a view can search it"
        del some
        assert not any(each() for each in gone)
    finally:
        gc.enable()


def test_only_so_many_views_are_kept_however_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = open_years(tmp_path, *range(2000, 2012))
    monkeypatch.setattr("triplebeam.assemble.context.MAX_VIEWS", 3)
    views = [context_of(index.filter(f"year = {number}")) for number in range(2000, 2004)]
    for number in (2003, 2002, 2001):
        assert context_of(index.filter(f"year = {number}")) is views[number - 2000]
    assert context_of(index.filter("year = 2000")) is not views[0]
    assert context_of(index.filter("year = 2003")) is not views[3], "it was used before the others"


def test_too_many_open_files_are_no_damage(tmp_path: Path) -> None:
    index = open_years(tmp_path, *range(2000, 2012))
    with all_files_open():
        with pytest.raises(TooManyOpenFilesError, match=r"limit of this process is [\d,]+: raise it") as error:
            Snapshot.open(tmp_path / "i")
        assert str(tmp_path) not in str(error.value)
        for method in ("bm25", "dense", "blend", "hybrid@triples"):
            some = index.filter(f"year = 2000 and document != {method!r}")
            assert some.search("Bath", method=method).ids == ["d2000#0"], "a view opens no file"
    assert len(Snapshot.open(tmp_path / "i").passages) == 12


@contextmanager
def all_files_open() -> Iterator[None]:
    """Lower the limit of open files, and open as many as are left."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as held:
        held.callback(resource.setrlimit, resource.RLIMIT_NOFILE, before)
        resource.setrlimit(resource.RLIMIT_NOFILE, (open_files() + 8, before[1]))
        with suppress(OSError):
            while True:
                held.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        yield


def test_files_of_a_replaced_generation_are_closed(tmp_path: Path) -> None:
    index, counts = Index(tmp_path / "i", embedder=HashedWords()), []
    gc.collect()  # what other tests left open
    for number in range(4):
        index.add_documents([{"id": f"d{number}", "text": "Bath", "year": number}], extractor="none")
        assert index.search("Bath", where=f"year = {number}").ids == [f"d{number}"]
        counts.append(open_files())
    assert counts[-1] <= counts[0]


def test_whoever_needs_the_same_view_at_once_waits_for_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = open_years(tmp_path, *range(2000, 2004))
    made = Mock(wraps=view)
    monkeypatch.setattr("triplebeam.assemble.context.view", made)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: index.search("Bath", method="bm25", where="year > 2001").ids, range(16)))
    assert made.call_count == 1
    assert found == [["d2002#0", "d2003#0"]] * 16


def test_a_title_that_many_passages_share_is_left_out_of_the_vectors_of_a_view_as_well(tmp_path: Path) -> None:
    """Eight passages share a title in the whole index, which is left out of their vectors; two of them are visible."""
    shared = [
        Document(id=f"s{number}", title="Bath", text=f"number {number}", metadata={"year": str(2000 + number)})
        for number in range(8)
    ]
    builder(tmp_path / "all").build(shared)
    whole, some = open_reader(tmp_path / "all"), open_reader(tmp_path / "all").filter("year <= 2001")
    vectors, all_vectors = (context_of(each).snapshot.passage_vectors.rows for each in (some, whole))
    np.testing.assert_array_equal(vectors, all_vectors[:2])
    assert [hit.passage.title for hit in some.search("number", method="dense")] == ["Bath", "Bath"]


def describe(id_: str, text: str, title: str = "", **metadata: str) -> Document:
    heading = Heading(0, 1, "Release process")
    return Document(id=id_, title=title, text=f"{heading.text}\n\n{text}", headings=(heading,), metadata=metadata)


def open_described(folder: Path, *documents: Document) -> Index:
    """An index whose embedder may encode nothing but questions."""
    builder(folder / "i").build(documents)
    return IndexReader(Context(Snapshot.open(folder / "i"), Settings(), QueriesOnly()))


@pytest.mark.parametrize("method", ["bm25", "dense", "hybrid", "blend", "hipporag2", "gnn_ret", "hybrid@triples"])
def test_a_filter_needs_the_embedder_for_the_question_alone(tmp_path: Path, method: str) -> None:
    """A shared title, a name in another spelling, and a term that is defined too often in the whole index alone."""
    index = open_described(
        tmp_path,
        *(
            describe(f"{folder}/{number}", f"{name} | is | pump {number}", title="Description", folder=folder)
            for folder, name in (("a", "Lake-Bath"), ("b", "lake bath"))
            for number in range(4)
        ),
    )
    for folder in "ab":
        some = index.filter(f'folder = "{folder}" and not document contains "3"')
        found = some.search("what is the lake bath?", method=method)
        assert found.ids
        assert all(id_.startswith(folder) for id_ in found.ids)
    seen, whole = (context_of(each).snapshot.entities for each in (some, index))
    assert "lake bath" in seen.names, "the spelling of a hidden passage is not shown"
    assert "Lake-Bath" not in seen.names
    np.testing.assert_array_equal(*(each.vectors.rows[each.numbers["lake bath"]] for each in (seen, whole)))


def test_a_term_that_only_a_view_defines_is_found_by_its_name(tmp_path: Path) -> None:
    """Four passages define it, too many for a term; two of them are visible. There is no vector of it to take over."""
    told = [describe(f"d{number}", f"Bath | is | pump {number}", year=f"200{number}") for number in range(4)]
    index = open_described(tmp_path, *told)
    assert "release process" not in context_of(index).snapshot.entities.numbers
    some = index.filter("year <= 2001")
    entities = context_of(some).snapshot.entities
    assert not entities.vectors.rows[entities.numbers["release process"]].any()
    assert {id_[:2] for id_ in some.search("What is the release process?").ids} == {"d0", "d1"}


def test_passages_without_facts_can_be_all_that_is_left(tmp_path: Path) -> None:
    """The whole index has entities with synonyms, the view has none; a removal may leave as little."""
    plain = Document(id="plain", text="nothing but words", metadata={"year": "1999"})
    name = "the old lake of the town of Bath"
    facts = Document(id="facts", text=f"{name} | is | {name} today", metadata={"year": "2000"})
    builder(tmp_path / "all").build([plain, facts])
    assert context_of(open_reader(tmp_path / "all")).snapshot.entities.synonyms.nnz
    some = open_reader(tmp_path / "all").filter("year = 1999")
    assert [some.search("words", method=method).ids for method in ("blend", "hybrid+naive_ge", "bm25@triples")] == [
        ["plain#0"],
        ["plain#0"],
        [],
    ]
    builder(tmp_path / "all").remove(["facts"])
    assert open_reader(tmp_path / "all").search("words").ids == ["plain#0"]


def test_a_view_is_filtered_by_what_is_visible_in_it(tmp_path: Path) -> None:
    """What a hidden passage alone has is unknown, as if it were not there."""
    builder(tmp_path / "i").build([year(2000), Document(id="s", text="x | is | y", metadata={"secret": "yes"})])
    some = open_reader(tmp_path / "i").filter("year exists")
    with pytest.raises(BadInputError, match=r"no passage has the field 'secret'.*: there are document, year\.$"):
        some.filter("secret = 'yes'")
    with pytest.raises(BadInputError, match=r"^no passage matches the filter 'year > 2000': change a value or drop"):
        some.search("Bath", where="year > 2000")


def test_a_filter_that_is_no_text_is_refused_wherever_it_is_given(tmp_path: Path) -> None:
    index, wrong = open_years(tmp_path, 2000), cast("str", {})
    for give in (
        lambda: index.filter(wrong),
        lambda: index.search("Bath", where=wrong),
        lambda: index.search(["Bath"], where=wrong),
        lambda: index.ask("Bath?", where=wrong),
        lambda: next(index.ask_stream("Bath?", where=wrong)),
    ):
        with pytest.raises(BadInputError, match="where must be a filter written as text, got the dict"):
            give()


def test_a_generation_that_another_one_has_replaced_is_still_filtered(tmp_path: Path) -> None:
    """A writer removes its files; they are mapped, and a view opens none."""
    index = open_years(tmp_path, 2000, 2001)
    builder(tmp_path / "i").build([year(2002)])
    assert not generation_folder(tmp_path / "i", index.status.generation).exists()
    assert index.filter("year = 2000").search("Bath").ids == ["d2000#0"]


@pytest.mark.parametrize("kind", ["passage", "triple", "entity"])
def test_vectors_that_are_not_as_they_were_written_get_into_no_view(tmp_path: Path, kind: str) -> None:
    index = open_years(tmp_path, 2000, 2001)
    path = generation_folder(tmp_path / "i", index.status.generation) / f"{kind}_vectors.npy"
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(bytes([path.read_bytes()[-1] ^ 0x40]))
    with pytest.raises(IndexDamagedError, match=f"{kind}_vectors.npy is corrupted"):
        index.filter("year = 2000")
