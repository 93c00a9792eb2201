"""How counts, lists and numbers are written: shares in per cent with one decimal, without the sign where a heading has
it.
"""

import math

NOTHING = "–"
"""Shown where a measure does not apply."""
_MINUS = "−"


def format_count(number: int, noun: str) -> str:
    """Write a count with its noun: ``1 question``, ``2 questions``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def join_names(names: list[str]) -> str:
    """Write names in a row: ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def percent(share: float) -> str:
    """Format 0.523 as 52.3."""
    return NOTHING if math.isnan(share) else f"{100 * share:.1f}"


def points(difference: float) -> str:
    """Format a difference of shares in percentage points, always with its sign: 0.041 as +4.1."""
    text = f"{100 * difference:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", _MINUS)


def probability(p_value: float) -> str:
    """Format a p-value with its sign of relation: three decimals, never a bare zero."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def count(number: float) -> str:
    """Format a mean count: a decimal below ten unless it is whole, thousands apart above."""
    if math.isnan(number):
        return NOTHING
    return f"{number:,.1f}" if number < 10 and number != int(number) else f"{number:,.0f}"


def milliseconds(seconds: float) -> str:
    """Format seconds as milliseconds: 0.0034 as 3.4, 1.2 as 1,200."""
    return f"{1000 * seconds:,.1f}" if seconds < 0.01 else f"{1000 * seconds:,.0f}"


def dollars(amount: float) -> str:
    """Format dollars with two significant digits, since a question costs far less than a cent: 0.00124 as 0.0012."""
    return f"{amount:.{max(2, 1 - math.floor(math.log10(amount)))}f}" if amount > 0 else "0"
