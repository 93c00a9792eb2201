"""Templates: filled, versioned, refused; and whose the lines of a prompt are."""

import json
import re
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triplebeam.errors import BadInputError
from triplebeam.generate.completion_cache import CompletionStore, completion_key, load_boilerplate_lines
from triplebeam.generate.language_model import Completion
from triplebeam.generate.prompts import format_passages, load, read_template
from triplebeam.passage import Passage
from triplebeam.text.lines import line_numbers
from triplebeam_research.baselines.chain_of_thought import format_exemplars, load_exemplars

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


PROMPTS = Path(str(resources.files("triplebeam.generate") / "prompts"))


def test_a_removed_text_with_a_line_of_the_prompt_itself_forgets_no_other_reply(tmp_path: Path) -> None:
    with CompletionStore(tmp_path / "completions.sqlite") as store:
        for text in ("Bath lies in England.", "Some manual.\nPassages:\nEnd."):
            shown = format_passages([Passage("p", text)])
            prompt = load("answer").fill(passages=shown, facts="", question="Where?")
            store.put(completion_key("m", prompt), "m", prompt, Completion(text="reply"))
        assert store.forget(line_numbers(["Passages:"])) == 0
        assert store.forget(line_numbers(["Some manual.\nPassages:\nEnd."])) == 1
        assert store.count() == 1


@pytest.mark.parametrize("path", sorted(PROMPTS.rglob("*.md")), ids=lambda path: path.stem)
def test_the_lines_of_every_template_are_its_own(path: Path) -> None:
    template = load(path.relative_to(PROMPTS).with_suffix("").as_posix())
    filled = template.fill(**dict.fromkeys(template.variables, "(quoted)")).user
    literal = [line for line in filled.splitlines() if "(quoted)" not in line]
    assert line_numbers(literal) <= load_boilerplate_lines()
    assert not line_numbers(["(quoted)"]) & load_boilerplate_lines()


def test_passages_of_worked_examples_are_the_prompts_own() -> None:
    shown = format_exemplars(load_exemplars(), with_passages=True).splitlines()
    passages = [line for line in shown if not line.startswith(("Example question:", "Example reply:"))]
    assert passages
    assert line_numbers(passages) <= load_boilerplate_lines()
