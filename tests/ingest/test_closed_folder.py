"""A folder that may not be entered is one sentence, so that `sync --watch` goes on."""

import os
from pathlib import Path
from typing import Any

import pytest

from triplebeam.errors import BadInputError
from triplebeam.ingest import FolderFiles


@pytest.mark.parametrize(("named", "said"), [("", "there is no file to read in"), ("a.md", "'.*' cannot be opened")])
def test_a_folder_that_may_not_be_entered_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, said: str
) -> None:
    closed, stat = tmp_path / "docs", os.stat
    closed.mkdir()
    (closed / "a.md").write_text("# A", encoding="utf-8")

    def refuse(path: Any, **options: Any) -> os.stat_result:
        if str(path).startswith(f"{closed}{os.sep}"):
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, **options)

    monkeypatch.setattr(os, "stat", refuse)
    with pytest.raises(BadInputError, match=said):
        FolderFiles.of([closed / named], str)
