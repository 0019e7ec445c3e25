"""Wheels for tests of installing: made here, so that nothing is fetched."""

from __future__ import annotations

import re
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def wheel(
    folder: Path, project: str, module: str, version: str = "1.0", needs: str | None = None
) -> None:
    """A tiny wheel that holds one module."""
    name = project.replace("-", "_")
    info = f"{name}-{version}.dist-info"
    needed = f"Requires-Dist: {needs}\n" if needs else ""
    files = {
        f"{module}.py": "answer = 42\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n"
        + needed,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{each},,\n" for each in [*files, f"{info}/RECORD"])
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)


def repack(folder: Path, *names: str) -> None:
    """Wheels of distributions that are installed here, and of all that they need."""
    folder.mkdir(exist_ok=True)
    todo, done = list(names), set()
    while todo:
        name = canonicalize_name(todo.pop())
        if name in done:
            continue
        done.add(name)
        found = distribution(name)
        for text in found.requires or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                todo.append(requirement.name)
        _repack(folder, found)


def _repack(folder: Path, found: Distribution) -> None:
    tag = re.search(r"^Tag: (.*)$", found.read_text("WHEEL") or "", re.M)
    assert tag is not None
    name = found.metadata["Name"].replace("-", "_")
    written = []
    with zipfile.ZipFile(folder / f"{name}-{found.version}-{tag[1]}.whl", "w") as archive:
        for each in found.files or ():
            # Scripts are made anew where it is installed.
            if ".." in each.parts or each.name == "RECORD" or each.suffix == ".pyc":
                continue
            archive.write(str(each.locate()), str(each))
            written.append(str(each))
        info = next(each.split("/")[0] for each in written if ".dist-info/" in each)
        record = f"{info}/RECORD"
        archive.writestr(record, "".join(f"{each},,\n" for each in [*written, record]))
