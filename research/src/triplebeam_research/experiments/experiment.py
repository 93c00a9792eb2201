"""An experiment: a small TOML file that says which methods are compared on which questions over which indexes.

    title = "What graph expansion adds"
    index = "{dataset}.index"
    questions = "$TRIPLEBEAM_DATA/{dataset}/questions.dev.jsonl.gz"
    methods = ["bm25", "hybrid", "hybrid+naive_ge", "gear[max_steps={steps}]:hybrid"]
    seeds = [0]

    [datasets.musique]
    steps = 4

    [datasets.multi_hop]
    steps = 2

    [index_settings]
    triples_in_context = false

``index_settings`` says how the index must have been built: another index is refused. ``{…}`` is replaced by the
dataset's name or a value of its table, ``$…`` by the environment's; without ``datasets`` there is one corpus and
nothing to fill in. Relative paths start at the folder the command runs in.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from triplebeam.assemble.evaluation import Corpus
from triplebeam.errors import BadInputError, nearest
from triplebeam.index.location import find_location

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_UNSET = re.compile(r"\$(?:\{)?(\w+)")


class IndexSettings(BaseModel):
    """How an index must have been built; None: in any way."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    triples_in_context: bool | None = None
    keyword_passages: int | None = Field(default=None, ge=0)

    def check(self, index: Path, *, triples_in_context: bool, keyword_passages: int) -> None:
        """Raise where an index was built in another way."""
        built = {"triples_in_context": triples_in_context, "keyword_passages": keyword_passages}
        wanted = {name: value for name, value in self if value is not None}
        if others := [
            f"{name} = {_format_toml(built[name])}" for name, value in wanted.items() if built[name] != value
        ]:
            variables = " ".join(f"TRIPLEBEAM_{name.upper()}={_format_toml(value)}" for name, value in wanted.items())
            raise BadInputError(
                f"{index} was built with {' and '.join(others)}, unlike what the experiment compares: build it into a"
                f" new folder with `{variables} triplebeam index FOLDER SOURCE…`."
            )


def _format_toml(value: object) -> str:
    return str(value).lower()


class Experiment(BaseModel):
    """What the file says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    index: str
    questions: str
    methods: tuple[str, ...] = Field(min_length=1)
    index_settings: IndexSettings = IndexSettings()
    seeds: tuple[int, ...] = ()
    """Each method that calls a model runs once per seed; without seeds, once and without one."""
    query_entities: str | None = None
    """JSON lines of question and entities, for methods that start at the question's entities."""
    triples: str | None = None
    """Which triples the index holds, in words for the report."""
    limit: int | None = Field(default=None, ge=1)
    """The number of questions, from the first."""
    always_answer: bool = False
    """Where an agent has no answer of its own, a last reading has to answer, as in the papers: no row may abstain."""
    judge: bool = False
    """Also ask a model whether each answer is right: ``judge_model`` of the settings, or else the model under test."""
    where: str | None = None
    """A filter: only the passages for which it holds are searched, and only questions asked whose gold
    passages all match.
    """
    datasets: Mapping[str, Mapping[str, str | int | float]] = {}

    def corpora(self) -> list[Corpus]:
        """Return one corpus per dataset, with everything filled in."""
        return [self._corpus(name, values) for name, values in (self.datasets or {"": {}}).items()]

    def _corpus(self, name: str, values: Mapping[str, object]) -> Corpus:
        known = {"dataset": name, **values} if name else {}
        return Corpus(
            name=name,
            index=find_location(Path(_fill_values(self.index, known))),
            questions=Path(_fill_values(self.questions, known)),
            query_entities=Path(_fill_values(self.query_entities, known)) if self.query_entities else None,
            methods=tuple(dict.fromkeys(_fill_values(method, known) for method in self.methods)),
            where=self.where,
        )


def read_experiment(path: Path) -> Experiment:
    """Read and check an experiment's file."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"{path} cannot be read as an experiment: {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise BadInputError(f"{path} is not TOML: {error}.") from None
    try:
        return Experiment.model_validate(content)
    except ValidationError as error:
        raise BadInputError(f"{path}: {_describe_problem(error.errors()[0])}.") from None


def _describe_problem(problem: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in problem["loc"])
    match problem["type"]:
        case "missing":
            return f"the experiment has no {place!r}"
        case "extra_forbidden":
            return f"an experiment has no {place!r}{nearest(place, Experiment.model_fields)}"
        case "too_short":
            return f"{place} is empty: name one or more"
        case "tuple_type":
            return f"{place} is not a list: write {place} = [...]"
        case _:
            return f"{place}: {problem['msg']}"


def _fill_values(text: str, values: Mapping[str, object]) -> str:
    """Fill in the dataset's values and the environment's; a missing one is an error, not a literal."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            hint = nearest(match[1], values) if values else " (there are no datasets)"
            raise BadInputError(f"nothing is known to put in place of {{{match[1]}}} in {text!r}{hint}.")
        return str(values[match[1]])

    filled = os.path.expandvars(os.path.expanduser(_PLACEHOLDER.sub(value, text)))  # noqa: PTH111 (a method is no path)
    unset = _UNSET.search(filled)
    if unset:
        raise BadInputError(f"the environment has no {unset[1]}, which {text!r} needs: set it.")
    return filled
