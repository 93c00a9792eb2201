"""The term index: words of every script are found, accents do not matter, English is what it was."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trials import examples
from triplebeam.embed.embedder import Embedder
from triplebeam.index.arrays.array_set import MemoryArrays
from triplebeam.index.arrays.rows import hash_texts, pack_keys
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.folder.terms import TermIndex, write_terms
from triplebeam.passage import Document
from triplebeam.retrieve.bases import BM25
from triplebeam.testing import toy
from triplebeam.text.terms import ENGLISH, query_words, stemmer_for, text_words

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
