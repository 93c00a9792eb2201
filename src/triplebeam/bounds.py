"""Numbers that make no sense are refused where an object is made, with its field's name."""

from dataclasses import fields
from typing import Any

from triplebeam.errors import BadInputError


def check_counts(made: Any) -> None:
    """Every integer field of a dataclass is a count, of at least one. Only a seed may be any number."""
    for field in fields(made):
        value = getattr(made, field.name)
        if type(value) is int and value < 1 and field.name != "seed":
            raise BadInputError(f"{field.name} is {value}: it must be at least 1.")


def check_shares(made: object, *names: str) -> None:
    """A share, a probability, a threshold of a similarity: from 0 to 1."""
    for name in names:
        if not 0 <= getattr(made, name) <= 1:
            raise BadInputError(f"{name} is {getattr(made, name)}: it must lie between 0 and 1.")


def check_not_negative(made: object, *names: str) -> None:
    """A weight, a temperature: 0 or more."""
    for name in names:
        if not getattr(made, name) >= 0:
            raise BadInputError(f"{name} is {getattr(made, name)}: it must not be below 0.")


def check_positive(made: object, *names: str) -> None:
    """Something one divides by; None was not given."""
    for name in names:
        value = getattr(made, name)
        if value is not None and not value > 0:
            raise BadInputError(f"{name} is {value}: it must be above 0.")
