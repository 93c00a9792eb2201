"""Building: what is done, what is not done twice, what survives being killed, how documents are taken out; and what is
searched of a passage: names and dates of its metadata as terms, its title unless many share it. Vectors of triples come
from the reading of their passages: where their words are, one reading, and no second one.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from small_world import TRIPLES, TableExtractor, WordEmbedder, world_builder, world_documents
from triplebeam.embed.embedder import Kind, Span
from triplebeam.errors import BadInputError, EmbedderMismatchError, IndexBusyError, IndexMissingError
from triplebeam.extract.extractor import Extraction
from triplebeam.extract.triples_file import TriplesFile
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.build.intake import BuildReport
from triplebeam.index.build.writing import purge, write_lock
from triplebeam.index.content import encoding
from triplebeam.index.content.encoding import find_spans
from triplebeam.index.folder.manifest import is_index
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.ingest import Skipped, Unreadable
from triplebeam.passage import Document, Passage, metadata_terms
from triplebeam.retrieve.bases import BM25
from triplebeam.text.terms import text_words
from triplebeam.triple import Triple


class Counting(WordEmbedder):
    """Counts texts, and can be told to die after some."""

    def __init__(self, dies_after: int = 10**9) -> None:
        self.texts: list[str] = []
        self._dies_after = dies_after

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        if len(self.texts) >= self._dies_after:
            raise KeyboardInterrupt
        self.texts += texts
        return super().embed(texts, kind)


def make(folder: Path, embedder: WordEmbedder | None = None, extractor: TableExtractor | None = None) -> BuildReport:
    return world_builder(folder, embedder, extractor).build(world_documents())


def test_what_goes_in_comes_out(world: Snapshot) -> None:
    assert world.manifest.counts["passages"] == 6
    assert world.manifest.counts["triples"] == 9
    assert world.manifest.triples_by_extractor == {"table:1": 9}
    assert world.passages["film"].text == "Laughter in Hell is a drama film directed by Edward Cahn."
    assert world.passages["film"].title == "Laughter in Hell"
    (first, second) = world.triples.triples_of(["director"])
    assert world.triples.triple(second) == Triple("Edward Cahn", "died on", "25 August 1963")
    assert world.triples.passage_of([first, second]) == ["director", "director"]


def test_the_same_sources_do_no_work_and_a_changed_document_alone_is_done_again(tmp_path: Path) -> None:
    make(tmp_path)
    embedder, extractor = Counting(), TableExtractor(TRIPLES)
    assert not make(tmp_path, embedder, extractor).published
    assert embedder.texts == extractor.asked == []
    documents = [replace(d, text="Milwaukee brews beer.") if d.id == "city" else d for d in world_documents()]
    report = world_builder(tmp_path, embedder, extractor).build(documents)
    assert report.documents_changed == 1
    assert extractor.asked == ["city"]
    assert embedder.texts == ["Milwaukee\nMilwaukee brews beer."]
    index = Snapshot.open(tmp_path)
    assert index.passages["city"].text == "Milwaukee brews beer."
    assert index.manifest.counts["passages"] == 6


def test_entities_are_encoded_like_everything_else_and_nothing_twice(tmp_path: Path) -> None:
    embedder = Counting()
    extractor = TableExtractor({"city": [Triple("Milwaukee", "in", "Wisconsin"), Triple("wisconsin", "is", "large")]})
    world_builder(tmp_path, embedder, extractor).build([Document(id="city", text="Milwaukee", is_passage=True)])
    assert embedder.texts == ["Milwaukee", "Milwaukee in Wisconsin", "wisconsin is large", "Wisconsin", "large"]
    entities = Snapshot.open(tmp_path).entities
    assert list(entities.names) == ["Milwaukee", "Wisconsin", "large"]
    np.testing.assert_allclose(entities.vectors.rows, WordEmbedder().embed(list(entities.names)), atol=0.005)


def test_triples_of_two_files_stand_side_by_side(tmp_path: Path) -> None:
    for name, passage_id in (("one", "film"), ("two", "city")):
        file = tmp_path / f"{name}.jsonl"
        file.write_text(json.dumps({"passage_id": passage_id, "triples": [["a", "b", name]]}))
        index = tmp_path / "my.index"
        IndexBuilder(folder=index, embedder=WordEmbedder(), extractor=TriplesFile(file)).build(world_documents())
    triples = Snapshot.open(index).triples
    assert sorted(triples.triple(number).object for number in range(len(triples))) == ["one", "two"]


def test_killed_while_encoding_it_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "ENCODING_WINDOW", 4)
    killed = Counting(dies_after=8)
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path, killed)
    with pytest.raises(IndexMissingError, match="did not finish"):
        Snapshot.open(tmp_path)
    with (
        write_lock(tmp_path),
        pytest.raises(IndexMissingError, match="is being written for the first time: wait until it is done"),
    ):
        Snapshot.open(tmp_path)
    second = Counting()
    assert make(tmp_path, second).published
    assert len(killed.texts) == 8
    assert not set(killed.texts) & set(second.texts), "nothing is encoded twice"
    make(tmp_path / "whole")
    for file in ("triple_vectors.npy", "passage_vectors.npy", "entity_vectors.npy"):
        one, two = (folder / "generations" / "000001" / file for folder in (tmp_path, tmp_path / "whole"))
        assert one.read_bytes() == two.read_bytes()


def test_rejected_triples_are_counted(tmp_path: Path) -> None:
    class Rejecting(TableExtractor):
        def extract(self, passages):  # type: ignore[no-untyped-def]
            for extraction in super().extract(passages):
                yield Extraction(passage_id=extraction.passage_id, rejected=(("a", "", "c"),))

    report = make(tmp_path, extractor=Rejecting({}))
    assert report.manifest is not None
    assert report.manifest.counts["triples_rejected"] == 6
    assert report.manifest.counts["triples"] == 0


def test_unreadable_sources_are_reported_and_the_others_indexed(tmp_path: Path) -> None:
    bad = Unreadable("bad.pdf", "it is no PDF")
    with pytest.raises(BadInputError, match=r"nothing could be read .*: bad\.pdf: it is no PDF\."):
        world_builder(tmp_path).build([bad])
    report = world_builder(tmp_path).build([*world_documents(), bad, Skipped("logo.png")])
    assert report.unreadable == [bad]
    assert [other.source for other in report.skipped] == ["logo.png"]
    assert len(Snapshot.open(tmp_path).passages) == 6


def test_a_passage_id_of_another_document_is_refused(tmp_path: Path) -> None:
    other = Document(id="a.md#0", text="Another sentence.", is_passage=True)
    report = world_builder(tmp_path).build([Document(id="a.md", text="One sentence."), other])
    assert "belongs to the document 'a.md' already" in report.unreadable[0].reason
    assert Snapshot.open(tmp_path).passages["a.md#0"].text == "One sentence."


def test_vectors_that_are_not_finite_and_those_of_another_embedder_are_refused(tmp_path: Path) -> None:
    class Broken(WordEmbedder):
        def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
            return super().embed(texts, kind) * np.float32(np.nan)

    class Other(WordEmbedder):
        fingerprint = "words-2"

    with pytest.raises(BadInputError, match="numbers that are not finite"):
        make(tmp_path, Broken())
    make(tmp_path)
    with pytest.raises(EmbedderMismatchError, match="built with the embedder 'words'"):
        make(tmp_path, Other())


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    """As where the index and a source change places on the command line."""
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(BadInputError, match=r"is no index and holds other files, such as 'manifest\.json'"):
        make(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_an_index_that_is_not_there_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(IndexMissingError, match="make one with"):
        Snapshot.open(tmp_path / "nowhere")


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    with FileLock(tmp_path / "write.lock"), pytest.raises(IndexBusyError, match="another process"):
        make(tmp_path)


def test_words_of_another_analyser_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path)
    made: list[str] = []

    def counted(text: str, stemmer: str) -> list[str]:
        made.append(text)
        return text_words(text, stemmer)

    monkeypatch.setattr("triplebeam.index.folder.terms.text_words", counted)
    builder = IndexBuilder(folder=tmp_path, embedder=WordEmbedder())
    builder.build([Document(id="new", text="Something new.")])
    assert made == ["Something new."]
    monkeypatch.setattr("triplebeam.index.folder.generation.name_analyzer", lambda: "2")
    builder.build([Document(id="newer", text="Something newer.")])
    assert len(made) > len(world_documents())


def test_a_document_goes_with_its_passages_and_triples(tmp_path: Path) -> None:
    builder = world_builder(tmp_path / "i")
    with pytest.raises(IndexMissingError, match="no document to remove"):
        builder.remove(["city"])
    assert not builder.folder.exists()
    builder.build(world_documents())
    report = builder.remove(["city", "film", "city", "nowhere"])
    assert (report.documents_changed, report.texts_encoded, report.published) == (2, 0, True)
    assert not builder.remove(["nowhere"]).published
    index = Snapshot.open(builder.folder)
    assert "city" not in index.passages
    assert index.manifest.counts["documents"] == 4
    assert index.manifest.counts["triples"] == 5
    subjects = {index.triples.triple(number).subject for number in range(len(index.triples))}
    assert subjects == {"Edward Cahn", "Pat Brien", "Lake Michigan"}


@pytest.mark.parametrize("is_replaced", [False, True])
def test_no_text_is_left_where_only_documents_without_any_are(tmp_path: Path, is_replaced: bool) -> None:
    builder, empty = world_builder(tmp_path / "i"), Document(id="empty", text=" \n ")
    builder.build([Document(id="a", text="A secret."), empty])
    if is_replaced:
        with pytest.raises(BadInputError, match="nothing could be read"):
            builder.build([Document(id="a", text=empty.text)])
    else:
        builder.remove(["a"])
    assert not is_index(builder.folder)
    assert list((builder.folder / "generations").iterdir()) == []
    for use in (lambda: Snapshot.open(builder.folder), builder.repair):
        with pytest.raises(IndexMissingError, match=r"i is empty: add documents with `triplebeam index"):
            use()


@pytest.mark.parametrize(
    ("field", "value", "terms"),
    [
        ("source", "The Verge", ["The Verge\nThe Verge"]),
        ("published_at", "2023-10-04T09:30:00+00:00", ["October 4 2023"]),
        ("date", "2023-10-04", ["October 4 2023"]),
        ("date", "2023-13-40", []),
        ("year", "1999", []),
        ("url", "https://example.org/verge", []),
        ("abstract", "word " * 30, []),
        ("path", "docs/The Verge.md", []),
        ("modified", "2023-10-04T09:30:00+00:00", []),
        ("type", "md", []),
    ],
)
def test_names_and_dates_are_terms(field: str, value: str, terms: list[str]) -> None:
    assert list(metadata_terms({field: value})) == terms


def test_metadata_is_found_by_terms_and_not_embedded() -> None:
    passage = Passage("p", "text", "title", metadata={"source": "TechCrunch"}, section="Uploads")
    assert passage.term_text == "TechCrunch\nTechCrunch\ntitle\ntitle\nUploads\ntext"
    assert passage.format_for_embedding() == passage.searchable == "title\nUploads\ntext"
    assert passage.format_for_embedding({"title"}) == "Uploads\ntext"


def rows(count: int) -> list[Document]:
    return [
        Document(id=f"p{n}", title="Novel", text=f"Chapter {n}.", metadata={"source": f"paper {n}"}, is_passage=True)
        for n in range(count)
    ]


def test_a_title_of_more_than_five_passages_is_a_term_but_not_embedded(tmp_path: Path) -> None:
    """The sixth passage changes what is embedded of the five before it; the order they come in does not matter."""
    embedder = Counting()
    builder = IndexBuilder(folder=tmp_path, embedder=embedder)
    builder.build(rows(5))
    assert embedder.texts == [f"Novel\nChapter {n}." for n in range(5)]
    embedder.texts.clear()
    builder.build(rows(6))
    assert embedder.texts == [f"Chapter {n}." for n in range(6)]
    embedder.texts.clear()
    builder.build(rows(9))
    assert embedder.texts == [f"Chapter {n}." for n in range(6, 9)]
    index = Snapshot.open(tmp_path)
    assert len(BM25.over_passages(index).retrieve("novel", 20)) == 9
    assert BM25.over_passages(index).retrieve("paper 7", 1).ids == ["p7"]


TEXT = "William Herschel\nHe was born in Hanover. His sister was born in Hanover in 1750."


class Reader(WordEmbedder):
    """Has a vector for each word, and remembers what it read."""

    def __init__(self, *, reads_tokens: bool = True) -> None:
        self.reads_tokens = reads_tokens
        self.read: list[str] = []

    def embed_spans(
        self, texts: Sequence[str], spans: Sequence[Sequence[Sequence[Span]]]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        self.read += texts
        return self.embed(texts), [self.embed(words(*pair)) for pair in zip(texts, spans, strict=True)]


def words(text: str, groups: Sequence[Sequence[Span]]) -> list[str]:
    return [" ".join(text[start:end] for start, end in sorted(group)) or text for group in groups]


def read_world(folder: Path, embedder: WordEmbedder, triples: dict[str, list[Triple]] = TRIPLES) -> BuildReport:
    extractor = TableExtractor(triples)
    extractor.name = f"table:{sum(map(len, triples.values()))}"
    return world_builder(folder, embedder, extractor).build(world_documents())


def test_the_words_of_a_triple_are_those_of_its_sentence() -> None:
    spans = find_spans([Triple("Herschel", "was born in", "Hanover"), Triple("sister", "born in", "1750")], TEXT)
    assert words(TEXT, spans) == ["Herschel was born in Hanover", "sister born in in 1750"]


@given(
    st.text(alphabet="ab .\n", max_size=30),
    st.lists(st.text(alphabet="ab ", min_size=1, max_size=5), min_size=3, max_size=3),
)
def test_every_word_of_a_triple_that_occurs_is_found(text: str, parts: list[str]) -> None:
    triple = Triple(*parts)
    (spans,) = find_spans([triple], text)
    found = {text[start:end] for start, end in spans}
    assert found == set(str(triple).split()) & set(text.replace(".", " ").split())
    assert len(set(spans)) == len(spans)


def test_names_are_a_stage_of_their_own_since_they_take_less_time_than_passages(tmp_path: Path) -> None:
    reports: list[tuple[str, int, int]] = []
    builder = world_builder(tmp_path, Reader())
    replace(builder, progress=lambda *report: reports.append(report)).build(world_documents())
    counts = Snapshot.open(tmp_path).manifest.counts
    last = {stage: (done, total) for stage, done, total in reports}
    assert last["embed"] == (counts["passages"], counts["passages"])
    assert last["embed names"] == (counts["entities"], counts["entities"])


def test_passages_are_read_once_and_give_the_vectors_of_their_triples(tmp_path: Path) -> None:
    embedder = Reader()
    report = read_world(tmp_path, embedder)
    snapshot = Snapshot.open(tmp_path)
    assert report.manifest
    assert report.manifest.embedder.triples_in_context
    texts = [passage.format_for_embedding() for passage in snapshot.passages]
    assert sorted(embedder.read) == sorted(texts)
    assert report.texts_encoded == len(texts) + len(snapshot.entities)
    every = range(len(snapshot.triples))
    rows = snapshot.triples.triple_passages.tolist()
    spoken = [
        words(texts[row], find_spans([snapshot.triples.triple(place)], texts[row]))[0]
        for place, row in zip(every, rows, strict=True)
    ]
    assert np.allclose(snapshot.triples.vectors(list(every)), embedder.embed(spoken), atol=0.02)


def test_only_a_passage_with_a_new_triple_is_read_again(tmp_path: Path) -> None:
    read_world(tmp_path, Reader())
    embedder = Reader()
    assert read_world(tmp_path, embedder).texts_encoded == 0
    more = TRIPLES | {"city": [*TRIPLES["city"], Triple("Milwaukee", "has", "a lake")]}
    read_world(tmp_path, embedder, more)
    assert [text.partition("\n")[0] for text in embedder.read] == ["Milwaukee"]


def test_an_index_stays_as_it_was_built(tmp_path: Path) -> None:
    read_world(tmp_path / "without", Reader(reads_tokens=False))
    embedder = Reader()
    more = TRIPLES | {"city": []}
    read_world(tmp_path / "without", embedder, more)
    assert embedder.read == []
    read_world(tmp_path / "with", Reader())
    with pytest.raises(EmbedderMismatchError, match="no vectors of tokens"):
        read_world(tmp_path / "with", WordEmbedder(), {"film": [Triple("film", "is", "drama")]})


def test_triples_may_be_encoded_by_themselves(tmp_path: Path) -> None:
    embedder = Reader()
    replace(world_builder(tmp_path, embedder), triples_in_context=False).build(world_documents())
    assert embedder.read == []


def test_compacting_keeps_what_was_read(tmp_path: Path) -> None:
    read_world(tmp_path, Reader())
    purge(tmp_path)
    embedder = Reader()
    read_world(tmp_path, embedder)
    assert embedder.read == []
