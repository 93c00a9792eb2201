"""Phrases of messages: a count with its noun, and a list of names."""


def format_count(number: int, noun: str) -> str:
    """Write a count with its noun: ``1 question``, ``2 questions``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def join_names(names: list[str]) -> str:
    """Write names in a row: ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
