"""Checks what users install: the sdist, and the wheel that is made from it.

Both are built as a release is, in a temporary folder, without Node.js: the sdist brings the built
labextension. Then the wheel is installed beside an environment's packages, and JupyterLab there is
asked for its extensions. Prints what is wrong, and fails.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from email.parser import BytesParser
from pathlib import Path, PurePosixPath

from packaging.metadata import Metadata

from jupyter_datalayer_agent.workflows.quality.rules import kinds_of_secrets

ROOT = Path(__file__).parent.parent
PACKAGE = "jupyter_datalayer_agent"
EXTENSION = "jupyter-datalayer-agent"
NOT_FOR_USERS = frozenset({"tests", "__tests__", "__pycache__", "node_modules", "ui-tests", ".git"})
NOT_IN_A_RELEASE = frozenset(
    {".orig", ".rej", ".pyc", ".map", ".log", ".db", ".pem", ".key", ".env"}
)
# The sdist is what a distributor tests, too.
IN_THE_SDIST = frozenset({"tests", "__tests__"})


def main() -> None:
    """Build, look, install, and ask."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        sdist = _build("sdist", ROOT, place)
        with tarfile.open(sdist) as archive:
            archive.extractall(place, filter="data")
        wheel = _build("wheel", place / sdist.name.removesuffix(".tar.gz"), place)
        wrong = [*_wrong_in_sdist(sdist), *_wrong_in_wheel(wheel), *_wrong_installed(wheel, place)]
    for each in wrong:
        print(each)
    sys.exit(bool(wrong))


def _build(kind: str, source: Path, place: Path) -> Path:
    command = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "--target",
        kind,
        "--directory",
        str(place),
    ]
    subprocess.run(command, cwd=source, check=True, stdout=subprocess.DEVNULL)
    (built,) = place.glob("*.tar.gz" if kind == "sdist" else "*.whl")
    return built


def _wrong_in_sdist(sdist: Path) -> Iterator[str]:
    with tarfile.open(sdist) as archive:
        names = [member.name for member in archive if member.isfile()]
    yield from _wrong_names(sdist, names, NOT_FOR_USERS - IN_THE_SDIST)


def _wrong_in_wheel(wheel: Path) -> Iterator[str]:
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    yield from _wrong_names(wheel, files, NOT_FOR_USERS)
    for name in files:
        if PurePosixPath(name).parts[0].split("-")[0] != PACKAGE:
            yield f"{wheel.name}: {name} is outside of the package"
    for name, data in files.items():
        for secret in kinds_of_secrets(data.decode(errors="replace")):
            yield f"{wheel.name}: {name} holds {secret}"
    yield from _wrong_licenses(wheel, files)
    metadata = next(data for name, data in files.items() if name.endswith(".dist-info/METADATA"))
    # What a package index refuses raises here.
    Metadata.from_email(metadata)
    if not BytesParser().parsebytes(metadata).get_payload():
        yield f"{wheel.name}: the metadata has no description"


def _wrong_names(built: Path, names: Iterable[str], not_here: frozenset[str]) -> Iterator[str]:
    for name in names:
        path = PurePosixPath(name)
        if not_here.intersection(path.parts) or {path.suffix, path.name} & NOT_IN_A_RELEASE:
            yield f"{built.name}: {name} is not for users"


def _wrong_licenses(wheel: Path, files: Mapping[str, bytes]) -> Iterator[str]:
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in files):
        yield f"{wheel.name}: the licence is missing"
    bundled = [name for name in files if name.endswith("static/third-party-licenses.json")]
    if not bundled:
        yield f"{wheel.name}: the licences of what the page's code holds are missing"
    for name in bundled:
        for package in json.loads(files[name])["packages"]:
            if not package.get("licenseId") or not (package.get("extractedText") or "").strip():
                yield f"{wheel.name}: the licence of {package['name']} is incomplete"


def _wrong_installed(wheel: Path, place: Path) -> Iterator[str]:
    """The wheel in an environment of its own, which sees this one's packages behind its own."""
    fresh = place / "environment"
    venv.create(fresh, symlinks=os.name != "nt")
    python = fresh / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    paths = {"base": str(fresh), "platbase": str(fresh)}
    packages = Path(sysconfig.get_path("purelib", "venv", paths))
    install = ["-m", "uv", "pip", "install", "--quiet", "--offline", "--no-deps", "--python"]
    subprocess.run([sys.executable, *install, str(python), str(wheel)], check=True)
    (packages / "behind.pth").write_text(sysconfig.get_path("purelib"))
    home = place / "home"
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("JUPYTER")},
        "HOME": str(home),
        "USERPROFILE": str(home),
        "JUPYTER_PLATFORM_DIRS": "0",
    }
    for program, begin in (
        ("from jupyterlab.labextensions import main; main()", f"{EXTENSION} v"),
        ("from jupyter_server.extension.serverextension import main; main()", PACKAGE),
    ):
        command = [str(python), "-c", program, "list"]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=place)
        said = re.sub(r"\x1b\[[0-9;]*m", "", run.stdout + run.stderr)
        lines = [line for line in said.splitlines() if line.strip().startswith(begin)]
        if run.returncode or not any("enabled" in line and " X" not in line for line in lines):
            yield f"{wheel.name}: installed, it is not listed as enabled:\n{said}"


if __name__ == "__main__":
    main()
