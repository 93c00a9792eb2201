"""What the model reads, and how its adapter is merged."""

from pathlib import Path

import numpy as np
import pytest

from triplebeam.assemble.index import Index
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import ModelMissingError
from triplebeam.index.snapshot import Snapshot
from triplebeam.passage import Passage
from triplebeam.settings import Settings
from triplebeam.support.claim import Claim, claim_of
from triplebeam.support.entailment import merged, prepare
from triplebeam.support.page import page_of
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple

TEXT = "Cahn made films. He directed Laughter in Hell with care. Ann Lee met him."


def claim(subject: str, predicate: str, object_: str, quotation: str) -> Claim | str:
    start = TEXT.index(quotation)
    triple = Triple(subject, predicate, object_)
    return claim_of(triple, page_of(TEXT, "Edward Cahn"), start, start + len(quotation))


def test_a_claim_marks_the_ends_or_the_title() -> None:
    assert claim("Edward Cahn", "directed", "Laughter in Hell", "directed Laughter in Hell") == Claim(
        "[ Edward Cahn ] directed { Laughter in Hell }",
        "[ Edward Cahn ] : He directed { Laughter in Hell } with care.",
        "[ Edward Cahn ] : Cahn made films. He directed { Laughter in Hell } with care.",
    )


@pytest.mark.parametrize(
    ("subject", "object_", "text", "marked"),
    [
        ("Ann Lee", "Stroh's", "Lee drinks Stroh's beer.", "Ann Lee : [ Lee ] drinks { Stroh's } beer."),
        ("stroh's", "beer", "Lee drinks Stroh's beer.", "Ann Lee : Lee drinks [ Stroh's ] { beer } ."),
        ("ann  lee", "films", "Lee films herself.", "Ann Lee : [ Lee ] { films } [ herself ] ."),
        ("Ann Lee", "films", "On the lee side, she films.", "[ Ann Lee ] : On the lee side, she { films } ."),
    ],
)
def test_a_mention_is_marked_whole(subject: str, object_: str, text: str, marked: str) -> None:
    made = claim_of(Triple(subject, "does", object_), page_of(text, "Ann Lee"), 0, len(text))
    assert isinstance(made, Claim)
    assert (made.fact, made.words) == (f"[ {' '.join(subject.split())} ] does {{ {object_} }}", marked)


def test_an_end_that_is_not_named_is_returned() -> None:
    assert claim("Edward Cahn", "directed", "Laughter in Hell", "with care") == "Laughter in Hell"
    assert claim("Edward Cahn", "met", "Ann Lee", "Ann Lee met him") == "Edward Cahn"


def test_products_are_added_and_biases_replaced() -> None:
    tensors = {"a.weight": np.ones((2, 3)), "a.bias": np.zeros(2), "b": np.ones(1)}
    adapted = {"a.weight.A": np.full((1, 3), 2.0), "a.weight.B": np.array([[1.0], [0.0]]), "a.bias": np.ones(2)}
    result = merged(tensors, adapted)
    assert result.keys() == tensors.keys()
    assert result["a.weight"].tolist() == [[3, 3, 3], [1, 1, 1]]
    assert result["a.bias"].tolist() == [1, 1]


def test_missing_weights_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError, match=r"granite.* is not complete"):
        prepare(tmp_path, offline=True)


def test_missing_weights_are_found_out_before_a_model_is_asked(
    world: Snapshot, tmp_path: Path, words: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triplebeam.assemble.context.prepare", prepare)
    model = Scripted([])
    index = Index.of(world, Settings(home=tmp_path, offline=True), words, model)
    with pytest.raises(ModelMissingError, match=r"granite.* is not complete"):
        index.ask("Who directed Laughter in Hell?")


def test_a_claim_in_the_first_sentence_has_no_context() -> None:
    page = Passage("p", TEXT, "Edward Cahn")
    made = claim_of(Triple("Edward Cahn", "made", "films"), page_of(page.text, page.title), 0, 15)
    assert isinstance(made, Claim)
    assert made.words == made.context
