"""The part of a passage that is shown: around what matches, wherever that is; of nearly the same texts only one."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from small_world import WordEmbedder
from triplebeam.answer import Answer
from triplebeam.assemble import Index, context_of, open_index
from triplebeam.explain.explanation import find_stemmers
from triplebeam.explain.passages import first_alike
from triplebeam.explain.snippet import WIDTH, Snippet, fill_paragraphs, snippet, split_blocks
from triplebeam.index.build.build import IndexBuilder
from triplebeam.passage import Document, Passage
from triplebeam.ranking import Ranking
from triplebeam.serve.answer_shapes import answer_json
from triplebeam.serve.cli.search import show_passages
from triplebeam.text import terms as words
from triplebeam.text.terms import stemmer_for
from triplebeam.triple import Triple

FILLER = [
    "The harbour of Wendelow was dug by hand, and the work took eleven summers.",
    "Most of the earth went into the dike on the north side, where sheep graze today.",
    "A tavern at the lock sold beer to the diggers, who were paid on Saturdays.",
    "The first ships brought timber from the other side of the bay, later also grain.",
    "In hard winters the basin froze, and the boys of the town skated under the bridges.",
]
ANSWERS = {
    "Who designed the lighthouse of Wendelow?": "Its lighthouse was designed by Irma Kroll, an engineer.",
    "When did the last ferry leave?": "The ferries ran until 1961, when the last one left for good.",
    "How high is the crane?": "Visitors climb the crane, 31 metres high, by a stair inside.",
}
CODE = "host maple {\n    address 10.0.0.7\n    role    mirror\n}"


def shown(text: str, question: str, *facts: Triple, title: str = "", section: str = "") -> str:
    return snippet(Passage("p", text, title, section=section), question, facts).text


@pytest.mark.parametrize("question", ANSWERS)
@pytest.mark.parametrize("place", range(len(FILLER) + 1))
def test_the_answer_is_shown_wherever_it_is(question: str, place: int) -> None:
    sentences = [*FILLER[:place], ANSWERS[question], *FILLER[place:]]
    text = shown(" ".join(sentences), question)
    assert ANSWERS[question] in text
    assert len(text) <= WIDTH + 4
    assert text.startswith("… ") is (place > 0 and not text.startswith(FILLER[0]))


def test_without_a_match_the_passage_is_shown_from_its_beginning() -> None:
    assert shown(" ".join(FILLER), "quartz?").startswith(FILLER[0])
    assert shown(" ".join(FILLER), "quartz?").endswith(" …")


def test_the_fact_that_led_there_counts_as_the_question_does() -> None:
    text = " ".join([*FILLER, "Anna Bruhn kept the lock for forty years."])
    assert "Anna Bruhn" not in shown(text, "Whose sister moved away?")
    assert "Anna Bruhn" in shown(text, "Whose sister moved away?", Triple("Anna Bruhn", "kept", "lock"))


def highlighted(found: Snippet) -> list[str]:
    return [found.text[start:end] for start, end in found.highlights]


LID = "The lid (i.e. a cover) you should close in mode B; about 4 of us do so."
GERMAN = {
    "ascii": "Die Schulen der Stadt liegen neben den Parks, in denen die Kinder am Nachmittag spielen und lernen.",
    "umlauts": "Die Häuser stehen neben den neuen Schulen, die der Bürgermeister im Herbst eröffnete.",
}
RUSSIAN = "Летом в Москве открылась большая выставка, на которую приехали гости из многих городов."


@pytest.mark.parametrize(
    ("text", "question", "marked"),
    [
        ("The cafés of Brno are closed.", "Which café in brno closes?", ["cafés", "Brno", "closed"]),
        ("It was Irma Kroll who drew it.", "Irma Kroll", ["Irma Kroll"]),
        (LID, "How do I close it?", ["close"]),
        (LID, "Can you or I close the lid in mode A?", ["lid", "close", "mode"]),
        (LID, "What should we do about them?", ["should", "about"]),  # where there are no others
        (GERMAN["umlauts"], "Schule", ["Schulen"]),
        (RUSSIAN, "Москва", ["Москве"]),
        ("她家里的猫咪很喜欢在阳光下睡觉。", "猫", ["猫"]),
    ],
)
def test_words_are_marked_folded_and_stemmed_in_the_passages_language_and_function_words_are_not(
    text: str, question: str, marked: list[str]
) -> None:
    assert highlighted(snippet(Passage("p", text), question, stemmer=stemmer_for(text))) == marked


def test_scripts_without_spaces_are_matched_within_a_line() -> None:
    weather = "今天天气很好。" * 60
    found = snippet(Passage("p", f"{weather}防火墙在这里设置。{weather}"), "如何设置防火墙")
    assert "防火墙在这里设置。" in found.text
    assert "防火墙" in highlighted(found)


def test_the_language_of_a_passage_is_the_one_it_was_indexed_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = Index(tmp_path / "small.index", embedder=WordEmbedder())
    index.add_documents([{"id": id_, "text": text} for id_, text in GERMAN.items()], extractor="none")
    monkeypatch.setattr(words, "detect_foreign_language", pytest.fail)
    shown = index.search("Schule", method="bm25")
    assert [each.stemmer for each in shown] == ["german", "german"]
    assert [highlighted(each.snippet) for each in shown] == [["Schulen"], ["Schulen"]]
    assert shown.remark == ""
    assert index.search("Quarz", method="hybrid").remark
    answer = Answer(question="Schule", text="", ranking=Ranking.from_scores({"ascii": 1.0}))
    stemmers = find_stemmers(context_of(index).source, ["ascii"])
    [passage] = answer_json(answer, index.passages, stemmers=stemmers)["passages"]
    assert passage["snippet"]["highlights"] == [(4, 11)]


def test_code_keeps_its_lines() -> None:
    text = shown(f"{FILLER[0]} Its configuration is short:\n\n{CODE}\n\n{FILLER[1]}", "What is the address of maple?")
    assert f"\n\n{CODE}\n\n" in text


def test_a_long_table_is_cut_between_its_rows() -> None:
    rows = [f"--option-{number} | does thing {number}" for number in range(60)]
    text = shown("Options\n\n" + "\n".join(rows), "What does option-41 do?")
    assert set(text.split("\n")) - {"…"} <= set(rows)
    assert rows[41] in text
    assert text.startswith("…\n")
    assert text.endswith("\n…")


def test_what_the_heading_says_is_not_said_again() -> None:
    text = f"Harbour\n\nHistory\n\n{FILLER[0]}"
    assert shown(text, "harbour", title="Harbour", section="History") == FILLER[0]
    assert shown("Harbour", "harbour", title="Harbour") == "Harbour"


def test_a_sentence_longer_than_a_snippet_is_cut_between_words() -> None:
    text = " ".join(["word"] * 200 + ["needle"] + ["word"] * 200)
    found = shown(text, "needle")
    assert "needle" in found
    assert len(found) <= WIDTH + 4
    assert set(found.split()) == {"word", "needle", "…"}


@given(st.text(alphabet="ab c.\n|\t河😀", max_size=700), st.text(alphabet="ab c河", max_size=20))
def test_any_text_has_a_snippet_whose_highlights_are_within_it(text: str, question: str) -> None:
    found = snippet(Passage("p", text), question)
    assert len(found.text) <= WIDTH + 60
    places = [place for span in found.highlights for place in span]
    assert places == sorted(places)
    assert not places or (places[0] >= 0 and places[-1] <= len(found.text))
    assert bool(found.text) is bool(text.strip())


@given(st.text(alphabet="ab \n|\t", max_size=300))
def test_blocks_hold_every_letter_and_filling_moves_none(text: str) -> None:
    inside = "".join(text[block.start : block.end] for block in split_blocks(text))
    assert "".join(inside.split()) == "".join(text.split())
    assert fill_paragraphs(text).split() == text.split()
    assert len(fill_paragraphs(text)) == len(text)


NOTE = "Quorum queues have initial support in this release. See the guide for details and for known limits of quorums."


@pytest.mark.parametrize(
    ("texts", "alike"),
    [
        ([NOTE, NOTE.upper().replace(".", " !"), "Something else."], [None, 0, None]),
        (["Other.", NOTE, NOTE, NOTE], [None, None, 1, 1]),
        ([f"{NOTE} But classic queues are faster for most uses.", NOTE], [None, None]),
        (["Yes", "yes.", "no", ""], [None, 0, None, None]),
        ([], []),
    ],
)
def test_texts_are_alike_if_nine_tenths_of_their_runs_of_words_are(texts: list[str], alike: list[int | None]) -> None:
    assert first_alike(texts) == alike


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder: Path = tmp_path_factory.mktemp("notes") / "my.index"
    texts = {f"release-{number}": NOTE for number in range(3)} | {"guide": "A guide to quorum queues and streams."}
    documents = [Document(id=id_, title=id_, text=text, is_passage=True) for id_, text in texts.items()]
    IndexBuilder(folder=folder, embedder=WordEmbedder()).build(documents)
    return open_index(folder, embedder=WordEmbedder())


def show(index: Index, capsys: pytest.CaptureFixture[str], *, as_json: bool) -> str:
    results = index.search("quorum queues initial support", method="bm25", k=4)
    show_passages(index, results, explain=False, as_json=as_json)
    return capsys.readouterr().out


def test_people_see_one_of_them_and_how_many_more_there_are(notes: Index, capsys: pytest.CaptureFixture[str]) -> None:
    shown = show(notes, capsys, as_json=False)
    assert shown.count("initial support") == 1
    assert "and 2 more like it" in shown
    assert " 4. guide" in shown


def test_programs_see_all_of_them(notes: Index, capsys: pytest.CaptureFixture[str]) -> None:
    passages = json.loads(show(notes, capsys, as_json=True))["passages"]
    first, *others, guide = passages
    assert [each.get("like") for each in others] == [first["id"]] * 2
    assert "like" not in first
    assert "like" not in guide
    assert len(notes.search("quorum queues initial support", method="bm25", k=4)) == 4
