"""What a published index keeps, wherever it is: in a folder, in a view, around a question, or on a cluster."""

from collections.abc import Callable, Sequence

import numpy as np

from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.index.source import Found, Query, Source
from triplebeam.testing.contracts.search import AWKWARD
from triplebeam.text.names import entity_key
from triplebeam.where import parse


class SourceContract:
    """Fixtures: ``source``, with some triples; ``embedder``, the one it was built with.

    ``queries`` find something by their words. ``where`` is a filter that holds for some passages and not for all;
    empty: the source is not to be filtered.
    """

    queries: Sequence[str] = ("directed", "lake", "Laughter in Hell")
    where: str = ""

    def test_passages_have_ids_and_numbers(self, source: Source) -> None:
        """Check that each passage is found by its id, and its number leads back to it."""
        passages = source.passages
        ids = [passage.id for passage in passages]
        assert len(set(ids)) == len(ids) == len(passages) == source.manifest.counts["passages"]
        assert passages.ids(passages.rows(reversed(ids))) == ids[::-1]
        assert all(id_ in passages and passages[id_].id == id_ for id_ in ids)

    def test_an_unknown_passage_is_named(self, source: Source) -> None:
        """Check that an unknown id is an error, not an empty passage."""
        assert "no such passage" not in source.passages
        for look_up in (lambda: source.passages["no such passage"], lambda: source.passages.rows(["no such passage"])):
            assert "no such passage" in _say(look_up)

    def test_documents_have_their_passages(self, source: Source) -> None:
        """Check that documents, titles and fields are of all passages, in one order."""
        passages = source.passages
        assert sorted(passages.document_ids) == sorted(set(passages.documents))
        of_documents = [each.id for document in passages.document_ids for each in passages.of_document(document)]
        assert sorted(of_documents) == sorted(passage.id for passage in passages)
        shown = zip(passages.documents, passages.titles, passages.fields(), strict=True)
        listed = sorted((document, title, fields["document"]) for document, title, fields in shown)
        assert listed == sorted((each.document_id, each.title, each.document_id) for each in passages)

    def test_terms_find_the_best_first(self, source: Source) -> None:
        """Check passages and triples: fewer are the head of more, and no query is a syntax error."""
        for terms, owners in (
            (source.passage_terms, source.passages.ids),
            (source.triple_terms, source.triples.passage_of),
        ):
            assert len(terms) > 0
            for query in (*self.queries, *AWKWARD):
                rows, scores = terms.search(query, 1000)
                assert np.all(np.diff(scores) <= 0)
                assert np.all(scores > 0)
                assert _is_same(terms.search(query, 2), (rows[:2], scores[:2]))
                assert len(terms.search(query, 0)[0]) == 0
                assert all(id_ in source.passages for id_ in owners(rows))
                assert len(terms.stemmers_of(rows.tolist())) == len(rows)
        assert all(len(source.passage_terms.search(query, 5)[0]) for query in self.queries)

    def test_vectors_find_the_nearest(self, source: Source, embedder: Embedder) -> None:
        """Check single and batched searches; more than there are returns all."""
        vectors = embedder.embed([*self.queries, "0"], kind="query")
        for search, count in ((source.passage_vectors, len(source.passages)),):
            assert len(search) == count
            for vector, together in zip(vectors, search.nearest_many(vectors, 3), strict=True):
                rows, cosines = search.nearest(vector, 3)
                assert np.allclose(together[1], cosines, atol=1e-5)
                assert np.all(np.diff(cosines) <= 1e-6)
                assert len(set(rows.tolist())) == min(3, count)
                assert sorted(search.nearest(vector, 10 * count)[0].tolist()) == sorted(
                    source.passages.rows(passage.id for passage in source.passages)
                )

    def test_triples_are_searched_by_vectors(self, source: Source, embedder: Embedder) -> None:
        """Check that the cosines are those of the stored vectors."""
        assert len(source.triples) == source.manifest.counts["triples"] > 0
        for vector in embedder.embed(list(self.queries), kind="query"):
            rows, cosines = source.triples.search(vector, 3)
            assert np.allclose(source.triples.vectors(rows) @ vector, cosines, atol=1e-5)
            assert np.allclose(source.triples.vectors(source.triples.nearest(vector[None], 3)[0]) @ vector, cosines)

    def test_an_entity_has_its_triples(self, source: Source) -> None:
        """Check that an entity is found by any spelling of its name; a name that nobody has finds none."""
        numbers = source.triples.triples_of([passage.id for passage in source.passages]).tolist()
        triples = {number: source.triples.triple(number) for number in numbers}
        name = next(iter(triples.values())).subject
        expected = [
            number
            for number, each in triples.items()
            if entity_key(name) in (entity_key(each.subject), entity_key(each.object))
        ]
        assert sorted(source.triples_about(name.upper()).tolist()) == sorted(expected)
        assert source.triples_about("nobody has this name").tolist() == []
        assert isinstance(source.suggest_entity("nobody has this name"), str)

    def test_a_filter_leaves_what_it_holds_for(self, source: Source, embedder: Embedder) -> None:
        """Check that a filter excludes everything else from any search, and an unknown field is an error."""
        if not self.where:
            return
        where = parse(self.where)
        passages = zip(source.passages, source.passages.fields(), strict=True)
        by_id = {passage.id: where.matches(fields) for passage, fields in passages} if _is_ordered(source) else {}
        view = source.filter(where)
        visible = {passage.id for passage in view.passages}
        assert visible < {passage.id for passage in source.passages}
        assert not by_id or visible == {id_ for id_, holds in by_id.items() if holds}
        assert view.manifest.counts["passages"] == len(view.passages) == len(visible)
        vector = embedder.embed([self.queries[0]], kind="query")[0]
        rows = [*view.passage_terms.search(self.queries[0], 100)[0], *view.passage_vectors.nearest(vector, 100)[0]]
        assert set(view.passages.ids(rows)) <= visible
        assert set(view.triples.passage_of(view.triples.search(vector, 100)[0])) <= visible
        assert "no_such_field" in _say(lambda: source.filter(parse('no_such_field = "x"')))

    def test_graphs_are_of_its_passages(self, source: Source, embedder: Embedder) -> None:
        """Check that graphs around a query and around a passage have its texts, its triples and its entities."""
        query = self.queries[0]
        rows, _ = source.passage_terms.search(query, 3)
        vector = embedder.embed([query], kind="query")[0]
        ids = source.passages.ids(rows)
        for graph in (source.graph(Query(query, vector)), source.graph(passages=ids)):
            assert graph.graph() is graph
            for id_ in ids:
                assert graph.passages[id_] == source.passages[id_]
                here, there = (
                    [each.triples.triple(number) for number in each.triples.triples_of([id_])]
                    for each in (graph, source)
                )
                assert here == there
                assert all(entity_key(triple.subject) in graph.entities.numbers for triple in here)


def _is_ordered(source: Source) -> bool:
    """Return whether passages come in the order of their fields."""
    return [passage.document_id for passage in source.passages] == list(source.passages.documents)


def _is_same(one: Found, other: Found) -> bool:
    return np.array_equal(one[0], other[0]) and np.allclose(one[1], other[1])


def _say(act: Callable[[], object]) -> str:
    """Return the message for bad input; empty where it is accepted."""
    try:
        act()
    except BadInputError as error:
        return str(error)
    return ""
