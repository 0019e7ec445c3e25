"""Guesses of a template's parameters, without asking anybody."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...datasets.files.columns import columns_of
from ...datasets.files.formats import format_of
from ...notebook.cells_of import cells_of
from ...notebook.document import DocumentError
from ...workflows.fixes.probe import NotebookProbe
from ...workflows.template import Template
from ...workflows.templates.data_read import data_files_read
from ...workflows.templates.parameters import (
    MissingParameter,
    guessed_parameters,
    likely_data_files,
    missing_parameters,
)
from ..request import TurnRequest, confined
from ..runtime import Runtime


class Guesses:
    """Guesses from a message, the files under the root and the active notebook."""

    def __init__(self, runtime: Runtime, request: TurnRequest) -> None:
        self._runtime = runtime
        self._request = request

    async def of(self, template: Template, given: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters, by their names in camelCase; those ``given`` stay as they are."""
        files = await self._files()
        task = self._request.text
        read, folder = await self._read_by_notebook(files)
        values = {
            **guessed_parameters(template, files, task, read=read, folder=folder),
            **given,
        }
        columns = await self._columns(values.get("data"))
        return {**guessed_parameters(template, [], task, columns), **values}

    async def missing(
        self, template: Template, values: Mapping[str, Any]
    ) -> list[MissingParameter]:
        """What the template still needs."""
        return missing_parameters(template, values, await self._files(), self._request.text)

    async def data_files(self) -> list[str]:
        """The data files under the root, the likeliest first."""
        return likely_data_files(await self._files(), self._request.text)

    async def _columns(self, data: object) -> list[str]:
        """The columns of the data, where it is a text table under the root."""
        root = self._runtime.notebooks.root_dir
        if root is None or not isinstance(data, str) or format_of(data) not in ("csv", "tsv"):
            return []
        path = await confined(self._runtime, data)
        return await asyncio.to_thread(columns_of, Path(root) / path, None, root)

    async def _files(self) -> list[str]:
        return await NotebookProbe(self._runtime.notebooks, "").files()

    async def _read_by_notebook(self, files: Sequence[str]) -> tuple[list[str], str]:
        """The data files that the active document's code reads, and its folder; without one
        the root, where the new one is written."""
        target = self._request.gate.document
        if target is None:
            return [], ""
        folder = posixpath.dirname(target)
        client_id = self._request.chat.client_id
        try:
            cells = (await cells_of(self._runtime.notebooks, target, client_id)).cells
        except DocumentError:
            return [], folder
        return data_files_read((c.source for c in cells if c.type == "code"), folder, files), folder
