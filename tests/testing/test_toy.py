"""The toy corpus keeps what its README promises: whoever edits a passage learns here which question it broke."""

from itertools import pairwise

import pytest

from triplebeam.passage import Passage
from triplebeam.testing import toy

PASSAGES = {passage.id: passage for passage in toy.passages()}
QUESTIONS = toy.questions()
each_passage = pytest.mark.parametrize("passage", PASSAGES.values(), ids=lambda passage: passage.id)
each_question = pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)


def test_the_corpus_has_about_sixty_passages_and_no_id_title_or_text_twice() -> None:
    passages = toy.passages()
    assert 60 <= len(passages) <= 70
    for part in ("id", "title", "text"):
        assert len({getattr(passage, part) for passage in passages}) == len(passages)


def test_there_are_nine_two_hop_and_five_three_hop_questions() -> None:
    assert [question.hops for question in QUESTIONS] == [2] * 9 + [3] * 5
    assert len({question.id for question in QUESTIONS}) == len({question.question for question in QUESTIONS}) == 14
    assert sum(question.kind != "chain" for question in QUESTIONS) >= 2


@each_passage
def test_a_passage_is_short_and_begins_with_its_title(passage: Passage) -> None:
    assert 50 <= len(passage.text.split()) <= 110
    assert passage.text.startswith(passage.title)
    assert (passage.document_id, passage.start, passage.end) == (passage.id, 0, len(passage.text))


@each_question
def test_gold_passages_exist_one_a_hop_and_branch(question: toy.Question) -> None:
    assert set(question.gold) <= set(PASSAGES)
    assert len(set(question.gold)) == len(question.gold) == len(question.chain)
    assert [len(branch) for branch in question.branches] == [question.hops] * (1 if question.kind == "chain" else 2)


@each_question
def test_the_answer_occurs_in_the_last_gold_passage_and_not_in_the_question(question: toy.Question) -> None:
    last = PASSAGES[question.gold[-1]]
    assert all(answer in last.text for answer in question.answers)
    assert not any(answer in question.question for answer in question.answers)
    if question.kind == "intersection":
        assert all(question.answers[0] in PASSAGES[branch[-1]].text for branch in question.branches)


@each_question
def test_each_bridge_is_named_by_the_passage_before_it_and_not_by_the_question(question: toy.Question) -> None:
    for branch in question.branches:
        assert PASSAGES[branch[0]].title in question.question
        for before, after in pairwise(branch):
            assert PASSAGES[after].title in PASSAGES[before].text
            assert PASSAGES[after].title not in question.question


@each_question
def test_no_passage_is_a_shortcut(question: toy.Question) -> None:
    """No single passage names both where a branch starts and where the question ends."""
    for branch in question.branches:
        first = PASSAGES[branch[0]].title
        assert first not in PASSAGES[branch[-1]].text
        if question.kind != "comparison":  # there the answer is itself a bridge, and the passage before must name it
            assert not [p.id for p in PASSAGES.values() if first in p.text and question.answers[0] in p.text]


@each_question
def test_the_chain_names_what_its_passages_say(question: toy.Question) -> None:
    for passage_id, hop in zip(question.gold, question.chain, strict=True):
        for entity in (hop.subject, hop.object):
            assert entity in PASSAGES[passage_id].text
