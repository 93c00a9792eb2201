"""What an embedder keeps."""

from collections.abc import Sequence

import numpy as np

from triplebeam.embed.embedder import Embedder


class EmbedderContract:
    """Fixture: ``embedder``. ``tolerance`` is how far a text's vector may depend on the batch it came in."""

    texts: Sequence[str] = (
        "Milwaukee lies on Lake Michigan.",
        "a film",
        "Ein Fluss fließt nach Norden. " * 40,
        "a film",
    )
    tolerance: float = 1e-5

    def test_gives_a_unit_row_a_text(self, embedder: Embedder) -> None:
        """Rows of float32, length one, of the dimension announced."""
        for kind in ("passage", "query"):
            rows = embedder.embed(self.texts, kind)
            assert rows.shape == (len(self.texts), embedder.dimension)
            assert rows.dtype == np.float32
            assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)

    def test_no_texts_give_no_rows(self, embedder: Embedder) -> None:
        """An empty sequence is no error."""
        for kind in ("passage", "query"):
            assert embedder.embed([], kind).shape == (0, embedder.dimension)

    def test_a_text_has_one_vector(self, embedder: Embedder) -> None:
        """Whatever stands beside it in the batch, and whenever it is asked for."""
        together = embedder.embed(self.texts)
        alone = np.concatenate([embedder.embed([text]) for text in self.texts])
        backwards = embedder.embed(self.texts[::-1])[::-1]
        assert np.allclose(together, alone, atol=self.tolerance)
        assert np.allclose(together, backwards, atol=self.tolerance)

    def test_tells_texts_apart(self, embedder: Embedder) -> None:
        """Different texts have different vectors."""
        first, second = embedder.embed(self.texts[:2])
        assert not np.allclose(first, second, atol=1e-3)

    def test_takes_blank_and_odd_texts(self, embedder: Embedder) -> None:
        """They come out of documents, so they must have a direction too."""
        rows = embedder.embed(["", " ", "\N{GRINNING FACE}", "word " * 5_000])
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)

    def test_has_a_name_and_a_fingerprint(self, embedder: Embedder) -> None:
        """An index keeps them to know its vector space again."""
        assert embedder.name
        assert embedder.fingerprint
        assert embedder.dimension > 0
