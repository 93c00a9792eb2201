import re

import pytest

from triplebeam.errors import BadInputError
from triplebeam.retrieve.retriever import Retriever
from triplebeam_research.baselines.simple import FixedRanking

GIVEN: Retriever = FixedRanking({"Who?": ["z", "a", "m"], "Nobody?": []})


def test_the_order_given_is_kept() -> None:
    assert GIVEN.retrieve("Who?").ids == ["z", "a", "m"]
    assert GIVEN.retrieve(" Who? ") == GIVEN.retrieve("Who?")
    assert GIVEN.retrieve("Who?", 2) == GIVEN.retrieve("Who?").top(2)


@pytest.mark.parametrize("query", ["Where?", "who?", "", "Nobody?"])
def test_a_question_without_passages_is_an_error(query: str) -> None:
    with pytest.raises(BadInputError, match=f"No passages are listed for the question {re.escape(repr(query))}"):
        GIVEN.retrieve(query)
