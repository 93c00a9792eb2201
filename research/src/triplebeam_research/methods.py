"""The rows that this package adds to the table of methods, and the functions that build them.

What is keyword-only in a function can be written in brackets after the method's name.
"""

from dataclasses import replace
from typing import Any

from triplebeam.assemble.agents import (
    NO_RETRIEVAL,
    Below,
    choose_readers,
    make_answerer,
    put_question_first,
)
from triplebeam.assemble.context import Context
from triplebeam.assemble.expansions import gnn_ret
from triplebeam.assemble.retrievers import TITLE_BONUS, hybrid, link_sources, scaled_hybrid
from triplebeam.assemble.table import Row, agent_row, base_row, graph_row
from triplebeam.errors import BadInputError
from triplebeam.methods.shared.question_answering import question_first as before_passages
from triplebeam.retrieve.blend.links import TitleLinks
from triplebeam.retrieve.retriever import Retriever
from triplebeam_research.baselines.chain_of_thought import ChainOfThought
from triplebeam_research.baselines.era_cot import ERACoT
from triplebeam_research.baselines.flare import FLARE
from triplebeam_research.baselines.ircot import IRCoT
from triplebeam_research.baselines.iter_retgen import IterRetGen
from triplebeam_research.baselines.kgp import KGP
from triplebeam_research.baselines.self_ask import SelfAsk
from triplebeam_research.baselines.simple import ClosedBook, FixedRanking, TitleLink
from triplebeam_research.baselines.verify_and_edit import VerifyAndEdit
from triplebeam_research.late_interaction import LateInteraction, load_token_encoder


def late_interaction(context: Context, *, encoder: str = "minilm") -> LateInteraction:
    """Build the reranker of the best of hybrid, token by token; the encoder need not be the index's own embedder."""
    settings = context.settings
    tokens = load_token_encoder(encoder, settings.home, offline=settings.offline, progress=context.progress)
    return LateInteraction(base=hybrid(context), encoder=tokens, passages=context.snapshot.passages)


def title_link(
    context: Context, *, followed: int = TitleLinks.followed, base_weight: float = TitleLinks.base_weight
) -> Retriever:
    """Build the retriever of what the facts of GNN-Ret's passages name."""
    links = TitleLinks(**link_sources(context), followed=followed, base_weight=base_weight)
    base = gnn_ret(context, scaled_hybrid(context, title_bonus=TITLE_BONUS))
    return TitleLink(base=base, links=links, embedder=context.embedder)


def gold(context: Context) -> FixedRanking:
    """Build the upper bound: the gold passages themselves."""
    if not context.gold:
        raise BadInputError("'gold' needs questions whose gold passages are known: use it in `triplebeam bench`.")
    return FixedRanking(context.gold)


def closed_book(below: Below) -> ClosedBook:
    """Build the model alone."""
    below.no_retrieval("closed_book")
    return below.assemble(ClosedBook)


def ircot(below: Below, *, question_first: bool = False) -> IRCoT:
    """Build IRCoT. With ``question_first`` the last reading sees the question before the passages, too."""
    return below.assemble(IRCoT, **_question_before_last_reading(below, question_first))


def self_ask(below: Below, *, retrieval: bool = True, question_first: bool = False) -> SelfAsk:
    """Build Self-Ask. ``retrieval=no`` is the closed book of GE-Reasoning's Table 4.

    With ``question_first`` a follow-up comes before its passages, too.
    """
    given = choose_readers(below, question_first)
    given |= {} if retrieval else below.no_retrieval("self_ask[retrieval=no]")
    return below.assemble(SelfAsk, **given)


def iter_retgen(below: Below, *, question_first: bool = False) -> IterRetGen:
    """Build ITER-RETGEN. With ``question_first`` the model sees the question before the passages, too."""
    agent = below.assemble(IterRetGen, **_question_before_last_reading(below, question_first))
    return replace(agent, template=before_passages(agent.template)) if question_first else agent


def kgp(below: Below, *, question_first: bool = False) -> KGP:
    """Build KGP. With ``question_first`` the last reading sees the question before the passages, too."""
    return below.assemble(KGP, **_question_before_last_reading(below, question_first))


def _question_before_last_reading(below: Below, question_first: bool) -> dict[str, Any]:
    return {"answerer": put_question_first(make_answerer(below))} if question_first else {}


def chain_of_thought(below: Below) -> ChainOfThought:
    """Build chain of thought, alone, or with one retrieval where a retriever is named."""
    return below.assemble(ChainOfThought, **({} if below.named else NO_RETRIEVAL))


def zero_plus_few_shot(below: Below) -> ChainOfThought:
    """Build the variant that is asked to think step by step."""
    return replace(chain_of_thought(below), step_by_step=True)


def self_consistency(below: Below) -> ChainOfThought:
    """Build self-consistency: five sampled lines of thought."""
    return replace(chain_of_thought(below), paths=5, temperature=0.7)


ROWS: list[Row] = [
    graph_row("title_link", "passages whose title appears in a fact from the best ones", title_link),
    base_row("late_interaction", "the best of hybrid, scored token by token", late_interaction),
    base_row("gold", "an evaluation's gold passages: the upper bound", gold),
    agent_row("ircot", "one thought at a time, each used as the next query", ircot, "hybrid"),
    agent_row("self_ask", "follow-up questions, each answered from its own search", self_ask, "dense"),
    agent_row("iter_retgen", "answers, searches again with the answer, and repeats", iter_retgen, "dense"),
    agent_row("kgp", "a walk over the graph of passages, each next one predicted", kgp, "dense"),
    agent_row("flare", "searches where the model is unsure of its next sentence", FLARE, "bm25"),
    agent_row("verify_and_edit", "several chains of thought, doubtful ones checked by a search", VerifyAndEdit, "bm25"),
    agent_row("era_cot", "entities and their relations first, then the answer", ERACoT, "bm25"),
    agent_row(
        "chain_of_thought", "the model alone, thinking step by step; with a retriever after a colon, over passages",
        chain_of_thought,
    ),
    agent_row("zero_plus_few_shot", "the same, with \"Let's think step by step.\"", zero_plus_few_shot),
    agent_row("self_consistency", "several chains of thought; the most frequent answer wins", self_consistency),
    agent_row("closed_book", "the model alone, without any passages: the lower bound", closed_book),
]  # fmt: skip
