import pytest

from triplebeam.generate.prompts import format_facts, format_passages
from triplebeam.passage import Passage
from triplebeam.text.lines import line_numbers
from triplebeam.triple import Triple


@pytest.mark.parametrize("text", ["Bath lies here.", "2. Bundesliga is a league.", "[3] 4. A quoted list.", "1."])
def test_a_line_has_one_number_wherever_it_is_quoted(text: str) -> None:
    assert line_numbers([format_passages([Passage("p", text)])]) == line_numbers([text])


def test_a_fact_that_begins_like_a_numbered_line_has_one_number() -> None:
    fact = Triple("2. Bundesliga", "is", "a league")
    assert line_numbers([format_facts([fact])]) == line_numbers([str(fact)])


def test_other_lines_have_other_numbers() -> None:
    assert len(line_numbers(["One line.\nAnother line.\n\n", "One line."])) == 2
