"""GE-Reasoning against Algorithm 1 as it is printed, on random question graphs."""

import hashlib
import json
import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.ge_reasoning import History, Triplet, ge_reasoning
from trials import examples
from triplebeam.generate.language_model import Completion, Prompt, TokenLogProbability
from triplebeam.methods.ge_reasoning import GEReasoning
from triplebeam.passage import Passage
from triplebeam.ranking import Hit, Ranking

PASSAGES = {id_: Passage(id_, f"text of {id_}") for id_ in "abcdef"}


class Chance(NamedTuple):
    """Whatever a model or a search says, by chance: both algorithms ask here."""

    seed: int

    def draw(self, *about: object) -> int:
        return int.from_bytes(hashlib.blake2b(repr((self.seed, *about)).encode(), digest_size=4).digest())

    def sub_question(self, triplet: str) -> str:
        return f"what of {triplet}?"

    def sub_answer(self, history: str, facts: str | None, question: str, attempt: int) -> tuple[str, float]:
        drawn = self.draw(history, facts, question, attempt)
        return f"value{drawn % 4}" if drawn % 7 else "", (drawn % 101) / 100

    def found(self, query: str) -> list[str]:
        return sorted(PASSAGES, key=lambda id_: self.draw(query, id_))[:2]

    def triplets(self, passage_id: str) -> list[str]:
        return [f"{passage_id}{number} is known" for number in range(self.draw(passage_id) % 3)]

    def keeps(self, fact: str, question: str) -> bool:
        return self.draw(fact, question) % 2 == 0


class ChanceModel:
    """The same chance, as a language model."""

    name = "chance"

    def __init__(self, chance: Chance, graph: Sequence[Triplet]) -> None:
        self.chance, self.graph = chance, graph
        self.final = ""

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [self._reply(prompt) for prompt in prompts]

    def _reply(self, prompt: Prompt) -> Completion:
        match prompt.template.removeprefix("ge_reasoning/"):
            case "question_graph_untyped":
                return _say({"triplets": [list(triplet) for triplet in self.graph], "target": []})
            case "sub_question":
                return _say({"question": self.chance.sub_question(prompt.user.removeprefix("Triplet: "))})
            case "extract":
                facts = self.chance.triplets(prompt.user[-1])
                return _say({"triplets": [fact.split() for fact in facts]})
            case "filter":
                return _say({"helpful": self._helpful(prompt.user)})
            case "sub_answer":
                return self._sub_answer(prompt)
            case _:
                self.final = prompt.user
                return _say({"found": True, "answer": "end", "sentence": ""})

    def _helpful(self, shown: str) -> list[int]:
        question = shown.rpartition("Question: ")[2]
        facts = re.findall(r"^(\d+)\. (.+)$", shown, re.MULTILINE)
        return [int(number) for number, fact in facts if self.chance.keeps(fact, question)]

    def _sub_answer(self, prompt: Prompt) -> Completion:
        match = re.search(
            r"Answered already:\n(.*)\n\nThe search found:\n(.*)\n\nNext simpler question: (.*)", prompt.user, re.DOTALL
        )
        assert match
        history, found, question = match.groups()
        facts = None if found == "(no search was made)" else found
        answer, sure = self.chance.sub_answer(history, facts, question, prompt.sample // 5)
        text = json.dumps({"sentence": "", "answer": answer, "used": []})
        sure_of = math.log(sure) if sure else -math.inf
        return Completion(text=text, log_probabilities=(TokenLogProbability(text, sure_of),))


def _say(reply: object) -> Completion:
    return Completion(text=json.dumps(reply))


def shown_history(history: History) -> str:
    pairs = [f"({number}) {q}\nAnswer: {r}" for number, (q, r) in enumerate(history, 1)]
    return "\n".join(pairs) or "(none)"


class ChanceSearch:
    def __init__(self, chance: Chance) -> None:
        self.chance = chance
        self.asked: list[str] = []

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        self.asked.append(query)
        return Ranking(Hit(id_, -rank) for rank, id_ in enumerate(self.chance.found(query)))


ends = st.sampled_from(["#1", "#2", "#3", "#4", "n", "m"])
triplets = st.tuples(ends, st.sampled_from(["r", "s"]), ends).filter(
    lambda t: t[0] != t[2] and (t[0][0] == "#" or t[2][0] == "#")
)
graphs = st.lists(triplets, min_size=1, max_size=6, unique=True).filter(
    lambda graph: any((head[0] == "#") != (tail[0] == "#") for head, _, tail in graph)
)
thresholds = st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0])


@settings(max_examples=examples(80), deadline=None)
@given(
    graph=graphs,
    seed=st.integers(0, 10**6),
    k1=thresholds,
    k2=thresholds,
    closed=st.booleans(),
    rounds=st.integers(1, 10),
)
def test_the_agent_is_algorithm_1(
    graph: list[Triplet], seed: int, k1: float, k2: float, closed: bool, rounds: int
) -> None:
    chance = Chance(seed)
    asked: list[str] = []

    def ret(q: str) -> list[str]:
        asked.append(q)
        return chance.found(q)

    def knowledge_refine(passages: list[str], q: str) -> list[str]:
        return [fact for d in passages for fact in chance.triplets(d) if chance.keeps(fact, q)]

    def subanswer_generate(history: History, facts: list[str] | None, q: str, n: int) -> tuple[str, float]:
        found = None if facts is None else "\n".join(f"{i}. {d}" for i, d in enumerate(facts, 1)) or "(none)"
        r, confidence = chance.sub_answer(shown_history(history), found, q, n)
        return r, confidence if r else 0.0

    theirs = ge_reasoning(
        graph,
        k1,
        k2,
        lambda t: chance.sub_question(f"({'; '.join(t)})"),
        subanswer_generate,
        None if closed else ret,
        knowledge_refine,
        rounds,
    )
    model, search = ChanceModel(chance, graph), ChanceSearch(chance)
    retriever = None if closed else search
    parameters: dict[str, Any] = {"k1": k1, "k2": k2, "max_rounds": rounds, "typed": False}
    answer = GEReasoning(model=model, retriever=retriever, passages=PASSAGES, **parameters).answer("q")

    ours = [(step.query, bool(step.ranking), " = " in step.thought.splitlines()[0]) for step in answer.steps[1:]]
    assert ours == [(q, searched, kept) for _, q, _, searched, kept in theirs.rounds]
    assert search.asked == list(dict.fromkeys(asked)), "the same searches, none of them twice"
    if theirs.history:
        assert model.final.endswith(f"Simpler questions and their answers:\n{shown_history(theirs.history)}")
    last = answer.steps[-1].thought.splitlines()
    shown = [re.sub(r"#\d+ = ", "", line) for line in last if line.startswith("(")]
    assert shown == [f"({'; '.join(t)})" for t in theirs.graph]
