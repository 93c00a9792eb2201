"""What an embedder, an extractor and a language model keep."""

from collections.abc import Sequence

import numpy as np

from triplebeam.embed.embedder import Embedder
from triplebeam.extract.extractor import Extractor
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt
from triplebeam.passage import Passage


class EmbedderContract:
    """Fixture: ``embedder``. ``tolerance`` is how far a text's vector may depend on the batch it came in."""

    texts: Sequence[str] = (
        "Milwaukee lies on Lake Michigan.",
        "a film",
        "Ein Fluss fließt nach Norden. " * 40,
        "a film",
    )
    tolerance: float = 1e-5

    def test_gives_a_unit_row_per_text(self, embedder: Embedder) -> None:
        """Check rows of float32, length one, of the dimension announced."""
        for kind in ("passage", "query"):
            rows = embedder.embed(self.texts, kind)
            assert rows.shape == (len(self.texts), embedder.dimension)
            assert rows.dtype == np.float32
            assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)

    def test_no_texts_give_no_rows(self, embedder: Embedder) -> None:
        """Check that an empty sequence is no error."""
        for kind in ("passage", "query"):
            assert embedder.embed([], kind).shape == (0, embedder.dimension)

    def test_a_text_has_one_vector(self, embedder: Embedder) -> None:
        """Check that a vector does not depend on the batch or the time."""
        together = embedder.embed(self.texts)
        alone = np.concatenate([embedder.embed([text]) for text in self.texts])
        backwards = embedder.embed(self.texts[::-1])[::-1]
        assert np.allclose(together, alone, atol=self.tolerance)
        assert np.allclose(together, backwards, atol=self.tolerance)

    def test_tells_texts_apart(self, embedder: Embedder) -> None:
        """Check that different texts have different vectors."""
        first, second = embedder.embed(self.texts[:2])
        assert not np.allclose(first, second, atol=1e-3)

    def test_takes_blank_and_odd_texts(self, embedder: Embedder) -> None:
        """Check that blank and odd texts, which come out of documents, have a direction too."""
        rows = embedder.embed(["", " ", "\N{GRINNING FACE}", "word " * 5_000])
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)

    def test_has_a_name_and_a_fingerprint(self, embedder: Embedder) -> None:
        """Check the name and the fingerprint, by which an index knows its vector space again."""
        assert embedder.name
        assert embedder.fingerprint
        assert embedder.dimension > 0


class ExtractorContract:
    """Fixture: ``extractor``, which extracts at least one triple from ``passages``."""

    passages: Sequence[Passage] = (
        Passage("film", "Laughter in Hell is a drama film directed by Edward Cahn.", title="Laughter in Hell"),
        Passage("director", "Edward Cahn was a film director. Edward Cahn died in 1963.", title="Edward Cahn"),
        Passage("nothing", "…"),
    )

    def test_gives_one_extraction_per_passage_in_order(self, extractor: Extractor) -> None:
        """Check that there is one extraction per passage, also for a passage that states nothing."""
        extractions = list(extractor.extract(self.passages))
        assert [extraction.passage_id for extraction in extractions] == [passage.id for passage in self.passages]

    def test_extracts_something(self, extractor: Extractor) -> None:
        """Check that something is extracted: otherwise the other tests say nothing."""
        assert any(extraction.triples for extraction in extractor.extract(self.passages))

    def test_a_triple_has_three_parts_and_occurs_once(self, extractor: Extractor) -> None:
        """Check that what has an empty part belongs to ``rejected``."""
        for extraction in extractor.extract(self.passages):
            assert len(set(extraction.triples)) == len(extraction.triples)
            for triple in extraction.triples:
                assert len(triple) == 3
                assert all(part and part == part.strip() for part in triple), f"{triple} has an empty or untidy part"

    def test_an_unread_language_gives_nothing_and_is_no_failure(self, extractor: Extractor) -> None:
        """Check that an unsupported language gives nothing; an extractor for every language never names one."""
        for extraction in extractor.extract(self.passages):
            if extraction.unread_language is not None:
                assert (extraction.triples, extraction.entities, extraction.failure) == ((), (), None)

    def test_no_passages_give_nothing(self, extractor: Extractor) -> None:
        """Check that an empty stream is no error."""
        assert list(extractor.extract(iter(()))) == []

    def test_has_a_lasting_name(self, extractor: Extractor) -> None:
        """Check that the name is stable: another name would mean that every passage is extracted again."""
        before = extractor.name
        list(extractor.extract(self.passages))
        assert before
        assert extractor.name == before


class LanguageModelContract:
    """Fixture: ``model``, whose reply to each of ``prompts`` contains the last word of that prompt."""

    prompts: Sequence[Prompt] = tuple(
        Prompt(system="Repeat the last word.", user=f"Say {word}") for word in ("one", "two", "three", "four", "five")
    )

    def test_gives_one_completion_per_prompt_in_order(self, model: LanguageModel) -> None:
        """Check that there is one completion per prompt, however many of them run at once."""
        completions = model.complete(self.prompts)
        assert len(completions) == len(self.prompts)
        for prompt, completion in zip(self.prompts, completions, strict=True):
            assert isinstance(completion, Completion)
            assert prompt.user.split()[-1] in completion.text.casefold()

    def test_no_prompts_give_no_completions(self, model: LanguageModel) -> None:
        """Check that an empty batch is no error and no call."""
        assert model.complete([]) == []

    def test_counts_its_calls(self, model: LanguageModel) -> None:
        """Check that calls are counted: a report adds them up."""
        (completion,) = model.complete(self.prompts[:1])
        assert completion.usage.calls == 1

    def test_has_a_name(self, model: LanguageModel) -> None:
        """Check that the model has a name, which is stored with its completions."""
        assert model.name
