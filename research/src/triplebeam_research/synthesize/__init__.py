"""Questions for an index that has none: a language model words chains of triples, and code checks what it wrote.

`chains` samples the chains. For each the model sees the triples and their passages and writes a
question that names the start, hides the bridges and asks for the far end, or says that the chain makes no sensible
question. What breaks a rule is counted by its reason, and another chain is tried, up to three for each question wanted.
A chain costs one call, two where a reply cannot be read; a shortcut check, if wanted, is one more for each question
that passed the rules.

These questions suit methods that walk the same triples: a chain the extractor did not see is never asked for. Compare
settings of one kind with them, and kinds of methods only with questions that people wrote or reviewed.
"""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pydantic import BaseModel

from triplebeam.errors import BadInputError, EndpointError
from triplebeam.evaluate.questions import SYNTHETIC, Question
from triplebeam.generate.accounting import UNKNOWN_ORIGIN, follow_run
from triplebeam.generate.ask import Failed, ask_many
from triplebeam.generate.language_model import LanguageModel, Prompt
from triplebeam.generate.parse import ReplyType, Text
from triplebeam.generate.prompts import format_passages
from triplebeam.generate.prompts import load as load_shared
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Passages
from triplebeam.system.work import Progress, ignore_progress
from triplebeam.text.words import words_of
from triplebeam.triple import Chain
from triplebeam_research.synthesize.chains import GoldChain, explain_no_chains, is_named, normalize_text, sample_chains
from triplebeam_research.templates import load

#: The most chains that are tried for each question wanted.
CHAINS_PER_QUESTION = 3
#: Chains in a row without a question after which it gives up.
MAX_FRUITLESS = 20
_BATCH_CHAINS = 16
_MAX_ANSWER_WORDS = 8

UNREADABLE = "the model's reply could not be read"
NOT_SENSIBLE = "the model sees no sensible question in the chain"
EMPTY = "the question or the answer is empty"
START_MISSING = "the question does not name the start"
BRIDGE_NAMED = "the question names a bridge"
ANSWER_NAMED = "the question names the answer"
ANSWER_LONG = "the answer is long"
ANSWER_OTHER = "the answer is not the chain's"
ANSWER_ABSENT = "the answer is not in the last passage"
ANSWER_EARLY = "the answer is in an earlier passage already"
SHORTCUT = "the last passage alone answers the question"


@dataclass(frozen=True, slots=True)
class SyntheticQuestion:
    """A question with the chain it was written from and the model that wrote it."""

    question: Question
    chain: Chain
    model: str

    def row(self) -> dict[str, object]:
        """Return the row of a questions file, with fields for the reviewer."""
        review = {"synthetic": True, "chain": self.chain, "model": self.model, "reviewed": False}
        return {**self.question.row(), **review}


@dataclass(frozen=True, slots=True)
class SyntheticQuestions:
    """What was written, and how many chains were rejected for each reason."""

    questions: tuple[SyntheticQuestion, ...]
    rejected: Counter[str]


class _Reply(BaseModel):
    sensible: bool
    question: Text
    answer: Text


class _Read(BaseModel):
    """Replies to the prompt ``answer``."""

    found: bool
    answer: Text
    sentence: Text


def synthesize(
    index: Snapshot,
    model: LanguageModel,
    *,
    count: int,
    seed: int = 0,
    hops: Sequence[int] = (2, 3),
    check_shortcuts: bool = False,
    progress: Progress = ignore_progress,
) -> SyntheticQuestions:
    """Up to ``count`` questions over an index; fewer where its chains or the calls run out.

    ``check_shortcuts`` also has the model answer each question from the last passage alone, and drops those it can.
    """
    if count < 1:
        raise BadInputError(f"{count} questions cannot be written: ask for at least one.")
    writer = _Writer(index.passages, model, check_shortcuts)
    kept: list[SyntheticQuestion] = []
    rejected: Counter[str] = Counter()
    chains = islice(sample_chains(index, seed=seed, hops=hops), CHAINS_PER_QUESTION * count)
    while len(kept) < count and (batch := list(islice(chains, min(_BATCH_CHAINS, count - len(kept))))):
        for written in writer.write(batch):
            if isinstance(written, str):
                rejected[written] += 1
            else:
                kept.append(written)
        progress("writing questions", len(kept), count)
        if not kept and rejected.total() >= MAX_FRUITLESS:
            break
    if not kept:
        raise _make_error(index, model, rejected)
    return SyntheticQuestions(tuple(kept), rejected)


def write_questions(path: Path, questions: Sequence[SyntheticQuestion]) -> None:
    """Write JSON lines that `read_questions` reads: all of them or none, and never over a file."""
    check_destination(path)
    draft = path.with_name(f"{path.name}.new")
    lines = (json.dumps(each.row(), ensure_ascii=False) + "\n" for each in questions)
    draft.write_text("".join(lines), encoding="utf-8")
    draft.replace(path)


def check_destination(path: Path) -> None:
    """Check whether questions can be written there, before they are paid for."""
    if path.exists():
        raise BadInputError(f"{path} exists, and may have been reviewed: name another file, or remove it.")
    if path.suffix == ".gz" or not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
        raise BadInputError(f"{path} cannot be written: name a .jsonl file in a folder that exists and is yours.")


def _make_error(index: Snapshot, model: LanguageModel, rejected: Counter[str]) -> BadInputError | EndpointError:
    if not rejected:
        return BadInputError(f"no questions can be written over {index.folder}: {explain_no_chains(index)}.")
    reasons = "; ".join(f"{number} times {reason}" for reason, number in rejected.most_common())
    return EndpointError(
        f"{model.name} wrote no usable question for {rejected.total()} chains ({reasons}): try another model,"
        " or another seed."
    )


@dataclass(frozen=True, slots=True)
class _Writer:
    passages: Passages
    model: LanguageModel
    check_shortcuts: bool

    def write(self, chains: Sequence[GoldChain]) -> list[SyntheticQuestion | str]:
        """Write a question for each chain, or why there is none."""
        replies = self._ask([self._prompt(chain) for chain in chains], _Reply)
        written: list[SyntheticQuestion | str] = []
        for chain, reply in zip(chains, replies, strict=True):
            fault = UNREADABLE if reply is None else self._fault(chain, reply)
            written.append(fault if reply is None or fault else _question(chain, reply, self.model.name))
        return self._reject_shortcuts(written) if self.check_shortcuts else written

    def _ask(self, prompts: Sequence[Prompt], reply_type: type[ReplyType]) -> list[ReplyType | None]:
        """Return the replies that can be parsed; an endpoint that is gone is an error."""
        replies = ask_many(self.model, prompts, reply_type)
        for reply in replies:
            if isinstance(reply, Failed) and reply.endpoint_gone:
                raise reply.error
        return [None if isinstance(reply, Failed) else reply.value for reply in replies]

    def _prompt(self, chain: GoldChain) -> Prompt:
        facts = [f"{number}. {' | '.join(triple)}" for number, triple in enumerate(chain.triples, 1)]
        return load("synthesize").fill(
            passages=format_passages([self.passages[passage_id] for passage_id in chain.passages]),
            facts="\n".join(facts),
            start=chain.start,
            hidden="; ".join(chain.bridges),
            answer=chain.answer,
        )

    def _fault(self, chain: GoldChain, reply: _Reply) -> str:
        """Return what is wrong with a reply; nothing where it will do."""
        question, answer = reply.question.strip(), reply.answer.strip()
        *earlier, last = (normalize_text(self.passages[passage_id].searchable) for passage_id in chain.passages)
        same = is_named(answer, normalize_text(chain.answer)) or is_named(chain.answer, normalize_text(answer))
        faults = {
            NOT_SENSIBLE: not reply.sensible,
            EMPTY: not (question and answer),
            START_MISSING: not is_named(chain.start, normalize_text(question)),
            BRIDGE_NAMED: any(_reveals_name(question, bridge, chain.start) for bridge in chain.bridges),
            ANSWER_NAMED: any(is_named(name, normalize_text(question)) for name in (answer, chain.answer)),
            ANSWER_LONG: len(answer.split()) > _MAX_ANSWER_WORDS,
            ANSWER_ABSENT: not is_named(answer, last),
            ANSWER_OTHER: not same,
            ANSWER_EARLY: any(is_named(answer, text) for text in earlier),
        }
        return next((fault for fault, found in faults.items() if found), "")

    def _reject_shortcuts(self, written: list[SyntheticQuestion | str]) -> list[SyntheticQuestion | str]:
        """Reject questions whose last passage alone makes the model find the answer."""
        places = {place: each for place, each in enumerate(written) if isinstance(each, SyntheticQuestion)}
        prompts = [
            load_shared("answer").fill(
                passages=format_passages([self.passages[each.question.gold[-1]]]),
                facts="",
                question=each.question.question,
            )
            for each in places.values()
        ]
        with follow_run({UNKNOWN_ORIGIN}):  # a question repeats words of passages that these prompts do not show
            readings = self._ask(prompts, _Read)
        for (place, each), read in zip(places.items(), readings, strict=True):
            found = normalize_text(read.answer) if read and read.found else ""
            if any(is_named(answer, found) for answer in each.question.answers):
                written[place] = SHORTCUT
        return written


def _reveals_name(question: str, name: str, start: str) -> bool:
    """Return whether the question has the name, or its last word with a capital: a surname, a university's town."""
    if is_named(name, normalize_text(question)):
        return True
    *_, last = ["", *_words(name)]
    telling = len(last) > 3 and not last[0].islower()
    return telling and last in _words(question) and last not in _words(start)


def _words(text: str) -> list[str]:
    return [word.text for word in words_of(text)]


def _question(chain: GoldChain, reply: _Reply, model: str) -> SyntheticQuestion:
    # The same chain has the same id whatever else is drawn, so that files can be joined and compared.
    digest = hashlib.blake2b(repr((chain.triples, chain.passages)).encode("utf-8", "replace"), digest_size=5)
    question = Question(
        id=f"synthetic-{digest.hexdigest()}",
        question=reply.question.strip(),
        gold=chain.passages,
        answers=tuple(dict.fromkeys([reply.answer.strip(), chain.answer])),
        hops=len(chain.triples),
        type=SYNTHETIC,
    )
    return SyntheticQuestion(question, chain.triples, model)
