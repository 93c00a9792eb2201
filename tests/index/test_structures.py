"""The search structures against plain Python. Terms: words of every script are found, accents do not matter, English is
what it was. A folder and a view of it are sources. What a large index stores so that no question waits for it is what
would be derived, bit for bit.
"""

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as drawn
from scipy.sparse import csr_array

from trials import examples
from triplebeam.assemble.context import Context
from triplebeam.assemble.retrievers import blend
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import IndexDamagedError
from triplebeam.index.arrays.array_set import ArraySet, MemoryArrays, SortedNames
from triplebeam.index.arrays.folder_arrays import FolderArrays
from triplebeam.index.arrays.rows import INT8, INT16, dequantize, hash_texts, pack_keys, quantize
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.manifest import generation_folder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.folder.synonyms import MIN_COSINE
from triplebeam.index.folder.terms import TermIndex, write_terms
from triplebeam.index.folder.vectors import MIN_RERANK, VectorIndex, select_top, write_vectors
from triplebeam.methods.hipporag.hipporag import HippoRAG
from triplebeam.methods.hipporag.hipporag2 import HippoRAG2
from triplebeam.passage import Document
from triplebeam.retrieve.bases import BM25
from triplebeam.settings import Settings
from triplebeam.testing import toy
from triplebeam.testing.contracts import SourceContract
from triplebeam.text.terms import ENGLISH, query_words, stemmer_for, text_words
from triplebeam.where import parse


@settings(max_examples=30)
@given(strings=st.lists(st.text()))
def test_strings_come_back(tmp_path_factory: pytest.TempPathFactory, strings: list[str]) -> None:
    for arrays in (MemoryArrays(), FolderArrays(tmp_path_factory.mktemp("column"))):
        assert "names" not in arrays
        arrays.add_strings("names", strings)
        assert "names" in arrays
        assert list(arrays.strings("names")) == strings


def fill(arrays: ArraySet) -> None:
    arrays.add("numbers", np.arange(6).reshape(2, 3))
    arrays.add_strings("names", ["Bath", "", "\ud800é"])
    arrays.add_matrix("joined", np.ones(2, np.float32), np.array([1, 0]), np.array([0, 1, 2]))
    arrays.add_bytes("numbers.codes", [b"one", b"two"])
    arrays.open_subset("terms").add("starts", np.zeros(1, np.int64))


def test_arrays_in_memory_and_in_a_folder_hold_the_same(tmp_path: Path) -> None:
    memory, folder = MemoryArrays(), FolderArrays(tmp_path)
    for some in (memory, folder):
        fill(some)
        assert all(name in some for name in ("numbers", "names", "joined_starts"))
        assert "starts" not in some
        assert "starts" in some.open_subset("terms")
        assert list(some.strings("names").take(np.array([2, 0, 1]))) == ["\ud800é", "Bath", ""]
        assert some.matrix("joined", (2, 2)).toarray().tolist() == [[0, 1], [1, 0]]
        assert some.read_bytes("numbers.codes").tobytes() == b"onetwo"
        for missing in (some.array, some.read_bytes, some.strings):
            with pytest.raises(FileNotFoundError):
                missing("nothing")
    for name in ("numbers", "names.offsets", "joined_values", "joined_ends", "joined_starts"):
        np.testing.assert_array_equal(memory.array(name), folder.array(name))
        assert memory.array(name).dtype == folder.array(name).dtype
    assert sorted(folder.sizes()) == [
        *("joined_ends.npy", "joined_starts.npy", "joined_values.npy", "names.offsets.npy", "names.utf8"),
        *("numbers.codes", "numbers.npy", "terms/starts.npy"),
    ]


def test_only_what_is_whole_is_taken_over(tmp_path: Path) -> None:
    fill(FolderArrays(tmp_path))
    some = FolderArrays(tmp_path, whole={"names.utf8", "numbers.npy", "terms/starts.npy"})
    assert "numbers" in some
    assert "names" not in some, "its offsets are damaged"
    assert "starts" in some.open_subset("terms")


def test_an_array_that_is_not_as_it_was_written_is_named(tmp_path: Path) -> None:
    fill(FolderArrays(tmp_path))
    some = FolderArrays(tmp_path, FolderArrays(tmp_path).checksums())
    some.verify("numbers", some.array("numbers"))
    np.save(tmp_path / "numbers.npy", np.zeros((2, 3), np.int64))
    with pytest.raises(IndexDamagedError, match=r"numbers\.npy is corrupted"):
        some.verify("numbers", some.array("numbers"))


@given(
    drawn.arrays(np.float32, st.integers(0, 30), elements=st.sampled_from([-1.0, 0.0, 0.5, 1.0])), st.integers(0, 35)
)
def test_top_is_a_stable_sort(scores: np.ndarray, k: int) -> None:  # type: ignore[type-arg]
    expected = sorted(range(len(scores)), key=lambda i: -scores[i])[:k]
    assert select_top(scores, k).tolist() == expected


def vectors(folder: Path, rows: int, exact_up_to: int) -> VectorIndex:
    data = np.random.default_rng(0).standard_normal((rows, 64)).astype(np.float32)
    data /= np.linalg.norm(data, axis=1, keepdims=True)
    write_vectors(arrays := FolderArrays(folder), "v", quantize(data), exact_up_to)
    return VectorIndex(arrays, "v")


def test_many_vectors_are_scanned_by_codes_and_reranked_exactly(tmp_path: Path) -> None:
    index = vectors(tmp_path, 5000, exact_up_to=1000)
    found = 0
    for row in range(0, 5000, 250):
        query = index.rows[row]
        rows, scores = index.nearest(query, 5)
        assert rows[0] == row
        np.testing.assert_allclose(scores, index.rows[rows] @ query, rtol=1e-6)
        found += len(set(rows.tolist()) & set(np.argsort(-(index.rows @ query))[:5].tolist()))
    assert found / 100 >= 0.8


@pytest.mark.parametrize("dtype", [INT16, INT8])
def test_many_vectors_are_compared_as_they_are_stored(tmp_path: Path, dtype: "np.dtype[np.integer]") -> None:
    """Cosines and looked-up rows are those of an index with all unit vectors in memory, which this one never has."""
    data = np.random.default_rng(0).standard_normal((5000, 64)).astype(np.float32)
    data[7] = 0
    arrays = FolderArrays(tmp_path)
    for name, exact_up_to in (("few", 5000), ("many", 1000)):
        write_vectors(arrays, name, quantize(data, dtype), exact_up_to)
    few, many = VectorIndex(arrays, "few"), VectorIndex(arrays, "many")
    assert (few.is_large, many.is_large) == (False, True)
    queries = dequantize(quantize(data[:3], INT16))
    for found, expected in zip(many.cosines(queries), few.cosines(queries), strict=True):
        np.testing.assert_allclose(found, expected, atol=0.01)  # by a byte of each number
        best = select_top(expected, MIN_RERANK // 2)
        np.testing.assert_allclose(found[best], expected[best], atol=1e-6)  # and exactly
        np.testing.assert_array_equal(select_top(found, len(best)), best)
    some = np.tile(np.arange(4999, -1, -1), 2)  # so many that pages are let go in between
    np.testing.assert_array_equal(many.get_vectors(some), few.rows[some])
    rows, _ = many.nearest(data[3], 4000)  # too many for the codes to choose
    np.testing.assert_array_equal(rows[:100], few.nearest(data[3], 4000)[0][:100])
    assert "rows" not in many.__dict__
    assert "_codes" not in many.__dict__, "they are read by the first search that needs them"


def test_codes_that_are_damaged_or_of_other_vectors_are_reported(tmp_path: Path) -> None:
    """Whether or not checksums are known."""
    query = vectors(tmp_path, 1000, exact_up_to=10).get_vectors(np.array([17]))[0]
    vectors(tmp_path / "other", 900, exact_up_to=10)
    codes = tmp_path / "v.codes"
    for wrong in (b"what" + codes.read_bytes()[4:], (tmp_path / "other" / "v.codes").read_bytes()):
        codes.write_bytes(wrong)
        with pytest.raises(IndexDamagedError, match=r"v\.codes is corrupted"):
            VectorIndex(FolderArrays(tmp_path), "v").nearest(query, 5)


@pytest.mark.parametrize("place", [4, 8, 9, 15, 60, -1])
def test_one_wrong_byte_of_the_codes_is_reported(tmp_path: Path, place: int) -> None:
    """Of the dimensions, of the number of rows, and of what is searched."""
    query = vectors(tmp_path, 1000, exact_up_to=10).get_vectors(np.array([17]))[0]
    codes, expected = tmp_path / "v.codes", FolderArrays(tmp_path).checksums()
    content = bytearray(codes.read_bytes())
    content[place] ^= 0x11
    codes.write_bytes(content)
    index = VectorIndex(FolderArrays(tmp_path, expected), "v")
    with pytest.raises(IndexDamagedError, match=r"v\.codes is corrupted"):
        index.nearest(query, 5)


def test_codes_are_searched_although_their_file_is_gone(tmp_path: Path) -> None:
    """The next generation removes it."""
    index = vectors(tmp_path, 5000, exact_up_to=1000)
    query = index.get_vectors(np.array([17]))[0]
    for file in list(tmp_path.iterdir()):
        file.unlink()
    assert index.nearest(query, 5)[0][0] == 17


@given(drawn.arrays(np.float32, (5, 16), elements=st.floats(-1, 1, width=32)))
def test_a_stored_vector_is_nearly_the_one_it_was(data: np.ndarray) -> None:  # type: ignore[type-arg]
    norms = np.linalg.norm(data, axis=1, keepdims=True)
    units = np.divide(data, norms, out=np.zeros_like(data), where=norms > 1e-6)
    stored = quantize(units)
    kept = dequantize(stored)
    assert np.abs(kept - units).max() < 0.02
    np.testing.assert_array_equal(quantize(kept), stored)  # and no further from it when it is stored again


class TestFolder(SourceContract):
    where = 'document in ("film", "actor", "city")'

    @pytest.fixture
    def source(self, world: Snapshot) -> Snapshot:
        return world

    @pytest.fixture
    def embedder(self, words: Embedder) -> Embedder:
        return words


class TestView(TestFolder):
    @pytest.fixture
    def source(self, world: Snapshot) -> Snapshot:
        return world.filter(parse('document != "other"'))


@pytest.fixture(scope="module")
def stored(world: Snapshot, tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """The small world, published as a large index is."""
    folder = tmp_path_factory.mktemp("large") / "generation"
    shutil.copytree(generation_folder(world.folder, world.manifest.generation), folder)
    arrays = FolderArrays(folder)
    world.passages.write_derived(arrays)
    world.entities.write_derived(arrays, world.passages.rows_by_title)
    return Snapshot.read(world.folder, world.manifest, arrays)


def test_names_passages_and_titles_have_the_same_numbers(world: Snapshot, stored: Snapshot) -> None:
    for derived, mapped in (
        (world.entities.numbers, stored.entities.numbers),
        (world.passages._rows, stored.passages._rows),
        (world.passages.rows_by_title, stored.passages.rows_by_title),
    ):
        assert isinstance(mapped, SortedNames)
        assert dict(mapped) == derived
        assert "no such name" not in mapped
    titled = (snapshot.entities.find_titled(snapshot.passages.rows_by_title) for snapshot in (world, stored))
    np.testing.assert_array_equal(*titled)


def same(one: "csr_array[np.float64]", two: "csr_array[np.float64]") -> None:
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(one, part), getattr(two, part))


def test_graphs_are_the_same(world: Snapshot, stored: Snapshot) -> None:
    same(stored.entities.weights(with_passages=True), world.entities.weights(with_passages=True))
    same(stored.entities.passages_by_entity, world.entities.passages_by_entity)
    np.testing.assert_array_equal(stored.entities.passage_counts, world.entities.passage_counts)
    np.testing.assert_array_equal(stored.entities.topics.of_passages, world.entities.topics.of_passages)


def test_walks_need_not_look_at_all_edges(world: Snapshot, stored: Snapshot, words: Embedder) -> None:
    """What they need of all nodes is stored, with the settings of `blend` and of `hipporag2`."""
    walks = [
        [HippoRAG2.over(snapshot, words), *blend(Context(snapshot, Settings(), words)).walks.values()]
        for snapshot in (world, stored)
    ]
    for derived, mapped in zip(*walks, strict=True):
        if isinstance(derived, HippoRAG | HippoRAG2):
            assert isinstance(mapped, HippoRAG | HippoRAG2)
            assert isinstance(mapped._open.leaving.base, np.memmap)
            np.testing.assert_array_equal(mapped._open.leaving, derived._open.leaving)
        if isinstance(derived, HippoRAG2):
            assert isinstance(mapped, HippoRAG2)
            assert isinstance(mapped._spread.base, np.memmap)
            np.testing.assert_array_equal(mapped._spread, derived._spread)


def test_the_default_search_finds_the_same(world: Snapshot, stored: Snapshot, words: Embedder) -> None:
    one, two = (blend(Context(snapshot, Settings(), words)) for snapshot in (world, stored))
    for passage in world.passages:
        query = f"What is {passage.title} known for?"
        assert one.retrieve(query) == two.retrieve(query)


def test_what_is_half_removed_is_derived(world: Snapshot, stored: Snapshot, tmp_path: Path) -> None:
    """The next generation removes the files of one that is open, in any order, while a question is answered."""
    assert isinstance(stored.arrays, FolderArrays)
    folder = shutil.copytree(stored.arrays.folder, tmp_path / "generation")
    opened = Snapshot.read(world.folder, world.manifest, FolderArrays(folder))
    for file in ("id_lookup.utf8", "entity_lookup.offsets.npy", "title_lookup.starts.npy", "walk_values.npy"):
        (folder / file).unlink()
    for file in (*folder.glob("walk_*_leaving.npy"), *folder.glob("entity_passages_*values.npy")):
        file.unlink()
    assert opened.passages.row("film") == world.passages.row("film")
    assert opened.passages.rows_by_title == world.passages.rows_by_title
    assert opened.entities.numbers == world.entities.numbers
    same(opened.entities.weights(with_passages=True), world.entities.weights(with_passages=True))
    same(opened.entities.passages_by_entity, world.entities.passages_by_entity)
    graphs = (snapshot.entities.open_graph(MIN_COSINE, 30) for snapshot in (opened, world))
    np.testing.assert_array_equal(*(graph.leaving for graph in graphs))


GERMAN = "Die Städte heizen ihre Häuser im Winter mit Fernwärme, und die Bürger bezahlen dafür eine Gebühr."
RUSSIAN = "Москва́ является столицей страны, и в её домах живут миллионы жителей, которые ездят на метро."
CHINESE = "防火墙是一种网络安全系统，监控并控制进出网络的流量。"
JAPANESE = "ファイアウォールはネットワークを守る。設定は管理者が行う。"
KOREAN = "방화벽은 네트워크를 보호한다."
THAI = "ไฟร์วอลล์ช่วยป้องกันเครือข่าย"
ENGLISH_TEXTS = ["the old bridge", "bridges of Kraków", "a river", ""]
CORPUS = [*ENGLISH_TEXTS, GERMAN, RUSSIAN, CHINESE, JAPANESE, KOREAN, THAI]


def index_of(texts: list[str]) -> TermIndex:
    write_terms(arrays := MemoryArrays(), texts, pack_keys(map(hash_texts, texts)), lambda row: stemmer_for(texts[row]))
    return TermIndex(arrays)


@pytest.fixture(scope="module")
def terms() -> TermIndex:
    return index_of(CORPUS)


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("bridge", ENGLISH_TEXTS[:2]),  # stemmed
        ('text:bridge AND (NOT "', ENGLISH_TEXTS[:2]),  # no question is a syntax error
        *(("\"(':*^~", []), ("volcano", []), ("", [])),
        *(("防火墙", [CHINESE]), ("什么是防火墙？", [CHINESE]), ("墙", [CHINESE]), ("管理者", [JAPANESE])),
        ("ﾌｧｲｱｳｫｰﾙ", [JAPANESE]),  # of half width
        ("방화벽", [KOREAN]),  # without the particle
        ("เครือข่าย", [THAI]),
        ("krakow", [ENGLISH_TEXTS[1]]),
        ("Krako\u0301w", [ENGLISH_TEXTS[1]]),  # decomposed
        *(("haus", [GERMAN]), ("stadt", [GERMAN]), ("москва", [RUSSIAN]), ("жителя", [RUSSIAN])),
    ],
)
def test_a_query_finds_the_texts_that_have_a_word_of_it(terms: TermIndex, query: str, texts: list[str]) -> None:
    assert [CORPUS[row] for row in sorted(terms.search(query, len(CORPUS))[0].tolist())] == texts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "strasse"),
        ("ﬁne cœur", "fine coeur"),
        ("İstanbul ısı", "istanbul isi"),
        ("ё Ά שָׁלוֹם مَغرِب", "е α שלום مغرب"),
    ],
)
def test_spellings_that_are_one_word(one: str, other: str) -> None:
    assert text_words(one) == text_words(other) == query_words(other)


def test_letters_of_their_own_are_not_folded() -> None:
    assert text_words("йод їх हिन्दी") == ["йод", "їх", "हिन्दी"]


letters = st.characters(categories=["L"], exclude_characters="\u0640")  # which only stretches Arabic words
any_word = st.one_of(
    st.text(letters, min_size=1, max_size=40),
    st.sampled_from(["防火墙", "ネットワーク", "방화벽", "पाठ्यक्रम", "გამარჯობა", "ความปลอดภัย", "Gebühren", "société"]),
)


@settings(max_examples=examples(100), deadline=None)
@given(word=any_word, around=st.sampled_from(["", *CORPUS]))
def test_a_word_of_any_script_finds_the_passage_it_is_in(word: str, around: str) -> None:
    terms = index_of([f"{around} {word}. {around}", GERMAN, RUSSIAN])
    assert 0 in terms.search(word, 3)[0].tolist()


def test_english_words_are_those_of_the_plain_english_analyzer() -> None:
    """Published figures were measured with it."""
    import tantivy

    plain = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.lowercase())
    plain = plain.filter(tantivy.Filter.ascii_fold()).filter(tantivy.Filter.stemmer("english")).build()
    for passage in toy.passages():
        assert stemmer_for(passage.text) == ENGLISH
        assert text_words(passage.term_text) == plain.analyze(passage.term_text)


def test_other_languages_do_not_change_english_ranks() -> None:
    alone, mixed = index_of(ENGLISH_TEXTS), index_of(CORPUS)
    for query in ("old bridges", "the river of Krakow"):
        assert mixed.search(query, 10)[0].tolist() == alone.search(query, 10)[0].tolist()


def test_a_name_is_as_rare_in_one_language_as_in_all() -> None:
    """Thomas is *thoma* in English passages and *thomas* in the only German one."""
    english = [f"Thomas is a man in the town who has a house and a garden and {row} dogs." for row in range(30)]
    terms = index_of([*english, GERMAN.replace("Bürger", "Thomas"), *["The river."] * 30])
    rows, scores = terms.search("Thomas", 100)
    assert len(rows) == 31
    assert scores.max() < 1.3 * scores.min()


def test_an_index_of_many_languages(tmp_path: Path, words: Embedder) -> None:
    documents = [Document(id=str(row), text=text) for row, text in enumerate(CORPUS) if text]
    IndexBuilder(folder=tmp_path, embedder=words).build(documents)
    bm25 = BM25.over_passages(Snapshot.open(tmp_path))
    assert bm25.passages
    assert bm25.passages[bm25.retrieve("防火墙").ids[0]].text == CHINESE
