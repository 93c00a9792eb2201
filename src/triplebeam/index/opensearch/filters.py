"""A filter as a query of the cluster.

Every field of a passage is one term, its name and its value. What a comparison holds for is decided here, by the code
that filters an index folder, for each value that the field has; the cluster then looks for these terms. So numbers and
dates are compared in the same way in both kinds of index.

A value that is too long for a term cannot be compared. A passage that has one in a field of the filter is not shown,
whatever the filter says: that a comparison fails for it would let `not …` show it.
"""

import re

from triplebeam.errors import BadInputError
from triplebeam.index.opensearch.client import Json
from triplebeam.index.opensearch.documents import FIELD_END, TOO_LONG
from triplebeam.index.opensearch.generation import Published
from triplebeam.where import Where
from triplebeam.where.conditions import AllOf, AnyOf, Comparison, Condition, Not

#: The most values of one field that a filter may have to look at; also what a cluster takes in one query.
_MAX_VALUES = 60_000


def condition_of(where: Where, published: Published) -> Json:
    """Return the filter as a query; there must be a passage that it finds."""
    names = _terms(published, "field_names", ".*")
    compared = {each.name for each in where.condition.comparisons()}
    known = {name: (name in compared and _values(published, name)) or {""} for name in names}
    where.check(known)
    unknown = {"terms": {"fields": [f"{name}{TOO_LONG}" for name in sorted(compared)]}}
    query: Json = {"bool": {"filter": [_query(where.condition, known)], "must_not": [unknown]}}
    found = published.search("passages", {"query": {"bool": {"filter": [query]}}, "size": 1, "_source": False})
    if not found["hits"]["hits"]:
        meant = "".join(f" (did you mean {value!r}?)" for value in where.find_case_mismatches(known)[:1])
        raise BadInputError(f"no passage matches the filter {str(where)!r}{meant}: change a value or drop a condition.")
    return query


def _query(condition: Condition, known: dict[str, set[str]]) -> Json:
    match condition:
        case AllOf(parts):
            return {"bool": {"filter": [_query(part, known) for part in parts]}}
        case AnyOf(parts):
            return {"bool": {"should": [_query(part, known) for part in parts], "minimum_should_match": 1}}
        case Not(part):
            return {"bool": {"must_not": [_query(part, known)]}}
        case Comparison(name):
            values = sorted(value for value in known[name] if condition.matches({name: value}))
            return {"terms": {"fields": [f"{name}{FIELD_END}{value}" for value in values]}}
        case _:
            raise BadInputError(f"the condition {condition} cannot be used with an index on OpenSearch.")


def _values(published: Published, name: str) -> set[str]:
    """Return the values that passages have in a field."""
    escaped = re.sub(r'([.?+*|{}\[\]()"\\#@&<>~^$-])', r"\\\1", name)
    return {term.partition(FIELD_END)[2] for term in _terms(published, "fields", f"{escaped}{FIELD_END}(.|\n)*")}


def _terms(published: Published, field: str, pattern: str) -> list[str]:
    counted = {"terms": {"field": field, "include": pattern, "size": _MAX_VALUES}}
    reply = published.search("passages", {"query": {"match_all": {}}, "size": 0, "aggs": {"found": counted}})
    found = reply["aggregations"]["found"]
    if found["sum_other_doc_count"]:
        raise BadInputError(
            f"a field of the filter has more than {_MAX_VALUES:,} values, too many for an index on OpenSearch:"
            " filter by another field."
        )
    return [bucket["key"] for bucket in found["buckets"]]
