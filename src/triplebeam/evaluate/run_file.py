"""Results on disk, one line each as it comes: a run that was stopped continues, and nothing is computed twice.

A file belongs to one method, one state of the index and one state of the code (`run_key`). Inside it, results are found
by the question as it is asked, so another selection of questions reuses what earlier ones left.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import QuestionResult
from triplebeam.generate.prompts import format_question

#: Rooms whose code does not change what a method finds.
_NOT_METHODS = ("serve", "demo", "evaluate", "testing")


def run_key(what: Mapping[str, object], packages: Iterable[str] = ()) -> str:
    """Return a name for everything that results depend on, including the code, also of other packages' methods."""
    others = {package: code_version(package) for package in packages if package != "triplebeam"}
    text = json.dumps({**what, "code": code_version(), **others}, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()


@cache
def code_version(package: str = "triplebeam") -> str:
    """Hash a package's source and prompts: after a change of the code no old result is taken for a new one."""
    digest = hashlib.blake2b(digest_size=10)

    def add(folder: Traversable) -> None:
        for entry in sorted(folder.iterdir(), key=lambda each: each.name):
            if entry.is_dir() and entry.name not in (*_NOT_METHODS, "__pycache__"):
                add(entry)
            elif entry.name.endswith((".py", ".md", ".toml")):
                digest.update(entry.name.encode() + entry.read_bytes())

    add(resources.files(package))
    return digest.hexdigest()


class RunFile:
    """One method's results so far."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = self._read()

    def get(self, question: Question) -> QuestionResult | None:
        """Return the result stored for this question, under the id it has now."""
        row = self._known.get(format_question(question.asked))
        return QuestionResult.from_json({**row, "question_id": question.id}) if row else None

    def keep(self, question: Question, result: QuestionResult) -> None:
        """Write one result out at once."""
        row = {"question": format_question(question.asked), **result.to_json()}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        except OSError as error:
            raise BadInputError(
                f"results cannot be kept in {self._path.parent} ({error.strerror}): set TRIPLEBEAM_RESULTS to a folder"
                " that can be written to."
            ) from error

    def _read(self) -> dict[str, dict[str, object]]:
        if not self._path.exists():
            return {}
        content = self._path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):  # killed while it wrote: that one is computed again
            with self._path.open("r+b") as file:
                file.truncate(len(whole))
        rows = [self._row(number, line) for number, line in enumerate(whole.splitlines(), start=1)]
        return {str(row.pop("question")): row for row in rows}

    def _row(self, number: int, line: bytes) -> dict[str, object]:
        try:
            row: dict[str, object] = json.loads(line)
            QuestionResult.from_json({name: value for name, value in row.items() if name != "question"})
        except (ValueError, AttributeError, RecursionError):
            raise BadInputError(
                f"{self._path}, line {number} is not a result: delete the file, and the method is measured again."
            ) from None
        return row
