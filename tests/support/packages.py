"""Packages that pip installs for a test, into a folder of their own: no network is needed.

As a program it installs the example of docs/adding-a-service.md, or the package whose folder it is
given, into a folder, and prints the ``PYTHONPATH`` of a server that has it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_datalayer_agent import entry_points
from tests.support.jupyter import PYTHONPATH

GUIDE = Path(__file__).parents[2] / "docs" / "adding-a-service.md"


def install(package: Path, target: Path) -> dict[str, str]:
    """Install the package at ``package`` by pip; the environment of a server that has it."""
    command = [
        *(sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--no-deps"),
        *("--disable-pip-version-check", "--no-build-isolation", "--no-index"),
        *("--upgrade", "--target", target, package),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return {"PYTHONPATH": os.pathsep.join([str(target), PYTHONPATH])}


def declare(folder: Path, name: str, entries: str) -> Path:
    """An installed distribution of that name in ``folder``, with these entry points; their file."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    declared = info / "entry_points.txt"
    declared.write_text(entries)
    return declared


def import_from(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process import what is in ``folder``, and find what is declared there."""
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(entry_points, "_by_group", entry_points._by_group.__wrapped__)
    monkeypatch.setattr(entry_points, "_loaded", {})
    monkeypatch.setattr(entry_points, "_errors", {})


def write_example(package: Path) -> str:
    """Write the package of docs/adding-a-service.md as it is there; its ``pyproject.toml``."""
    text = GUIDE.read_text(encoding="utf-8")
    (python,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (toml,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    package.mkdir()
    (package / "backup_service.py").write_text(python, encoding="utf-8")
    (package / "pyproject.toml").write_text(toml, encoding="utf-8")
    return str(toml)


if __name__ == "__main__":
    folder, *given = map(Path, sys.argv[1:])
    if not given:
        write_example(folder / "backup")
    print(install(given[0] if given else folder / "backup", folder / "site")["PYTHONPATH"])
