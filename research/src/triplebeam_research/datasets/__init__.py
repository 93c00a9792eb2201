"""Published datasets to documents and questions: one reader per format."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from triplebeam.errors import BadInputError, nearest
from triplebeam_research.datasets.dataset import Dataset
from triplebeam_research.datasets.folders import Written, read_beir, read_own, refuse_to_overwrite, write_dataset
from triplebeam_research.datasets.iirc import read_iirc
from triplebeam_research.datasets.multi_hop import read_hipporag, read_hotpotqa, read_ircot, read_musique, read_two_wiki
from triplebeam_research.datasets.without_gold import read_bamboogle, read_quality

__all__ = ["FORMATS", "Dataset", "Written", "read_dataset", "refuse_to_overwrite", "write_dataset"]


class Format(NamedTuple):
    """A reader, and the files it takes."""

    read: Callable[[Sequence[Path]], Dataset]
    sources: str


FORMATS: Mapping[str, Format] = {
    "musique": Format(read_musique, "musique_ans_v1.0_*.jsonl, musique_full_v1.0_*.jsonl"),
    "hotpotqa": Format(read_hotpotqa, "hotpot_train_v1.1.json, hotpot_dev_distractor_v1.json"),
    "2wikimultihopqa": Format(read_two_wiki, "train.json, dev.json, test.json; id_aliases.json"),
    "iirc": Format(read_iirc, "train.json, dev.json; context_articles.json"),
    "bamboogle": Format(read_bamboogle, "the CSV"),
    "quality": Format(read_quality, "QuALITY.v1.0.1.htmlstripped.train, .dev"),
    "hipporag": Format(read_hipporag, "<name>.json, <name>_corpus.json"),
    "ircot": Format(read_ircot, "processed_data/<dataset>/*.jsonl; raw_data files for their paragraphs"),
    "beir": Format(read_beir, "the folder, or its qrels/<split>.tsv"),
    "triplebeam": Format(read_own, "a folder of corpus.jsonl and questions*.jsonl, or the files"),
}


def read_dataset(name: str, sources: Sequence[Path]) -> Dataset:
    """Read the dataset in these files. Every file may be gzipped."""
    if name not in FORMATS:
        raise BadInputError(f"there is no format {name!r}{nearest(name, FORMATS)}; known are {', '.join(FORMATS)}.")
    if not sources:
        raise BadInputError(f"there is no SOURCE: {name} is read from {FORMATS[name].sources}.")
    return FORMATS[name].read(sources)
