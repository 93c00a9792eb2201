import gzip
import json
from pathlib import Path

import pytest

from triplebeam.errors import BadInputError
from triplebeam.extract import triples_file
from triplebeam.extract.triples_file import TriplesFile
from triplebeam.passage import Passage
from triplebeam.triple import Triple

ROWS = [
    {"passage_id": "ghent", "entities": ["Ghent", "Belgium"], "triples": [["Ghent", "lies in", "Belgium"]]},
    {"passage_id": "liege", "entities": [], "triples": [["Liège", "", "Meuse"], ["Liège", "lies on", "Meuse"]]},
    {"passage_id": 7, "entities": ["a\ud800"], "triples": [["a\ud800", "b", "c"]]},
]


#: A gzip header, and then no deflate stream: not an OSError, as other damage is.
CUT = gzip.compress(b"", mtime=0)[:10] + b"\xff" * 20


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    text = "\n".join(json.dumps(row) for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("name", ["triples.jsonl", "triples.jsonl.gz"])
def test_hands_out_the_triples_of_each_passage(tmp_path: Path, name: str) -> None:
    given = TriplesFile(write(tmp_path / name, ROWS))
    assert given.passage_ids == ("ghent", "liege", "7")
    ghent, liege, seven, namur = given.extract([Passage(id_, "…") for id_ in ("ghent", "liege", "7", "namur")])
    assert ghent.triples == (Triple("Ghent", "lies in", "Belgium"),)
    assert ghent.entities == ("Ghent", "Belgium")
    assert liege.triples == (Triple("Liège", "lies on", "Meuse"),)
    assert liege.rejected == (("Liège", "", "Meuse"),)
    assert (seven.triples, seven.entities) == ((Triple("a\ufffd", "b", "c"),), ("a\ufffd",)), "what can be stored"
    assert (namur.known, namur.triples, namur.failure) == (False, (), None), "the file does not know it"


def test_a_small_file_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triples_file, "_MIN_CHECKED_BYTES", 1000)
    path = tmp_path / "triples.jsonl.gz"
    path.write_bytes(gzip.compress(b" " * 100_000))
    with pytest.raises(BadInputError, match=r"jsonl.gz inflates to more than .* bytes, like a zip bomb"):
        TriplesFile(path).name  # noqa: B018


def test_the_name_changes_with_the_content_and_not_with_the_packing(tmp_path: Path) -> None:
    before = TriplesFile(write(tmp_path / "triples.jsonl", ROWS)).name
    assert before.startswith("given:triples.jsonl:")
    again = TriplesFile(write(tmp_path / "triples.jsonl", ROWS))
    assert again.name == before
    assert again.name is again.name, "it is asked for with each passage, and the file is hashed once"
    assert TriplesFile(write(tmp_path / "triples.jsonl", ROWS[:1])).name != before


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "is not JSON"),
        ("\udcff", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "passage_id"),
        ('{"triples": []}', "passage_id"),
        ('{"passage_id": "namur"}', "triples"),
        ('{"passage_id": "namur", "triples": [["a", "b", 3]]}', "triples"),
        ('{"passage_id": "namur", "triples": [], "entities": "Namur"}', "entities"),
        ('{"passage_id": "ghent", "triples": []}', "repeats the passage id 'ghent'"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "triples.jsonl"
    path.write_bytes(f"{json.dumps(ROWS[0])}\n{line}\n".encode(errors="surrogateescape"))
    with pytest.raises(BadInputError, match=r"triples\.jsonl, line 2: ") as error:
        list(TriplesFile(path).extract([Passage("ghent", "…")]))
    assert reason in str(error.value)


@pytest.mark.parametrize(
    ("name", "content"), [("gone.jsonl", None), ("broken.jsonl.gz", b"not gzip"), ("cut.jsonl.gz", CUT)]
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInputError, match=name.replace(".", r"\.")):
        _ = TriplesFile(tmp_path / name).name
