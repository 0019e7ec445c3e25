"""Wheels for tests of installing: made here, so that nothing is fetched."""

from __future__ import annotations

import zipfile
from pathlib import Path


def wheel(folder: Path, distribution: str, module: str) -> None:
    """A tiny wheel that holds one module."""
    name = distribution.replace("-", "_")
    info = f"{name}-1.0.dist-info"
    files = {
        f"{module}.py": "answer = 42\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{each},,\n" for each in [*files, f"{info}/RECORD"])
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
