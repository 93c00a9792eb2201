"""Draw a real search as the README shows it.

triplebeam demo && python benchmarks/search_picture.py demo.index docs/images/search.svg
"""

import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

QUESTION = "Where was the discoverer of Uranus born?"
WIDTH = 100
#: Hits that are drawn: where the search starts, and where the second hop leads.
SHOWN = (1, 4)


def draw(index: str, picture: Path) -> None:
    """Run the search and write what the terminal shows, without the font that rich would fetch."""
    command = ["triplebeam", "search", index, QUESTION, "-k", "4", "--explain"]
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH)}
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    hits = re.split(r"(?m)^(?=(?:\x1b\[[\d;]*m)* \d+\. )", found)
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True)
    console.print(Text(f'$ triplebeam search {index} "{QUESTION}" --explain', style="bold"))
    for number in SHOWN:
        if number > 1:
            console.print(Text(" …", style="dim"))
        console.print(Text.from_ansi(hits[number].rstrip()))
    svg = console.export_svg(title="triplebeam", theme=MONOKAI, unique_id="search")
    picture.write_text(re.sub(r"@font-face \{.*?\}\s*|<!--.*?-->", "", svg, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    draw(sys.argv[1], Path(sys.argv[2]))
