"""Packages that pip installs for a test, into a folder of their own: no network is needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.jupyter import PYTHONPATH


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
