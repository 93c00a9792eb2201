"""A cluster of OpenSearch on this machine, for tests: assembled from Maven's registry, one small JVM per node.

    python tests/opensearch_cluster/nodes.py assemble            # once; some minutes of small downloads
    python tests/opensearch_cluster/nodes.py run FOLDER          # until its standard input ends

``run`` writes ``FOLDER/nodes.json`` when all nodes have found each other, or ``FOLDER/failed`` with the reason. The
environment variable ``OPENSEARCH_JAVA_OPTS`` replaces the options of the JVMs, which are for short tests.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from filelock import FileLock

HERE = Path(__file__).parent
JARS = HERE.parents[1] / "build" / "opensearch"
_PLUGIN = "org.opensearch.plugin:opensearch-knn:2.19.1.0:zip"
_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
_SECONDS_TO_ASSEMBLE, _SECONDS_TO_START = 900, 300
#: C1 alone: tests are short, and most of what the other compiler compiles would never be run again.
_JVM = ["-Xms256m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]


def missing() -> str | None:
    """Why there can be no cluster here; None where there can."""
    tools = [tool for tool in ("java", "javac", "mvn") if shutil.which(tool) is None]
    return f"there is no {' and no '.join(tools)}: a cluster needs a JDK and Maven" if tools else None


def assemble() -> None:
    """Fetch the libraries of a node and compile the rest, once for all that wait for it."""
    JARS.mkdir(parents=True, exist_ok=True)
    with FileLock(JARS / "lock", timeout=_SECONDS_TO_ASSEMBLE):
        if (JARS / "classes" / "Node.class").exists():
            return
        maven = ["mvn", "-B", "-q", "-f", str(HERE / "pom.xml")]
        _run(*maven, f"{_GOAL}:copy-dependencies", f"-DoutputDirectory={JARS / 'lib'}")
        _run(*maven, f"{_GOAL}:unpack", f"-Dartifact={_PLUGIN}", f"-DoutputDirectory={JARS / 'knn'}")
        _run("javac", "-cp", _class_path(), "-d", str(JARS / "classes"), str(HERE / "Node.java"))


def run(folder: Path, count: int = 3) -> None:
    """Start nodes, say where they are, and stop them when standard input ends."""
    folder.mkdir(parents=True, exist_ok=True)
    processes: list[subprocess.Popen[bytes]] = []
    try:
        assemble()
        ports = _free_ports(2 * count)
        processes += _start_nodes(folder, ports[:count], ports[count:])
        hosts = [f"127.0.0.1:{port}" for port in ports[:count]]
        _wait_for(hosts[0], count, processes)
        found = {"hosts": hosts, "pids": [process.pid for process in processes]}
        _write_whole(folder / "nodes.json", json.dumps(found))
        sys.stdin.read()
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        _write_whole(folder / "failed", str(error))
    finally:
        for process in processes:
            process.kill()


def _start_nodes(folder: Path, http: list[int], transport: list[int]) -> list[subprocess.Popen[bytes]]:
    seeds = ",".join(f"127.0.0.1:{port}" for port in transport)
    leaders = ",".join(f"node-{number}" for number in range(len(http)))
    options = os.environ.get("OPENSEARCH_JAVA_OPTS", "").split() or _JVM
    java = ["java", *options, "-cp", f"{JARS / 'classes'}{os.pathsep}{_class_path()}", "Node"]
    processes = []
    for number, (port, other) in enumerate(zip(http, transport, strict=True)):
        with (folder / f"node-{number}.log").open("wb") as log:
            arguments = [str(number), str(port), str(other), seeds, leaders, str(folder / f"node-{number}")]
            processes.append(
                subprocess.Popen([*java, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
            )
    return processes


def _wait_for(host: str, count: int, processes: "list[subprocess.Popen[bytes]]") -> None:
    end = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < end:
        if any(process.poll() is not None for process in processes):
            raise RuntimeError("a node ended before the cluster had started: its log says why")
        with contextlib.suppress(urllib.error.URLError, OSError, ValueError):
            address = f"http://{host}/_cluster/health?wait_for_nodes={count}&timeout=5s"
            with urllib.request.urlopen(address, timeout=20) as reply:
                if json.load(reply)["number_of_nodes"] == count:
                    return
        time.sleep(0.5)
    raise RuntimeError(f"{count} nodes did not find each other in {_SECONDS_TO_START} seconds")


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS_TO_ASSEMBLE)
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines()
        raise RuntimeError(f"{command[0]} failed: {' '.join(said[-3:])[:300]}")


def _class_path() -> str:
    return os.pathsep.join(f"{JARS / folder}{os.sep}*" for folder in ("lib", "knn"))


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _write_whole(path: Path, text: str) -> None:
    """In one step: who waits for the file sees all of it."""
    path.with_suffix(".part").write_text(text, encoding="utf-8")
    path.with_suffix(".part").replace(path)


if __name__ == "__main__":
    reason = missing()
    if sys.argv[1:] == ["assemble"]:
        print(reason) if reason else assemble()
    else:
        run(Path(sys.argv[2]))
