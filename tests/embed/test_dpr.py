"""DPR's way: two encoders and a dot product, with a pair of models that are small enough to check by hand."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tiny_model import CONFIG, random_weights, write_model

from triplebeam.assemble import Context, IndexReader
from triplebeam.embed import load_embedder
from triplebeam.embed.embedder import Embedder
from triplebeam.embed.model_folder import ModelFolder
from triplebeam.embed.onnx_embedder import OnnxEmbedder
from triplebeam.errors import BadInputError
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Document
from triplebeam.settings import Settings
from triplebeam.testing.contracts import EmbedderContract
from triplebeam_research.dpr import TwoEncoders

TEXTS = ["the river flows", "north", "the north", "river river river", "flows north the river flows", "the"]


def save(folder: Path, prefix: str, factor: float, **files: object) -> Path:
    """A model's folder; its weights are the tiny model's, changed a little, under names with a prefix."""
    changed = {f"{prefix}{name}": np.sin(factor * weights) for name, weights in random_weights().items()}
    return write_model(folder, changed, **{"config.json": CONFIG | {"model_type": "dpr"}, **files})


@pytest.fixture
def name(tmp_path: Path) -> str:
    questions = save(tmp_path / "questions", "question_encoder.bert_model.", 2.0)
    passages = save(tmp_path / "passages", "ctx_encoder.bert_model.", 3.0)
    return f"dpr:{questions},{passages}"


@pytest.fixture
def pair(name: str, tmp_path: Path) -> TwoEncoders:
    made = load_embedder(name, tmp_path)
    assert isinstance(made, TwoEncoders)
    return made


class TestContract(EmbedderContract):
    texts = ("the river flows", "north", "the river flows north " * 40, "north")

    @pytest.fixture
    def embedder(self, pair: TwoEncoders) -> Embedder:
        return pair


def dot_products(pair: TwoEncoders, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
    products: NDArray[np.float32] = pair.passages.encode(texts) @ pair.questions.encode([question])[0]
    return products


@pytest.mark.parametrize("question", ["the river", "north flows", "flows"])
def test_cosines_are_the_dot_products_but_for_a_factor(pair: TwoEncoders, question: str) -> None:
    cosines = pair.embed(TEXTS) @ pair.embed([question], "query")[0]
    factor = pair.longest * float(np.linalg.norm(pair.questions.encode([question])))
    assert cosines * factor == pytest.approx(dot_products(pair, question, TEXTS), abs=1e-3)


def test_the_encoders_differ_and_take_the_first_token(pair: TwoEncoders, tmp_path: Path) -> None:
    assert not np.allclose(pair.questions.encode(TEXTS), pair.passages.encode(TEXTS))
    folder = ModelFolder(tmp_path / "passages")
    [first] = OnnxEmbedder(folder, name="x", pooling="cls").encode(["the river"])
    assert pair.passages.encode(["the river"])[0] == pytest.approx(first)
    [mean] = OnnxEmbedder(folder, name="x").encode(["the river"])
    assert not np.allclose(first, mean)
    pooling = {"1_Pooling/config.json": {"pooling_mode_mean_tokens": True}}
    told = save(tmp_path / "told", "ctx_encoder.bert_model.", 3.0, **pooling)
    made = load_embedder(f"dpr:{tmp_path / 'questions'},{told}", tmp_path)
    assert isinstance(made, TwoEncoders)
    assert made.passages.encode(["the river"])[0] == pytest.approx(mean), "as its folder says"


def test_an_index_searches_by_dot_product(pair: TwoEncoders, name: str, tmp_path: Path) -> None:
    documents = [Document(id=text, title="", text=text, is_passage=True) for text in TEXTS]
    IndexBuilder(folder=tmp_path / "my.index", embedder=pair).build(documents)
    index = IndexReader(Context(Snapshot.open(tmp_path / "my.index"), Settings(home=tmp_path)))
    for question in ("the river", "north flows"):
        best = np.argsort(-dot_products(pair, question, TEXTS), kind="stable")
        assert index.search(question, method="dense", k=6).ids == [TEXTS[place] for place in best]
        assert index.search(question, method="gnn_ret", k=6).ids, "any base with scores serves GNN-Ret"


def test_unrelated_passages_are_not_alike(pair: TwoEncoders) -> None:
    """What is added to a short vector must not make all of them neighbours."""
    vectors = pair.embed([f"unknown {number}" for number in range(40)])
    further = vectors[:, pair.passages.dimension :]
    alike = further @ further.T / np.outer(np.linalg.norm(further, axis=1), np.linalg.norm(further, axis=1))
    assert np.abs(alike[~np.eye(40, dtype=bool)]).max() < 0.35


@pytest.mark.parametrize("wrong", ["dpr:one", "dpr:,two", "dpr:a,b,c"])
def test_a_pair_has_two_names(wrong: str, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no pair of encoders"):
        load_embedder(wrong, tmp_path)


def test_both_have_the_same_dimensions(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OnnxEmbedder, "dimension", property(lambda encoder: len(Path(encoder.name).name)))
    with pytest.raises(BadInputError, match="have 9 and 8 dimensions"):
        load_embedder(name, tmp_path)
