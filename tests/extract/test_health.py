"""What the doctor finds in a model: each thing right, missing and broken."""

from collections.abc import Sequence

import pytest

from scripted_loops import Gone
from triplebeam.errors import EndpointError
from triplebeam.extract.health import Check, check_model
from triplebeam.generate.language_model import Completion, Prompt, TokenLogProbability, Usage

GOOD = '{"entities": ["A"], "triples": [["A", "is in", "B"], ["A", "was made by", "C"]]}'
EMPTY = '{"entities": [], "triples": []}'


class Patient:
    """A model that greets, gives log-probabilities or not, and extracts as it is told."""

    name = "patient"

    def __init__(self, *replies: str, certain: bool = True, counts: bool = True) -> None:
        self.replies = list(replies) or [GOOD] * 3
        self.certain, self.counts = certain, counts

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [self._complete(prompt) for prompt in prompts]

    def _complete(self, prompt: Prompt) -> Completion:
        usage = Usage(calls=1, tokens_in=5, tokens_out=1, estimated=not self.counts)
        if prompt.schema is None:
            tokens = (TokenLogProbability("ready", -0.1),) if self.certain and prompt.log_probabilities else None
            return Completion(text="ready", usage=usage, log_probabilities=tokens)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if reply == "gone":
            raise EndpointError("The endpoint is gone: start it again.")
        return Completion(text=reply, usage=usage)


def checked(model: Patient, *refused: str) -> dict[str, Check]:
    return {check.name: check for check in check_model(model, lambda: refused)}


def test_a_healthy_model() -> None:
    checks = checked(Patient())
    assert [check.state for check in checks.values()] == ["ok"] * 6
    assert list(checks) == ["endpoint", "log-probabilities", "tokens", "output mode", "valid JSON", "triples"]
    assert checks["valid JSON"].finding == "3 of 3 replies could be used"
    assert checks["triples"].finding == "2.0 per passage (2, 2, 2)"
    checks = checked(Patient(certain=False, counts=False))
    for check in (checks["log-probabilities"], checks["tokens"]):
        assert (check.state, bool(check.advice)) == ("note", True), "what an endpoint does not give is no breakage"


def test_an_endpoint_that_is_not_there_or_goes_away_is_asked_nothing_more() -> None:
    [check] = check_model(Gone(), lambda: ())
    assert (check.name, check.state) == ("endpoint", "broken")
    assert "the endpoint does not answer" in check.finding
    assert check.advice
    assert [(check.name, check.state) for check in checked(Patient("gone")).values()][3:] == [("extraction", "broken")]


@pytest.mark.parametrize(
    ("refused", "state", "words"),
    [
        ((), "ok", "JSON schema"),
        (("temperature",), "ok", "JSON schema"),
        (("json_schema",), "note", "JSON mode"),
        (("json_object", "json_schema"), "note", "plain text"),
    ],
)
def test_the_output_mode(refused: tuple[str, ...], state: str, words: str) -> None:
    check = checked(Patient(), *refused)["output mode"]
    assert (check.state, check.finding.startswith(words)) == (state, True)


def test_replies_that_are_no_json_or_have_no_triples() -> None:
    check = checked(Patient(GOOD, "Sorry.", GOOD, "Sorry."))["valid JSON"]
    assert check.state == "broken"
    assert check.finding.startswith("2 of 3 replies could be used; The model's reply holds no JSON object")
    checks = checked(Patient("Sorry."))
    assert checks["valid JSON"].finding.startswith("0 of 3")
    assert "triples" not in checks
    check = checked(Patient(GOOD, EMPTY, GOOD))["triples"]
    assert (check.state, check.finding) == ("broken", "1.3 per passage (2, 0, 2)")
