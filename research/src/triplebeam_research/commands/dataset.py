"""`triplebeam research dataset`: a published dataset into a corpus to index and questions to measure with."""

from dataclasses import asdict
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Annotated

import typer

from triplebeam.serve.cli.options import AsJson
from triplebeam.serve.cli.output import Output

if TYPE_CHECKING:
    from triplebeam_research.datasets import Written


def dataset(
    name: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT",
            help="musique, hotpotqa, 2wikimultihopqa, iirc, bamboogle, quality, hipporag, ircot, beir or triplebeam.",
            show_default=False,
        ),
    ],
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE…", help="The dataset's files as published, plain or gzipped.", show_default=False
        ),
    ],
    folder: Annotated[
        Path, typer.Argument(metavar="OUT", help="The folder to write corpus and questions to.", show_default=False)
    ],
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    as_json: AsJson = False,
) -> None:
    """Convert a published dataset into a corpus for `index` and questions for `bench`.

    Examples:

        triplebeam research dataset musique musique_ans_v1.0_dev.jsonl musique/

        triplebeam research dataset iirc dev.json context_articles.json iirc/

        triplebeam research dataset beir scifact/ scifact-questions/
    """
    from triplebeam_research.datasets import read_dataset, refuse_to_overwrite, write_dataset

    if not force:
        refuse_to_overwrite(folder)
    written = write_dataset(read_dataset(name, sources), folder)
    commands = _commands(folder, written)
    if as_json:
        Output().json({"folder": str(folder), **asdict(written), "next": commands})
    else:
        _tell(folder, written, commands)


def _commands(folder: Path, written: "Written") -> list[str]:
    """Return the next commands. The index goes beside the folder; without passages another corpus's index is needed."""
    index = f"{folder.resolve() if folder.name in ('', '..') else folder}.index"
    indexing = ["triplebeam", "index", index, str(folder / "corpus.jsonl"), *(["--split"] if written.to_be_cut else [])]
    bench = join(["triplebeam", "bench", index if written.passages else "INDEX", str(folder / "questions.jsonl")])
    return [join(indexing), bench] if written.passages else [bench]


def _tell(folder: Path, written: "Written", commands: list[str]) -> None:
    hops = ", ".join(f"{count:,} of {hops} hops" for hops, count in written.hops.items())
    left_out = ", ".join(f"{count:,} {reason}" for reason, count in written.left_out.items())
    rows = {
        "written to": str(folder),
        "passages": f"{written.passages:,}" + (" documents, to be split into passages" if written.to_be_cut else ""),
        "questions": f"{written.questions:,}" + (f" ({hops})" if hops else ""),
        "left out": left_out or "nothing",
    }
    rows |= {"next" if n == 0 else "": command for n, command in enumerate(commands)}
    if not written.passages:
        rows["passages"] = "none: the dataset has no passages, so index a corpus that answers its questions"
    Output().rows(rows, 10)
