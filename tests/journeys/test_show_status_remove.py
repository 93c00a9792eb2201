"""`triplebeam show` and `search --full`: passages and documents, whole.

`triplebeam status`: what is in an index, and whether its files are as they should be.

`triplebeam show --triples`: the facts of an index.

`triplebeam remove`: documents out of an index.
"""

import json
import shutil
from pathlib import Path

import pytest

from journeys.command_line import Quick

GUIDE = """# Guide

The Elbe is wide. This guide says how to measure it, and what to bring. A boat is needed, and two people who can row it.
Choose a day without wind. Tell the harbour master the day before, because barges give way only to boats they expect.
Wear a vest, and leave everything in the shed that must not get wet, such as telephones and papers.
Take the rope from the shed, tie it to the post on the left bank, and row to the other side while it runs out.

## Measuring

Then run the program:

```sh
for bank in left right; do
    measure "$bank"
done
```

Hamburg publishes the result.
"""


@pytest.fixture
def guide(tmp_path: Path, quick: Quick, tiny_model: str) -> Path:
    """An index of one file of two sections."""
    (tmp_path / "guide.md").write_text(GUIDE, encoding="utf-8")
    triples = {"passage_id": "guide.md#1", "triples": [["Hamburg", "publishes", "result"]]}
    (tmp_path / "triples.jsonl").write_text(json.dumps(triples), encoding="utf-8")
    code, _, stderr = quick("index", "guide.index", "guide.md", "--triples", "triples.jsonl", "--embedder", tiny_model)
    assert code == 0, stderr
    return tmp_path / "guide.index"


def test_a_passage_is_printed_whole_with_its_place_and_its_facts(quick: Quick, guide: Path) -> None:
    code, stdout, stderr = quick("show", guide, "guide.md#1")
    assert (code, stderr) == (0, "")
    first, *lines = stdout.splitlines()
    assert first == "Guide › Measuring  guide.md#1  passage 2 of guide.md"
    assert '    for bank in left right; do\n        measure "$bank"\n    done\n' in stdout
    assert lines[-1] == "    ● Hamburg ─ publishes → result"


def test_a_document_is_printed_in_order(quick: Quick, guide: Path) -> None:
    code, stdout, _ = quick("show", guide, "./guide.md")
    assert code == 0
    assert stdout.index("guide.md#0") < stdout.index("The Elbe is wide") < stdout.index("guide.md#1")


def test_show_as_json(quick: Quick, guide: Path) -> None:
    passage = json.loads(quick("show", guide, "guide.md#1", "--json")[1])
    assert list(passage) == ["id", "title", "section", "document_id", "path", "position", "text", "triples"]
    assert (passage["section"], passage["document_id"], passage["position"]) == ("Measuring", "guide.md", 1)
    document = json.loads(quick("show", guide, "guide.md", "--json")[1])
    assert (document["id"], document["title"], document["total"]) == ("guide.md", "Guide", 2)
    assert document["passages"][1] == passage


def test_an_unknown_id_names_the_nearest(quick: Quick, guide: Path) -> None:
    code, stdout, message = quick("show", guide, "guide.md#l")
    assert (code, stdout) == (2, "")
    assert "there is no passage or document 'guide.md#l'" in message
    assert "did you mean 'guide.md" in message
    assert "\n" not in message


def test_a_hit_has_its_section_and_the_part_that_matches(quick: Quick, guide: Path) -> None:
    stdout = quick("search", guide, "How do I tie the rope?", "-m", "bm25", "-k", "1")[1]
    assert stdout.startswith(" 1. Guide  guide.md#0  score")
    assert "Take the rope from the shed" in stdout
    assert "The Elbe is wide" not in stdout
    assert " 1. Guide › Measuring  guide.md#1" in quick("search", guide, "Hamburg", "-m", "bm25")[1]


def test_full_prints_the_whole_passage(quick: Quick, guide: Path) -> None:
    stdout = quick("search", guide, "How do I tie the rope?", "-m", "bm25", "-k", "1", "--full")[1]
    assert "The Elbe is wide" in stdout
    assert "Take the rope from the shed" in stdout


def test_the_store_is_looked_at(quick: Quick, small_index: Path) -> None:
    store = small_index / "store.sqlite"
    code, stdout, _ = quick("status", small_index)
    assert code == 0
    assert "store  3 documents, 0.1 MB, format 1\n" in stdout
    assert "rare terms  4, each in a few passages of several documents; 3 passages with at least one\n" in stdout
    shown = json.loads(quick("status", small_index, "--json")[1])
    assert shown["store"]["documents"] == shown["counts"]["documents"] == 3
    assert shown["store"]["revision"] == shown["revision"]
    assert shown["passage_graph"]["rare_terms"] == 4
    content = store.read_bytes()
    for damaged in (content[:-1], content[: len(content) // 2], b"no database" * 1000):
        store.write_bytes(damaged)
        code, _, said = quick("status", small_index)
        assert (code, "store.sqlite is not a usable SQLite file" in said) == (2, True)
    store.unlink()
    code, stdout, _ = quick("status", small_index)
    assert (code, "missing: the index can be searched, but not added to" in stdout) == (0, True)
    assert json.loads(quick("status", small_index, "--json")[1])["store"] is None


def test_in_one_document_no_rare_terms_are_counted(quick: Quick, small_index: Path) -> None:
    assert quick("remove", small_index, "elbe", "nile")[0] == 0
    assert "rare terms  none counted\n" in quick("status", small_index)[1]


def test_changes_that_are_not_published_are_named(
    quick: Quick, small_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("triplebeam.index.folder.publish.FolderPublisher.publish", killed)
        quick("remove", small_index, "elbe")
    stdout = quick("status", small_index)[1]
    assert "store  2 documents" in stdout
    assert "it has changes that are not published" in " ".join(stdout.split())


def test_an_index_without_its_manifest_knows_its_embedder(quick: Quick, small_index: Path) -> None:
    (small_index / "manifest.json").unlink()
    shutil.rmtree(small_index / "generations")
    code, _, said = quick("repair", small_index)
    assert code == 0, said
    assert quick("search", small_index, "river", "--method", "dense")[0] == 0


ELBE = {"passage_id": "elbe", "triples": [["Elbe", "flows", "north"]]}
NILE = {"passage_id": "nile", "triples": [["Nile", "flows", "north"]]}


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ((), [ELBE, NILE]),
        (("elbe",), [ELBE]),
        (("--about", "NILE"), [NILE]),
        (("--about", "North"), [ELBE, NILE]),
        (("elbe", "--about", "nile"), []),
        (("oder",), []),
    ],
)
def test_triples_are_exported(
    quick: Quick, small_index: Path, options: tuple[str, ...], found: list[dict[str, object]]
) -> None:
    code, stdout, _ = quick("show", small_index, *options, "--triples", "--json")
    assert code == 0
    assert [json.loads(line) for line in stdout.splitlines()] == found


def test_triples_are_printed(quick: Quick, small_index: Path) -> None:
    assert quick("show", small_index, "elbe", "--triples")[:2] == (0, "elbe\n  Elbe | flows | north\n")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("elb",), "there is no document 'elb' in the index (did you mean 'elbe'?)"),
        (("--about", "Niles"), "no triple has the entity 'Niles' (did you mean 'Nile'?)"),
    ],
)
def test_what_is_not_there_is_said(quick: Quick, small_index: Path, options: tuple[str, ...], said: str) -> None:
    code, stdout, message = quick("show", small_index, *options, "--triples")
    assert (code, stdout) == (2, "")
    assert said in message


def test_documents_are_removed(quick: Quick, small_index: Path, tiny_model: str) -> None:
    code, stdout, stderr = quick("remove", small_index, "elbe")
    assert (code, stdout) == (0, "")
    assert "1 removed, 2 documents left." in stderr
    code, stdout, _ = quick("search", small_index, "elbe river", "--method", "bm25", "--json")
    assert "elbe" not in [hit["id"] for hit in json.loads(stdout)["passages"]]


def test_as_json(quick: Quick, small_index: Path) -> None:
    code, stdout, _ = quick("remove", small_index, "elbe", "oder", "--json")
    assert code == 0
    assert json.loads(stdout) == {"removed": 2, "documents": 1, "passages": 1}


@pytest.mark.parametrize(
    ("folder", "documents", "said"),
    [
        ("small.index", ["elbee"], "there is no document 'elbee' in the index (did you mean 'elbe'?)"),
        ("small.index", ["nile", "rhine"], "there is no document 'rhine' in the index, which has 3, such as 'elbe'."),
        ("other.index", ["nile"], "there is no index at other.index"),
    ],
)
def test_what_is_not_there_is_said_and_nothing_is_removed(
    quick: Quick, small_index: Path, folder: str, documents: list[str], said: str
) -> None:
    code, stdout, message = quick("remove", folder, *documents)
    assert (code, stdout) == (2, "")
    assert said in message
    assert "\n" not in message
    assert len(json.loads(quick("search", small_index, "river", "-m", "bm25", "--json")[1])["passages"]) == 3


def test_a_folder_is_all_that_came_from_it(quick: Quick, tiny_model: str, tmp_path: Path) -> None:
    for name in ("docs/old/a.md", "docs/old/inner/b.md", "docs/older.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"# Notes\n\nThis is {name}.")
    rows = [json.dumps({"id": name, "text": f"This is {name}."}) for name in ("one", "two")]
    (tmp_path / "docs/rows.jsonl").write_text("\n".join(rows))
    assert quick("index", "my.index", "docs", "--extractor", "none", "--embedder", tiny_model)[0] == 0
    shutil.rmtree(tmp_path / "docs/old")
    assert "2 removed, 3 documents left." in quick("remove", "my.index", "docs/old/")[2]
    assert "2 removed, 1 document left." in quick("remove", "my.index", "docs/rows.jsonl")[2]
    assert "there is no document '.'" in quick("remove", "my.index", ".")[2], "a slip must not empty the index"
    shutil.rmtree(tmp_path / "docs")
    assert "1 removed, 0 documents left." in quick("remove", "my.index", tmp_path / "docs")[2]
