"""Packages that change every server of the environment that they are installed in. They lie beside
it (``scripts/test_programs.sh``): only servers and tests that ask for them have them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .jupyter import PYTHONPATH

PROGRAMS = Path(sys.prefix) / "programs"


def folder_of(name: str) -> Path:
    """The folder of ``jupytext``, ``collaboration`` or ``documents``, as if installed."""
    folder = PROGRAMS / name
    assert folder.is_dir(), "Not installed: scripts/test_programs.sh .venv/programs"
    return folder


def with_package(name: str) -> dict[str, str]:
    """The environment of a server that has the package installed and its extensions enabled."""
    folder = folder_of(name)
    return {
        "PYTHONPATH": os.pathsep.join([PYTHONPATH, str(folder)]),
        "JUPYTER_CONFIG_PATH": str(folder / "etc" / "jupyter"),
        "JUPYTER_PATH": str(folder / "share" / "jupyter"),
    }
