"""Which triples stay: those that were given or paid for are not replaced by accident."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from small_world import TRIPLES, TableExtractor, WordEmbedder, world_documents
from triplebeam.extract.extractor import Extraction, Extractor, kind_of
from triplebeam.extract.triples_file import TriplesFile
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.build.extraction import OverwritePolicy, is_paid, keep_existing
from triplebeam.index.build.intake import BuildReport
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.store.tables import read_extractor
from triplebeam.passage import Document
from triplebeam.triple import Triple

SAME, LOCAL, ALL = OverwritePolicy

OF_A_MODEL = "llm:small-model:1"
WITH_KEYWORDS = "local:4+keywords:small-model:1"


class Named(TableExtractor):
    """Says by its name who it is, and again in each of its triples."""

    def __init__(self, name: str) -> None:
        super().__init__({id_: [Triple(id_, "seen by", name)] for id_ in (*TRIPLES, "new")})
        self.name = name


def extract(
    folder: Path, extractor: Extractor | None, overwrite: OverwritePolicy, documents: Sequence[Document] | None = None
) -> BuildReport:
    builder = IndexBuilder(folder=folder, embedder=WordEmbedder(), extractor=extractor, overwrite=overwrite)
    return builder.build(documents or list(world_documents()))


def extractors(folder: Path) -> dict[str, int]:
    return Snapshot.open(folder).manifest.triples_by_extractor


def write_triples(tmp_path: Path, *passage_ids: str) -> TriplesFile:
    rows = [{"passage_id": id_, "triples": [[id_, "is", "given"]]} for id_ in passage_ids]
    (tmp_path / "given.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return TriplesFile(tmp_path / "given.jsonl")


@pytest.mark.parametrize(
    ("name", "kind", "paid"),
    [
        ("local:4", "local", False),
        (OF_A_MODEL, "llm", True),
        ("llm-two-step:small:1-2", "llm-two-step", True),
        ("given:f.jsonl:abc", "given", False),
        (WITH_KEYWORDS, "local", True),
        ("given:f.jsonl:abc+keywords:small:1", "given", True),
    ],
)
def test_a_name_says_what_an_extractor_is(name: str, kind: str, paid: bool) -> None:
    assert (kind_of(name), is_paid(name)) == (kind, paid)


@pytest.mark.parametrize(
    ("made_by", "now", "replaced_by"),
    [
        # an update, a named extractor, a request to replace everything
        ("local:3", "local:4", {SAME, LOCAL, ALL}),
        ("mine:1", "mine:2", {SAME, LOCAL, ALL}),
        ("local:4", OF_A_MODEL, {LOCAL, ALL}),
        ("local:4", "mine:1", {LOCAL, ALL}),
        ("local:4", WITH_KEYWORDS, {LOCAL, ALL}),
        (OF_A_MODEL, f"{OF_A_MODEL}+keywords:small:1", {LOCAL, ALL}),
        (OF_A_MODEL, "local:4", {ALL}),
        (OF_A_MODEL, "llm:large-model:1", {ALL}),
        (WITH_KEYWORDS, "local:4", {ALL}),
        ("given:f:abc", "local:4", {ALL}),
        ("given:f:abc", OF_A_MODEL, {ALL}),
        ("mine:1", "local:4", {ALL}),
        ("given:f:abc", "given:f:def", {SAME, LOCAL, ALL}),
    ],
)
def test_what_replaces_what(made_by: str, now: str, replaced_by: set[OverwritePolicy]) -> None:
    assert {each for each in OverwritePolicy if not keep_existing(made_by, now, each)} == replaced_by


def test_an_update_keeps_given_triples_and_extracts_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder, local = tmp_path / "my.index", Named("local:4")
    extract(folder, write_triples(tmp_path, "film", "city"), LOCAL)
    report = extract(folder, local, SAME)
    assert sorted(local.asked) == ["actor", "director", "lake", "other"]
    assert (report.passages_kept, extractors(folder)["local:4"]) == (2, 3)
    assert caplog.messages == ["The given triples of 2 passages stay; extracting 4 passages without any with local."]
    assert not extract(folder, local, SAME).published


def test_a_changed_text_loses_its_given_triples_alone(tmp_path: Path) -> None:
    folder, local = tmp_path / "my.index", Named("local:4")
    file = write_triples(tmp_path, *TRIPLES)
    extract(folder, file, LOCAL)
    changed = [replace(each, text="More.") if each.id == "city" else each for each in world_documents()]
    extract(folder, local, SAME, changed)
    assert sorted(local.asked) == ["city", "other"]
    assert extractors(folder) == {file.name: len(TRIPLES) - 1, "local:4": 1}


def test_a_named_extractor_says_what_stays_and_how_to_replace_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    extract(tmp_path, Named(OF_A_MODEL), LOCAL)
    before, local = extractors(tmp_path), Named("local:4")
    assert extract(tmp_path, local, LOCAL).passages_kept == 6
    assert (local.asked, extractors(tmp_path)) == ([], before)
    assert caplog.messages == [
        "The triples of 6 passages (llm: 6) stay, because they were given or paid for: --replace-triples extracts them"
        " again with local."
    ]


def test_what_is_replaced_is_said_first(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Late(Named):
        def extract(self, passages):  # type: ignore[no-untyped-def]
            assert caplog.messages == ["The triples of 6 passages (llm: 6) are replaced: local extracts them again."]
            return super().extract(passages)

    extract(tmp_path, Named(OF_A_MODEL), LOCAL)
    local = Late("local:4")
    extract(tmp_path, local, ALL)
    assert (len(local.asked), set(extractors(tmp_path))) == (6, {"local:4"})


def test_a_newer_version_of_the_rules_is_no_matter_for_words(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    extract(tmp_path, Named("local:3"), LOCAL)
    extract(tmp_path, Named("local:4"), SAME)
    assert (set(extractors(tmp_path)), caplog.messages) == ({"local:4"}, [])


def test_the_extractor_is_remembered_also_by_a_build_that_was_killed(tmp_path: Path) -> None:
    class Dying(Named):
        def extract(self, passages):  # type: ignore[no-untyped-def]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        extract(tmp_path, Dying(OF_A_MODEL), LOCAL)
    assert read_extractor(tmp_path) == OF_A_MODEL


def test_the_last_choice_is_remembered_and_published(tmp_path: Path) -> None:
    folder = tmp_path / "my.index"
    assert read_extractor(folder) is None
    extract(folder, None, LOCAL)
    assert read_extractor(folder) == "none"
    extract(folder, Named("local:4"), LOCAL)
    for passing in (None, write_triples(tmp_path, "film")):  # neither says who is to extract new passages
        extract(folder, passing, LOCAL)
        assert read_extractor(folder) == "local:4"
    extract(folder, Named(OF_A_MODEL), LOCAL)
    assert Snapshot.open(folder).manifest.extractor == read_extractor(folder) == OF_A_MODEL


def test_languages_that_the_extractor_does_not_read_are_counted_until_another_reads_them(tmp_path: Path) -> None:
    class EnglishOnly(Named):
        def extract(self, passages):  # type: ignore[no-untyped-def]
            for each in passages:
                yield Extraction(passage_id=each.id, unread_language="de" if each.id == "city" else None)

    extract(tmp_path, EnglishOnly("local:4"), LOCAL)
    assert Snapshot.open(tmp_path).manifest.unread_languages == {"de": 1}
    extract(tmp_path, Named(OF_A_MODEL), LOCAL)
    assert Snapshot.open(tmp_path).manifest.unread_languages == {}
