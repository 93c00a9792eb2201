"""The cluster of a test run: started once, early, in the background; tests of it wait until it answers."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from opensearch_cluster.nodes import HERE, missing

#: Where the processes of one test run find the cluster.
_FOLDER = "OPENSEARCH_TEST_CLUSTER"
_SECONDS = 420


class BackgroundCluster:
    """Three nodes, from the moment that this is made until it is stopped."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="triplebeam-cluster-", ignore_cleanup_errors=True)
        os.environ[_FOLDER] = self._folder.name
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "nodes.py"), "run", self._folder.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )

    def stop(self) -> None:
        self._process.communicate()
        os.environ.pop(_FOLDER, None)
        self._folder.cleanup()


def wanted_early(arguments: list[str]) -> bool:
    """Is this a whole run, whose cluster had better start at once?"""
    return not arguments and missing() is None


def wait_for_cluster() -> dict[str, list[str]] | str:
    """The hosts and process ids of the nodes, or why there are none."""
    folder, end = Path(os.environ[_FOLDER]), time.monotonic() + _SECONDS
    while time.monotonic() < end:
        if (folder / "nodes.json").exists():
            found: dict[str, list[str]] = json.loads((folder / "nodes.json").read_text())
            return found
        if (folder / "failed").exists():
            return (folder / "failed").read_text()
        time.sleep(0.2)
    return f"no cluster in {_SECONDS} seconds"


def is_running() -> bool:
    """Has one been started for this run?"""
    return _FOLDER in os.environ
