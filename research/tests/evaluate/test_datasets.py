"""Published formats: what a row of each becomes.

`triplebeam dataset`: what it writes, what `index` and `bench` read of it, and what it refuses.

Values read one after another are those that the whole file holds; a damaged one is named by its place.
"""

import csv
import gzip
import json
from pathlib import Path
from typing import TypeAlias

import pytest
import typer
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question, SubQuestion, find_gold, read_questions
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.ingest import read_sources
from triplebeam.passage import Document
from triplebeam_research.commands.dataset import dataset
from triplebeam_research.datasets import Dataset, read_dataset, rows, write_dataset
from triplebeam_research.training.trainer import read_decompositions

LAKE = {"title": "Mirror Lake", "paragraph_text": "Mirror Lake lies north of Elm.", "idx": 0, "is_supporting": True}
ELM = {"title": "Elm", "paragraph_text": "Elm was founded by Ann Moss.", "idx": 1, "is_supporting": True}
ELM_TRADE = {"title": "Elm", "paragraph_text": "Elm trades in salt.", "idx": 2, "is_supporting": False}
MUSIQUE = {
    "id": "2hop__1_2",
    "paragraphs": [LAKE, ELM, ELM_TRADE],
    "question": "Who founded the town south of Mirror Lake?",
    "question_decomposition": [{"id": 1, "question": "?", "answer": "Elm", "paragraph_support_idx": 0}],
    "answer": "Ann Moss",
    "answer_aliases": ["A. Moss", "Ann Moss"],
    "answerable": True,
}
HOTPOT = {
    "_id": "h1",
    "question": "Who founded the town south of Mirror Lake?",
    "answer": "Ann Moss",
    "type": "bridge",
    "level": "hard",
    "supporting_facts": [["Elm", 0], ["Mirror Lake", 0], ["Elm", 1]],
    "context": [
        ["Mirror Lake", ["Mirror Lake lies north of Elm.", " It is deep."]],
        ["Elm", ["Elm was founded by Ann Moss.", " It trades in salt."]],
        ["Oak", ["Oak is a tree."]],
    ],
}
TWO_WIKI = HOTPOT | {
    "_id": "w1",
    "type": "compositional",
    "context": [
        ["Mirror Lake", ["Mirror Lake lies north of Elm.", "It is deep."]],
        ["Elm", ["Elm was founded by Ann Moss."]],
    ],
    "evidences": [["Elm", "founded by", "Ann Moss"]],
    "evidences_id": [["Q2", "founded by", "Q7"]],
    "answer_id": "Q7",
}
IRCOT = {
    "question_id": "3hop1__1_2_3",
    "question_text": "Who founded the town south of Mirror Lake?",
    "answers_objects": [{"number": "", "date": {"day": "", "month": "", "year": ""}, "spans": ["Ann Moss"]}],
    "contexts": [LAKE, ELM],
}


def write(path: Path, content: object, lines: bool = False) -> Path:
    """Return a file of JSON, or of JSON lines; gzipped where its name says so."""
    rows = content if lines and isinstance(content, list) else [content]
    data = "\n".join(json.dumps(row) for row in rows).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def documents(dataset: Dataset) -> dict[str, Document]:
    """By title and text; the documents can be read more than once."""
    found = {f"{document.title}: {document.text}": document for document in dataset.documents}
    assert len(found) == len(list(dataset.documents))
    return found


def gold_titles(dataset: Dataset, number: int = 0) -> list[str]:
    titles = {document.id: document.title for document in dataset.documents}
    return [titles[passage_id] for passage_id in dataset.questions[number].gold]


@pytest.mark.parametrize("name", ["musique_ans_v1.0_dev.jsonl", "musique_ans_v1.0_dev.jsonl.gz"])
def test_musique(tmp_path: Path, name: str) -> None:
    other = MUSIQUE | {"id": "4hop3__5", "question": "What does Elm trade in?", "paragraphs": [ELM, ELM_TRADE]}
    unanswerable = MUSIQUE | {"answerable": False, "paragraphs": [LAKE]}
    dataset = read_dataset("musique", [write(tmp_path / name, [MUSIQUE, unanswerable, other], lines=True)])

    found = documents(dataset)
    assert list(found) == [
        "Mirror Lake: Mirror Lake lies north of Elm.",
        "Elm: Elm was founded by Ann Moss.",
        "Elm: Elm trades in salt.",
    ]
    assert all(document.is_passage for document in found.values())
    first, second = dataset.questions
    assert first == Question(
        id="2hop__1_2",
        question="Who founded the town south of Mirror Lake?",
        gold=tuple(document.id for document in list(found.values())[:2]),
        answers=("Ann Moss", "A. Moss"),
        hops=2,
        type="2hop",
        decomposition=(SubQuestion(question="?", answer="Elm", gold=next(iter(found.values())).id),),
    )
    assert (second.hops, second.type) == (4, "4hop3")
    assert dataset.left_out == {"marked unanswerable": 1}


def test_sub_questions_are_written_so_that_training_finds_them(tmp_path: Path) -> None:
    steps = [
        {"id": 1, "question": "Which town is south of Mirror Lake?", "answer": "Elm", "paragraph_support_idx": 0},
        {"id": 2, "question": "Who founded #1 ?", "answer": "Ann Moss", "paragraph_support_idx": 1},
        {"id": 3, "question": "Is that so?", "answer": "yes", "paragraph_support_idx": None},
    ]
    official = write(tmp_path / "dev.jsonl", MUSIQUE | {"question_decomposition": steps})
    dataset = read_dataset("musique", [official])
    write_dataset(dataset, tmp_path / "out")
    [found] = read_decompositions(tmp_path / "out" / "questions.jsonl").values()
    assert [step.question for step in found] == [
        "Which town is south of Mirror Lake?",
        "Who founded Elm ?",
        "Is that so?",
    ]
    assert [step.gold for step in found] == [*dataset.questions[0].gold, ""]


def test_a_sub_question_of_a_paragraph_that_is_not_there(tmp_path: Path) -> None:
    step = {"question": "?", "answer": "Elm", "paragraph_support_idx": 3}
    with pytest.raises(BadInputError, match="names the paragraph 3, and there are 3"):
        read_dataset("musique", [write(tmp_path / "dev.jsonl", MUSIQUE | {"question_decomposition": [step]})])


def test_evidences_are_kept_and_asked_for(tmp_path: Path) -> None:
    evidences = [["Elm", "founded by", "Ann Moss"], ["Ann Moss", "date of birth", "1671"]]
    dataset = read_dataset("2wikimultihopqa", [write(tmp_path / "dev.json", [TWO_WIKI | {"evidences": evidences}])])
    [question] = dataset.questions
    assert question.evidences == tuple(map(tuple, evidences))
    elm = next(id_ for id_ in question.gold if id_.startswith("Elm#"))
    assert question.decomposition == (
        SubQuestion(question="What is the founded by of Elm?", answer="Ann Moss", gold=elm),
        SubQuestion(question="What is the date of birth of Ann Moss?", answer="1671"),
    )
    write_dataset(dataset, tmp_path / "out")
    [read] = read_questions(tmp_path / "out" / "questions.jsonl")
    assert read.evidences == question.evidences
    bad = write(tmp_path / "bad.json", [TWO_WIKI | {"evidences": [["Elm", "founded by"]]}])
    with pytest.raises(BadInputError, match="'evidences' that is not a triple"):
        read_dataset("2wikimultihopqa", [bad])


def test_a_test_split_gives_paragraphs_and_no_questions(tmp_path: Path) -> None:
    paragraph = {"idx": 0, "title": "Oak", "paragraph_text": "Oak is a tree."}
    hidden = {"id": "2hop__9", "question": "What is Oak?", "paragraphs": [paragraph]}
    files = [write(tmp_path / "dev.jsonl", MUSIQUE), write(tmp_path / "test.jsonl", hidden)]
    dataset = read_dataset("musique", files)
    assert [question.id for question in dataset.questions] == ["2hop__1_2"]
    assert "Oak: Oak is a tree." in documents(dataset)
    assert dataset.left_out == {"without published answer or gold passages": 1}


def test_an_id_does_not_depend_on_the_files_read_together_nor_on_white_space(tmp_path: Path) -> None:
    spaced = ELM | {"title": " Elm", "paragraph_text": "Elm was founded  by Ann Moss.\n"}
    row = MUSIQUE | {"id": "2hop__8", "question": "Who?", "paragraphs": [ELM_TRADE, spaced]}
    one = read_dataset("musique", [write(tmp_path / "one.jsonl", row)])
    both = read_dataset("musique", [write(tmp_path / "two.jsonl", MUSIQUE), tmp_path / "one.jsonl"])
    assert len(list(both.documents)) == 3
    assert {document.id for document in one.documents} < {document.id for document in both.documents}
    assert all(document.id.rpartition("#")[0] == document.title for document in both.documents)


def test_a_repeated_question_counts_once(tmp_path: Path) -> None:
    again = MUSIQUE | {"id": "2hop__again"}
    dataset = read_dataset("musique", [write(tmp_path / "dev.jsonl", [MUSIQUE, again], lines=True)])
    assert [question.id for question in dataset.questions] == ["2hop__1_2"]
    assert dataset.left_out == {"repeated": 1}


def test_hotpotqa(tmp_path: Path) -> None:
    dataset = read_dataset("hotpotqa", [write(tmp_path / "hotpot_dev_distractor_v1.json", [HOTPOT])])
    assert list(documents(dataset)) == [
        "Mirror Lake: Mirror Lake lies north of Elm. It is deep.",
        "Elm: Elm was founded by Ann Moss. It trades in salt.",
        "Oak: Oak is a tree.",
    ]
    question = dataset.questions[0]
    assert (question.id, question.answers, question.hops, question.type) == ("h1", ("Ann Moss",), 2, "bridge")
    assert gold_titles(dataset) == ["Mirror Lake", "Elm"]


def test_two_wiki_with_and_without_aliases(tmp_path: Path) -> None:
    dev = write(tmp_path / "dev.json", [TWO_WIKI, TWO_WIKI | {"_id": "w2", "question": "Which?", "answer_id": None}])
    aliases = write(tmp_path / "id_aliases.json", {"Q_id": "Q7", "aliases": ["A. M."], "demonyms": ["Mossian"]})
    dataset = read_dataset("2wikimultihopqa", [dev])
    assert "Mirror Lake: Mirror Lake lies north of Elm. It is deep." in documents(dataset)
    assert [question.answers for question in dataset.questions] == [("Ann Moss",), ("Ann Moss",)]
    assert dataset.questions[0].type == "compositional"
    richer = read_dataset("2wikimultihopqa", [aliases, dev])
    assert [question.answers for question in richer.questions] == [("Ann Moss", "A. M.", "Mossian"), ("Ann Moss",)]


def test_iirc(tmp_path: Path) -> None:
    evidence = [
        {"passage": "main", "text": "near Elm"},
        {"passage": "Elm", "text": "founded by  Ann Moss"},
        {"passage": "elm", "text": "in 1700 trades salt and wool from the hills, mostly"},
    ]
    spans = {"type": "span", "answer_spans": [{"text": "Ann Moss"}, {"text": "Bob Reed"}]}
    value = {"type": "value", "answer_value": "1700", "answer_unit": "years"}
    binary = {"type": "binary", "answer_value": "yes"}
    passage = {
        "pid": "p1",
        "title": "Mirror Lake",
        "text": "Mirror Lake lies near Elm.",
        "links": [{"target": "Elm", "indices": [22, 25]}],
        "questions": [
            {
                "qid": "q1",
                "question": "Who founded it?",
                "answer": spans,
                "question_links": ["Elm"],
                "context": evidence,
            },
            {"qid": "q2", "question": "How old?", "answer": value, "question_links": [], "context": evidence[:1]},
            {"question": "Is it old?", "answer": binary, "question_links": [], "context": evidence[:1]},
            {"qid": "q4", "question": "Why?", "answer": {"type": "none"}, "question_links": [], "context": []},
            {"qid": "q5", "question": "Who?", "answer": binary, "context": [{"passage": "Oak", "text": "a tree"}]},
        ],
    }
    founded = 'Elm is a town that was founded by <a href="Ann%20Moss">Ann Moss</a> in a year of rain &amp; snow.'
    trade = "Since 1700 it trades mostly in salt and wool from the hills around it."
    articles = {"elm": f"Elm\n{founded}\n{trade}\n", "ash": "A short line."}
    files = [write(tmp_path / "context_articles.json", articles), write(tmp_path / "dev.json", [passage])]
    dataset = read_dataset("iirc", files)

    assert list(documents(dataset)) == [
        "Mirror Lake: Mirror Lake lies near Elm.",
        "Elm: Elm is a town that was founded by Ann Moss in a year of rain & snow.",
        f"Elm: {trade}",
    ]
    assert gold_titles(dataset) == ["Mirror Lake", "Elm", "Elm"]
    assert [question.answers for question in dataset.questions] == [
        ("Ann Moss, Bob Reed",),
        ("1700 years", "1700"),
        ("yes",),
    ]
    assert [question.type for question in dataset.questions] == ["span", "value", "binary"]
    assert dataset.left_out == {"not answered by the articles": 1, "with evidence that is not in the articles": 1}


def test_bamboogle(tmp_path: Path) -> None:
    path = tmp_path / "Bamboogle.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["Question", "Answer"], ["Who, then?", "Ann Moss\n"], ["When?", "May 9, 2005"]])
    dataset = read_dataset("bamboogle", [path])
    assert dataset.questions == [
        Question(id="bamboogle-000", question="Who, then?", answers=("Ann Moss",), hops=2),
        Question(id="bamboogle-001", question="When?", answers=("May 9, 2005",), hops=2),
    ]
    assert list(dataset.documents) == []


def test_quality(tmp_path: Path) -> None:
    options = ["Ann", "Bob ", "Cid", "Dan"]
    hard = {"question": "Who?", "question_unique_id": "u1", "options": options, "gold_label": 2, "writer_label": 1}
    easy = {"question": "Who?", "options": ["Eve", "", "Fay", "Gil"], "writer_label": 3, "difficult": 0}
    hidden = {"question": "Why?", "options": options, "difficult": 1}
    row = {"article_id": "52845", "set_unique_id": "52845_A", "title": "Salt", "article": "A long story.\n\nIts end."}
    rows = [row | {"questions": [hard | {"difficult": 1}]}, row | {"questions": [easy, hidden]}]
    dataset = read_dataset("quality", [write(tmp_path / "QuALITY.v1.0.1.htmlstripped.dev", rows, lines=True)])
    assert dataset.questions == [
        Question(id="u1", question="Who?", answers=("Bob",), type="hard", choices=("Ann", "Bob", "Cid", "Dan")),
        Question(id="52845_A-1", question="Who?", answers=("Fay",), choices=("Eve", "", "Fay", "Gil")),
    ]
    assert list(dataset.documents) == [Document(id="52845", title="Salt", text="A long story.\n\nIts end.")]
    assert dataset.left_out == {"without published answer or gold passages": 1}


def test_hipporag_with_a_list_as_corpus(tmp_path: Path) -> None:
    corpus = [{"title": each["title"], "text": each["paragraph_text"]} for each in (LAKE, ELM, ELM_TRADE)]
    write(tmp_path / "musique_corpus.json", corpus)
    unanswerable = MUSIQUE | {"answerable": False}
    without_id = {"question": "What?", "answer": ["salt", "wool"], "paragraphs": [ELM_TRADE | {"is_supporting": True}]}
    dataset = read_dataset("hipporag", [write(tmp_path / "musique.json", [MUSIQUE, without_id, unanswerable])])
    assert gold_titles(dataset) == ["Mirror Lake", "Elm"]
    assert [question.id for question in dataset.questions] == ["2hop__1_2", "musique-2"]
    assert dataset.questions[1].answers == ("salt", "wool")
    assert [question.hops for question in dataset.questions] == [2, None]
    assert dataset.left_out == {"marked unanswerable": 1}


def test_hipporag_with_an_object_as_corpus(tmp_path: Path) -> None:
    corpus = write(tmp_path / "hotpot.corpus.json.gz", dict(HOTPOT["context"]))
    dataset = read_dataset("hipporag", [write(tmp_path / "hotpot.json", [HOTPOT]), corpus])
    assert gold_titles(dataset) == ["Mirror Lake", "Elm"]
    assert dataset.questions[0].hops == 2


def test_ircot_with_raw_files_for_the_corpus(tmp_path: Path) -> None:
    pinned = IRCOT | {
        "question_id": "i1",
        "question_text": "How many?",
        "answers_objects": [
            {"spans": [], "number": "", "date": {"day": "9", "month": "May", "year": "2005"}},
            {"spans": [], "number": "7"},
            {"spans": ["Ann", "Bob"], "number": ""},
        ],
        "pinned_contexts": [ELM_TRADE | {"is_supporting": True}],
    }
    files = [
        write(tmp_path / "processed.jsonl", [IRCOT, pinned], lines=True),
        write(tmp_path / "raw_musique.jsonl", [MUSIQUE], lines=True),
        write(tmp_path / "raw_2wiki.json", [TWO_WIKI]),
    ]
    dataset = read_dataset("ircot", files)
    first, second = dataset.questions
    assert (first.hops, first.type, first.answers) == (3, "3hop1", ("Ann Moss",))
    assert gold_titles(dataset) == ["Mirror Lake", "Elm"]
    assert (second.hops, second.answers) == (None, ("9 May 2005", "7", "Ann, Bob"))
    assert gold_titles(dataset, 1) == ["Elm", "Mirror Lake", "Elm"]
    assert len(documents(dataset)) == 4


def test_beir(tmp_path: Path) -> None:
    corpus = [
        {"_id": "d1", "title": "Elm", "text": "A town.", "metadata": {}},
        {"_id": "d2", "title": "Oak", "text": ""},
        {"_id": "d3", "title": "", "text": " "},
    ]
    write(tmp_path / "corpus.jsonl.gz", corpus, lines=True)
    queries = [{"_id": str(n), "text": f"Question {n}?", "metadata": {}} for n in range(3)]
    write(tmp_path / "queries.jsonl", queries, lines=True)
    (tmp_path / "qrels").mkdir()
    judged = "query-id\tcorpus-id\tscore\n0\td1\t1\n0\td2\t2\n1\td1\t0\n"
    (tmp_path / "qrels" / "test.tsv").write_text(judged)
    dataset = read_dataset("beir", [tmp_path])
    assert dataset.questions == [Question(id="0", question="Question 0?", gold=("d1", "d2"))]
    assert dataset.left_out == {"without a relevant passage in the split": 2}
    assert [(document.id, document.text) for document in dataset.documents] == [("d1", "A town."), ("d2", "Oak")]

    (tmp_path / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\n2\td1\t1\n")
    assert [each.id for each in read_dataset("beir", [tmp_path / "qrels" / "dev.tsv"]).questions] == ["2"]


def test_the_projects_own_layout(tmp_path: Path) -> None:
    write(tmp_path / "corpus.jsonl.gz", {"id": "elm", "title": "Elm", "text": "A town.", "metadata": {"page": "3"}})
    row = {"id": "q1", "question": "What is Elm?", "gold": ["elm"], "answers": ["a town"]}
    rows = [row, row | {"id": "q2", "duplicate_of": "q1"}]
    write(tmp_path / "questions.dev.jsonl", rows, lines=True)
    dataset = read_dataset("triplebeam", [tmp_path])
    assert dataset.questions == [Question(id="q1", question="What is Elm?", gold=("elm",), answers=("a town",))]
    assert [(document.id, document.metadata) for document in dataset.documents] == [("elm", {"page": "3"})]
    assert dataset.left_out == {"repeated": 1}
    assert read_dataset("triplebeam", sorted(tmp_path.iterdir())).questions == dataset.questions


@pytest.mark.data
@pytest.mark.parametrize(("name", "passages", "gold"), [("books", 152, 2), ("university", 43, 4)])
def test_real_case_studies(data: Path, name: str, passages: int, gold: int) -> None:
    folder = data / "case_studies"
    files = [folder / f"{name}.corpus.json.gz", folder / f"{name}.questions.json.gz"]
    dataset = read_dataset("hipporag", files)
    assert len(list(dataset.documents)) == passages
    assert [len(question.gold) for question in dataset.questions] == [gold]


@pytest.mark.data
def test_real_questions_in_the_shape_of_musique(data: Path, tmp_path: Path) -> None:
    """The real corpus and questions, written as MuSiQue publishes them, come back with the same gold texts."""
    own = read_dataset("triplebeam", [data / "musique_train"])
    corpus = {document.id: document for document in own.documents}
    with gzip.open(data / "musique_train" / "questions.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    published = [
        {
            "id": row["id"],
            "question": row["question"],
            "answer": row["answers"][0],
            "answer_aliases": row["answers"][1:],
            "paragraphs": [
                {"title": corpus[id_].title, "paragraph_text": corpus[id_].text, "is_supporting": id_ in row["gold"]}
                for id_ in row["candidates"]
            ],
        }
        for row in rows
    ]
    dataset = read_dataset("musique", [write(tmp_path / "train.jsonl", published, lines=True)])
    texts = {document.id: document.text for document in dataset.documents}
    assert len(texts) == len(corpus)
    for question, expected in zip(dataset.questions, own.questions, strict=True):
        assert (question.id, question.hops, question.type, question.answers) == (
            expected.id,
            expected.hops,
            expected.type,
            expected.answers,
        )
        assert {texts[id_] for id_ in question.gold} == {corpus[id_].text.strip() for id_ in expected.gold}


PARAGRAPHS = [
    {"title": "Mirror Lake", "paragraph_text": "Mirror Lake\nlies north of Elm \ud800.", "is_supporting": True},
    {"title": "Elm", "paragraph_text": "Elm was founded by Ann Moss.", "is_supporting": True},
    {"title": "Elm", "paragraph_text": "Elm trades in salt.", "is_supporting": False},
]
ROW = {"id": "2hop__1", "question": "Who founded Elm?", "paragraphs": PARAGRAPHS, "answer": "Ann Moss"}


def run(*arguments: object) -> str:
    """Return what the command tells."""
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(dataset)
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


@pytest.fixture
def musique(tmp_path: Path) -> Path:
    path = tmp_path / "musique_ans_v1.0_dev.jsonl"
    path.write_text("\n".join(map(json.dumps, [ROW, ROW | {"answerable": False}])))
    return path


def test_index_and_bench_read_what_is_written(tmp_path: Path, musique: Path, words: Embedder) -> None:
    out = tmp_path / "out"
    run("musique", musique, out)
    assert sorted(path.name for path in out.iterdir()) == ["corpus.jsonl", "questions.jsonl"]
    ids = [document.id for document in read_dataset("musique", [musique]).documents]

    IndexBuilder(folder=tmp_path / "i", embedder=words).build(read_sources([out / "corpus.jsonl"]))
    index = Snapshot.open(tmp_path / "i")
    assert len(ids) == 3
    assert all(index.passages[passage_id].id == passage_id for passage_id in ids)
    assert index.passages[ids[1]].title == "Elm"
    asked = read_questions(out / "questions.jsonl")
    assert asked == read_dataset("musique", [musique]).questions
    find_gold(asked, index.passages)
    again = read_dataset("triplebeam", [out])
    assert [document.id for document in again.documents] == ids
    assert again.questions == asked


def test_it_tells_what_it_did_and_what_to_do_next(tmp_path: Path, musique: Path) -> None:
    out = tmp_path / "out"
    told = run("musique", musique, musique, out)
    assert "passages  3\n" in told
    assert "questions  1 (1 of 2 hops)\n" in told
    assert "left out  2 marked unanswerable, 1 repeated\n" in told
    assert f"triplebeam index {out}.index {out / 'corpus.jsonl'}\n" in told
    assert f"triplebeam bench {out}.index {out / 'questions.jsonl'}\n" in told


def test_json(tmp_path: Path, musique: Path) -> None:
    out = tmp_path / "out"
    assert json.loads(run("musique", musique, out, "--json")) == {
        "folder": str(out),
        "passages": 3,
        "questions": 1,
        "hops": {"2": 1},
        "left_out": {"marked unanswerable": 1},
        "to_be_cut": False,
        "next": [
            f"triplebeam index {out}.index {out}/corpus.jsonl",
            f"triplebeam bench {out}.index {out}/questions.jsonl",
        ],
    }


def test_nothing_is_overwritten_without_force(tmp_path: Path, musique: Path) -> None:
    out = tmp_path / "out"
    run("musique", musique, out)
    with pytest.raises(BadInputError, match=r"corpus.jsonl already exists: .* --force"):
        run("musique", musique, out)
    table = tmp_path / "bamboogle.csv"
    table.write_text("Question,Answer\nWho?,Ann\n")
    told = run("bamboogle", table, out, "--force")
    assert "passages  none" in told
    assert f"triplebeam bench INDEX {out / 'questions.jsonl'}\n" in told
    assert [path.name for path in out.iterdir()] == ["questions.jsonl"]  # no passages of another dataset beside them


def test_a_failure_leaves_what_was_there(tmp_path: Path, musique: Path) -> None:
    out = tmp_path / "out"
    run("musique", musique, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    quality = {
        "article_id": "1",
        "article": "Text.",
        "questions": [{"question": "?", "options": ["a"], "gold_label": 1}],
    }
    late = tmp_path / "quality"
    late.write_text(json.dumps([quality, {key: quality[key] for key in ("article", "questions")}]))
    with pytest.raises(BadInputError, match="row 2 has no 'article_id'"):
        run("quality", late, out, "--force")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_articles_are_to_be_cut(tmp_path: Path) -> None:
    row = {"article_id": "1", "article": "Text.", "questions": [{"question": "?", "options": ["a"], "gold_label": 1}]}
    path = tmp_path / "QuALITY.v1.0.1.htmlstripped.dev"
    path.write_text(json.dumps(row))
    told = run("quality", path, tmp_path / "out")
    assert "passages  1 documents, to be split into passages" in told
    assert "corpus.jsonl --split\n" in told


def test_a_folder_that_cannot_be_written_to(tmp_path: Path, musique: Path) -> None:
    with pytest.raises(BadInputError, match="cannot be written to: "):
        run("musique", musique, musique / "out")


Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
SETTINGS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)


@SETTINGS
@given(values=st.lists(VALUES, max_size=5), indent=st.none() | st.integers(0, 2))
def test_an_array(tmp_path: Path, values: list[Json], indent: int | None) -> None:
    path = tmp_path / "array.json"
    path.write_text(json.dumps(values, indent=indent), encoding="utf-8")
    assert list(rows.elements(path)) == list(enumerate(values, start=1))


@SETTINGS
@given(values=st.lists(st.dictionaries(st.text(), VALUES, max_size=3), min_size=1, max_size=5))
def test_lines(tmp_path: Path, values: list[dict[str, Json]]) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text("\n\n".join(map(json.dumps, values)) + "\n", encoding="utf-8")
    assert list(rows.elements(path)) == list(enumerate(values, start=1))


@SETTINGS
@example({"0": -0.0})
@given(members=st.dictionaries(st.text(), VALUES, max_size=5))
def test_an_object(tmp_path: Path, members: dict[str, Json]) -> None:
    path = tmp_path / "object.json"
    path.write_text("\ufeff" + json.dumps(members, ensure_ascii=True), encoding="utf-8")
    assert list(rows.members(path)) == list(members.items())
    assert rows.read_first_character(path) == "{"


def test_an_array_is_no_object(tmp_path: Path) -> None:
    path = tmp_path / "array.json"
    path.write_text("[1]")
    with pytest.raises(BadInputError, match=r"array.json is not one JSON object"):
        list(rows.members(path))


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b'[{"a": 1}, {"b": 2]', r"row 2 is not JSON"),
        (b"[1, 2] [3]", r"row 3 is not JSON: trailing garbage"),
        (b"[1, 2", r"row 3 is not JSON: premature EOF"),
        (b'{"a": 1}\n{"b": }\n', r"row 2 is not JSON: Expecting value"),
        (b'["\xe9"]', r"cannot be read: .*utf-8"),
        (b"", r"is empty"),
    ],
)
def test_a_damaged_row_is_named(tmp_path: Path, content: bytes, place: str) -> None:
    path = tmp_path / "rows.json"
    path.write_bytes(content)
    with pytest.raises(BadInputError, match=place):
        list(rows.elements(path))
