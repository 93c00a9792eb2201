"""`triplebeam encode` on one machine, `triplebeam index --encoded` on another."""

import json
from pathlib import Path

import pytest

from journeys.command_line import Quick
from triplebeam.errors import BadInputError
from triplebeam.index.manifest import read_manifest
from triplebeam.ingest import Share, Skipped
from triplebeam.passage import Document


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Nine files; three have one title."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(9):
        title = "Rivers" if number < 3 else f"River {number}"
        (folder / f"{number}.md").write_text(f"# {title}\n\nThe river number {number} flows north.\n", encoding="utf-8")
    return folder


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    """Triples of all files, so that no parser is needed."""
    rows = [
        {"passage_id": f"{tmp_path.as_posix()}/docs/{number}.md#0", "triples": [[f"River {number}", "flows", "north"]]}
        for number in range(9)
    ]
    file = tmp_path / "facts.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


def test_shares_of_several_machines_make_the_index_of_one(
    quick: Quick, tiny_model: str, docs: Path, facts: Path, tmp_path: Path
) -> None:
    options = ("--triples", facts, "--embedder", tiny_model)
    seen = 0
    for share in ("1/3", "2/3", "3/3"):
        code, stdout, _ = quick("encode", docs, "--out", "shards", "--shard", share, "--json", *options)
        assert code == 0
        seen += json.loads(stdout)["documents"]
    assert seen == 9
    assert not list(Path("shards").glob(".work*"))
    code, _, stderr = quick("index", "from-shards.index", docs, "--encoded", "shards", *options)
    assert code == 0
    assert "0 texts encoded" in stderr
    assert quick("index", "local.index", docs, *options)[0] == 0
    here, there = (read_manifest(Path(name)) for name in ("local.index", "from-shards.index"))
    assert here.counts == there.counts
    assert here.counts["triples"] == 9
    assert here.checksums == there.checksums, "bit for bit"


def test_one_machine_gives_every_bit(quick: Quick, tiny_model: str, docs: Path, facts: Path) -> None:
    options = ("--triples", facts, "--embedder", tiny_model)
    assert quick("encode", docs, "--out", "shards", *options)[0] == 0
    code, _, stderr = quick("encode", docs, "--out", "shards", *options)
    assert (code, stderr.splitlines()[-1]) == (0, "shards: nothing new in 9 documents.")
    quick("index", "from-shards.index", docs, "--encoded", "shards", *options)
    quick("index", "local.index", docs, *options)
    here, there = (read_manifest(Path(name)) for name in ("local.index", "from-shards.index"))
    assert here.checksums == there.checksums


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "1/", "-1/2", "a/b"])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(BadInputError, match="is not a share: write 2/8 for the second of eight"):
        Share.parse(text)


def test_every_document_is_in_one_share_and_those_of_a_title_in_the_same() -> None:
    documents = [Document(id=str(number), title=f"title {number % 7}", text="text") for number in range(50)]
    shares = [list(Share(number, 4).of_all([*documents, Skipped("x")])) for number in (1, 2, 3, 4)]
    found = [[each for each in share if isinstance(each, Document)] for share in shares]
    assert sorted(int(each.id) for share in found for each in share) == list(range(50))
    titles = [{each.title for each in share} for share in found]
    assert sum(map(len, titles)) == 7
    assert all(Skipped("x") in share for share in shares), "every machine says what it cannot read"
