"""New documents through the ContentsManager; nothing that exists is overwritten."""

from __future__ import annotations

from typing import Any

from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from .document import DocumentError


class Creation:
    """Creates files under unused names."""

    def __init__(self, contents_manager: Any) -> None:
        self.manager = contents_manager

    async def notebook(self, path: str, kernelspec: dict[str, Any] | None) -> str:
        """An empty notebook of nbformat 4.5; its path."""
        metadata = {"kernelspec": kernelspec} if kernelspec else {}
        content = {"cells": [], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
        return await self._save(path, {"type": "notebook", "format": "json", "content": content})

    async def file(self, path: str, text: str) -> str:
        """A text file; its path."""
        return await self._save(path, {"type": "file", "format": "text", "content": text})

    async def _save(self, path: str, model: dict[str, Any]) -> str:
        folder, _, name = path.rpartition("/")
        if not name:
            raise DocumentError("invalid_arguments", "The new document needs a name.")
        if folder and not await ensure_async(self.manager.dir_exists(folder)):
            raise DocumentError(
                "not_found", f"There is no directory {folder}.", "Choose one that exists."
            )
        if await ensure_async(self.manager.file_exists(path)) or await ensure_async(
            self.manager.dir_exists(path)
        ):
            name = await ensure_async(self.manager.increment_filename(name, folder, insert="-"))
            path = f"{folder}/{name}" if folder else name
        try:
            saved = await ensure_async(self.manager.save(model, path))
        except HTTPError as error:
            raise DocumentError(
                "internal", f"{path} could not be made: {error.log_message or error}"
            ) from error
        return str(saved.get("path", path)).strip("/")
