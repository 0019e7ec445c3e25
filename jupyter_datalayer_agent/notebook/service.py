"""Notebooks and kernels, as tools and workflows use them: ``NotebookService``."""

from __future__ import annotations

import contextlib
import copy
import mimetypes
import os
import posixpath
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from ..opening import check_place
from ..protocol.cells import CellRun, PageCell, PageNotebook
from ..protocol.context import FileContext, NotebookContext
from ..protocol.page import (
    DeleteDocumentParams,
    DocumentReadParams,
    DocumentText,
    KernelParams,
    OpenParams,
)
from ..protocol.renames import Rename
from .context.notebook_context import FILE_CHARACTERS, build_context
from .dataflow.staleness import Staleness
from .document import DocumentError, gone
from .document_backends.browser import ANSWER_SECONDS, BrowserDocument, output_writer
from .document_backends.contents import NotebookFiles
from .document_backends.file import FileDocument
from .document_backends.headless_run import OutputSaver, WriteOutputs
from .document_backends.live import Backend, LiveDocument
from .edits.checkpoints import Recorder
from .files.kinds import is_lexical
from .files.text_files import TextFiles
from .kernel.acts import only_looking
from .kernel.connection import KernelConnection
from .kernel.execution import Execution
from .kernel.execution_log import ExecutionLog
from .kernel.kernels import KernelInfo, Kernels
from .kernel.libraries import Libraries
from .kernel.limits import Limits
from .kernel.scratch import ScratchKernels
from .kernel.variables import Found, variables_of
from .locks import PathLocks
from .page import NotOpen, Page, PageGone, PageHub
from .page_kernels import PageKernels
from .paths import resolve_path
from .renames import Renames, TrackedPath
from .rooms import Rooms
from .twins import Twins, twin_is_open

if TYPE_CHECKING:
    from .lexical.block_ids import BlockIds
    from .lexical.documents import LexicalDocuments


# New documents through the ContentsManager; nothing that exists is overwritten.


class Creation:
    """Creates files under unused names."""

    def __init__(self, contents_manager: Any, check_place: Callable[[str], None]) -> None:
        self.manager = contents_manager
        self._check_place = check_place

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
        self._check_place(path)
        try:
            saved = await ensure_async(self.manager.save(model, path))
        except HTTPError as error:
            raise DocumentError(
                "internal", f"{path} could not be made: {error.log_message or error}"
            ) from error
        return str(saved.get("path", path)).strip("/")


# A page that is loaded anew opens its notebooks by then. What is written to a file that it is
# just reading would be a conflict for it.
RELOAD_SECONDS = 5.0
ASK_SECONDS = 10.0


class NotebookService:
    """The one way to notebooks, wherever they are open, and to kernels.

    ``root_dir`` is None where the contents manager does not keep files on this machine.
    """

    def __init__(
        self,
        *,
        contents_manager: Any,
        session_manager: Any,
        kernel_manager: Any,
        kernel_spec_manager: Any,
        pages: PageHub,
        root_dir: str | None,
        renames: Renames | None = None,
        kernel_timeout_seconds: float = 900.0,
        scratch_limits: Callable[[], Limits] = Limits,
        scratch_network: Callable[[], bool] = lambda: False,
        rooms: Rooms | None = None,
    ) -> None:
        self.renames = renames or Renames()
        self.contents_manager = contents_manager
        self.pages = pages
        on_disk = hasattr(contents_manager, "_get_os_path")
        self.root_dir = root_dir if on_disk else None
        self.kernel_timeout_seconds = kernel_timeout_seconds
        self._kernels = Kernels(session_manager, kernel_manager, kernel_spec_manager)
        self._page_kernels = PageKernels(pages, self._kernels)
        self.executions = ExecutionLog(self._kernels.processes)
        self.staleness = Staleness(self.executions.life)
        self._rooms = rooms or Rooms()
        self.twins = Twins(
            contents_manager, lambda: [each.path for page in pages for each in page.state.notebooks]
        )
        self.files = NotebookFiles(
            contents_manager,
            self.renames,
            self.twins,
            self._wrote,
            self._check_writable,
            self.root_dir,
        )
        self.scratch = ScratchKernels(self._kernels, scratch_limits, scratch_network)
        self._kernels.is_scratch = lambda kernel_id: self.scratch.key_of(kernel_id) is not None
        self.libraries = Libraries(self._kernels)
        self._creation = Creation(contents_manager, self._check_place)
        self._locks = PathLocks()
        self._recorder: Recorder | None = None
        self._block_ids: list[BlockIds] = []
        self.text_files = TextFiles(
            contents_manager,
            pages,
            self.renames,
            confine=self.confine,
            lock=self.lock,
            root_dir=self.root_dir,
            wrote=self._wrote,
            check_writable=self._check_writable,
        )
        self._followers = (
            self.executions, self.staleness, self.files, self._locks, self.pages
        )  # fmt: skip
        for each in self._followers:
            self.renames.follow(each)

    async def close(self) -> None:
        """Close connections to kernels and pages; kernels keep running."""
        await self.libraries.close()
        await self._kernels.close()
        await self.pages.close()

    # Documents

    async def open(self, path: str, client_id: str | None = None) -> LiveDocument:
        """The notebook, in the page ``client_id`` if that has it open, else in another page that
        has, else as the file.

        Raises ``DocumentError``: ``not_found``, ``not_allowed``, or ``invalid_arguments`` with
        what is wrong for a file that is not a valid notebook.
        """
        document = self.renames.track(resolve_path(path, self.root_dir))
        # It may be renamed meanwhile.
        await self.confine(document.path)
        if self.pages.page_with(document.path, client_id) is None:
            await self.files.check(document.path)
        return self._live(document, client_id)

    async def read(
        self,
        path: str,
        client_id: str | None = None,
        *,
        outputs: bool = False,
        brief: bool = False,
        whole: bool = False,
    ) -> PageNotebook:
        """The notebook at a path as it is now, see ``NotebookDocument``: for those who only read it
        once, which checks it as ``open`` does. Raises ``DocumentError``."""
        document = self.renames.track(await self.confine(path))
        live = self._live(document, client_id)
        return await live.read(outputs=outputs, brief=brief, whole=whole)

    def _live(self, document: TrackedPath, client_id: str | None) -> LiveDocument:
        divert = self._diversion(document, client_id)
        return LiveDocument(
            document,
            lambda: self._choose(document, client_id),
            lambda: self._check_file(document),
            lambda: self.lock(document.path),
            lambda: OutputSaver(document, self.files, divert, {}, first=RELOAD_SECONDS),
            self._kernels,
            self._page_kernels,
            self.executions,
            lambda cells: self.files.formatted(document.path, cells),
            self.files.addresses,
            self._recorder,
        )

    def recording(self, recorder: Recorder) -> NotebookService:
        """The same service, with everything that is changed through it recorded before."""
        service = copy.copy(self)
        service._recorder = recorder
        self.renames.follow(recorder)
        service.text_files = self.text_files.recording(recorder.texts)
        return service

    async def _check_file(self, document: TrackedPath) -> None:
        """Refuse a document whose file was deleted, or renamed by other means than the server, and
        one that a page shows without its text."""
        async with self.renames.using(document) as path:
            if not await self.exists(path):
                raise gone(path)
        if self.pages.page_with(document.path) is not None:
            await self.files.check_text(document.path)

    async def _check_writable(self, path: str) -> None:
        """Raise ``DocumentError`` where writing a file now, or those that are written with it,
        would be behind a room or a page that shows one of them."""
        await self.twins.learn(path)
        self._check_place(path)
        self._rooms.check(path)
        for twin in self.twins.of(path):
            self._check_place(twin)
            self._rooms.check(twin)
            if self.pages.page_with(twin) is not None:
                raise twin_is_open(path, twin)

    def _check_place(self, path: str) -> None:
        """Raise ``DocumentError`` where what is written to the path, or to the checkpoint that
        Jupyter makes of a notebook, would end up elsewhere: in what a link leads to, or a pipe."""
        if self.root_dir is None:
            return
        for each in filter(None, [path, self._checkpoint(path)]):
            try:
                check_place(os.path.join(self.root_dir, each), self.root_dir)
            except OSError as error:
                raise DocumentError(
                    "not_allowed",
                    f"{path} is not written: {each} {error.strerror or error}.",
                    "Choose another name or folder, or ask the user to remove it.",
                ) from error

    def _checkpoint(self, path: str) -> str | None:
        """Where Jupyter keeps the checkpoint of a notebook beside it; None where that is
        elsewhere, as it was configured."""
        checkpoints = getattr(self.contents_manager, "checkpoints", None)
        folder = getattr(checkpoints, "checkpoint_dir", None)
        stem, ending = posixpath.splitext(path)
        if ending != ".ipynb" or not folder or os.path.isabs(folder):
            return None
        above, name = posixpath.split(stem)
        return posixpath.join(above, folder, f"{name}-checkpoint{ending}")

    def _wrote(self, path: str) -> None:
        for each in [path, *self.twins.of(path)]:
            self.pages.written(each)

    def _choose(self, document: TrackedPath, client_id: str | None) -> Backend:
        page = self.pages.page_with(document.path, client_id)
        if page is not None:
            return BrowserDocument(document, page)
        # A shared document that the server itself holds has its place here, before the file.
        return FileDocument(
            document,
            self.files,
            self._kernels,
            self.executions,
            divert=self._diversion(document, client_id),
        )

    def _diversion(
        self, document: TrackedPath, client_id: str | None
    ) -> Callable[[], WriteOutputs | None]:
        def divert() -> WriteOutputs | None:
            page = self.pages.page_with(document.path, client_id)
            return None if page is None else output_writer(BrowserDocument(document, page))

        return divert

    @property
    def lexical(self) -> LexicalDocuments:
        """Lexical documents; what is changed through them is recorded as everything else."""
        from .lexical.block_ids import BlockIds
        from .lexical.documents import LexicalDocuments

        # Those of all copies of this service.
        if not self._block_ids:
            self._block_ids.append(BlockIds())
            self.renames.follow(self._block_ids[0])
        ids = self._block_ids[0]
        return LexicalDocuments(self.text_files, self._kernels, ids, self.executions)

    async def exists(self, path: str) -> bool:
        """Whether there is a file at the path (as ``confine`` gives it)."""
        try:
            return bool(await ensure_async(self.contents_manager.file_exists(path)))
        except HTTPError:
            return False

    def is_notebook(self, path: str) -> bool:
        """Whether a path that nobody names as a notebook's or a file's is one: by its ending, or
        because a page shows it as a notebook, as it does scripts with jupytext."""
        return path.endswith(".ipynb") or self.pages.page_with(path) is not None

    async def serves_as_notebook(self, path: str) -> bool:
        """Whether the server opens a path as a notebook where it may be both."""
        try:
            model = await ensure_async(self.contents_manager.get(path, content=False))
        except (HTTPError, OSError):
            return False
        return bool(model["type"] == "notebook")

    async def confine(self, path: str) -> str:
        """The path relative to the root; ``DocumentError`` for what is outside it or hidden, and
        for a link to what holds secrets, whose name does not say so."""
        relative = resolve_path(path, self.root_dir)
        manager = self.contents_manager
        try:
            hidden = await ensure_async(manager.is_hidden(relative))
        except (HTTPError, OSError) as error:  # OSError: a link to itself
            why = getattr(error, "log_message", None) or getattr(error, "strerror", None)
            raise DocumentError("not_found", f"{path}: {why or error}") from error
        if hidden and not getattr(manager, "allow_hidden", False):
            raise DocumentError("not_allowed", f"{path} is hidden; the server does not show it.")
        if self.text_files.leads_to_secret(relative):
            raise DocumentError(
                "not_allowed",
                f"{path} is a link to a file that holds secrets: it is not opened by this name.",
                "Continue without it, and do not read it in another way.",
            )
        return relative

    async def located(self, path: str) -> str:
        """What models, pages and programs mean by a path: its newer one, if the document was
        renamed and nothing else has its old name since."""
        if await self.text_files.exists(path):
            return path
        for newer in await self.renames.newer_paths(path):
            if await self.text_files.exists(newer):
                return newer
        return path

    async def follow_kernels(self, rename: Rename) -> None:
        """Let the kernels of what was renamed belong to the new paths."""
        await self._kernels.renamed(rename)

    def lock(self, path: str, timeout: float | None = None) -> AbstractAsyncContextManager[None]:
        """Held around edits and runs; whoever holds it may take it again.

        Raises ``LockedTooLong`` when it is not had in ``timeout`` seconds.
        """
        return self._locks.hold(path, timeout)

    async def create(self, path: str, kernel_name: str | None = None) -> str:
        """A new, empty notebook (nbformat 4.5); its path, another one where the name is taken."""
        path = await self.confine(path if path.endswith(".ipynb") else f"{path}.ipynb")
        specs = await self._kernels.specs()
        kernelspec = await self._kernels.describe(kernel_name) if kernel_name or specs else None
        path = await self._creation.notebook(path, kernelspec)
        if self._recorder is not None:
            await self._recorder.made(path)
        return path

    async def create_file(self, path: str, text: str) -> str:
        """A new text file; its path, another one where the name is taken."""
        path = await self._creation.file(await self.confine(path), text)
        if self._recorder is not None:
            await self._recorder.made(path, text)
        return path

    async def delete(self, path: str) -> None:
        """Delete a document as Jupyter does, to the trash where that is configured.

        A page that has it open does it, and closes it. Raises ``DocumentError``.
        """
        page = self.pages.page_with(path) or self.pages.page_with_file(path)
        if page is not None:
            params = DeleteDocumentParams(path=path)
            with contextlib.suppress(NotOpen, PageGone):
                await page.request("document.delete", params, timeout=ANSWER_SECONDS)
        try:
            if await self.exists(path):
                self._rooms.check(path)
                await ensure_async(self.contents_manager.delete(path))
        except (HTTPError, OSError) as error:
            why = getattr(error, "log_message", None) or error
            raise DocumentError("internal", f"{path} could not be deleted: {why}") from error

    async def show(self, path: str, client_id: str | None) -> bool:
        """Open the document in the page, without taking the focus; whether a page did it."""
        page = self.pages.get(client_id)
        if page is None:
            return False
        try:
            await page.request("document.open", OpenParams(path=path), timeout=ANSWER_SECONDS)
        except (DocumentError, PageGone):
            return False
        return True

    # Context

    async def context(self, path: str, client_id: str | None = None) -> NotebookContext:
        """What a turn gets to know of the notebook."""
        return (await self.cells_and_context(path, client_id))[1]

    async def cells_and_context(
        self, path: str, client_id: str | None = None
    ) -> tuple[list[PageCell], NotebookContext]:
        """The notebook's cells, and what a turn gets to know of them."""
        notebook = await self.read(path, client_id, brief=True)
        return notebook.cells, build_context(notebook, self.executions)

    async def file_context(self, path: str, client_id: str | None = None) -> FileContext:
        """What a turn gets to know of an active text file, with unsaved changes."""
        path = await self.confine(path)
        text = await self._text_in_page(path, client_id)
        if text is None:
            text = DocumentText(path=path, content=await self._text_of_file(path))
        language = text.language or mimetypes.guess_type(path)[0]
        content = text.content or ""
        return FileContext(
            path=path,
            language=language,
            content=content[:FILE_CHARACTERS],
            truncated=len(content) > FILE_CHARACTERS,
        )

    async def _text_in_page(self, path: str, client_id: str | None) -> DocumentText | None:
        page = self.pages.get(client_id)
        active = page.state.active_document if page is not None else None
        if page is None or active is None or active.path != path:
            return None
        try:
            result = await page.request(
                "document.read", DocumentReadParams(path=path), timeout=ANSWER_SECONDS
            )
        except (DocumentError, PageGone):
            return None
        return DocumentText.model_validate(result)

    async def _text_of_file(self, path: str) -> str:
        try:
            return (await self.text_files.contents.read(path)).decode("utf-8")
        except UnicodeDecodeError as error:
            raise DocumentError("invalid_arguments", f"{path} cannot be read as text.") from error

    # Kernels

    async def kernels(self) -> list[KernelInfo]:
        """Running kernels: ``{id, name, language, status, path?}``."""
        return await self._kernels.running()

    async def kernel_specs(self) -> list[KernelInfo]:
        """Kernels that can be started: ``{name, displayName, language}``."""
        return [
            {"name": name, "displayName": spec["display_name"], "language": spec["language"]}
            for name, spec in (await self._kernels.specs()).items()
        ]

    async def kernel_of(self, path: str) -> KernelInfo | None:
        """The notebook's running kernel, as ``kernels`` lists it."""
        return await self._kernels.of(await self.confine(path))

    def may_be_watched(self, kernel_id: str | None) -> bool:
        """Whether code in this Python kernel asks about what it does while it runs, as far as is
        known before; None is one that is yet to be started."""
        return self._kernels.may_be_watched(kernel_id)

    async def interpreter_of(self, path: str, *, ask: bool) -> str:
        """The Python interpreter of the notebook's kernel, an absolute path. With ``ask`` a kernel
        that runs and is idle is asked, in case that it is another one than its kernelspec says.

        Raises ``DocumentError`` where the kernel is not Python's.
        """
        path = await self.confine(path)
        kernel = await self._kernels.of(path)
        if ask and kernel is not None and kernel.get("status") == "idle":
            code = "import sys; print(sys.executable)"
            with only_looking():
                run = await self.execute_code(
                    code, kernel_id=str(kernel["id"]), timeout=ASK_SECONDS
                )
            printed = "".join(str(each.get("text", "")) for each in run.outputs).strip()
            if run.status == "ok" and os.path.isabs(printed):
                return printed
        metadata = (await self.files.load(path)).metadata
        if kernel is not None:
            metadata = {**metadata, "kernelspec": {"name": kernel["name"]}}
        return await self._kernels.interpreter(metadata)

    async def variables(self, path: str, names: list[str] | None = None) -> Found:
        """The variables of the notebook's kernel; with ``names`` those, with their contents."""
        return await variables_of(self._kernels, await self.confine(path), names)

    async def path_of_kernel(self, kernel_id: str) -> str | None:
        """The notebook that a running kernel belongs to, if it belongs to one."""
        kernels = await self._kernels.running()
        return next((each.get("path") for each in kernels if each["id"] == kernel_id), None)

    async def select_kernel(
        self,
        path: str,
        kernel_id: str | None = None,
        kernel_name: str | None = None,
        client_id: str | None = None,
    ) -> KernelInfo:
        """Connect the notebook to a running kernel or start one; the kernel as it is then."""
        if (kernel_id is None) == (kernel_name is None):
            raise DocumentError("invalid_arguments", "Give a kernel's id or a name, not both.")
        path = await self.confine(path)
        async with self.lock(path):
            kernel = await self._select(path, kernel_id, kernel_name, client_id)
            await self._page_kernels.join(path, str(kernel["id"]))
            return kernel

    async def _select(
        self, path: str, kernel_id: str | None, kernel_name: str | None, client_id: str | None
    ) -> KernelInfo:
        page = self.pages.page_with(path, client_id)
        shown = page.notebook(path) if page is not None else None
        current = await self._kernels.of(path)
        # A page that is not on the notebook's session would begin another one.
        is_there = shown is not None and current is not None and shown.kernel_id == current["id"]
        if page is not None and is_there:
            try:
                return await self._select_in_page(page, path, kernel_id, kernel_name)
            except (NotOpen, PageGone):
                pass  # no page has it any more: as for a file
        if not is_lexical(path):
            await self.files.check(path)
        return await self._kernels.select(path, kernel_id, kernel_name)

    async def _select_in_page(
        self, page: Page, path: str, kernel_id: str | None, kernel_name: str | None
    ) -> KernelInfo:
        await self._kernels.check(kernel_id, kernel_name)
        params = KernelParams(path=path, kernel_id=kernel_id, kernel_name=kernel_name)
        await page.request("notebook.selectKernel", params, timeout=ANSWER_SECONDS * 3)
        kernel = await self._kernels.of(path)
        wanted = (kernel_id, kernel_name)
        if kernel is None or wanted not in ((kernel["id"], None), (None, kernel["name"])):
            raise DocumentError(
                "kernel_error", "The page reported success, but the notebook has another kernel."
            )
        return kernel

    async def execute_code(
        self,
        code: str,
        *,
        path: str | None = None,
        kernel_id: str | None = None,
        timeout: float | None = None,
    ) -> CellRun:
        """Run code that leaves no cell and no history behind; ``cell_id`` of the result is empty.

        In the kernel ``kernel_id``, or the one of the notebook ``path``, started if need be.
        """
        if kernel_id is None:
            if path is None:
                raise DocumentError("invalid_arguments", "Give a notebook's path or a kernel's id.")
            kernel_id = await self._kernel_to_use(await self.confine(path))
        elif (key := self.scratch.key_of(kernel_id)) is not None:
            return (await self.scratch.run(key, code, timeout)).run

        async def run(connection: KernelConnection) -> CellRun:
            execution = Execution(connection, code, store_history=False)
            try:
                return await execution.run(timeout or self.kernel_timeout_seconds)
            finally:
                execution.forget()

        return await self._kernels.use(kernel_id, run)

    async def _kernel_to_use(self, path: str) -> str:
        kernel = await self._kernels.of(path)
        if kernel is None:
            async with self.lock(path):
                metadata = {} if is_lexical(path) else (await self.files.load(path)).metadata
                return await self._page_kernels.kernel_for(path, metadata)
        await self._page_kernels.join(path, str(kernel["id"]))
        return str(kernel["id"])
