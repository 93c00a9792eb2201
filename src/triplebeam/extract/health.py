"""Is a model fit for extraction? It is tried on a few small requests and three passages, and the results are reported.

Each finding is a `Check`: what was looked at, whether it is right, what was found, and what to do about it.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from triplebeam.errors import EndpointError
from triplebeam.extract.extractor import Extraction
from triplebeam.extract.llm import LLMExtractor
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt
from triplebeam.passage import Passage

#: ``note``: nothing is broken, but something is missing or could be better.
State: TypeAlias = Literal["ok", "note", "broken"]

#: Each states four facts or more about named things, and has no sentence in common with the prompt's own examples.
PASSAGES = (
    Passage(
        "doctor-1",
        "The Øresund Bridge joins Malmö in Sweden to Copenhagen in Denmark. It was designed by Georg Rotne and opened"
        " on 1 July 2000. Queen Margrethe II and King Carl XVI Gustaf attended the ceremony.",
        "Øresund Bridge",
    ),
    Passage(
        "doctor-2",
        "Caroline Herschel was born in Hanover in 1750. She discovered eight comets, and her brother William Herschel"
        " found the planet Uranus. The Royal Astronomical Society gave her its Gold Medal in 1828.",
        "Caroline Herschel",
    ),
    Passage(
        "doctor-3",
        "Lake Titicaca lies in the Andes on the border of Bolivia and Peru. Its largest island is Isla del Sol. The"
        " Desaguadero River flows out of the lake towards Lake Poopó.",
        "Lake Titicaca",
    ),
)
_GREETING = Prompt(
    system="You are being tested.", user="Reply with the one word: ready", max_tokens=512, log_probabilities=True
)


@dataclass(frozen=True, slots=True)
class Check:
    """One line of a doctor's report."""

    name: str
    state: State
    finding: str
    advice: str = ""


def check_model(model: LanguageModel, refused: Callable[[], Collection[str]]) -> Iterator[Check]:
    """Ask a model that is not cached; ``refused`` then returns the parts of a request that its endpoint refuses.

    An endpoint that cannot be reached is not asked again.
    """
    try:
        [greeting] = model.complete([_GREETING])
    except EndpointError as error:
        advice = "start the server, or correct the model, the base URL or the key; until then, use what needs no model"
        yield Check("endpoint", "broken", str(error), advice)
        return
    yield Check("endpoint", "ok", f"{model.name} answers")
    yield from _check_greeting(greeting)
    try:
        extractions = list(LLMExtractor(model).extract(PASSAGES))
    except EndpointError as error:
        yield Check("extraction", "broken", str(error), "run it again; an endpoint that comes and goes needs a look")
        return
    yield _output_mode(refused())
    yield from _check_extractions(extractions)


def _check_greeting(greeting: Completion) -> Iterator[Check]:
    if greeting.log_probabilities is None:
        advice = "methods that weigh a model's confidence will ask for several samples instead, which costs more"
        yield Check("log-probabilities", "note", "the endpoint returns none", advice)
    else:
        yield Check("log-probabilities", "ok", "the endpoint returns them")
    if greeting.usage.estimated:
        advice = "usage, prices and budgets will be estimated from the length of texts, and marked so"
        yield Check("tokens", "note", "the endpoint does not count them", advice)
    else:
        yield Check("tokens", "ok", "the endpoint counts them")


def _output_mode(refused: Collection[str]) -> Check:
    if "json_schema" not in refused:
        return Check("output mode", "ok", "JSON schema")
    advice = "replies are checked and corrected once; a server that accepts a JSON schema makes fewer mistakes"
    mode = "JSON mode, without a schema" if "json_object" not in refused else "plain text: no response format works"
    return Check("output mode", "note", mode, advice)


def _check_extractions(extractions: list[Extraction]) -> Iterator[Check]:
    failures = [extraction.failure for extraction in extractions if extraction.failure is not None]
    valid = len(extractions) - len(failures)
    finding = f"{valid} of {len(extractions)} replies could be used"
    if failures:
        advice = "use a stronger model or a server with JSON schema output, or raise max_tokens where replies are cut"
        yield Check("valid JSON", "broken", f"{finding}; {' '.join(failures[0].split())}", advice)
    else:
        yield Check("valid JSON", "ok", finding)
    counts = [len(extraction.triples) for extraction in extractions if extraction.failure is None]
    if not counts:
        return
    finding = f"{sum(counts) / len(counts):.1f} per passage ({', '.join(map(str, counts))})"
    if min(counts):
        yield Check("triples", "ok", finding)
    else:
        yield Check("triples", "broken", finding, "each passage states four facts or more: use a stronger model")
