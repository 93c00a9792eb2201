"""Two calls a passage: what goes from the first into the second, and what a failure of either costs."""

import json
import re
from collections.abc import Sequence

import pytest

from triplebeam.errors import EndpointError
from triplebeam.extract.extractor import Extraction, Extractor
from triplebeam.generate.accounting import Accounted, account
from triplebeam.generate.connect import Concurrent
from triplebeam.generate.language_model import Completion, Prompt, PromptRefusedError
from triplebeam.passage import Passage
from triplebeam.testing.contracts import ExtractorContract
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple
from triplebeam_research.extractors.two_step import TwoStepExtractor
from triplebeam_research.templates import load

OSLO = Passage(id="p1", title="Oslo", text="It is the capital of Norway.")
LIMA = Passage(id="p2", text="Lima is the capital of Peru.")
ROME = Passage(id="p3", text="Rome is the capital of Italy.")


def entities(*names: object) -> str:
    return json.dumps({"entities": names})


def triples(*rows: object) -> str:
    return json.dumps({"triples": rows})


class Fails(Scripted):
    """Raises an error for each batch in which a prompt of a template contains a text."""

    def __init__(self, replies: dict[str, str], template: str, text: str, error: EndpointError) -> None:
        super().__init__(replies)
        self.template, self.text, self.error = template, text, error

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        if any(prompt.template == self.template and self.text in prompt.user for prompt in prompts):
            raise self.error
        return super().complete(prompts)


#: Fits both questions: what is not asked for is passed over.
BOTH = {
    city: json.dumps({"entities": [city, land], "triples": [[city, "is in", land]]})
    for city, land in [("Oslo", "Norway"), ("Lima", "Peru"), ("Rome", "Italy")]
}


class TestContract(ExtractorContract):
    @pytest.fixture
    def extractor(self) -> Extractor:
        film = ["Laughter in Hell", " directed by ", "Edward Cahn"]
        replies = {
            "drama film": json.dumps({"entities": ["Edward Cahn"], "triples": [film, film, ["", "is", "nothing"]]}),
            "died in 1963": "this is not JSON",
            "…": json.dumps({"entities": [], "triples": []}),
        }
        return TwoStepExtractor(Scripted(replies), batch_size=2)


def test_the_second_question_has_the_entities_of_the_first() -> None:
    replies = [entities("Oslo", " Norway", "", "Oslo", 1814), triples(["Oslo", " is the capital of ", "Norway"])]
    with Scripted(replies) as model:
        [extraction] = TwoStepExtractor(model).extract([OSLO])
    assert extraction == Extraction(
        passage_id="p1",
        triples=(Triple("Oslo", "is the capital of", "Norway"),),
        entities=("Oslo", "Norway", "1814"),
    )
    first, second = model.prompts
    assert (first.template, second.template) == ("extract_entities", "extract_triples")
    assert first.user == "Passage:\nOslo\nIt is the capital of Norway."
    assert second.user == f'{first.user}\n\nEntities:\n["Oslo", "Norway", "1814"]'


def test_names_are_shown_as_they_are_written_and_can_be_sent() -> None:
    with Scripted(['{"entities": ["Tromsø", "a\\ud800b"]}', triples()]) as model:
        [extraction] = TwoStepExtractor(model).extract([OSLO])
    assert extraction.entities == ("Tromsø", "a\ufffdb")
    assert model.prompts[1].user.endswith('["Tromsø", "a\ufffdb"]')


def test_a_passage_that_names_nothing_is_asked_for_triples_all_the_same() -> None:
    with Scripted([entities(), triples(["water", "boils at", "100 °C"])]) as model:
        [extraction] = TwoStepExtractor(model).extract([OSLO])
    assert extraction.triples == (Triple("water", "boils at", "100 °C"),)
    assert model.prompts[1].user.endswith("Entities:\n[]")


def test_the_name_tells_model_and_prompts() -> None:
    extractor = TwoStepExtractor(Scripted([], name="toy"))
    versions = f"{load('extract_entities').version}-{load('extract_triples').version}"
    assert extractor.name == f"llm-two-step:toy:{versions}"


def test_a_batch_is_asked_for_entities_and_then_for_triples() -> None:
    with Scripted(BOTH) as model:
        extractions = TwoStepExtractor(model, batch_size=2).extract(iter([OSLO, LIMA, ROME]))
        assert next(extractions).passage_id == "p1"
        assert [prompt.template for prompt in model.prompts] == ["extract_entities"] * 2 + ["extract_triples"] * 2
        assert [extraction.passage_id for extraction in extractions] == ["p2", "p3"]


def test_a_row_that_is_no_triple_is_put_aside_without_the_others() -> None:
    with Scripted([entities("Oslo"), triples(["Oslo", "is in", "Norway"], ["a", "b"], ["a", None, "c"])]) as model:
        [extraction] = TwoStepExtractor(model).extract([OSLO])
    assert extraction.triples == (Triple("Oslo", "is in", "Norway"),)
    assert extraction.rejected == (("a", "b"), ("a", "", "c"))


def test_either_reply_is_corrected_once_and_all_calls_are_charged() -> None:
    replies = ["no JSON", entities("Oslo"), "no JSON", triples(["Oslo", "is in", "Norway"])]
    with Scripted(replies) as model, account() as spent:
        [extraction] = TwoStepExtractor(Accounted(model)).extract([OSLO])
    assert extraction.triples == (Triple("Oslo", "is in", "Norway"),)
    assert [prompt.correction is not None for prompt in model.prompts] == [False, True, False, True]
    assert spent.usage.calls == 4


def test_a_passage_without_a_usable_list_is_not_asked_for_triples() -> None:
    with Scripted({**BOTH, "Lima": "no JSON"}) as model:
        oslo, lima, rome = TwoStepExtractor(model).extract([OSLO, LIMA, ROME])
    assert "holds no JSON object" in (lima.failure or "")
    assert (oslo.entities, rome.entities) == (("Oslo", "Norway"), ("Rome", "Italy"))
    assert rome.triples == (Triple("Rome", "is in", "Italy"),)
    asked = [prompt.user for prompt in model.prompts if prompt.template == "extract_triples"]
    assert [("Oslo" in user, "Rome" in user) for user in asked] == [(True, False), (False, True)]


@pytest.mark.parametrize("template", ["extract_entities", "extract_triples"])
def test_a_passage_the_endpoint_refuses_fails_alone(template: str) -> None:
    model = Fails(BOTH, template, "Lima", PromptRefusedError("too long"))
    extractions = list(TwoStepExtractor(model).extract([OSLO, LIMA, ROME]))
    assert [(extraction.passage_id, extraction.failure) for extraction in extractions] == [
        ("p1", None),
        ("p2", "too long"),
        ("p3", None),
    ]


def test_an_endpoint_that_goes_down_keeps_what_was_done() -> None:
    model = Fails(BOTH, "extract_entities", "Lima", EndpointError("down"))
    extractions = TwoStepExtractor(model, batch_size=1).extract([OSLO, LIMA])
    assert next(extractions).passage_id == "p1"
    with pytest.raises(EndpointError, match="down"):
        next(extractions)


def test_what_arrived_in_a_batch_is_given_before_its_error() -> None:
    model = Fails(BOTH, "extract_triples", "Lima", EndpointError("down"))
    extractions = TwoStepExtractor(Concurrent(model=model, concurrency=1)).extract([OSLO, LIMA, ROME])
    assert next(extractions).passage_id == "p1"
    with pytest.raises(EndpointError, match="down"):
        next(extractions)


def test_the_prompts_own_examples_follow_their_rules() -> None:
    block = r"Example passage:\n(.+?)\n\nExample reply:\n(\{.+?\})(?=\n|$)"
    examples = re.findall(block, load("extract_entities").system, re.DOTALL)
    named = [json.loads(reply)["entities"] for _, reply in examples]
    for (passage, _), names in zip(examples, named, strict=True):
        assert [name for name in names if name not in passage] == []
    block = r"Example entities:\n(\[.+?\])\n\nExample reply:\n(\{.+?\})(?=\n|$)"
    rows = re.findall(block, load("extract_triples").system)
    assert [json.loads(listed) for listed, _ in rows] == named
    for names, (_, reply) in zip(named, rows, strict=True):
        assert [row for row in json.loads(reply)["triples"] if not {row[0], row[2]} & {*names}] == []
