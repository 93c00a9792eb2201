import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triplebeam.errors import BadInputError
from triplebeam.generate.prompts import load, read_template

CONTENT = "+++\ntemperature = 0.5\nmax_tokens = 9\n+++\n# system\nYou know $topic.\n\n# user\n$question costs $$5\n"


def test_a_filled_template_is_a_prompt() -> None:
    prompt = read_template("toy", CONTENT).fill(topic="maps", question="What")
    assert (prompt.system, prompt.user) == ("You know maps.", "What costs $5")
    assert (prompt.template, prompt.temperature, prompt.max_tokens) == ("toy", 0.5, 9)


def test_the_version_follows_the_content() -> None:
    template = read_template("toy", CONTENT)
    assert template.version == read_template("other name", CONTENT).version
    assert template.version != read_template("toy", CONTENT.replace("know", "knew")).version
    assert template.fill(topic="a", question="b").version == template.version


@settings(deadline=None)
@given(st.text(alphabet="$ab{}\\é \n"))
def test_a_value_is_taken_as_it_is(value: str) -> None:
    assert read_template("toy", CONTENT).fill(topic="x", question=value).user == f"{value} costs $5"


@pytest.mark.parametrize("variables", [{}, {"topic": "a"}, {"topic": "a", "question": "b", "more": "c"}])
def test_a_missing_or_unknown_variable_is_an_error(variables: dict[str, str]) -> None:
    with pytest.raises(BadInputError, match=r"takes the variables \['topic', 'question'\], not"):
        read_template("toy", CONTENT).fill(**variables)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("# system\na\n# user\nb\n", "is not a template"),
        (CONTENT.replace("# user", "## user"), "is not a template"),
        (CONTENT.replace("= 0.5", "is warm"), "is not TOML"),
        (CONTENT.replace("temperature", "heat"), r"unknown settings \['heat'\]"),
        (CONTENT.replace("= 9", "= 'nine'"), "max_tokens a whole number"),
        (CONTENT.replace("$$5", "$5"), "names no variable"),
    ],
)
def test_a_file_that_is_no_template_is_an_error(content: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        read_template("toy", content)


@pytest.mark.parametrize("name", ["nowhere", "../prompts/extract", "", "gear/nothing"])
def test_a_prompt_that_is_not_there(name: str) -> None:
    with pytest.raises(BadInputError, match="There is no prompt named"):
        load(name)


def test_the_examples_of_the_extraction_prompt_obey_its_rules() -> None:
    template = load("extract")
    assert template.variables == ["passage"]
    replies = [json.loads(line) for line in re.findall(r"^Example reply:\n(.*)$", template.system, re.MULTILINE)]
    passages = re.findall(r"^Example passage:\n(.*?)\n\nExample reply:", template.system, re.MULTILINE | re.DOTALL)
    assert len(replies) == len(passages) == 2
    for passage, reply in zip(passages, replies, strict=True):
        assert all(name in passage for name in reply["entities"])
        for subject, _, object_ in reply["triples"]:
            assert {subject, object_} & set(reply["entities"])
