"""The user's layer: their settings in JupyterLab, in the file that JupyterLab itself keeps.

The settings editor and ``PATCH config`` write the same file, so there is one place to look. It is
read again when it has changed, which costs a ``stat`` a time.
"""

from __future__ import annotations

import json
import logging
import os
import re
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

PLUGIN = "jupyter-datalayer-agent:settings"
"""Id of the plugin of the labextension whose settings these are."""


def settings_file(directory: str | None = None) -> Path:
    """Where JupyterLab keeps the settings of the plugin; ``directory`` is its user settings."""
    from jupyter_core.paths import jupyter_config_dir

    root = directory or os.environ.get("JUPYTERLAB_SETTINGS_DIR")
    folder = Path(root) if root else Path(jupyter_config_dir(), "lab", "user-settings")
    package, _, plugin = PLUGIN.partition(":")
    return folder / package / f"{plugin}.jupyterlab-settings"


Stamp = tuple[int, int, int]
"""What a version of the file is known by: its inode, time of change in ns, and size in bytes."""


class UserSettings:
    """The values in the file, by the names of the traits."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._stamp: Stamp | None = None
        self._values: dict[str, Any] = {}

    def values(self) -> dict[str, Any]:
        """All that is set, valid or not; empty where the file is missing or cannot be read."""
        try:
            stat = self.file.stat()
            stamp = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
            if stamp != self._stamp:
                self._stamp, self._values = stamp, {}
                self._values = _read(self.file)
        except FileNotFoundError:
            self._stamp, self._values = None, {}
        except (OSError, ValueError) as error:
            log.error("%s cannot be read, and is not used: %s", self.file, error)
        return self._values

    @property
    def stamp(self) -> Stamp | None:
        """Differs when the file has changed since the last ``values``."""
        return self._stamp

    def write(self, changes: dict[str, Any]) -> None:
        """Set values, or with None take them out; the rest of the file is unchanged.

        Raises ``OSError``, also for a file that holds something which cannot be read.
        """
        try:
            found = _read(self.file) if self.file.exists() else {}
        except ValueError as error:
            raise OSError(f"{self.file} holds something else: {error}") from error
        kept = {**found, **changes}
        text = json.dumps(
            {camel(name): value for name, value in kept.items() if value is not None},
            ensure_ascii=False,
            indent=2,
        )
        self.file.parent.mkdir(parents=True, exist_ok=True)
        new = self.file.with_name(f".{self.file.name}.{os.getpid()}")
        new.write_text(text, encoding="utf-8")
        new.replace(self.file)


def _read(file: Path) -> dict[str, Any]:
    text = file.read_text(encoding="utf-8")
    try:
        found = json.loads(text or "{}")
    except ValueError:
        import json5  # what JupyterLab writes when the user edits the text: with comments

        found = json5.loads(text)
    if not isinstance(found, dict):
        raise ValueError("it holds no object")
    return {snake(name): value for name, value in found.items()}


def snake(name: str) -> str:
    """``maxToolCalls`` as ``max_tool_calls``; a name in snake case stays."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda part: f"_{part[1].lower()}", name)


def camel(name: str) -> str:
    """``max_tool_calls`` as ``maxToolCalls``."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
