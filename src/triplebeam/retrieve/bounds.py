"""What the parameters of a method may be, checked once, where the method is made."""

from dataclasses import fields
from typing import Any, Literal, get_args, get_origin

from triplebeam.errors import BadInputError, nearest


def check_fields(method: Any, *shares: str) -> None:
    """Refuse a count below 1, a word that is none of a field's own, and a share that is not between 0 and 1.

    A count is any whole number but the seed: nothing here is searched, read or kept less than once.
    """
    for each in fields(method):
        value = getattr(method, each.name)
        if type(value) is int and value < 1 and each.name not in ("seed", *shares):
            raise BadInputError(f"{each.name} is {value}: it must be 1 or more.")
        if get_origin(each.type) is Literal and value not in get_args(each.type):
            known = get_args(each.type)
            raise BadInputError(f"{each.name} is {value!r}{nearest(value, known)}: choose {' or '.join(known)}.")
        if each.name in shares and not 0 <= value <= 1:
            raise BadInputError(f"{each.name} is {value}: it must lie between 0 and 1.")


def check_not_negative(method: object, *names: str) -> None:
    """Refuse a weight, a constant or a temperature below 0."""
    for name in names:
        if not getattr(method, name) >= 0:
            raise BadInputError(f"{name} is {getattr(method, name)}: it must not be below 0.")
