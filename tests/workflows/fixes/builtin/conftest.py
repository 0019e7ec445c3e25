"""Folders of their own for every test here: nothing of the machine's Jupyter is read or written."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_jupyter_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATA", "RUNTIME", "CONFIG"):
        folder = tmp_path / "jupyter" / name.lower()
        folder.mkdir(parents=True)
        monkeypatch.setenv(f"JUPYTER_{name}_DIR", str(folder))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "jupyter" / "ipython"))
