"""A notebook service over real managers, and a page that follows the protocol."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from jupyter_server.services.sessions.sessionmanager import SessionManager

from jupyter_datalayer_agent.notebook.document import DocumentError
from jupyter_datalayer_agent.notebook.edits.batch import apply_edits, page_cell
from jupyter_datalayer_agent.notebook.page import Page, PageHub
from jupyter_datalayer_agent.notebook.service import NotebookService
from jupyter_datalayer_agent.protocol.cells import CellPosition, CellRun, InsertCell, PageNotebook
from jupyter_datalayer_agent.protocol.page import (
    ActiveDocument,
    AllowParams,
    EditorState,
    EditParams,
    FileRenamed,
    FileWritten,
    OpenNotebook,
    PageFailure,
    PageProgress,
    PageRequest,
    PageResponse,
    ReadParams,
    RunParams,
    RunResult,
)
from jupyter_datalayer_agent.protocol.renames import Rename


class World:
    """A server root with a service over it."""

    def __init__(self, root: Path, service: NotebookService, pages: PageHub) -> None:
        self.root = root
        self.service = service
        self.pages = pages

    @property
    def kernels(self) -> Any:
        return self.service._kernels.manager

    @property
    def sessions(self) -> Any:
        return self.service._kernels.sessions

    def on_disk(self, path: str = "a.ipynb") -> dict[str, Any]:
        """The file as it is."""
        return json.loads((self.root / path).read_text())

    def cell_on_disk(self, cell_id: str, path: str = "a.ipynb") -> dict[str, Any]:
        return next(cell for cell in self.on_disk(path)["cells"] if cell.get("id") == cell_id)


@asynccontextmanager
async def world(
    tmp_path: Path,
    *,
    contents_class: Callable[..., Any] = AsyncLargeFileManager,
    return_seconds: float = 15.0,
    kernel_dirs: Sequence[Path] = (),
    **kernel_options: Any,
) -> AsyncIterator[World]:
    root = tmp_path / "root"
    root.mkdir(exist_ok=True)
    contents = contents_class(root_dir=str(root))
    specs = KernelSpecManager()
    specs.kernel_dirs = [str(each) for each in kernel_dirs]
    kernels = AsyncMappingKernelManager(
        root_dir=str(root),
        kernel_spec_manager=specs,
        connection_dir=str(tmp_path),
        **kernel_options,
    )
    sessions = SessionManager(kernel_manager=kernels, contents_manager=contents)
    pages = PagesOfFiles(root, return_seconds)
    service = NotebookService(
        contents_manager=contents,
        session_manager=sessions,
        kernel_manager=kernels,
        kernel_spec_manager=specs,
        pages=pages,
        root_dir=str(root),
    )
    service.renames.install(contents)
    try:
        yield World(root, service, pages)
    finally:
        await service.close()
        for kernel_id in kernels.list_kernel_ids():
            await _shut_down(kernels, kernel_id)
        # Whoever collects the garbage later would else be blamed for the open sockets.
        kernels.context.destroy(linger=100)
        sessions.close()
        contents.notary.store.close()


async def _shut_down(kernels: Any, kernel_id: str) -> None:
    """End a kernel, after a restart of Jupyter's that has begun: its kernel manager does not bear
    both at once (``InvalidStateError``)."""
    kernels.get_kernel(kernel_id).stop_restarter()
    looks = [
        task
        for task in asyncio.all_tasks()
        if getattr(task.get_coro(), "__qualname__", "") == "PeriodicCallback._run"
    ]
    if looks:
        await asyncio.wait(looks)
    await kernels.shutdown_kernel(kernel_id, now=True)


async def until(condition: Callable[[], Any]) -> None:
    """Wait for what nothing reports; a file that is just being written is not there yet."""
    while True:
        with contextlib.suppress(json.JSONDecodeError):
            if condition():
                return
        await asyncio.sleep(0.01)


def code(cell_id: str, source: str, **more: Any) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": cell_id,
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": None,
        **more,
    }


def markdown(cell_id: str, source: str, **more: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": cell_id, "metadata": {}, "source": source, **more}


def write_notebook(
    root: Path,
    cells: Sequence[dict[str, Any]],
    path: str = "a.ipynb",
    *,
    minor: int = 5,
    metadata: dict[str, Any] | None = None,
) -> Path:
    """Write a notebook; below nbformat 4.5 without ids."""
    if minor < 5:
        cells = [{k: v for k, v in cell.items() if k != "id"} for cell in cells]
    content = {
        "cells": list(cells),
        "metadata": metadata or {},
        "nbformat": 4,
        "nbformat_minor": minor,
    }
    root.mkdir(exist_ok=True)
    file = root / path
    file.parent.mkdir(exist_ok=True, parents=True)
    file.write_text(json.dumps(content))
    return file


def check_valid(file: Path) -> None:
    """The file is valid by nbformat's schema."""
    content = json.loads(file.read_text())
    nbformat.validate(nbformat.from_dict(content))


def insert(cell_id: str, source: str, kind: Any = "code", **position: Any) -> InsertCell:
    return InsertCell(
        cell_id=cell_id,
        type=kind,
        source=source,
        position=CellPosition(**(position or {"at": "end"})),
    )


def text_of(run: CellRun) -> str:
    """What a run printed and showed as plain text."""
    pieces = []
    for output in run.outputs:
        if output["output_type"] == "stream":
            pieces.append(output["text"])
        elif "data" in output:
            pieces.append(output["data"].get("text/plain", ""))
    return "".join(pieces)


BASH_SPEC = {
    "argv": [sys.executable, "-m", "bash_kernel", "-f", "{connection_file}"],
    "display_name": "Bash",
    "language": "bash",
}


def install_spec(folder: Path, name: str, spec: dict[str, Any]) -> Path:
    """A kernelspec in a folder of kernelspecs; that folder."""
    (folder / name).mkdir(parents=True)
    (folder / name / "kernel.json").write_text(json.dumps(spec))
    return folder


class PagesOfFiles(PageHub):
    """Pages that show notebooks under ``root``: where one shows a notebook, there is a file."""

    def __init__(self, root: Path, return_seconds: float) -> None:
        super().__init__(return_seconds=return_seconds)
        self.root = root


class ScriptedPage:
    """A page with notebooks open in it, over the real protocol models.

    ``runner`` does what the page's kernel would do with ``notebook.run``.
    """

    def __init__(self, hub: PageHub, client_id: str = "page-1") -> None:
        self.hub = hub
        self.client_id = client_id
        self.notebooks: dict[str, list[dict[str, Any]]] = {}
        self.files: list[str] = []
        self.requests: list[PageRequest] = []
        self.written: list[str] = []
        self.known_until = 0
        self.asked = asyncio.Event()
        self.silent: set[str] = set()
        self.lie = False
        self.ids_kept = True
        self.kernel_status = "idle"
        self.runner: Callable[[PageRequest, RunParams], Any] | None = None
        # Of each held run, what may run.
        self.allowed: dict[str, asyncio.Future[dict[str, str]]] = {}
        self.held = asyncio.Event()
        self.page: Page | None = None
        self._tasks: list[asyncio.Task[None]] = []

    def connect(
        self, pending: list[str] | None = None, missed: Sequence[Rename] = ()
    ) -> ScriptedPage:
        self.page = self.hub.connect(self.client_id, self._receive, pending, missed)
        self.report()
        return self

    def disconnect(self) -> None:
        assert self.page is not None
        self.hub.disconnect(self.page)

    def open(self, path: str, cells: Sequence[dict[str, Any]]) -> ScriptedPage:
        self.notebooks[path] = [dict(cell) for cell in cells]
        if isinstance(self.hub, PagesOfFiles) and not (self.hub.root / path).exists():
            write_notebook(self.hub.root, cells, path)
        self.report()
        return self

    def close_notebook(self, path: str, *, notify: bool = True) -> None:
        del self.notebooks[path]
        if notify:
            self.report()

    def report(self) -> None:
        if self.page is None:
            return
        paths = list(self.notebooks)
        active = ActiveDocument(path=paths[0], kind="notebook") if paths else None
        state = EditorState(
            active_document=active,
            notebooks=[
                OpenNotebook(path=path, cell_count=len(cells), kernel_status=self.kernel_status)
                for path, cells in self.notebooks.items()
            ],
            files=self.files,
            renames_known_until=self.known_until,
        )
        self.hub.on_state(self.page, state)

    def methods(self) -> list[str]:
        return [each.method for each in self.requests]

    async def _receive(self, message: Any) -> None:
        if isinstance(message, FileWritten):
            self.written.append(message.path)
            return
        if isinstance(message, FileRenamed):
            rename = Rename(message.old_path, message.path)
            rename.rekey(self.notebooks)
            self.files = rename.paths(self.files)
            self.known_until = message.renames_known_until
            return
        assert isinstance(message, PageRequest)
        # Over the wire and back, as in a browser.
        request = PageRequest.model_validate_json(json.dumps(message.to_wire()))
        self.requests.append(request)
        self.asked.set()
        if request.method not in self.silent:
            self._tasks.append(asyncio.create_task(self._work(request)))

    async def _work(self, request: PageRequest) -> None:
        try:
            result = await self._act(request)
        except DocumentError as error:
            failure = PageFailure(
                code="stale" if error.code == "stale" else "not_found",
                message=error.message,
                cells=error.cells or None,
            )
            self.answer(request, ok=False, error=failure)
            return
        self.answer(request, ok=True, result=result)

    def answer(self, request: PageRequest, **fields: Any) -> None:
        assert self.page is not None
        response = PageResponse(request_id=request.request_id, **fields)
        wire = json.loads(json.dumps(response.to_wire()))
        self.hub.on_response(self.page, PageResponse.model_validate(wire))

    def progress(self, request: PageRequest, cell_id: str, state: Any) -> None:
        assert self.page is not None
        news = PageProgress(request_id=request.request_id, cell_id=cell_id, state=state)
        self.hub.on_progress(self.page, news)

    async def _act(self, request: PageRequest) -> Any:
        path = request.params["path"]
        if path not in self.notebooks and request.method.startswith("notebook"):
            self.answer(
                request,
                ok=False,
                error=PageFailure(code="not_open", message=f"{path} is not open"),
            )
            raise asyncio.CancelledError
        if request.method == "notebook.read":
            return self._read(ReadParams.model_validate(request.params))
        if request.method == "notebook.edit":
            return self._edit(EditParams.model_validate(request.params))
        if request.method == "notebook.allow":
            allow = AllowParams.model_validate(request.params)
            self.allowed[allow.request_id].set_result(allow.hashes)
        if request.method == "notebook.interrupt" and (
            held := self.allowed.get(str(request.params["requestId"]))
        ):
            held.cancel()
        if request.method == "notebook.run":
            assert self.runner is not None
            params = RunParams.model_validate(request.params)
            if params.held:
                allowed = asyncio.get_running_loop().create_future()
                self.allowed[request.request_id] = allowed
                self.held.set()
                await asyncio.wait([allowed])
                if allowed.cancelled():
                    return RunResult(runs=[]).to_wire()
            runs = await self.runner(request, params)
            done = runs if isinstance(runs, RunResult) else RunResult(runs=runs)
            return done.to_wire()
        return None

    def _read(self, params: ReadParams) -> dict[str, Any]:
        notebook = self.notebooks[params.path]
        cells = [
            page_cell(cell, index, outputs=params.outputs, whole=params.whole)
            for index, cell in enumerate(notebook)
            if params.cell_ids is None or cell["id"] in params.cell_ids
        ]
        order = [cell["id"] for cell in notebook] if params.whole else None
        kept = self.ids_kept
        return PageNotebook(path=params.path, cells=cells, order=order, ids_kept=kept).to_wire()

    def _edit(self, params: EditParams) -> dict[str, Any]:
        edited = apply_edits(self.notebooks[params.path], params.edits, params.path)
        if not self.lie:
            self.notebooks[params.path] = edited.cells
        return self._read(ReadParams(path=params.path, cell_ids=edited.touched))
