"""An ``ActionContext`` of files by name, for tests that need no server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jupyter_datalayer_agent.services.action import ActionFailed, Option


class FakeContext:
    """Knows names of files; nothing can be run."""

    def __init__(self, files: Sequence[str] = (), notebook: str | None = None) -> None:
        self._files = list(files)
        self.notebook = notebook

    async def files(self) -> list[str]:
        return self._files

    async def path(self, relative: str) -> Path:
        return Path("/nowhere") / relative

    async def text(self, relative: str) -> str:
        raise ActionFailed("Nothing is read here.")

    async def columns(self, data: str) -> list[str]:
        return []

    async def tables(self) -> list[Option]:
        return []

    async def sources(self) -> list[tuple[str, str]]:
        return []

    async def kernels(self) -> list[Option]:
        return []

    async def add_dataset(self, file: Path, source: str, name: str | None = None) -> str:
        raise ActionFailed("Nothing runs here.")

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        raise ActionFailed("Nothing runs here.")

    async def compute(self, code: str) -> str:
        raise ActionFailed("Nothing runs here.")
