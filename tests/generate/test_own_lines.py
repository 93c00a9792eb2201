from importlib import resources
from pathlib import Path

import pytest

from triplebeam.generate.completion_cache import CompletionStore, completion_key, load_boilerplate_lines
from triplebeam.generate.language_model import Completion
from triplebeam.generate.prompts import format_passages, load
from triplebeam.passage import Passage
from triplebeam.text.lines import line_numbers
from triplebeam_research.baselines.exemplars import load_exemplars
from triplebeam_research.baselines.reasoning_paths import format_exemplars

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
