"""Values that a filter matches in other spellings than its own: numbers and dates are compared by what they mean.

Whoever binds a key to a filter is told, since such a value may be the name of a tenant.
"""

from triplebeam.where.parse import Where
from triplebeam.where.values import Value, is_day


def warn_of_other_spellings(where: Where) -> list[str]:
    """Write a sentence for each number and date that a field must equal: what else matches it, and what to do."""
    found = [
        (comparison.name, value)
        for comparison in where.condition.comparisons()
        if comparison.operator in ("=", "in")
        for value in comparison.values
        if value.kind != "text"
    ]
    return [_describe_matches(name, value) for name, value in dict.fromkeys(found)]


def _describe_matches(name: str, value: Value) -> str:
    text = value.text
    if value.kind == "number":
        return (
            f"{name} = {text} also matches other spellings of the number, such as {_other_number(text)!r}:"
            f' write {name} = "{text}" to compare letter by letter.'
        )
    others = f"every time of that day, such as '{text}T12:00'" if is_day(text) else "that moment in every time zone"
    return (
        f'{name} = "{text}" also matches {others}: dates are never compared letter by letter, so give the documents'
        f' values that are no dates, such as "d{text}".'
    )


def _other_number(text: str) -> str:
    digits = text.lstrip("+-")
    return text.replace(digits, f"0{digits}")
