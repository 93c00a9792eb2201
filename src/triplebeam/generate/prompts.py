"""Prompt templates: Markdown files with a TOML head, and a version that changes whenever the file does.

    +++
    temperature = 0.0
    max_tokens = 500
    +++
    # system
    You are ...
    # user
    Passage: $passage

The two headings are alone on their lines. ``$$`` is a dollar sign. A setting left out is left to the endpoint.
"""

import hashlib
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources

from triplebeam.errors import BadInputError
from triplebeam.generate.language_model import Prompt
from triplebeam.passage import Passage
from triplebeam.triple import Triple

_FILE = re.compile(
    r"\A\+\+\+\n(?P<head>.*?)^\+\+\+\n\s*^# system\n(?P<system>.*?)^# user\n(?P<user>.*)\Z", re.DOTALL | re.MULTILINE
)
_NAME = re.compile(r"[a-z0-9_]+(/[a-z0-9_]+)*")

#: The line above facts that go with passages.
NOTED = "Facts that were noted while reading, in the order of the chain:"


class MultipleChoice(str):
    """A question with options: a prompt shows them, a search does not, since as a text it is the question alone."""

    __slots__ = ("options",)
    options: tuple[str, ...]

    def __new__(cls, question: str, options: Sequence[str]) -> "MultipleChoice":
        """Make the question, which has the options beside it."""
        made = super().__new__(cls, question)
        made.options = tuple(options)
        return made


def format_question(text: str) -> str:
    """Format a question with its options, each under a letter, if it has any."""
    if not isinstance(text, MultipleChoice):
        return text
    options = (f"{letter}. {option}" for letter, option in zip(string.ascii_uppercase, text.options, strict=False))
    return "\n".join(
        [text, "These are the options; the answer is the letter of one of them, and nothing else:", *options]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A prompt with variables. ``version`` is a short hash of the file it came from."""

    name: str
    version: str
    system: str
    user: str
    temperature: float | None = None
    max_tokens: int | None = None

    @property
    def variables(self) -> list[str]:
        """The names of the variables, each once, in order."""
        return string.Template(self.system + "\n" + self.user).get_identifiers()

    def fill(self, **variables: str) -> Prompt:
        """Fill in every variable; a missing or an unknown one is an error."""
        if sorted(variables) != sorted(self.variables):
            raise BadInputError(
                f"Prompt {self.name!r} takes the variables {self.variables}, not {sorted(variables)}: "
                "set each of them and no other."
            )
        shown = {name: format_question(value) for name, value in variables.items()}
        return Prompt(
            system=string.Template(self.system).substitute(shown),
            user=string.Template(self.user).substitute(shown),
            template=self.name,
            version=self.version,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
        )


def load(name: str, package: str = "triplebeam.generate") -> Template:
    """Read the template of that name, ``extract`` or ``folder/name``, from the folder ``prompts`` of a package."""
    file = resources.files(package).joinpath("prompts", f"{name}.md")
    if not _NAME.fullmatch(name) or not file.is_file():
        raise BadInputError(
            f"There is no prompt named {name!r}: name a file of {package.replace('.', '/')}/prompts without '.md'."
        )
    return read_template(name, file.read_text(encoding="utf-8"))


def read_template(name: str, content: str) -> Template:
    """Read a template from the content of its file."""
    match = _FILE.match(content)
    if match is None:
        raise BadInputError(
            f"Prompt {name!r} is not a template: it needs a head between '+++' lines, then '# system', then '# user'."
        )
    system, user = match["system"].strip(), match["user"].strip()
    for part in (system, user):
        if not string.Template(part).is_valid():
            raise BadInputError(f"Prompt {name!r} holds a '$' that names no variable: write '$$' for a dollar sign.")
    temperature, max_tokens = _read_head(name, match["head"])
    version = hashlib.sha256(content.encode()).hexdigest()[:12]
    return Template(
        name=name, version=version, system=system, user=user, temperature=temperature, max_tokens=max_tokens
    )


def _read_head(name: str, head: str) -> tuple[float | None, int | None]:
    import tomllib  # a search without a model has no prompt

    try:
        settings = tomllib.loads(head)
    except tomllib.TOMLDecodeError as error:
        raise BadInputError(f"The head of prompt {name!r} is not TOML ({error}): correct it.") from error
    temperature, max_tokens = settings.pop("temperature", None), settings.pop("max_tokens", None)
    if settings:
        raise BadInputError(f"The head of prompt {name!r} has the unknown settings {sorted(settings)}: remove them.")
    if type(temperature) not in (float, int, type(None)) or type(max_tokens) not in (int, type(None)):
        raise BadInputError(f"In the head of prompt {name!r}, temperature is a number and max_tokens a whole number.")
    return temperature, max_tokens


def format_passages(passages: Sequence[Passage]) -> str:
    """Format each passage under its number and title."""
    texts = [f"{passage.title}\n{passage.text}" if passage.title else passage.text for passage in passages]
    return "\n\n".join(f"[{number}] {text}" for number, text in enumerate(texts, 1)) or "(none)"


def format_described_passages(passages: Sequence[Passage]) -> str:
    """Format each passage under its number, title and, in brackets, where it is from and of when."""
    heads = [(each.title, f"({each.origin})" if each.origin else "") for each in passages]
    return format_passages(
        [replace(each, title="\n".join(filter(None, head))) for each, head in zip(passages, heads, strict=True)]
    )


def format_facts(facts: Sequence[Triple | str]) -> str:
    """Format one fact per line, under its number."""
    return "\n".join(f"{number}. {fact}" for number, fact in enumerate(facts, 1)) or "(none)"
