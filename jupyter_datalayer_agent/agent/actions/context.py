"""What an action may use: a dry run only reads, a run may also call tools and run code."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...datasets.files.columns import columns_of
from ...datasets.incoming import BLOCK
from ...notebook.document import DocumentError
from ...notebook.page import PageGone
from ...opening import NotRead, opened, read
from ...protocol.cells import CellEdit
from ...protocol.context import Variable
from ...protocol.errors import AgentError
from ...protocol.events import DatasetRegistered
from ...protocol.page import ExecuteCommandParams, PageCommand
from ...protocol.workflows import QualityReport
from ...services.action import ActionFailed, Option
from ...workflows.fixes.probe import NotebookProbe
from ..runtime import Runtime
from ..state import SessionState
from ..tool_calls.own_calls import OwnCalls

NO_PAGE = (
    "No page of JupyterLab is connected that could do this. Open JupyterLab, and run the action "
    "from the Agent panel."
)
PAGE_SECONDS = 20.0
TABLES = frozenset({"pandas.DataFrame", "polars.DataFrame", "pyarrow.Table"})
_NO_TABLES = {
    "no_kernel": "Run the cell that creates the table first.",
    "busy": "Try again when it has finished.",
    "not_known": "Write the table in a cell, in R for example by write.csv.",
    "failed": "Try again, or restart the kernel.",
}
NOTHING_RUNS = "Nothing can run while an action's parameters are being found."


class ReadingContext:
    """The ``ActionContext`` of a dry run."""

    def __init__(self, runtime: Runtime, notebook: str | None, client_id: str | None) -> None:
        self._runtime = runtime
        self._client_id = client_id
        self._probe = NotebookProbe(runtime.notebooks, "")
        self.notebook = notebook

    async def files(self) -> list[str]:
        """See ``ActionContext``."""
        return await self._probe.files()

    async def path(self, relative: str) -> Path:
        """See ``ActionContext``."""
        root = self._runtime.notebooks.root_dir
        if root is None:
            raise ActionFailed("The server's files are not on this machine.")
        try:
            return Path(root) / await self._runtime.notebooks.confine(relative)
        except DocumentError as error:
            raise _failed(error) from error

    async def content(self, relative: str, most: int) -> bytes:
        """See ``ActionContext``."""
        path = await self.path(relative)
        try:
            return await asyncio.to_thread(read, path, most, self._runtime.notebooks.root_dir)
        except NotRead as error:
            raise ActionFailed(f"{relative} {error.strerror}.") from error
        except OSError as error:
            raise ActionFailed(f"{relative} cannot be read: {error.strerror}.") from error

    async def text(self, relative: str) -> str:
        """See ``ActionContext``."""
        files = self._runtime.notebooks.text_files
        try:
            return (await files.read_document(relative, self._client_id)).content
        except DocumentError as error:
            raise _failed(error) from error

    async def columns(self, data: str, choices: Mapping[str, str] | None = None) -> list[str]:
        """See ``ActionContext``."""
        try:
            path, root = await self.path(data), self._runtime.notebooks.root_dir
            return await asyncio.to_thread(columns_of, path, choices, root)
        except ActionFailed:
            return []

    async def tables(self) -> list[Option]:
        """See ``ActionContext``."""
        if self.notebook is None:
            raise ActionFailed("No notebook is active. Open the one whose kernel has the table.")
        try:
            found = await self._runtime.notebooks.variables(self.notebook)
        except DocumentError as error:
            raise _failed(error) from error
        if found.status != "ok":
            raise ActionFailed(f"{found.reason or ''} {_NO_TABLES[found.status]}".strip())
        variables = [each.variable for each in found.variables]
        return [_table(each) for each in variables if each.type in TABLES]

    async def sources(self) -> list[tuple[str, str]]:
        """See ``ActionContext``."""
        if self.notebook is None:
            return []
        try:
            read = await self._runtime.notebooks.read(self.notebook, self._client_id)
            return [(cell.type, cell.source) for cell in read.cells]
        except DocumentError:
            return []

    async def kernels(self) -> list[Option]:
        """See ``ActionContext``."""
        specs = await self._runtime.notebooks.kernel_specs()
        return [Option(each["name"], each.get("displayName")) for each in specs]

    async def python(self) -> str:
        """See ``ActionContext``."""
        return await self._python(ask=False)

    async def _python(self, *, ask: bool) -> str:
        if self.notebook is None:
            raise ActionFailed("No notebook is active. Open the one whose kernel you mean.")
        try:
            return await self._runtime.notebooks.interpreter_of(self.notebook, ask=ask)
        except DocumentError as error:
            raise _failed(error) from error

    async def read(self, notebook: str) -> dict[str, Any]:
        """See ``ActionContext``."""
        try:
            read = await self._runtime.notebooks.read(notebook, self._client_id, whole=True)
            saved = await self._runtime.notebooks.files.load(read.path)
        except DocumentError as error:
            raise _failed(error) from error
        metadata = dict(saved.metadata)
        cells = [cell.cell for cell in read.cells]
        return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}

    async def edit(self, notebook: str, edits: Sequence[CellEdit]) -> None:
        """See ``ActionContext``."""
        raise ActionFailed(NOTHING_RUNS)

    async def page(self, command: PageCommand, arguments: Mapping[str, Any]) -> None:
        """See ``ActionContext``."""
        raise ActionFailed(NOTHING_RUNS)

    async def quality(self, notebook: str) -> QualityReport:
        """See ``ActionContext``."""
        try:
            return await self._runtime.quality_of(notebook, self._client_id)
        except DocumentError as error:
            raise _failed(error) from error

    async def add_dataset(
        self,
        file: Path,
        source: str,
        name: str | None = None,
        choices: Mapping[str, str] | None = None,
    ) -> str:
        """See ``ActionContext``."""
        raise ActionFailed(NOTHING_RUNS)

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """See ``ActionContext``."""
        raise ActionFailed(NOTHING_RUNS)

    async def compute(self, code: str) -> str:
        """See ``ActionContext``."""
        raise ActionFailed(NOTHING_RUNS)


class RunningContext(ReadingContext):
    """The ``ActionContext`` of a run, within its turn."""

    def __init__(
        self, session: SessionState, notebook: str | None, client_id: str | None, calls: OwnCalls
    ) -> None:
        super().__init__(session.runtime, notebook, client_id)
        self._session = session
        self._calls = calls

    async def python(self) -> str:
        """See ``ActionContext``."""
        return await self._python(ask=True)

    async def page(self, command: PageCommand, arguments: Mapping[str, Any]) -> None:
        """See ``ActionContext``."""
        page = self._runtime.notebooks.pages.get(self._client_id)
        if page is None or not page.connected:
            raise ActionFailed(NO_PAGE)
        params = ExecuteCommandParams(id=command, args=dict(arguments))
        try:
            await page.request("page.executeCommand", params, timeout=PAGE_SECONDS)
        except PageGone as error:
            raise ActionFailed(NO_PAGE) from error
        except DocumentError as error:
            raise _failed(error) from error

    async def edit(self, notebook: str, edits: Sequence[CellEdit]) -> None:
        """See ``ActionContext``."""
        try:
            await self._calls.edit(notebook, edits)
        except DocumentError as error:
            raise _failed(error) from error

    async def add_dataset(
        self,
        file: Path,
        source: str,
        name: str | None = None,
        choices: Mapping[str, str] | None = None,
    ) -> str:
        """See ``ActionContext``."""
        datasets = self._runtime.datasets
        try:
            with opened(file) as content:
                upload = datasets.begin(content.status.st_size)
                try:
                    while block := await asyncio.to_thread(content.read, BLOCK):
                        await upload.write(block)
                    made = await datasets.finish(
                        upload, source, name, self._session.id, choices=choices
                    )
                finally:
                    await upload.discard()
        except AgentError as error:
            raise ActionFailed(error.message) from error
        except OSError as error:
            raise ActionFailed(f"{source} cannot be read: {error.strerror or error}.") from error
        await self._session.emit(DatasetRegistered(dataset=made))
        return made.path

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """See ``ActionContext``."""
        done = await self._calls.call(tool, dict(arguments))
        result = done.done.result
        if result.error is not None:
            raise ActionFailed(f"{result.error.message} {result.error.hint or ''}".strip())
        return result.output

    async def compute(self, code: str) -> str:
        """See ``ActionContext``."""
        arguments: dict[str, Any] = {"code": code}
        if self.notebook is not None:
            arguments["path"] = self.notebook
        output = await self.call("executeCode", arguments)
        return str(output.get("outputs", "")) if isinstance(output, dict) else ""


def _table(variable: Variable) -> Option:
    size = " × ".join(f"{each:,}" for each in variable.shape or ())
    return Option(variable.name, f"{variable.name} ({variable.type}, {size})")


def _failed(error: DocumentError) -> ActionFailed:
    return ActionFailed(f"{error.message} {error.hint or ''}".strip())
