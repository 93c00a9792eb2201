"""Writers that are killed at any instant lose nothing, leave nothing half done, and repeat no work."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from trials import FULL


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="it forks")
@pytest.mark.parametrize("seed", [1, 2] if FULL else [1])
def test_killed_at_any_instant(seed: int) -> None:
    kills = 120 if FULL else 12
    script = Path(__file__).with_name("killing.py")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, str(script), str(seed), str(kills)],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert sum(report["ends"].values()) == kills
    operations = {"index", "remove", "sync", "compact", "correct", "repair"}
    assert {end.partition(":")[0] for end in report["ends"]} == operations
    assert any(end.endswith(": before") for end in report["ends"])
