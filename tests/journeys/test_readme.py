"""The README's Python runs as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from journeys.command_line import Run, environment

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.slow
def test_the_examples_run(run: Run, tmp_path: Path, home: Path) -> None:
    assert run("demo").returncode == 0
    code = "\n".join(re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env=environment(home),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "William Herschel" in done.stdout
    assert "['uranus'" in done.stdout, "the base of the user's own"
    assert "'william-herschel'" in done.stdout, "what the walk from it found"
