"""`triplebeam late-index`, with an encoder that needs no weights."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from small_world import world_documents
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, IndexMissingError
from triplebeam.index.build import IndexBuilder
from triplebeam.serve.cli.late_index import late_index
from word_tokens import WordTokens

app = typer.Typer()
app.command()(late_index)


@pytest.fixture
def folder(tmp_path: Path, words: Embedder, monkeypatch: pytest.MonkeyPatch) -> str:
    IndexBuilder(folder=tmp_path, embedder=words).build(world_documents())
    monkeypatch.setattr("triplebeam.embed.load_token_encoder", lambda name, home, **options: WordTokens())
    return str(tmp_path)


def test_it_tells_the_sizes(folder: str) -> None:
    result = CliRunner().invoke(app, [folder], catch_exceptions=False)
    assert result.exit_code == 0
    assert "late_interaction(word-tokens), 69 tokens of 6 passages (6 encoded now)" in result.stdout
    assert "2 bits per dimension" in result.stdout
    assert "(0 encoded now)" in CliRunner().invoke(app, [folder], catch_exceptions=False).stdout


def test_json_and_what_was_chosen_before(folder: str) -> None:
    CliRunner().invoke(app, [folder, "--nbits", "4", "--encoder", "word-tokens"], catch_exceptions=False)
    shown = json.loads(CliRunner().invoke(app, [folder, "--json"], catch_exceptions=False).stdout)
    assert (shown["nbits"], shown["encoder"], shown["passages_encoded"], shown["tokens"]) == (4, "word-tokens", 0, 69)
    assert shown["bytes"] == sum(path.stat().st_size for path in Path(folder, "late_interaction").glob("0*/*"))


def test_what_cannot_be_meant_is_refused(folder: str, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="3 bits per dimension is not a choice"):
        CliRunner().invoke(app, [folder, "--nbits", "3"], catch_exceptions=False)
    with pytest.raises(IndexMissingError, match="there is no index"):
        CliRunner().invoke(app, [str(tmp_path / "nowhere")], catch_exceptions=False)
