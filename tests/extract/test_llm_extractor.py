"""What a model extracts, and what that costs: a sample is scaled to all characters."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from triplebeam.errors import EndpointError
from triplebeam.extract.extractor import Extraction, Extractor
from triplebeam.extract.llm import LLMExtractor
from triplebeam.extract.quote import Sample, draw_sample, extract_sample
from triplebeam.generate.completion_cache import Cached, CompletionStore
from triplebeam.generate.connect import Concurrent
from triplebeam.generate.language_model import Completion, Prompt, PromptRefusedError, Usage
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
    assert correction.reply == "no JSON"
    assert "holds no JSON object" in correction.request


class Clerk:
    """Writes one triple a passage, eight tokens each; the first reply to some passages is no JSON."""

    name = "clerk"

    def __init__(self, stumbles: str = "", refuses: str = "") -> None:
        self.stumbles, self.refuses = stumbles, refuses
        self.calls = 0

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [self._complete(prompt) for prompt in prompts]

    def _complete(self, prompt: Prompt) -> Completion:
        if self.refuses and self.refuses in prompt.user:
            raise PromptRefusedError("It is too long.")
        self.calls += 1
        bad = self.stumbles and self.stumbles in prompt.user and not prompt.correction
        text = "Sorry." if bad else '{"entities": [], "triples": [["a", "b", "c"]]}'
        return Completion(text=text, usage=Usage(calls=1, tokens_in=100, tokens_out=8))


WORDS = [Passage(f"p{n}", f"This is passage {n:02} of some.") for n in range(30)]


def test_each_passage_is_measured_with_its_corrections_and_a_refused_one_costs_nothing() -> None:
    sample = extract_sample(LLMExtractor(Clerk(stumbles="passage 03", refuses="passage 01")), WORDS[:5])
    assert [usage.tokens_in for usage in sample.usages] == [100, 0, 100, 200, 100]
    assert [usage.tokens_out for usage in sample.usages] == [8, 0, 8, 16, 8]
    failures = [extraction.failure for extraction in sample.extractions]
    assert failures == [None, "It is too long.", None, None, None]
    assert all(extraction.triples or extraction.failure for extraction in sample.extractions)


def test_a_sample_that_was_cached_tells_its_tokens(tmp_path: Path) -> None:
    with CompletionStore(tmp_path / "c.sqlite") as store:
        clerk = Clerk()
        _, again = (extract_sample(LLMExtractor(Cached(model=clerk, store=store)), WORDS[:6]) for _ in range(2))
    assert clerk.calls == 6
    assert set(again.usages) == {Usage(cached_calls=1, cached_tokens_in=100, cached_tokens_out=8)}


def test_costs_per_character_are_scaled_to_all_characters() -> None:
    sample = Sample(characters=(100, 300), extractions=(), usages=())
    assert sample.estimate([200, 600], 4000) == (8000, 0)
    total, spread = sample.estimate([100, 900], 4000)
    assert (total, spread) == (pytest.approx(10_000), pytest.approx(4000))


def test_a_sample_is_drawn_in_the_order_of_the_corpus() -> None:
    sample = draw_sample(WORDS, 20)
    assert sample == draw_sample(WORDS, 20)
    assert len({passage.id for passage in sample}) == 20
    assert [passage.id for passage in sample] == [passage.id for passage in WORDS if passage in sample]
    assert draw_sample(WORDS, 50) == WORDS
