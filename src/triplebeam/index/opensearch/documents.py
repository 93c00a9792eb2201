"""What becomes which document of a cluster.

| here | there |
| --- | --- |
| a passage | `PREFIX-passages`: its text, the words it is found by, its vector, its fields, the entities it mentions |
| a triple | `PREFIX-triples`: its three parts, their words, its vector, its passage, the keys of its two ends |
| an entity | `PREFIX-entities`: its name, its stored vector, and how many passages mention it |

Words are made here, by `triplebeam.text.terms`, and not by an analyzer of the cluster, so that BM25 counts the same
words in both kinds of index. The vector of a passage or a triple is there twice: as a searchable one, which is not
stored as text, and as the whole numbers that an index folder has, in Base64, from which it is restored. Triples are the
many: a byte per dimension is all that is stored of them, and it is what the cluster compares.
"""

import json
from binascii import a2b_base64, b2a_base64
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.arrays.rows import dequantize, hash_texts, quantize
from triplebeam.index.content.content import Content
from triplebeam.index.content.encoding import STORED_AS
from triplebeam.index.folder.tables import collect_filter_fields, title_keys
from triplebeam.index.opensearch.client import Json
from triplebeam.passage import Passage
from triplebeam.text.names import entity_key
from triplebeam.text.terms import stemmer_for, text_words
from triplebeam.triple import Triple

KINDS = ("passages", "triples", "entities")
#: Documents that one search returns.
MAX_RESULTS = 100_000
#: The kind of vectors in each, as `VectorCache` names them.
VECTORS = {"passages": "passage", "triples": "triple", "entities": "entity"}
#: Between the name of a field and its value in one term.
FIELD_END = "\x1f"
#: Behind the name of a field whose value is too long for a term: no filter on that field shows the passage.
TOO_LONG = "\x1e"
#: The longest term, in the units of UTF-16 that a cluster counts; it would leave out a longer one without a word.
_MAX_TERM_BYTES = 8000
_TERMS = {"type": "keyword", "ignore_above": _MAX_TERM_BYTES}
_KEYWORD = {"type": "keyword"}
_UNSEARCHED = {"type": "object", "enabled": False}
_STORED_ONLY = {"type": "keyword", "index": False, "doc_values": False}
#: What is searched and never shown.
_HIDDEN = ["vector", "words", "fields", "field_names", "entities", "title_keys"]


def build_settings(shards: int, replicas: int | None) -> Json:
    """Return the settings of a new index; it is not refreshed until everything is written."""
    copies: Json = {"auto_expand_replicas": "0-1"} if replicas is None else {"number_of_replicas": replicas}
    return {
        "number_of_shards": shards,
        **copies,
        "knn": True,
        "knn.advanced.approximate_threshold": -1,  # of this engine: no graph at all
        "replication.type": "SEGMENT",  # a copy gets the files that the first one made, graphs of vectors among them
        "max_result_window": MAX_RESULTS,
        "refresh_interval": "-1",
    }


def build_mapping(kind: str, dimension: int) -> Json:
    """Return the fields of one kind of documents; a field that is not named here is refused."""
    searched: Json = {
        "number": {"type": "long"},
        "words": {"type": "text", "analyzer": "whitespace", "index_options": "freqs"},
        "stemmer": _KEYWORD,
        "fields": _TERMS,
    }
    own: Json = {
        "passages": {
            **searched,
            "id": _KEYWORD,
            "document": _KEYWORD,
            "position": {"type": "integer"},
            "content": _UNSEARCHED,
            "title_keys": _KEYWORD,
            "entities": _KEYWORD,
            "field_names": _KEYWORD,
            "vector": _vector(dimension, "float"),
        },
        "triples": {
            **searched,
            "passage": _KEYWORD,
            "place": {"type": "integer"},
            "triple": _STORED_ONLY,
            "ends": _KEYWORD,
            "vector": _vector(dimension, "byte"),
        },
        "entities": {"name": _STORED_ONLY, "passages": {"type": "integer"}},
    }[kind]
    return {
        "dynamic": "strict",
        "_source": {"excludes": _HIDDEN},
        "properties": {**own, "digest": _KEYWORD, "code": _STORED_ONLY},
    }


def _vector(dimension: int, numbers: str) -> Json:
    """Return a field whose vectors are compared one by one: half a microsecond each."""
    method = {"name": "hnsw", "engine": "faiss", "space_type": "innerproduct"}
    return {"type": "knn_vector", "dimension": dimension, "data_type": numbers, "method": method}


def key(*parts: str) -> str:
    """Return the id of a document on the cluster: names and ids of any length and any letters become one of 32."""
    return hash_texts(*parts).hex()


@lru_cache(maxsize=100_000)
def entity(name: str) -> str:
    """Return the key of an entity, the same for all names of one normal form."""
    return key(entity_key(name))


def number_of(passage_id: str, *place: str) -> int:
    """Return the number of a passage, or of a triple by its place there: the same in every generation, and positive."""
    return int.from_bytes(hash_texts(passage_id, *place)[:8], "big") >> 1


def fields_of(passage: Passage) -> dict[str, str]:
    """Return what filters compare."""
    return collect_filter_fields(passage.title, passage.section, passage.document_id, passage.metadata)


def field_term(name: str, value: str) -> str:
    """Return the term that a field of a passage is found by."""
    term = f"{name}{FIELD_END}{value}"
    return term if len(term.encode("utf-16-le")) <= 2 * _MAX_TERM_BYTES else f"{name}{TOO_LONG}"


def _field_terms(fields: Mapping[str, str]) -> list[str]:
    return [field_term(name, value) for name, value in fields.items()]


def encode(stored: NDArray[Any]) -> str:
    """Encode a stored vector as text."""
    return b2a_base64(stored.tobytes(), newline=False).decode()


def decode(kind: str, codes: Sequence[str], dimension: int) -> NDArray[Any]:
    """Decode the stored vectors of some documents, one row each."""
    stored: NDArray[Any] = np.frombuffer(b"".join(map(a2b_base64, codes)), STORED_AS[VECTORS[kind]])
    return stored.reshape(len(codes), dimension)


def passage_of(source: Json) -> Passage:
    """Return the passage in a document."""
    content = source["content"]
    start, end, metadata, section = (content[name] for name in ("start", "end", "metadata", "section"))
    place = source["document"], source["position"]
    return Passage(source["id"], content["text"], content["title"], *place, start, end, metadata, section)


@dataclass(frozen=True)
class Draft:
    """A document without its vector."""

    id: str
    source: Json
    text: str
    """What its vector is made from."""

    @cached_property
    def digest(self) -> str:
        """The same for the same document with the same vector."""
        return key(json.dumps(self.source, sort_keys=True), self.text)


@dataclass(frozen=True)
class Drafts:
    """All documents of an index."""

    contents: Content = field(repr=False)

    def of(self, kind: str) -> Iterator[Draft]:
        """Yield the documents of one kind."""
        return {"passages": self._passages, "triples": self._triples, "entities": self._entities}[kind]()

    def counts(self) -> dict[str, int]:
        """Count the documents of each kind."""
        known = self.contents
        return {"passages": len(known.passages), "triples": len(known.triples), "entities": len(known.entity_names)}

    @cached_property
    def stemmers(self) -> list[str]:
        """The stemmer of each passage."""
        return [stemmer_for(passage.text) for passage in self.contents.passages]

    @cached_property
    def _mentioned(self) -> list[list[str]]:
        """The keys of the entities of each passage: the ends of its triples, names found in it, terms it defines."""
        known = {entity_key(name) for name in self.contents.entity_names}
        found: list[dict[str, None]] = [{} for _ in self.contents.passages]
        for row, triple in zip(self.contents.triple_rows, self.contents.triples, strict=True):
            found[row] |= dict.fromkeys((entity_key(triple.subject), entity_key(triple.object)))
        for row, names in enumerate(self.contents.annotations.names):
            found[row] |= dict.fromkeys(each for each in map(entity_key, names) if each in known)
        for each, definition in self.contents.definitions.items():
            for row in definition.rows:
                found[row][each] = None
        return [[key(each) for each in of_one] for of_one in found]

    @cached_property
    def _links(self) -> dict[int, list[str]]:
        """The passages that each passage links to."""
        links: dict[int, list[str]] = {}
        for here, there in self.contents.annotations.links.tolist():
            links.setdefault(here, []).append(self.contents.passages[there].id)
        return links

    def _passages(self) -> Iterator[Draft]:
        annotations = self.contents.annotations
        for row, passage in enumerate(self.contents.passages):
            fields = fields_of(passage)
            source = {
                "number": number_of(passage.id),
                "id": passage.id,
                "document": passage.document_id,
                "position": passage.position,
                "content": {
                    "text": passage.text,
                    "title": passage.title,
                    "section": passage.section,
                    "start": passage.start,
                    "end": passage.end,
                    "metadata": dict(passage.metadata),
                    "extractor": annotations.extractors[row],
                    "names": annotations.names[row],
                    "keywords": annotations.keywords[row],
                    "links": self._links.get(row, []),
                    "triples": len(self.contents.triples_at(row)),
                },
                "words": " ".join(text_words(passage.term_text, self.stemmers[row])),
                "stemmer": self.stemmers[row],
                "title_keys": title_keys(passage.title),
                "entities": self._mentioned[row],
                "fields": _field_terms(fields),
                "field_names": list(fields),
            }
            yield Draft(key(passage.id), source, self.contents.passage_texts[row])

    def _triples(self) -> Iterator[Draft]:
        for row, passage in enumerate(self.contents.passages):
            fields = _field_terms(fields_of(passage))
            for place, at in enumerate(self.contents.triples_at(row)):
                triple = self.contents.triples[at]
                number = number_of(passage.id, str(place))
                source = {
                    "number": number,
                    "passage": passage.id,
                    "place": place,
                    "triple": list(triple),
                    "ends": list(dict.fromkeys((entity(triple.subject), entity(triple.object)))),
                    "words": " ".join(text_words(str(triple), self.stemmers[row])),
                    "stemmer": self.stemmers[row],
                    "fields": fields,
                }
                yield Draft(str(number), source, self.contents.triple_sources[at])

    def _entities(self) -> Iterator[Draft]:
        counts = Counter(each for mentioned in self._mentioned for each in mentioned)
        for name in self.contents.entity_names:
            yield Draft(each := entity(name), {"name": name, "passages": counts[each]}, name)


def add_vectors(kind: str, drafts: Sequence[Draft], stored: NDArray[Any]) -> Iterator[Json]:
    """Yield documents with their vectors. One of zeros has no direction, and is near to nothing."""
    for draft, row in zip(drafts, stored, strict=True):
        document = {**draft.source, "digest": draft.digest, "code": encode(row)}
        if kind != "entities" and row.any():
            document["vector"] = (
                round_vector(kind, dequantize(row[np.newaxis])[0]) if kind == "passages" else row.tolist()
            )
        yield document


def round_vector(kind: str, vector: NDArray[np.float32]) -> list[float]:
    """Round a unit vector to the numbers that the cluster compares for a kind."""
    if kind == "triples":
        [row] = quantize(vector[np.newaxis])
        return list(row.tolist())
    return list(np.round(vector.astype(np.float64), 6).tolist())  # in single precision, six digits are written as 17


def triple_of(source: Json) -> Triple:
    """Return the triple in a document."""
    return Triple(*source["triple"])
