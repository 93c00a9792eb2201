"""`triplebeam show` and `search --full`: passages and documents, whole."""

import json
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
