"""How much one request may ask for."""

from dataclasses import dataclass

from triplebeam.serve.http.errors import HTTPProblem

MEGABYTE = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The server's limits; `triplebeam serve` has an option for most of them."""

    upload_bytes: int = 20 * MEGABYTE
    question_characters: int = 10_000
    search_seconds: float = 30.0
    ask_seconds: float = 600.0
    agents: int = 4
    """Agents running at once; one more is told to come back."""
    searches: int = 4
    """Searches running at once; more of them wait."""

    def check_question(self, question: str) -> None:
        """Refuse a question that is no question but a document."""
        if len(question) > self.question_characters:
            raise HTTPProblem(
                413,
                "question_too_long",
                f"the question has {len(question):,} characters, and {self.question_characters:,} are the most:"
                " ask in fewer words.",
            )
