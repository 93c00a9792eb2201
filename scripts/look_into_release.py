"""What wheels and sdists contain: all that the packages need, and nothing of the repository besides. `make release`."""

import sys
import tarfile
import zipfile
from pathlib import Path

NEEDED = {
    "triplebeam/py.typed",
    "triplebeam/demo/completions.json",
    "triplebeam/generate/prices.toml",
    "triplebeam/generate/prompts/answer.md",
    "triplebeam/serve/http/page/index.html",
    "triplebeam/serve/http/page/main.js",
    "triplebeam/support/adapter.safetensors",
    "triplebeam/testing/toy/corpus.jsonl",
}
BESIDE = {"CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml", ".gitignore"}

NEEDED_BY_RESEARCH = {
    "triplebeam_research/py.typed",
    "triplebeam_research/prompts/published/ircot.md",
    "triplebeam_research/prompts/chain_of_thought/exemplars.toml",
    "triplebeam_research/report/report.html",
}


def look(folder: Path, package: str, source: Path, needed: set[str]) -> None:
    """Compare the wheel and the sdist of a package with its folder."""
    (wheel,) = folder.glob(f"{package}-*.whl")
    (sdist,) = folder.glob(f"{package}-*.tar.gz")
    name = sdist.name.removesuffix(".tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
    with tarfile.open(sdist) as archive:
        in_sdist = {each.name.removeprefix(f"{name}/") for each in archive if each.isfile()}

    tracked = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    tracked = {path for path in tracked if "__pycache__" not in path}
    in_package = {path for path in in_wheel if not path.startswith(f"{name}.dist-info/")}
    assert in_package >= needed, f"the wheel lacks {sorted(needed - in_package)}"
    assert in_package == tracked, f"wheel and src/ differ in {sorted(in_package ^ tracked)}"
    assert f"{name}.dist-info/licenses/LICENSE" in in_wheel, "the wheel has no licence"
    strange = {path for path in in_sdist - BESIDE if not path.startswith("experiments/")} - {
        f"src/{path}" for path in in_package
    }
    assert not strange, f"the sdist has {sorted(strange)}"
    print(
        f"{wheel.name}: {len(in_wheel)} files, {wheel.stat().st_size / 1e6:.1f} MB; {sdist.name}: {len(in_sdist)} files"
    )


look(Path(sys.argv[1]), "triplebeam", Path("src"), NEEDED)
look(Path(sys.argv[1]), "triplebeam_research", Path("research/src"), NEEDED_BY_RESEARCH)
