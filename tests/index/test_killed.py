"""Writers that are killed at any instant lose nothing, leave nothing half done, and repeat no work."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="it forks")
@pytest.mark.parametrize("seed", [1, 2])
def test_killed_at_120_instants(seed: int) -> None:
    script = Path(__file__).with_name("killing.py")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, str(script), str(seed), "120"],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert sum(report["ends"].values()) == 120
    operations = {"index", "remove", "sync", "compact", "correct", "repair"}
    assert {end.partition(":")[0] for end in report["ends"]} == operations
    assert report["ends"]["index: before"] > 0
