"""Wheels for tests of installing: made here, so that nothing is fetched."""

from __future__ import annotations

import io
import os
import re
import tarfile
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


SLOW_BACKEND = """
import os, subprocess, sys, time
def _wait(*arguments, **more):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with open({pids!r}, "w") as file:
        file.write(f"{{os.getpid()}} {{child.pid}}")
    time.sleep(600)
build_wheel = prepare_metadata_for_build_wheel = _wait
"""


def slow_source(folder: Path, project: str, pids: Path) -> None:
    """A source distribution whose build never ends. It writes its process id and that of a child
    to the pipe ``pids``, which is made here: who reads it waits until the build has begun."""
    os.mkfifo(pids)
    name = f"{project.replace('-', '_')}-1.0"
    files = {
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {project}\nVersion: 1.0\n",
        "pyproject.toml": f'[project]\nname = "{project}"\nversion = "1.0"\n[build-system]\n'
        'requires = []\nbuild-backend = "slow"\nbackend-path = ["."]\n',
        "slow.py": SLOW_BACKEND.format(pids=str(pids)),
    }
    folder.mkdir(exist_ok=True)
    with tarfile.open(folder / f"{name}.tar.gz", "w:gz") as archive:
        for path, text in files.items():
            data = text.encode()
            member = tarfile.TarInfo(f"{name}/{path}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


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
