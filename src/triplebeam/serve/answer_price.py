"""What an answer cost, where that can be told."""

from triplebeam.answer import Answer
from triplebeam.assemble import Index
from triplebeam.generate.prices import price


def price_of_answer(answer: Answer, collection: Index) -> float | None:
    """US dollars; None where the model's price is not known.

    A usage does not say whose tokens it counts, so two models have no price together.
    """
    if collection.model.name != collection.reading_model.name:
        return None
    return price(answer.usage, collection.model.name, collection.settings.prices)
