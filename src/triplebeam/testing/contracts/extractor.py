"""What an extractor keeps."""

from collections.abc import Sequence

from triplebeam.extract.extractor import Extractor
from triplebeam.passage import Passage


class ExtractorContract:
    """Fixture: ``extractor``, which extracts at least one triple from ``passages``."""

    passages: Sequence[Passage] = (
        Passage("film", "Laughter in Hell is a drama film directed by Edward Cahn.", title="Laughter in Hell"),
        Passage("director", "Edward Cahn was a film director. Edward Cahn died in 1963.", title="Edward Cahn"),
        Passage("nothing", "…"),
    )

    def test_gives_one_extraction_per_passage_in_order(self, extractor: Extractor) -> None:
        """Also for a passage that states nothing."""
        extractions = list(extractor.extract(self.passages))
        assert [extraction.passage_id for extraction in extractions] == [passage.id for passage in self.passages]

    def test_extracts_something(self, extractor: Extractor) -> None:
        """Otherwise the other tests say nothing."""
        assert any(extraction.triples for extraction in extractor.extract(self.passages))

    def test_a_triple_has_three_parts_and_stands_once(self, extractor: Extractor) -> None:
        """What has an empty part belongs to ``rejected``."""
        for extraction in extractor.extract(self.passages):
            assert len(set(extraction.triples)) == len(extraction.triples)
            for triple in extraction.triples:
                assert len(triple) == 3
                assert all(part and part == part.strip() for part in triple), f"{triple} has an empty or untidy part"

    def test_an_unread_language_gives_nothing_and_is_no_failure(self, extractor: Extractor) -> None:
        """An extractor that reads every language never names one."""
        for extraction in extractor.extract(self.passages):
            if extraction.unread_language is not None:
                assert (extraction.triples, extraction.entities, extraction.failure) == ((), (), None)

    def test_no_passages_give_nothing(self, extractor: Extractor) -> None:
        """An empty stream is no error."""
        assert list(extractor.extract(iter(()))) == []

    def test_has_a_lasting_name(self, extractor: Extractor) -> None:
        """Another name would mean that every passage is extracted again."""
        before = extractor.name
        list(extractor.extract(self.passages))
        assert before
        assert extractor.name == before
