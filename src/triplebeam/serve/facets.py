"""Facets: the fields of the metadata that have few values, to choose from."""

from collections import defaultdict

from typing_extensions import TypedDict

from triplebeam.assemble import Index

_MOST_VALUES = 20
_LONGEST_VALUE = 80
_MOST_FACETS = 12


class FacetValue(TypedDict):
    """A value of a field, and how many documents have it."""

    value: str
    documents: int


class Facet(TypedDict):
    """A field with its values, the most frequent first."""

    field: str
    values: list[FacetValue]


def facets_of(index: Index) -> tuple[list[Facet], list[str]]:
    """The fields worth choosing from, those of most documents first; and the names of all fields."""
    documents: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for id_, fields in zip(index.passages.documents, index.passages.fields(), strict=True):
        for name, value in fields.items():
            documents[name][value].add(id_)
    shown = [_facet(name, values) for name, values in documents.items() if _can_be_chosen(name, values)]
    shown.sort(key=lambda facet: (-sum(value["documents"] for value in facet["values"]), facet["field"]))
    return shown[:_MOST_FACETS], sorted(documents)


def _can_be_chosen(name: str, values: dict[str, set[str]]) -> bool:
    """Two values or more, and few of them, each of two documents on average; none so long, or with quotation marks of
    both kinds, that no filter can name it.
    """
    documents = sum(map(len, values.values()))
    can_be_written = all(len(value) <= _LONGEST_VALUE and not {'"', "'"} <= set(value) for value in values)
    few = 2 <= len(values) <= min(_MOST_VALUES, documents / 2)
    return few and can_be_written and "`" not in name


def _facet(name: str, values: dict[str, set[str]]) -> Facet:
    rows = [FacetValue(value=value, documents=len(ids)) for value, ids in values.items()]
    return Facet(field=name, values=sorted(rows, key=lambda row: (-row["documents"], row["value"])))
