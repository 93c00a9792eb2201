import json
from collections.abc import Sequence

import pytest

from triplebeam.errors import EndpointError
from triplebeam.extract.extractor import Extraction, Extractor
from triplebeam.extract.llm import LLMExtractor
from triplebeam.generate.connect import Concurrent
from triplebeam.generate.language_model import Completion, Prompt, PromptRefusedError
from triplebeam.generate.prompts import load
from triplebeam.passage import Passage
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple

OSLO = Passage(id="p1", title="Oslo", text="It is the capital of Norway. It cost $5.")
LIMA = Passage(id="p2", text="Lima is the capital of Peru.")
ROME = Passage(id="p3", text="Rome is the capital of Italy.")


def reply(*rows: object, entities: Sequence[object] = ()) -> str:
    return json.dumps({"entities": entities, "triples": rows})


class Fails(Scripted):
    """Raises an error for each batch in which a prompt contains a text."""

    def __init__(self, replies: dict[str, str], text: str, error: EndpointError) -> None:
        super().__init__(replies)
        self.text, self.error = text, error

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        if any(self.text in prompt.user for prompt in prompts):
            raise self.error
        return super().complete(prompts)


def test_a_reply_becomes_triples_and_entities() -> None:
    row, names = ["Oslo", " is the capital of ", "Norway"], ["Oslo", " Norway", "", "Oslo"]
    with Scripted([reply(row, entities=names)], name="toy") as model:
        extractor: Extractor = LLMExtractor(model)
        [extraction] = extractor.extract([OSLO])
    assert extraction == Extraction(
        passage_id="p1", triples=(Triple("Oslo", "is the capital of", "Norway"),), entities=("Oslo", "Norway")
    )
    assert extractor.name == f"llm:toy:{load('extract').version}"
    [prompt] = model.prompts
    assert prompt.user == "Passage:\nOslo\nIt is the capital of Norway. It cost $5."
    assert (prompt.template, prompt.temperature) == ("extract", 0.0)
    schema = prompt.schema
    assert schema is not None
    assert (schema["additionalProperties"], schema["required"]) == (False, ["entities", "triples"])
    assert "description" not in schema
    triples = schema["properties"]["triples"]  # type: ignore[index]
    assert triples["items"] == {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 3}


def test_a_row_that_is_no_triple_is_put_aside_without_the_others() -> None:
    parts = {"object": "Norway", "subject": "Oslo", "predicate": "is the capital of"}
    good = ["Kon-Tiki expedition", "left in", 1947]
    rows = [good, parts, ["a", "b"], ["a", None, "c"], ["a", "b", ["c"]], {"subject": "a"}, "text"]
    with Scripted([reply(*rows, entities=["Oslo", None])]) as model:
        [extraction] = LLMExtractor(model).extract([OSLO])
    oslo = Triple("Oslo", "is the capital of", "Norway")
    assert extraction.triples == (Triple("Kon-Tiki expedition", "left in", "1947"), oslo)
    assert extraction.entities == ("Oslo",), "null is no name"
    texts = ('["a", "b", ["c"]]', '{"subject": "a"}', '"text"')
    assert extraction.rejected == (("a", "b"), ("a", "", "c"), *((text,) for text in texts))
    assert extraction.failure is None


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        ("Sorry, no.", "holds no JSON object; it begins with 'Sorry, no.'"),
        ("", "is empty"),
        ('{"entities": []}', "triples: Field required"),
        (Completion(text='{"entities": [], "triples": [["a"', finish_reason="length"), "cut off"),
    ],
)
def test_an_unusable_reply_is_a_failure_of_its_passage_alone(answer: str | Completion, failure: str) -> None:
    good = f"```json\n{reply(['Lima', 'is in', 'Peru'])}\n```"
    with Scripted({"Oslo": answer, "Lima": good}) as model:
        oslo, lima = LLMExtractor(model).extract([OSLO, LIMA])
    assert oslo.passage_id == "p1"
    assert failure in (oslo.failure or "")
    assert not oslo.triples
    assert lima == Extraction(passage_id="p2", triples=(Triple("Lima", "is in", "Peru"),))


def test_a_passage_the_endpoint_refuses_fails_alone() -> None:
    replies = {"Oslo": reply(["Oslo", "is in", "Norway"]), "Rome": reply(["Rome", "is in", "Italy"])}
    with Fails(replies, "Lima", PromptRefusedError("too long")) as model:
        extractions = list(LLMExtractor(model).extract([OSLO, LIMA, ROME]))
    assert [each.passage_id for each in extractions] == ["p1", "p2", "p3"]
    assert [each.failure for each in extractions] == [None, "too long", None]


@pytest.mark.parametrize("batch_size", [1, 16])
def test_an_endpoint_that_goes_down_keeps_what_was_done_before_its_error(batch_size: int) -> None:
    with Fails({"Oslo": reply(["Oslo", "is in", "Norway"])}, "Lima", EndpointError("down")) as model:
        extractor = LLMExtractor(Concurrent(model=model, concurrency=1), batch_size)
        extractions = extractor.extract([OSLO, LIMA, ROME])
        assert next(extractions).passage_id == "p1"
        with pytest.raises(EndpointError, match="down"):
            next(extractions)


def test_passages_are_asked_for_a_batch_at_a_time() -> None:
    with Scripted([reply(), reply(), reply()]) as model:
        extractions = LLMExtractor(model, batch_size=2).extract(iter([OSLO, LIMA, ROME]))
        assert next(extractions).passage_id == "p1"
        assert len(model.prompts) == 2
        assert [extraction.passage_id for extraction in extractions] == ["p2", "p3"]


def test_a_reply_that_cannot_be_used_is_corrected_once() -> None:
    with Scripted(["no JSON", reply(["Oslo", "is in", "Norway"])]) as model:
        [extraction] = LLMExtractor(model).extract([OSLO])
    assert extraction.triples == (Triple("Oslo", "is in", "Norway"),)
    correction = model.prompts[1].correction
    assert correction is not None
    assert correction.reply == "no JSON"
    assert "holds no JSON object" in correction.request
