"""Filters by metadata: ``year >= 2020 and source in ("a", "b")``, read into conditions on the fields of a passage.

    comparison   NAME = VALUE, also != < <= > >=
    membership   NAME in (VALUE, …), NAME not in (VALUE, …)
    text         NAME contains VALUE, in any case
    presence     NAME exists
    combination  and, or, not, brackets; `not` binds closest, then `and`

A value is a text in single or double quotes, a number, or true or false. A text that is an ISO date is compared as a
date. A name that is no plain word is written between backquotes. A passage without a field matches no comparison of it.
"""

from triplebeam.where.parse import Where, parse, warn_of_other_spellings

__all__ = ["Where", "parse", "warn_of_other_spellings"]
