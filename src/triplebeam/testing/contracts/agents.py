"""What an agent of several steps keeps: each step rests on the one before, every ending is named, calls are counted."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from triplebeam.answer import Agent, Answer, Step
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt, Usage
from triplebeam.passage import Passage
from triplebeam.ranking import Hit, Ranking
from triplebeam.testing.contracts.search import AWKWARD
from triplebeam.testing.scripted import Scripted

_TRIALS = 60


class Lookup:
    """A retriever that knows its queries, or finds the same for each; an unknown one is an error."""

    def __init__(self, finds: Mapping[str, Sequence[str]] | Sequence[str], passages: Mapping[str, Passage]) -> None:
        self.finds = finds
        self.passages = passages
        self.asked: list[str] = []

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """Return the passages of this query, in their order."""
        self.asked.append(query)
        found = self.finds[query] if isinstance(self.finds, Mapping) else self.finds
        return Ranking(Hit(id_, -float(rank)) for rank, id_ in enumerate(found)).top(k)


@dataclass(frozen=True, kw_only=True)
class Ending:
    """One way out of the loop: what the model replies, and what comes of it.

    An ``ending`` that closes with a semicolon is the beginning of the agent's words. ``problems`` are those by step.
    """

    replies: Sequence[str | Completion]
    ending: str
    question: str = "q"
    finds: Mapping[str, Sequence[str]] | Sequence[str] = ("film",)
    queries: Sequence[str] | None = None
    text: str = ""
    problems: Sequence[int] | None = None
    calls: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)


class Driven(NamedTuple):
    """What a scripted model was asked, what was searched for, and what came of it."""

    model: Scripted
    retriever: Lookup
    steps: list[Step]
    prompts_by_step: list[int]
    """How many prompts the model had been asked when each step was done."""
    answer: Answer


class Babbling:
    """A model that says something else each time and never comes to an end."""

    name = "babbling"

    def __init__(self, reply: Callable[[str], str | Completion], seed: int) -> None:
        self._reply = reply
        self._rolls = random.Random(seed)

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Return one reply of drawn words per prompt."""
        return [self._completion() for _ in prompts]

    def _completion(self) -> Completion:
        letters = self._rolls.choices("ab .?:\n'\"\N{GRINNING FACE}", k=self._rolls.randrange(6))
        said = self._reply(self._rolls.choice(["".join(letters), *AWKWARD[:-1]]))
        return Completion(text=said, usage=Usage(calls=1)) if isinstance(said, str) else said


class AgentContract:
    """Give ``make_agent`` and ``make_reply``, and as attributes a question that takes at least three steps.

    ``finds`` are the passages of each query that the retriever is asked, in order; ``queries`` those of the steps
    where they are others. Only the last step may find the passage ``last``. ``so_far`` are the ids of each step's
    ranking so far, ``calls`` the calls of each step. The endings are the ways out that every loop has; one that the
    agent cannot take is None.
    """

    passages: Mapping[str, Passage]
    question: str
    finds: Mapping[str, Sequence[str]]
    queries: Sequence[str] | None = None
    replies: Sequence[str | Completion]
    last: str
    text: str
    loop_text: str
    ending: str
    so_far: Sequence[Sequence[str]]
    calls: Sequence[int]
    parameters: Mapping[str, Any] = MappingProxyType({})

    at_the_last_step: Ending
    when_it_repeats_itself: Ending | None
    when_it_may_repeat_itself: Ending | None
    when_nothing_is_found: Ending
    when_replies_are_unusable: Ending

    step_limit: str = "max_steps"
    steps_beyond: int = 0
    """How many steps it may take beyond its limit, such as a search before the first sentence."""

    def make_agent(self, retriever: Lookup, model: LanguageModel, **parameters: Any) -> Agent:
        """Make the agent over a retriever, with a model; calls of the model are counted."""
        raise NotImplementedError

    def make_reply(self, words: str) -> str | Completion:
        """Make a reply that the agent can use, wherever in the loop it asks, with these words in it."""
        raise NotImplementedError

    def drive(self, question: str, replies: Sequence[str | Completion], finds: Any, **parameters: Any) -> Driven:
        """Ask the question of the agent; every reply has to be asked for."""
        retriever = Lookup(finds, self.passages)
        with Scripted(replies) as model:
            run = self.make_agent(retriever, model, **parameters).run(question)
            taken = [(step, len(model.prompts)) for step in run.steps]
            answer = run.answer
        return Driven(model, retriever, [step for step, _ in taken], [asked for _, asked in taken], answer)

    def drive_whole(self) -> Driven:
        """Ask the question that takes at least three steps."""
        return self.drive(self.question, self.replies, self.finds, **self.parameters)

    def check_ending(self, way: Ending) -> None:
        """Take one way out, and compare what is said of it."""
        done = self.drive(way.question, way.replies, way.finds, **way.parameters)
        answer, said = done.answer, done.answer.ending
        assert said.startswith(way.ending) if way.ending.endswith(";") else said == way.ending
        assert answer.text == way.text
        assert way.queries is None or done.retriever.asked == list(way.queries)
        assert way.problems is None or [len(step.problems) for step in answer.steps] == list(way.problems)
        assert answer.usage.calls == (len(way.replies) if way.calls is None else way.calls)

    def test_only_the_last_step_finds_the_last_passage(self) -> None:
        """Steps come as they are done, and are those of the answer."""
        done = self.drive_whole()
        assert done.retriever.asked == list(self.finds)
        assert [step.query for step in done.steps] == list(self.queries or self.finds)
        assert [self.last in step.ranking.ids for step in done.steps] == [False] * (len(done.steps) - 1) + [True]
        assert len(done.steps) >= 3
        assert done.answer.steps == tuple(done.steps)
        assert (done.answer.text, done.answer.loop_text, done.answer.ending) == (self.text, self.loop_text, self.ending)

    def test_each_query_depends_on_what_was_found_before(self) -> None:
        """Check that the model reads what a step found after it was found, and says the words of the next query."""
        done = self.drive_whole()
        replies = [reply if isinstance(reply, str) else reply.text for reply in self.replies]
        users, found = [prompt.user for prompt in done.model.prompts], set[str]()
        begun = [0, *done.prompts_by_step]
        for number, step in enumerate(done.steps):
            texts = [self.passages[id_].text for id_ in step.ranking.ids if id_ not in found]
            found.update(step.ranking.ids)
            before, after = "\n".join(users[: begun[number]]), "\n".join(users[begun[number] :])
            assert not any(text in before for text in texts), "read before it was found"
            assert not texts or any(text in after for text in texts), "never read"
            words = _words(step.query) - _words(self.question)
            said = replies[begun[max(number - 1, 0)] : begun[number + 1]]
            assert not words or any(words <= _words(reply) for reply in said), "nobody said the query"

    def test_each_step_tells_the_ranking_so_far(self) -> None:
        """Check that each step has the ranking that the agent would return if it stopped; in the end it does."""
        done = self.drive_whole()
        assert [step.so_far.ids for step in done.steps] == [list(ids) for ids in self.so_far]
        assert done.steps[-1].so_far == done.answer.ranking

    def test_calls_are_counted_by_step(self) -> None:
        """Check that the calls of each step, and all of them in the answer, are counted."""
        done = self.drive_whole()
        assert [step.usage.calls for step in done.steps] == list(self.calls)
        assert done.answer.usage.calls == len(self.replies)

    def test_the_last_step(self) -> None:
        """Check that the last step is named, and nothing is asked that would not be used."""
        self.check_ending(self.at_the_last_step)

    def test_a_repeated_query(self) -> None:
        """Check that a repeated query ends the loop."""
        if self.when_it_repeats_itself is not None:
            self.check_ending(self.when_it_repeats_itself)

    def test_the_switch_lets_it_go_on(self) -> None:
        """Check that where a repeated query may be asked, the last step ends the loop."""
        if self.when_it_may_repeat_itself is not None:
            self.check_ending(self.when_it_may_repeat_itself)

    def test_nothing_is_found(self) -> None:
        """Check that finding nothing is no error, and the ranking is empty."""
        self.check_ending(self.when_nothing_is_found)
        way = self.when_nothing_is_found
        assert len(self.drive(way.question, way.replies, way.finds, **way.parameters).answer.ranking) == 0

    def test_replies_that_cannot_be_used_are_reported_and_do_not_stop_it(self) -> None:
        """Check that each unusable reply is a problem of its step."""
        assert any(self.when_replies_are_unusable.problems or ())
        self.check_ending(self.when_replies_are_unusable)

    def test_it_always_ends(self) -> None:
        """Check that the agent ends within its steps, whatever the model says, and says why."""
        for trial in range(_TRIALS):
            limit, retriever = 1 + trial % 5, Lookup(["film"], self.passages)
            agent = self.make_agent(retriever, Babbling(self.make_reply, trial), **{self.step_limit: limit})
            answer = agent.answer("q")
            assert 1 <= len(answer.steps) <= limit + self.steps_beyond
            assert answer.ending
            assert answer.steps[-1].so_far == answer.ranking


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
