"""The table of methods: a row per method. A new one needs its own file and a row here.

A row has the line for people, and the class of the method or the function that builds it, from which its parameters are
read. An expansion named alone, and an agent without a colon, use the ``base`` of their row.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from triplebeam.assemble import agents, retrievers
from triplebeam.assemble.gnn_ret import gnn_ret
from triplebeam.assemble.parameters import Parameter, parameters_of
from triplebeam.methods.baselines.era_cot import ERACoT
from triplebeam.methods.baselines.flare import FLARE
from triplebeam.methods.baselines.verify_and_edit import VerifyAndEdit
from triplebeam.methods.grounded_reasoning import GroundedReasoning


@dataclass(frozen=True)
class Row:
    """A method: its name, what it is, a line for people, and what builds it."""

    name: str
    kind: Literal["base", "expansion", "agent"]
    line: str
    build: Callable[..., object] = field(repr=False)
    base: str = ""
    uses_graph: bool = False
    in_neighbourhood: bool = False
    """It looks at a graph, or at the scores of all passages: on a cluster it runs on a neighbourhood."""
    uses_model: bool = False
    """It always calls a language model; a parameter whose value is ``llm`` makes others do so, too."""
    variants: Mapping[str, str] = field(default_factory=dict)
    """Other forms that are worth showing to people, with a line each."""

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """What it takes in brackets."""
        return parameters_of(self.build)


def _plain(name: str, line: str, build: Callable[..., object]) -> Row:
    return Row(name, "base", line, build)


def _walk(name: str, line: str, build: Callable[..., object], variants: Mapping[str, str] | None = None) -> Row:
    return Row(name, "base", line, build, uses_graph=True, in_neighbourhood=True, variants=variants or {})


def _agent(name: str, line: str, build: Callable[..., object], base: str = "") -> Row:
    return Row(name, "agent", line, build, base, uses_graph=True, uses_model=True)


# Ours search the blend where no base is named, the papers' methods what their papers search: GeAR's hybrid, GNN-Ret's
# baselines dense, GE-Reasoning BM25.
_ROWS = [
    _walk("blend", "plain search, hops over titles; graph walks where passages have their own topic", retrievers.blend),
    _plain("bm25", "shared words, rare ones counting more", retrievers.bm25),
    _plain("dense", "similarity of meaning", retrievers.dense),
    _plain("hybrid", "words and meaning, fused by rank", retrievers.hybrid),
    Row("scaled_hybrid", "base", "words and meaning, added by score", retrievers.scaled_hybrid, in_neighbourhood=True),
    Row(
        "naive_ge", "expansion", "hybrid, then a walk along chains of triples",
        retrievers.naive_ge, "hybrid", uses_graph=True,
    ),
    Row(
        "sync_ge", "expansion", "the same, after a language model has read the first passages",
        retrievers.sync_ge, "hybrid", uses_graph=True, uses_model=True,
    ),
    Row(
        "gnn_ret", "expansion", "messages over the graph of passages, from the most similar in meaning",
        gnn_ret, "dense", uses_graph=True, in_neighbourhood=True,
        variants={"scaled_hybrid+gnn_ret": "messages over the graph of passages, from words and meaning"},
    ),
    _walk(
        "hipporag", "PageRank over entities, from those a language model names in the question", retrievers.hipporag,
        {"hipporag[entities=verbatim]": "PageRank over entities, from those found word for word in the question"},
    ),
    _walk("hipporag2", "PageRank over entities and passages, from the nearest triples", retrievers.hipporag2),
    _walk("title_link", "passages whose title appears in a fact from the best ones", retrievers.title_link),
    _plain("late_interaction", "token by token; needs `triplebeam late-index` first", retrievers.late_interaction),
    _plain("gold", "an evaluation's gold passages: the upper bound", retrievers.gold),
    _agent("auto", "single_step first; agent only when that does not answer it", agents.auto, "blend"),
    _agent("single_step", "one step: reads, walks along triples, answers", agents.single_step, "blend"),
    _agent("agent", "reads, walks and reasons step by step until the facts suffice", agents.agent, "blend"),
    _agent("grounded_reasoning", "the question as a graph, filled in from passages", GroundedReasoning, "bm25"),
    _agent("gear", "GeAR's agent: SyncGE, gist, verdict, next query, step by step", agents.gear, "hybrid"),
    _agent("ge_reasoning", "GE-Reasoning: the question as a graph, solved part by part", agents.ge_reasoning, "bm25"),
    _agent(
        "rgnn_ret", "sub-questions, each searched through the graph of passages", agents.rgnn_ret, "gnn_ret[beta=0.9]"
    ),
    _agent("read", "one search, then an answer from the best passages", agents.read, "hybrid"),
    _agent("ircot", "one thought at a time, each used as the next query", agents.ircot, "hybrid"),
    _agent("self_ask", "follow-up questions, each answered from its own search", agents.self_ask, "dense"),
    _agent("iter_retgen", "answers, searches again with the answer, and repeats", agents.iter_retgen, "dense"),
    _agent("kgp", "a walk over the graph of passages, each next one predicted", agents.kgp, "dense"),
    _agent("flare", "searches where the model is unsure of its next sentence", FLARE, "bm25"),
    _agent("verify_and_edit", "several chains of thought, doubtful ones checked by a search", VerifyAndEdit, "bm25"),
    _agent("era_cot", "entities and their relations first, then the answer", ERACoT, "bm25"),
    _agent(
        "chain_of_thought", "the model alone, thinking step by step; with a retriever after a colon, over passages",
        agents.chain_of_thought,
    ),
    _agent("zero_plus_few_shot", "the same, with \"Let's think step by step.\"", agents.zero_plus_few_shot),
    _agent("self_consistency", "several chains of thought; the most frequent answer wins", agents.self_consistency),
    _agent("closed_book", "the model alone, without any passages: the lower bound", agents.closed_book),
]  # fmt: skip
RETRIEVERS: Mapping[str, Row] = {row.name: row for row in _ROWS if row.kind != "agent"}
AGENTS: Mapping[str, Row] = {row.name: row for row in _ROWS if row.kind == "agent"}


def _whole(row: Row) -> str:
    """The method that the line of a row is about."""
    return f"{row.base}+{row.name}" if row.base == "hybrid" and row.kind == "expansion" else row.name


def _described(rows: Mapping[str, Row]) -> Mapping[str, str]:
    return {
        text: line for row in rows.values() for text, line in ({_whole(row): row.line} | dict(row.variants)).items()
    }


#: Methods worth showing to people, with a line each. ``gold`` is for evaluations.
SEARCH_METHODS = {text: line for text, line in _described(RETRIEVERS).items() if text != "gold"}
ASK_METHODS = _described(AGENTS)
