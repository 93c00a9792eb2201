"""What tests of chains and of questions share: a chain of the small world, and an index of it alone."""

from collections.abc import Callable

from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.triple import Triple
from triplebeam_research.synthesize.chains import GoldChain

Make = Callable[[dict[str, tuple[str, str]], dict[str, list[Triple]]], Snapshot]


CAHN = GoldChain(
    (Triple("Laughter in Hell", "directed by", "Edward Cahn"), Triple("Edward Cahn", "died on", "25 August 1963")),
    ("film", "director"),
    ("Laughter in Hell", "Edward Cahn", "25 August 1963"),
)


CAHN_ONLY = (
    {
        "film": ("Laughter in Hell", "Laughter in Hell was directed by Edward Cahn."),
        "director": ("Edward Cahn", "Edward Cahn was a director. He died on 25 August 1963."),
    },
    {"film": [CAHN.triples[0]], "director": [CAHN.triples[1]]},
)
