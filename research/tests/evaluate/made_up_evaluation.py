"""An evaluation nobody ran: six methods, two of them agents, on 120 questions of two to four hops."""

import random

from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import Evaluation, QuestionResult, Run, StepResult
from triplebeam.generate.language_model import Usage

_TYPES = ("bridge", "comparison", "inference")
#: Method to how easily it finds a gold passage, its seconds, its encodings and the steps it may take.
_METHODS = {
    "bm25": (0.42, 0.004, 0, 0),
    "hybrid": (0.52, 0.013, 1, 0),
    "hybrid+naive_ge": (0.55, 0.048, 210, 0),
    "hybrid+sync_ge": (0.63, 1.4, 240, 0),
    "ircot:hybrid": (0.60, 6.2, 4, 4),
    "gear": (0.72, 4.1, 600, 4),
}


def made_up_evaluation(questions: int = 120, seed: int = 7) -> Evaluation:
    """Return the same evaluation every time for the same seed."""
    chance = random.Random(seed)
    asked = [_question(number, chance) for number in range(questions)]
    return Evaluation(
        title="Six methods on made-up questions",
        questions=asked,
        runs=[_run(method, asked, chance) for method in _METHODS],
        facts={
            "Corpus": "made-up, 11,656 passages",
            "Questions": f"{questions}, of two to four hops",
            "Embedder": "a small one, 384 dimensions",
            "Model": "a made-up model, temperature 0",
        },
        triples_of_gold={question.id: chance.uniform(6, 16) for question in asked},
    )


def _question(number: int, chance: random.Random) -> Question:
    hops = chance.choices((2, 3, 4), (5, 3, 2))[0]
    return Question(
        id=f"{hops}hop__{number:04}",
        question=f"In which year was the founder of the town where person {number} was born first elected?",
        gold=tuple(f"gold-{number}-{hop}" for hop in range(hops)),
        answers=(f"{1800 + number}",),
        hops=hops,
        type=_TYPES[number % 3],
    )


def _run(method: str, questions: list[Question], chance: random.Random) -> Run:
    ease, seconds, encodings, most_steps = _METHODS[method]
    results = []
    for question in questions:
        steps = tuple(
            StepResult(
                passage_ids=_ranking(question, ease * (0.75 + 0.07 * step), chance),
                usage=Usage(calls=2, tokens_in=chance.randint(900, 1600), tokens_out=chance.randint(40, 160)),
            )
            for step in range(_steps_taken(question, most_steps, chance))
        )
        answer = question.answers[0] if chance.random() < ease - 0.2 else "1066"
        one_read = Usage(calls=1, tokens_in=700, tokens_out=90) if "sync" in method else Usage()
        results.append(
            QuestionResult(
                question_id=question.id,
                passage_ids=steps[-1].passage_ids if steps else _ranking(question, ease, chance),
                answer=answer if most_steps else None,
                seconds=seconds * chance.lognormvariate(0, 0.35),
                encodings=encodings,
                usage=sum((step.usage for step in steps), one_read),
                steps=steps,
            )
        )
    return Run(method=method, results=results, dollars=seconds * 0.02 if most_steps else None)


def _steps_taken(question: Question, most: int, chance: random.Random) -> int:
    wanted = 1 + sum(chance.random() < 0.25 * (question.hops or 1) - 0.15 for _ in range(most))
    return min(wanted, most)


def _ranking(question: Question, ease: float, chance: random.Random) -> tuple[str, ...]:
    """Gold passages early or not at all, the later hops less easily, among passages that do not matter."""
    ranking = [f"other-{question.id}-{number}" for number in range(15)]
    for hop, passage_id in enumerate(question.gold):
        if chance.random() < ease * (1.25 - 0.15 * hop):
            ranking.insert(min(int(chance.expovariate(0.25)), 14), passage_id)
    return tuple(ranking[:15])
