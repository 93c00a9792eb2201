"""The methods that clients are told of, with a line on each."""

from collections.abc import Mapping

SEARCH_METHODS: Mapping[str, str] = {
    "blend": "the graphs fused: most recall without a language model",
    "bm25": "words in common, rare ones counting more",
    "dense": "nearness in meaning",
    "hybrid": "words and meaning, fused by rank",
    "scaled_hybrid": "words and meaning, added by score",
    "hybrid+naive_ge": "hybrid, then a walk along chains of triples",
    "hybrid+sync_ge": "the same after one reading by a language model",
    "gnn_ret": "messages over the graph of passages, from the nearest in meaning",
    "scaled_hybrid+gnn_ret": "messages over the graph of passages, from words and meaning",
    "hipporag": "PageRank over entities, from those a language model names in the question",
    "hipporag[entities=verbatim]": "PageRank over entities, from those found word for word in the question",
    "hipporag2": "PageRank over entities and passages, from the nearest triples",
    "title_link": "passages whose title is named by a fact of the best ones",
    "late_interaction": "token by token; needs `triplebeam late-index` first",
}
ASK_METHODS: Mapping[str, str] = {
    "auto": "single_step first; gear only when that does not answer it",
    "single_step": "one reading, one walk along triples, one answer",
    "gear": "reads, walks and reasons step by step until the facts suffice",
    "ge_reasoning": "the question as a graph, solved one sub-question at a time",
    "rgnn_ret": "sub-questions, each found through the graph of passages",
    "read": "one search, then an answer from the best passages",
    "ircot": "a thought, a search for it, and so on",
    "self_ask": "follow-up questions, each answered from its own search",
    "iter_retgen": "an answer, searched for again, a few times over",
    "kgp": "a walk over the graph of passages, each next one foretold",
    "flare": "searches where the model is unsure of its next sentence",
    "verify_and_edit": "several lines of thought, the doubtful checked against passages",
    "era_cot": "entities and their relations first, then the answer",
    "chain_of_thought": "the model alone, thinking aloud; over passages with a search behind a colon",
    "zero_plus_few_shot": "the same, told to think step by step",
    "self_consistency": "several lines of thought, the most frequent answer",
    "closed_book": "the model alone: what it says without any passage",
}
