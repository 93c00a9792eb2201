"""ERA-CoT's stages, each shown what the ones before it gave.

Verify-and-Edit: nothing is checked where the paths agree; else every sentence is, in steps that a script drives.
"""

from typing import Any

import pytest

from scripted_loops import PASSAGES, Table, driven, path, read_by, reply
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, LanguageModel
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple
from triplebeam_research.baselines.era_cot import ERACoT
from triplebeam_research.baselines.verify_and_edit import VerifyAndEdit

QUESTION = "When did the director of Laughter in Hell die?"
TABLE = {QUESTION: ["film", "director", "actor"]}
DIRECTED = ["Laughter in Hell", "directed by", "Edward Cahn"]
DIED = ["Edward Cahn", "died on", "25 August 1963"]
OUTLIVED = ["Laughter in Hell", "older than", "25 August 1963"]
WROTE = ["Edward Cahn", "wrote", "Laughter in Hell"]


def entities(*names: str) -> Completion:
    return reply(entities=[{"name": name, "type": "person"} for name in names])


def relations(*rows: list[str]) -> Completion:
    return reply(relations=list(rows))


def scores(*given: tuple[int, float]) -> Completion:
    return reply(scores=[{"number": number, "score": score} for number, score in given])


def agent(model: LanguageModel, **parameters: Any) -> ERACoT:
    return ERACoT(retriever=Table(TABLE), model=Accounted(model), passages=PASSAGES, **parameters)


def test_five_stages_each_shown_what_came_before() -> None:
    replies = [
        entities("Laughter in Hell", "Edward Cahn"),
        relations(DIRECTED, DIED),
        relations(OUTLIVED, WROTE, DIRECTED),
        scores((2, 5.9), (1, 6)),
        path("25 August 1963", "Cahn directed it. Cahn died then."),
    ]
    with Scripted(replies) as model:
        answer = agent(model).answer(QUESTION)
    users = [prompt.user for prompt in model.prompts]
    assert all("He died on 25 August 1963" in user for user in users)
    assert not any("Pat Brien starred" in user for user in users)
    named = "Entities: Laughter in Hell (person), Edward Cahn (person)"
    assert [named in user for user in users] == [False, True, True, False, True]
    stated = "1. Laughter in Hell directed by Edward Cahn\n2. Edward Cahn died on 25 August 1963"
    assert [stated in user for user in users] == [False, False, True, True, True]
    inferred = "1. Laughter in Hell older than 25 August 1963\n2. Edward Cahn wrote Laughter in Hell"
    assert users[3].endswith(f"Inferred relations:\n{inferred}"), "what is stated already is not inferred"
    kept = f"{stated}\n3. Laughter in Hell older than 25 August 1963\n\nQuestion"
    assert kept in users[4], "6 stays, 5.9 does not"
    systems = [prompt.system for prompt in model.prompts]
    assert ["Guernica" in system for system in systems] == [False] * 4 + [True], "examples stand before the answer"
    assert "at most 5 for any two entities" in systems[2]
    assert all(prompt.temperature == 0.0 for prompt in model.prompts)

    [step] = answer.steps
    assert (answer.text, answer.sentence) == ("25 August 1963", "Cahn directed it. Cahn died then.")
    assert (read_by(step), step.thought) == ((Triple(*DIRECTED), Triple(*DIED), Triple(*OUTLIVED)), named)
    assert answer.ranking.ids == ["film", "director"]
    assert (step.usage.calls, answer.usage.calls) == (4, 5)
    assert answer.ending == "the reasoning came to an answer"


def test_entities_and_stated_relations_that_most_samples_name() -> None:
    replies = [
        entities("Edward Cahn", "Cahn"),
        entities("Laughter in Hell", "edward cahn"),
        entities("Edward Cahn", "EDWARD CAHN", "Laughter in Hell"),
        relations(DIRECTED, WROTE),
        relations(DIED, DIRECTED),
        relations(DIED),
        relations(),
        path("1963"),
    ]
    with Scripted(replies) as model:
        answer = agent(model, samples=3).answer(QUESTION)
    assert answer.steps[0].thought == "Entities: Edward Cahn (person), Laughter in Hell (person)"
    assert read_by(answer.steps[0]) == (Triple(*DIRECTED), Triple(*DIED))
    sampled = [(prompt.sample, prompt.temperature) for prompt in model.prompts[:4]]
    assert sampled == [(0, 0.7), (1, 0.7), (2, 0.7), (0, 0.7)]


def test_a_pair_has_so_many_inferred_relations_and_no_more() -> None:
    again = ["Laughter in Hell", "made by", "Edward Cahn"]
    replies = [entities("A"), relations(), relations(WROTE, again, OUTLIVED), scores((1, 9), (2, 9)), path("1963")]
    with Scripted(replies) as model:
        answer = agent(model, inferred=1).answer(QUESTION)
    assert read_by(answer.steps[0]) == (Triple(*WROTE), Triple(*OUTLIVED)), "both ways round it is one pair"


def test_what_is_given_no_score_is_put_aside_and_reported() -> None:
    replies = [entities("A"), relations(DIED), relations(OUTLIVED, WROTE), scores((1, 10), (7, 10)), path("1963")]
    with Scripted(replies) as model:
        [step] = agent(model).answer(QUESTION).steps
    assert read_by(step) == (Triple(*DIED), Triple(*OUTLIVED))
    assert step.problems == ("1 of 2 inferred relations have no score and are ignored",)


def test_replies_that_cannot_be_used_are_reported_and_do_not_stop_it() -> None:
    with Scripted([*["no"] * 4, relations(OUTLIVED, ["Edward Cahn", "died"]), *["no"] * 4]) as model:
        answer = agent(model).answer(QUESTION)
    [step] = answer.steps
    assert (read_by(step), step.thought) == ((), "Entities: (none)")
    assert len(step.problems) == 4, "three replies, and a relation of two parts"
    assert (answer.text, answer.usage.calls) == ("", 9)
    assert answer.ending.startswith("the reasoning came to no answer; The model's reply")


def test_without_passages_there_is_nothing_to_analyse() -> None:
    with Scripted([path("1963")]) as model:
        answer = ERACoT(retriever=Table({QUESTION: []}), model=model, passages=PASSAGES).answer(QUESTION)
    assert (answer.text, read_by(answer.steps[0])) == ("1963", ())
    assert "Passages:\n(none)" in model.prompts[0].user


LAKE_QUESTION = "On which lake lies the city where the actor of Edward Cahn's drama lived?"
FIRST = "Edward Cahn directed Afraid to Talk."
SECOND = "Pat Brien lived in Chicago."
THIRD = "Chicago lies on Lake Erie."
WRONG = f"{FIRST} {SECOND} {THIRD}"
WHICH, WHERE, LAKE = "Which drama did Edward Cahn direct?", "Where did Pat Brien live?", "On which lake lies Chicago?"


def ask_for(question: str | None) -> Completion:
    return reply(question=question)


def edit_to(sentence: str | None) -> Completion:
    return reply(sentence=sentence)


def final(answer: str | None) -> Completion:
    return reply(answer=answer)


def verify(model: LanguageModel, table: Table) -> VerifyAndEdit:
    return VerifyAndEdit(retriever=table, model=Accounted(model), passages=PASSAGES)


#: Four answers, none with three votes: the second has two.
UNSURE = [path("Ontario"), path("Lake Erie", WRONG), path("Huron"), path("erie lake"), path("Lake Erie")]


@pytest.mark.parametrize("answers", [["A", "A", "A", "B", "C"], ["B", "A", "a", "", "A."]])
def test_three_of_five_are_enough(answers: list[str]) -> None:
    with Scripted([path(answer) for answer in answers]) as model:
        answer = verify(model, Table({})).answer(LAKE_QUESTION)
    assert (answer.text, answer.steps, len(answer.ranking)) == ("A", (), 0)
    assert (answer.ending, answer.usage.calls) == ("3 of 5 paths agreed", 5)


def test_nobody_has_anything_to_say() -> None:
    with Scripted(["no"] * 10) as model:
        answer = verify(model, Table({})).answer(LAKE_QUESTION)
    assert (answer.text, answer.usage.calls) == ("", 10)
    assert answer.ending.startswith("the reasoning came to no answer; The model's reply")


def test_three_steps() -> None:
    """The winning path's three sentences are checked; the last check finds the last passage."""
    queries = [WHICH, WHERE, LAKE]
    table = Table({WHICH: ["film", "director"], WHERE: ["actor", "film"], LAKE: ["lake", "city", "other"]})
    kept = ["Edward Cahn directed Laughter in Hell.", "Pat Brien lived in Milwaukee.", THIRD]
    edits = [edit_to(sentence) for sentence in (*kept[:2], "")]
    checks = [each for query, edit in zip(queries, edits, strict=True) for each in (ask_for(query), edit)]
    with Scripted([*UNSURE, *checks, final("Lake Michigan")]) as model:
        _, answer = driven(verify(model, table), LAKE_QUESTION)
    assert table.asked == [step.query for step in answer.steps] == queries
    assert ["city" in step.so_far.ids for step in answer.steps] == [False, False, True]
    assert answer.steps[2].ranking.ids == ["lake", "city"]
    assert answer.ranking == answer.steps[-1].so_far

    asked = [prompt.user for prompt in model.prompts[5:11:2]]
    assert [user.split("Sentence: ")[1] for user in asked] == [FIRST, SECOND, THIRD]
    assert all(f"Question: {LAKE_QUESTION}" in user for user in asked)
    read = [prompt.user for prompt in model.prompts[6:11:2]]
    assert all(f"Question: {query}" in user for user, query in zip(read, queries, strict=True))
    assert "Pat Brien starred" in read[1]
    assert "Milwaukee lies in Wisconsin" in read[2]

    assert f"Reasoning: {' '.join(kept)}" in model.prompts[-1].user
    assert model.prompts[-1].system.count("Example reasoning:") == 6
    assert (answer.text, answer.sentence) == ("Lake Michigan", " ".join(kept))
    assert [(step.thought, step.usage.calls) for step in answer.steps] == [(sentence, 2) for sentence in kept]
    assert answer.ending == "2 of 5 paths agreed, and the reasoning was checked"
    assert answer.usage.calls == 5 + 6 + 1


def test_checks_that_cannot_be_used_are_reported_and_do_not_stop_it() -> None:
    table = Table({FIRST: ["film"], SECOND: ["actor"]})
    two = [path("A", f"{FIRST} {SECOND}"), path("B"), path("C"), path("D"), path("E")]
    with Scripted([*two, "no", "no", "no", "no", ask_for(None), edit_to(None), "no", "no"]) as model:
        answer = verify(model, table).answer(LAKE_QUESTION)
    assert table.asked == [FIRST, SECOND], "the sentences themselves are searched for"
    assert [len(step.problems) for step in answer.steps] == [2, 0]
    assert (answer.text, answer.sentence) == ("A", f"{FIRST} {SECOND}"), "both stand"
    assert answer.ending.startswith("1 of 5 paths agreed, and the reasoning was checked; The model's reply")
