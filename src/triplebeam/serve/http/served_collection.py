"""A collection that serves many questions at once, each of which can be given up."""

from collections.abc import Sequence
from dataclasses import dataclass

from triplebeam.assemble import DEFAULT_METHOD, Collection
from triplebeam.assemble.retrievers import make_retriever
from triplebeam.generate.cancellation import check_cancelled
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt
from triplebeam.generate.outcomes import Outcome, outcomes_of
from triplebeam.retrieve.retriever import Retriever
from triplebeam.serve.http.known_methods import SEARCH_METHODS


@dataclass(frozen=True)
class Heeding:
    """A model that is asked nothing any more once the stop that the calling thread heeds is set."""

    model: LanguageModel

    @property
    def name(self) -> str:
        """The name of the model within."""
        return self.model.name

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """What the model within says."""
        check_cancelled()  # raises where the question is given up
        return self.model.complete(prompts)

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Outcome]:
        """What became of each prompt."""
        check_cancelled()
        return outcomes_of(self.model, prompts)


@dataclass(frozen=True)
class ServedCollection(Collection):
    """One for all questions. Which of them is given up, the thread knows that answers it: see `cancel_on`."""

    @property
    def model(self) -> LanguageModel:
        """The model that reasons and answers."""
        return Heeding(super().model)

    @property
    def reading_model(self) -> LanguageModel:
        """The model that reads."""
        return Heeding(super().reading_model)

    def retriever(self, method: str = DEFAULT_METHOD) -> Retriever:
        """The retriever of that name. Listed ones are kept; of those one can think of in brackets there is no end."""
        return super().retriever(method) if method in SEARCH_METHODS else make_retriever(self, method)
