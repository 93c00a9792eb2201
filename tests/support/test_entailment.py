"""What the model reads, and how its adapter is merge_adapter."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tables import read_table
from triplebeam.assemble import Context, IndexReader
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import ModelMissingError
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Passage
from triplebeam.settings import Settings
from triplebeam.support.claim import Claim, claim_of
from triplebeam.support.entailment import merge_adapter, prepare, states
from triplebeam.support.page import page_of
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple

TEXT = "Cahn made films. He directed Laughter in Hell with care. Ann Lee met him."


def claim(subject: str, predicate: str, object_: str, quotation: str) -> Claim | str:
    start = TEXT.index(quotation)
    triple = Triple(subject, predicate, object_)
    return claim_of(triple, page_of(TEXT, "Edward Cahn"), start, start + len(quotation))


def test_a_claim_marks_the_ends_or_the_title() -> None:
    made = claim("Edward Cahn", "directed", "Laughter in Hell", "directed Laughter in Hell")
    assert isinstance(made, Claim)
    assert made.fact == "[ Edward Cahn ] directed { Laughter in Hell }"
    assert made == Claim(
        Triple("Edward Cahn", "directed", "Laughter in Hell"),
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


def test_a_dash_that_was_lost_between_two_dates_is_read() -> None:
    text = "Ann Lee( 6 June 19505 October 2015) met Eva (May 3, 1948July 1, 2001)."
    made = claim_of(Triple("Ann Lee", "born", "6 June 1950"), page_of(text, "Ann Lee"), 0, len(text))
    assert isinstance(made, Claim)
    assert made.words == (
        "Ann Lee : [ Ann Lee ] ( { 6 June 1950 } – 5 October 2015) met Eva (May 3, 1948 – July 1, 2001)."
    )
    died = claim_of(Triple("Ann Lee", "died", "5 October 2015"), page_of(text, "Ann Lee"), 0, len(text))
    assert isinstance(died, Claim)
    assert "6 June 1950 – { 5 October 2015 } )" in died.words


class Scores(NamedTuple):
    """A reader that has a score for each fact."""

    of: dict[str, float]

    def score(self, claim: Claim) -> float:
        return self.of[claim.fact]


@pytest.mark.parametrize(
    ("predicate", "forward", "backward", "stated"),
    read_table(__file__, "test_words_that_rather_state_the_reverse_do_not_state_a_fact"),
)
def test_words_that_rather_state_the_reverse_do_not_state_a_fact(
    predicate: str, forward: float, backward: float, stated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = {f"[ A ] {predicate} {{ B }}": forward, f"[ B ] {predicate} {{ A }}": backward}
    monkeypatch.setattr("triplebeam.support.entailment.reader", lambda: Scores(scores))
    made = Claim(Triple("A", predicate, "B"), "T : [ A ] and { B } .", "T : Before. [ A ] and { B } .")
    assert states.__wrapped__(made) is stated
    assert made.swapped == Claim(Triple("B", predicate, "A"), "T : { A } and [ B ] .", "T : Before. { A } and [ B ] .")


def test_an_end_that_is_not_named_is_returned() -> None:
    assert claim("Edward Cahn", "directed", "Laughter in Hell", "with care") == "Laughter in Hell"
    assert claim("Edward Cahn", "met", "Ann Lee", "Ann Lee met him") == "Edward Cahn"


def test_products_are_added_and_biases_replaced() -> None:
    tensors = {"a.weight": np.ones((2, 3)), "a.bias": np.zeros(2), "b": np.ones(1)}
    adapted = {"a.weight.A": np.full((1, 3), 2.0), "a.weight.B": np.array([[1.0], [0.0]]), "a.bias": np.ones(2)}
    result = merge_adapter(tensors, adapted)
    assert result.keys() == tensors.keys()
    assert result["a.weight"].tolist() == [[3, 3, 3], [1, 1, 1]]
    assert result["a.bias"].tolist() == [1, 1]


def test_missing_weights_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError, match=r"granite.* is not complete"):
        prepare(tmp_path, offline=True)


def test_missing_weights_are_found_out_before_a_model_is_asked(
    world: Snapshot, tmp_path: Path, words: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triplebeam.support.prepare", prepare)
    model = Scripted([])
    index = IndexReader(Context(world, Settings(home=tmp_path, offline=True), words, model))
    with pytest.raises(ModelMissingError, match=r"granite.* is not complete"):
        index.ask("Who directed Laughter in Hell?")


def test_a_claim_in_the_first_sentence_has_no_context() -> None:
    page = Passage("p", TEXT, "Edward Cahn")
    made = claim_of(Triple("Edward Cahn", "made", "films"), page_of(page.text, page.title), 0, 15)
    assert isinstance(made, Claim)
    assert made.words == made.context
