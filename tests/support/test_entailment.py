"""What the model reads, and how its adapter is merged."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tables import read_table
from triplebeam.assemble import Context, IndexReader
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import ModelMissingError
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.settings import Settings
from triplebeam.support.claim import Claim, claim_of
from triplebeam.support.entailment import merge_adapter, prepare, states
from triplebeam.support.page import page_of
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple

TEXT = "Cahn made films. He directed Laughter in Hell with care. Ann Lee met him."


def claim(triple: Triple, quotation: str = "", text: str = TEXT, title: str = "Edward Cahn") -> Claim:
    """Make the claim for a quotation, or for the whole text."""
    start, length = text.index(quotation), len(quotation or text)
    made = claim_of(triple, page_of(text, title), start, start + length)
    assert isinstance(made, Claim)
    return made


def test_a_claim_marks_the_ends_or_the_title() -> None:
    made = claim(Triple("Edward Cahn", "directed", "Laughter in Hell"), "directed Laughter in Hell")
    assert made.fact == "[ Edward Cahn ] directed { Laughter in Hell }"
    assert made == Claim(
        Triple("Edward Cahn", "directed", "Laughter in Hell"),
        "[ Edward Cahn ] : He directed { Laughter in Hell } with care.",
        "[ Edward Cahn ] : Cahn made films. He directed { Laughter in Hell } with care.",
    )
    first = claim(Triple("Edward Cahn", "made", "films"), "Cahn made films")
    assert first.words == first.context, "the first sentence has none before it"


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
    made = claim(Triple(subject, "does", object_), text=text, title="Ann Lee")
    assert (made.fact, made.words) == (f"[ {' '.join(subject.split())} ] does {{ {object_} }}", marked)


def test_a_dash_that_was_lost_between_two_dates_is_read() -> None:
    text = "Ann Lee( 6 June 19505 October 2015) met Eva (May 3, 1948July 1, 2001)."
    born = claim(Triple("Ann Lee", "born", "6 June 1950"), text=text, title="Ann Lee")
    died = claim(Triple("Ann Lee", "died", "5 October 2015"), text=text, title="Ann Lee")
    with_dashes = "Ann Lee : [ Ann Lee ] ( { 6 June 1950 } – 5 October 2015) met Eva (May 3, 1948 – July 1, 2001)."
    assert born.words == with_dashes
    assert "6 June 1950 – { 5 October 2015 } )" in died.words


@pytest.mark.parametrize(
    ("predicate", "forward", "backward", "stated"),
    read_table(__file__, "test_words_that_rather_state_the_reverse_do_not_state_a_fact"),
)
def test_words_that_rather_state_the_reverse_do_not_state_a_fact(
    predicate: str, forward: float, backward: float, stated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = {f"[ A ] {predicate} {{ B }}": forward, f"[ B ] {predicate} {{ A }}": backward}
    reader = SimpleNamespace(score=lambda claim: scores[claim.fact])
    monkeypatch.setattr("triplebeam.support.entailment.reader", lambda: reader)
    made = Claim(Triple("A", predicate, "B"), "T : [ A ] and { B } .", "T : Before. [ A ] and { B } .")
    assert states.__wrapped__(made) is stated
    assert made.swapped == Claim(Triple("B", predicate, "A"), "T : { A } and [ B ] .", "T : Before. { A } and [ B ] .")


def test_an_end_that_is_not_named_is_returned() -> None:
    page = page_of(TEXT, "Edward Cahn")
    for triple, quotation, missing in (
        (Triple("Edward Cahn", "directed", "Laughter in Hell"), "with care", "Laughter in Hell"),
        (Triple("Edward Cahn", "met", "Ann Lee"), "Ann Lee met him", "Edward Cahn"),
    ):
        start = TEXT.index(quotation)
        assert claim_of(triple, page, start, start + len(quotation)) == missing


def test_products_are_added_and_biases_replaced() -> None:
    tensors = {"a.weight": np.ones((2, 3)), "a.bias": np.zeros(2), "b": np.ones(1)}
    adapted = {"a.weight.A": np.full((1, 3), 2.0), "a.weight.B": np.array([[1.0], [0.0]]), "a.bias": np.ones(2)}
    result = merge_adapter(tensors, adapted)
    assert result.keys() == tensors.keys()
    assert result["a.weight"].tolist() == [[3, 3, 3], [1, 1, 1]]
    assert result["a.bias"].tolist() == [1, 1]


def test_missing_weights_are_found_out_before_a_model_is_asked(
    world: Snapshot, tmp_path: Path, words: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triplebeam.support.prepare", prepare)
    model = Scripted([])
    index = IndexReader(Context(world, Settings(home=tmp_path, offline=True), words, model))
    with pytest.raises(ModelMissingError, match=r"granite.* is not complete"):
        index.ask("Who directed Laughter in Hell?")
