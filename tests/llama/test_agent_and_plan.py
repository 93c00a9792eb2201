"""The agent and GE-Reasoning against a real server and a small model.

Answers are not judged: the model is far too small for them. What must hold is the loop, the trace, the sums, and that
sub-answers are judged by the server's log-probabilities.
"""

import json

import pytest

from llama.brief import Brief
from llama.test_llama_server import MODEL
from trials import TRIAL
from triplebeam.assemble import Context, IndexReader
from triplebeam.embed.embedder import Embedder
from triplebeam.generate.connect import connect
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.serve.answer_shapes import answer_json
from triplebeam.settings import Settings

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("llama"), TRIAL]


def test_the_agent_runs_end_to_end(llama: str, world: Snapshot, words: Embedder) -> None:
    model = Brief(connect(MODEL, base_url=llama, timeout=300.0, concurrency=1))
    agent = IndexReader(Context(world, Settings(), words, model)).agent("agent[max_steps=2,read=3]:bm25")
    answer = agent.answer("When did the director of Laughter in Hell die?")
    assert 1 <= len(answer.steps) <= 2
    assert answer.ending
    assert answer.ranking.ids
    assert answer.usage.calls > sum(step.usage.calls for step in answer.steps), "the answer is one more"
    assert all(step.usage.calls >= 2 and step.usage.tokens_in > 0 for step in answer.steps), "reading, reasoning"
    assert not answer.usage.estimated, "the endpoint's own counts"
    trace = answer_json(answer, world.passages)
    assert len(trace["steps"]) == len(answer.steps)


QUESTION = "Who directed Laughter in Hell?"
#: A round that searches unless the model is perfectly sure (k1), and keeps nearly every answer (k2).
METHOD = "ge_reasoning[max_rounds=1,read=1,k1=1,k2=0.001,samples=2,triplet_filtering=no]"
#: The model is too small to write a graph, so that one is given.
GRAPH = {"triplets": [["Laughter in Hell", "director", "name: #1"]], "target": ["#1"]}


def test_it_runs_end_to_end(llama: str, world: Snapshot, words: Embedder) -> None:
    connected = connect(MODEL, base_url=llama, timeout=300.0, concurrency=1, seed=0)
    model = Brief(connected, given={"ge_reasoning/question_graph": json.dumps(GRAPH)})
    answer = IndexReader(Context(world, Settings(), words, model)).agent(METHOD).answer(QUESTION)
    assert answer.ending
    assert answer.ranking.ids
    assert answer.usage.calls > sum(step.usage.calls for step in answer.steps) > 3, "the answer is one more"
    assert not answer.usage.estimated, "the endpoint's own counts"
    assert [step["number"] for step in answer_json(answer, world.passages)["steps"]] == [1, 2]
    constructed, turn = answer.steps
    assert "(Laughter in Hell; director; name: #1)" in constructed.thought
    assert turn.ranking.ids, "it searched"
    templates = {prompt.template.removeprefix("ge_reasoning/") for prompt, _ in model.asked}
    assert {"sub_question", "sub_answer", "extract"} <= templates
    judged = [completion for prompt, completion in model.asked if prompt.log_probabilities]
    assert len(judged) >= 2
    assert all(completion.log_probabilities for completion in judged)
    cut = any(completion.finish_reason == "length" for completion in judged)
    assert "smallest token probability" in turn.thought or cut, "a reply that was cut has no answer to judge"
