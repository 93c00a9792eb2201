"""An agent's run: steps as they are done, then the answer."""

from collections.abc import Generator

import pytest

from triplebeam.answer import Agent, Answer, Step


class TwoSteps(Agent):
    """Counts the steps it was made to take."""

    taken = 0

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        for self.taken in (1, 2):
            yield Step(number=self.taken, query=question)
        return Answer(question=question, text="done")


def test_the_answer_takes_the_steps_that_remain() -> None:
    agent = TwoSteps()
    run = agent.run("why?")
    assert agent.taken == 0, "nothing is done before the first step is taken"
    assert next(run.steps).number == 1
    assert run.answer.text == run.answer.text == "done"
    assert agent.taken == 2
    assert list(run.steps) == []


def test_all_at_once() -> None:
    assert TwoSteps().answer("why?") == Answer(question="why?", text="done")


def test_a_closed_run_takes_no_further_step_and_has_no_answer() -> None:
    agent = TwoSteps()
    run = agent.run("why?")
    next(run.steps)
    run.close()
    assert list(run.steps) == []
    assert agent.taken == 1
    with pytest.raises(RuntimeError, match="before it came to an answer"):
        _ = run.answer
