"""The function that builds `Rerank`: apart from the other retrievers, since it loads a model."""

from triplebeam.assemble.context import Context
from triplebeam.errors import BadInputError
from triplebeam.index.folder.terms import TermIndex
from triplebeam.retrieve.bridge.reader import open_reader
from triplebeam.retrieve.bridge.rerank import Rerank
from triplebeam.retrieve.retriever import Retriever
from triplebeam.weights import GRANITE, ensure


def rerank(context: Context, below: Retriever) -> Rerank:
    """Read the base's first passages again, and what rare terms of them reach."""
    index, settings = context.snapshot, context.settings
    if not isinstance(index.passage_terms, TermIndex):
        raise BadInputError("rerank follows rare terms, which a cluster does not list: use an index in a folder.")
    folder = ensure(GRANITE, settings.home, offline=settings.offline, progress=context.progress)
    return Rerank(
        base=below,
        reader=open_reader(folder),
        rare=Rerank.follow_over(index.passage_terms, index.passages),
        vectors=index.passage_vectors,
        embedder=context.embedder,
        share=index.manifest.share,
    )
