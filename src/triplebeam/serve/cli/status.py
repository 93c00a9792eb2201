"""`triplebeam status`: what is in an index."""

from typing import Annotated

import typer

from triplebeam.assemble.models import open_source
from triplebeam.index.build.writing import check_index
from triplebeam.index.location import Location
from triplebeam.index.source import FULL_WEIGHT_EXCLUSIVE, MIN_EXCLUSIVE, CorrectionCounts, GraphStatistics, Manifest
from triplebeam.index.store.tables import StoreState, read_store_state
from triplebeam.serve.cli.build_report import not_parsed
from triplebeam.serve.cli.options import AsJson, IndexPlace
from triplebeam.serve.cli.output import Output
from triplebeam.text.phrases import format_count


def status(
    folder: IndexPlace,
    deep: Annotated[bool, typer.Option("--deep", help="Read all files and verify their checksums.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the contents of an index, and check that its files are complete and that its store opens.

    Examples:

        triplebeam status my.index

        triplebeam status my.index --deep
    """
    manifest, store = open_source(folder).manifest, read_store_state(folder.state)
    if deep:
        check_index(folder.state)
    if as_json:
        Output().json(manifest.model_dump() | {"store": store and store.model_dump()})
        return
    Output().rows(_rows(folder, manifest, store), 13)


def _rows(folder: Location, manifest: Manifest, store: StoreState | None) -> dict[str, str]:
    """Say what there is to say of an index, by its label."""
    counts, size = manifest.counts, sum(manifest.files.values()) / 1e6
    rows = {
        "index": f"{folder} (format {manifest.format}, generation {int(manifest.generation)}, {size:,.1f} MB)",
        "written": f"{manifest.created} by triplebeam {manifest.triplebeam}",
        "documents": f"{counts['documents']:,}",
        "passages": f"{counts['passages']:,}",
        "triples": f"{counts['triples']:,} ({counts['triples'] / max(1, counts['passages']):.1f} per passage)",
        "entities": f"{counts['entities']:,}",
        "passage graph": _graph(manifest.passage_graph),
        "rare terms": f"{manifest.passage_graph.rare_terms:,}, each in a few passages of several documents;"
        f" {format_count(manifest.passage_graph.nodes_with_rare_terms, 'passage')} with at least one"
        if manifest.passage_graph.rare_terms
        else "none counted",
        "graph walks": _walks(manifest),
        "extracted by": ", ".join(f"{name}: {n:,}" for name, n in manifest.triples_by_extractor.items()) or "nothing",
        "extractor": f"{manifest.extractor or 'local'}, for new passages",
        "failures": f"{format_count(counts['passages_failed'], 'passage')} failed,"
        f" {format_count(counts['triples_rejected'], 'triple')} rejected",
        "no triples": f"{format_count(counts.get('passages_without_triples', 0), 'passage')} without any,"
        f" {format_count(counts['passages_without_extraction'], 'passage')} not extracted",
        "embedder": str(manifest.embedder),
        "store": _store(store, manifest),
    }
    if manifest.corrections:
        rows["corrections"] = _corrections(manifest.corrections)
    if manifest.unread_languages:
        rows["not parsed"] = " ".join(not_parsed(manifest.unread_languages))
    return rows


def _store(store: StoreState | None, manifest: Manifest) -> str:
    """Say where documents and triples are, and whether all that is there is published."""
    if store is None:
        return "missing: the index can be searched, but not added to"
    ahead = " it has changes that are not published: run the same command again, or `triplebeam repair`"
    return (
        f"{format_count(store.documents, 'document')}, {store.bytes / 1e6:,.1f} MB, format {store.format}"
        f"{';' + ahead if store.revision != manifest.revision else ''}"
    )


def _corrections(counts: CorrectionCounts) -> str:
    """Say how many there are, and which match nothing."""
    done = {"drop": "dropped", "add": "added", "merge": "renamed"}
    said = ", ".join(f"{counts.triples[kind]:,} {what}" for kind, what in done.items() if kind in counts.triples)
    lines = ", ".join(map(str, counts.unmatched))
    nothing = f"; matching nothing now: line{'s' if len(counts.unmatched) > 1 else ''} {lines}" if lines else ""
    return f"{format_count(sum(counts.lines.values()), 'line')} (triples: {said}){nothing}"


def _walks(manifest: Manifest) -> str:
    """Say what of the graph the default search uses, and why."""
    if not manifest.counts["triples"]:
        return "off, and so are hops over titles: there are no triples"
    weight = f"on with weight {manifest.share:.2f} of 1" if manifest.share else "off"
    starts = f"they start at {MIN_EXCLUSIVE:.0%}, full weight is from {FULL_WEIGHT_EXCLUSIVE:.0%}"
    if manifest.tuned_share is not None:
        starts = "the weight was set by tune"
    topics = f"{manifest.ownership.exclusive:.0%} of passages have a topic of their own"
    return f"{weight} ({topics}; {starts}); hops over titles on"


def _graph(statistics: GraphStatistics) -> str:
    """Describe the graph in the measures of GNN-Ret's Table 5, so that a corpus can be compared with the paper's."""
    if not statistics.edges_by_kind:
        return f"{statistics.nodes:,} nodes; edges are made around each question"
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in statistics.edges_by_kind.items())
    return (
        f"{format_count(statistics.nodes, 'node')}, {format_count(statistics.edges, 'edge')} ({kinds}),"
        f" {statistics.edges_per_node:.2f} per node, density {statistics.density:.4f},"
        f" {format_count(statistics.nodes_without_edges, 'node')} without edges"
    )
