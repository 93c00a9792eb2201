"""Published formats: what is refused, with file, row and field."""

import gzip
import json
from pathlib import Path

import pytest

from triplebeam.errors import BadInputError
from triplebeam_research.datasets import read_dataset

PARAGRAPH = {"title": "Elm", "paragraph_text": "A town.", "is_supporting": True}
MUSIQUE = {"id": "2hop__1", "question": "What is Elm?", "paragraphs": [PARAGRAPH], "answer": "a town"}
HOTPOT = {
    "_id": "h1",
    "question": "?",
    "answer": "!",
    "supporting_facts": [["Elm", 0]],
    "context": [["Elm", ["Town."]]],
}
IIRC = {"title": "Elm", "text": "A town.", "links": [], "questions": []}
QUALITY = {"article_id": "1", "article": "Text.", "questions": [{"question": "?", "options": ["a"], "gold_label": 1}]}


def refuse(name: str, sources: list[Path], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        read_dataset(name, sources)


def without(row: dict[str, object], name: str) -> dict[str, object]:
    return {key: value for key, value in row.items() if key != name}


@pytest.mark.parametrize(
    ("name", "row", "message"),
    [
        ("musique", without(MUSIQUE, "id"), "row 2 has no 'id'"),
        ("musique", without(MUSIQUE, "question"), "row 2 has no 'question'"),
        ("musique", MUSIQUE | {"question": " "}, "row 2 has no 'question'"),
        ("musique", MUSIQUE | {"question": ["?"]}, "row 2 has a 'question' that is not a text"),
        ("musique", without(MUSIQUE, "paragraphs"), "row 2 has no 'paragraphs'"),
        ("musique", MUSIQUE | {"paragraphs": {}}, "row 2 has a 'paragraphs' that is not a list"),
        ("musique", MUSIQUE | {"paragraphs": ["text"]}, "row 2, paragraphs 1 is not a JSON object"),
        ("musique", MUSIQUE | {"paragraphs": [{"title": "Elm"}]}, "row 2, paragraphs 1 has no 'paragraph_text'"),
        (
            "musique",
            MUSIQUE | {"paragraphs": [{"title": "", "text": "", "is_supporting": True}]},
            "row 2 has a gold paragraph without text",
        ),
        ("musique", MUSIQUE | {"answer_aliases": [["a"]]}, "row 2 has a 'answer_aliases' that is not a list of texts"),
        (
            "musique",
            MUSIQUE | {"question": "Another?"},
            "row 2: the id '2hop__1' belongs to another question in .*row 1",
        ),
        ("musique", ["row"], "row 2 is not a JSON object"),
        ("hotpotqa", without(HOTPOT, "context"), "row 2 has no 'context'"),
        ("hotpotqa", HOTPOT | {"context": ["Elm"]}, "row 2 has something in 'context' that is not a pair"),
        ("hotpotqa", HOTPOT | {"context": [["Elm", "Town."]]}, "row 2 has a paragraph that is not a list of sentences"),
        ("hotpotqa", HOTPOT | {"supporting_facts": [["Oak", 0]]}, "row 2 names the supporting title 'Oak'"),
        ("2wikimultihopqa", without(HOTPOT, "_id"), "row 2 has no '_id' or 'id'"),
        ("ircot", without(MUSIQUE, "paragraphs"), "row 2 has no 'contexts' or 'paragraphs'"),
        ("quality", without(QUALITY, "article"), "row 2 has no 'article'"),
        ("quality", QUALITY | {"questions": [{"question": "?", "options": ["a"], "gold_label": 2}]}, "the label 2"),
        ("hipporag", MUSIQUE, "the corpus of .* is neither named nor at .*file_corpus.json"),
    ],
)
def test_a_row_of_another_format_is_reported_with_its_place(
    tmp_path: Path, name: str, row: object, message: str
) -> None:
    first = {"musique": MUSIQUE, "hotpotqa": HOTPOT, "2wikimultihopqa": HOTPOT, "quality": QUALITY}.get(name, MUSIQUE)
    path = tmp_path / "file.json"
    path.write_text(json.dumps([first, row]))
    refuse(name, [path], message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"[]", "no question can be measured in .* \\(no rows\\)"),
        (b"nothing", "row 1 is not JSON"),
        (b'{"id": 1', "row 1 is not JSON"),
        (
            json.dumps([MUSIQUE, MUSIQUE]).replace('}, {"id', '} {"id').encode(),
            "row 2 is not JSON: after array element, I expect ','",
        ),
        (json.dumps([MUSIQUE])[:-1].encode(), "row 2 is not JSON"),
        (json.dumps(MUSIQUE | {"id": "é"}, ensure_ascii=False).encode("latin-1"), "cannot be read: .*utf-8"),
        (json.dumps(MUSIQUE | {"answerable": False}).encode(), r"no question .* \(1 marked unanswerable\)"),
    ],
)
def test_a_file_that_holds_nothing_to_read(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "musique.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadInputError, match=message) as refused:
        read_dataset("musique", [path])
    assert str(path) in str(refused.value)


def test_a_file_that_cannot_be_opened_or_is_cut(tmp_path: Path) -> None:
    refuse("musique", [tmp_path / "gone.jsonl"], r"gone.jsonl cannot be read: No such file")
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(json.dumps([MUSIQUE] * 50).encode())[:-9])
    refuse("musique", [cut], r"cut.jsonl.gz cannot be read")


def test_an_unknown_format_is_reported_with_the_nearest() -> None:
    refuse("musik", [], "no format 'musik' \\(did you mean 'musique'\\?\\); known are musique, ")
    refuse("iirc", [], r"there is no SOURCE: iirc is read from train.json")


def test_iirc_needs_its_articles(tmp_path: Path) -> None:
    dev = tmp_path / "dev.json"
    dev.write_text(json.dumps([IIRC]))
    refuse("iirc", [dev], "1 files of questions and 0 of articles")
    articles = tmp_path / "context_articles.json"
    articles.write_text('{"elm": {"text": "A town."}}')
    refuse("iirc", [dev, articles], "the article 'elm' is not a text")
    question = {"question": "?", "context": []}
    for wrong, message in (({}, "has no 'answer', a JSON object"), ({"answer": {"type": "guess"}}, "the type 'guess'")):
        dev.write_text(json.dumps([IIRC | {"questions": [question | wrong]}]))
        articles.write_text("{}")
        refuse("iirc", [dev, articles], f"row 1, questions 1.* {message}")
    articles.write_text('{"elm": "A town.", "oak" "A tree."}')
    refuse("iirc", [dev, articles], r"what follows the member 'elm' is not JSON: .* separated by a colon")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "row 1 has no column 'Question'"),
        ("Question,Reply\nWho?,Ann\n", "row 1 has no column 'Answer'"),
        ("Question,Answer\nWho?,Ann\nWhen?\n", "row 3 has no 'Answer'"),
    ],
)
def test_bamboogle_is_a_table(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "bamboogle.csv"
    path.write_text(content)
    refuse("bamboogle", [path], message)


def test_gold_that_is_not_in_the_corpus(tmp_path: Path) -> None:
    (tmp_path / "m_corpus.json").write_text('[{"title": "Elm", "text": "Another text."}]')
    (tmp_path / "m.json").write_text(json.dumps([MUSIQUE]))
    refuse("hipporag", [tmp_path / "m.json"], r"the gold passage 'Elm#.*' of question '2hop__1' is not in the corpus")
    refuse("hipporag", [tmp_path / "m_corpus.json"], "there are no questions among")


def beir(folder: Path, qrels: str, split: str = "test") -> Path:
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "title": "Elm", "text": "A town."}\n')
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "What is Elm?"}\n')
    (folder / "qrels" / f"{split}.tsv").write_text(qrels)
    return folder


HEADER = "query-id\tcorpus-id\tscore\n"


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        ("", "names no relevant passage"),
        (HEADER + "q1\td1\t0\n", "names no relevant passage"),
        ("q1\td1\t1\n", "row 1 is not the header"),
        (HEADER + "q1 d1 1\n", "row 2 is not query-id, corpus-id and a score"),
        (HEADER + "q9\td1\t1\nq1\td1\t1\n", "judges the query 'q9'"),
        (HEADER + "q1\td9\t1\n", "the gold passage 'd9' of question 'q1' is not in the corpus"),
    ],
)
def test_beir_judgements(tmp_path: Path, qrels: str, message: str) -> None:
    refuse("beir", [beir(tmp_path, qrels)], message)


def test_beir_folders(tmp_path: Path) -> None:
    refuse("beir", [tmp_path], r"no BEIR folder: it has no qrels")
    refuse("beir", [tmp_path, tmp_path], "2 sources are named")
    folder = beir(beir(tmp_path / "two", HEADER), HEADER + "q1\td1\t1\n", "dev")
    refuse("beir", [folder], r"several splits: name one of .*dev.tsv, .*test.tsv")
    (folder / "corpus.jsonl").unlink()
    refuse("beir", [folder / "qrels" / "dev.tsv"], r"it has no corpus.jsonl")


def test_the_projects_own_layout(tmp_path: Path) -> None:
    refuse("triplebeam", [tmp_path], "there are no questions")
    (tmp_path / "questions.jsonl").write_text('{"id": "q", "question": "?", "gold": ["d"]}')
    refuse("triplebeam", [tmp_path], "the gold passage 'd' of question 'q' is not in the corpus")
    refuse(
        "triplebeam",
        [tmp_path / "questions.jsonl", tmp_path / "corpus.gone.jsonl"],
        r"corpus.gone.jsonl cannot be read",
    )
    (tmp_path / "corpus.jsonl").write_text('{"id": "d", "text": ""}')
    refuse("triplebeam", [tmp_path], r"corpus.jsonl, row 1 is no passage")
