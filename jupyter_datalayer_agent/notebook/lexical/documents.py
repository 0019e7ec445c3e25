"""Lexical documents: read, edited in batches, run; through the same files, locks, pages and
checkpoints as text files."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from ...protocol.cells import CellRun
from ..document import DocumentError
from ..files.text_files import FileText, TextFiles
from ..kernel.connection import KernelConnection
from ..kernel.execution import Execution
from ..kernel.execution_log import ExecutionLog
from ..kernel.kernels import KernelInfo, Kernels
from ..large_text import in_thread_if_large
from .block_ids import BlockId, BlockIds
from .blocks import BlockEdit, Blocks, DocumentBlock, Edited, SetOutput, apply_edits
from .editor_state import read_state

RunProgress = Callable[[DocumentBlock], Awaitable[None]]
_TRIES = 5


@dataclass(frozen=True)
class OpenDocument:
    """A document as it was read."""

    file: FileText
    blocks: Blocks
    kernel: KernelInfo | None = None

    @property
    def path(self) -> str:
        """Its path under the server root."""
        return self.file.path

    @property
    def language(self) -> str:
        """The language of its kernel, else of its first code block."""
        if self.kernel is not None and self.kernel.get("language"):
            return str(self.kernel["language"]).lower()
        for each in self.blocks.all:
            named = each.node.get("language")
            if each.runs and isinstance(named, str) and named:
                return named.lower()
        return "python"


@dataclass(frozen=True)
class AppliedBlocks:
    """What a batch did: the documents before and after it, as they were read."""

    before: OpenDocument
    after: OpenDocument

    @property
    def added(self) -> list[DocumentBlock]:
        """The blocks that were not there before."""
        known = set(self.before.blocks.ids)
        return [each for each in self.after.blocks.all if each.id not in known]


class LexicalDocuments:
    """The documents under the server's root. Changes hold the document's lock."""

    def __init__(
        self, files: TextFiles, kernels: Kernels, ids: BlockIds, executions: ExecutionLog
    ) -> None:
        self._files = files
        self._kernels = kernels
        self._ids = ids
        self._executions = executions

    async def read(self, path: str, client_id: str | None = None) -> OpenDocument:
        """The document, with what is not saved yet where a page shows it. Raises
        ``DocumentError``."""
        file = await self._files.read_document(path, client_id)
        blocks = await self._blocks(file)
        return OpenDocument(file, blocks, await self._kernels.of(file.path))

    def known_ids(self, path: str) -> list[BlockId]:
        """The ids of the document's blocks as it was last read: of another server by ``ids_now``
        in ``block_ids``."""
        return self._ids.known(path)

    async def _blocks(self, file: FileText, written: Edited | None = None) -> Blocks:
        """The blocks of a file; of one that was just ``written``, with these ids."""
        recent = self._ids.recent.get(file.path)
        if written is None and recent is not None and recent.state.text == file.content:
            return recent
        # A large file takes a while to parse.
        state = await in_thread_if_large(len(file.content), read_state, file.path, file.content)
        if written is not None and written.text == file.content:
            ids = self._ids.wrote(file.path, state.blocks, written.ids)
        else:
            ids = self._ids.of(file.path, state.blocks)
        blocks = Blocks(file.path, state, ids)
        self._ids.recent.keep(file.path, blocks, len(file.content))
        return blocks

    async def edit(
        self,
        path: str,
        edits: Sequence[BlockEdit] | Callable[[OpenDocument], Sequence[BlockEdit]],
        client_id: str | None = None,
    ) -> AppliedBlocks:
        """Apply a batch whole or not at all, save, and read the document back. The batch may
        depend on the document as it is under the lock. Raises ``DocumentError``."""
        async with self._files.lock(path):
            before = await self.read(path, client_id)
            batch = edits(before) if callable(edits) else edits
            edited = apply_edits(before.blocks, batch)
            if edited.text == before.file.content:
                return AppliedBlocks(before, before)
            written = await self._files.write(
                before.file, before.file.state.with_content(edited.text)
            )
            blocks = await self._blocks(written, edited)
            return AppliedBlocks(before, OpenDocument(written, blocks, before.kernel))

    async def run(
        self,
        path: str,
        block_ids: Sequence[str],
        *,
        timeout: float,
        client_id: str | None = None,
        stop_on_error: bool = True,
        on_progress: RunProgress | None = None,
        on_output: Callable[[AppliedBlocks], Awaitable[None]] | None = None,
    ) -> list[CellRun]:
        """Run code blocks in this order in the document's kernel, each with its real status; what
        each puts out is written below it as soon as it has ended.

        The document's lock is held only while it is written: users save blocks meanwhile, and each
        block runs as it is when its turn comes. Raises ``DocumentError`` where the run cannot
        begin.
        """
        document = await self.read(path, client_id)
        blocks = {each.id: each for each in document.blocks.all}
        missing = [each for each in block_ids if each not in blocks]
        if missing:
            raise DocumentError("not_found", f"No block with id {', '.join(missing)}.")
        plan = [blocks[each] for each in block_ids]
        if not any(_reason_to_skip(each) is None for each in plan):
            return [_skipped(each, _reason_to_skip(each)) for each in plan]
        async with self._files.lock(path):
            metadata = {"language_info": {"name": document.language}}
            kernel_id = await self._kernels.kernel_for(path, metadata)
            self._executions.enter(path, kernel_id)

        async def run_all(connection: KernelConnection) -> list[CellRun]:
            runs: list[CellRun] = []
            stopped: str | None = None
            for planned in plan:
                block = await self._now(path, planned, client_id)
                reason = stopped or ("The block was deleted." if block is None else None)
                reason = reason or _reason_to_skip(block or planned)
                if reason is not None or block is None:
                    runs.append(_skipped(block or planned, reason))
                    continue
                if on_progress is not None:
                    await on_progress(block)
                run, noted = await self._run_one(path, connection, block, timeout, client_id)
                run.cell_id, run.index = block.id, block.index
                if isinstance(noted, str):
                    run.note = " ".join(filter(None, [run.note, noted])) or None
                elif on_output is not None:
                    await on_output(noted)
                runs.append(run)
                stopped = _reason_to_stop(run, stop_on_error)
            return runs

        return await self._kernels.use(kernel_id, run_all)

    async def _now(
        self, path: str, block: DocumentBlock, client_id: str | None
    ) -> DocumentBlock | None:
        document = await self.read(path, client_id)
        return next((each for each in document.blocks.all if each.id == block.id), None)

    async def _run_one(
        self,
        path: str,
        connection: KernelConnection,
        block: DocumentBlock,
        timeout: float,
        client_id: str | None,
    ) -> tuple[CellRun, AppliedBlocks | str]:
        """Run a block, and write what it put out, also where the run was stopped. Of a kernel that
        died without a word nothing is written: what stood there stays."""
        started = asyncio.Event()
        execution = Execution(connection, block.content, store_history=True, on_started=started.set)
        noted: AppliedBlocks | str = ""
        run: CellRun | None = None
        try:
            run = await execution.run(timeout)
        finally:
            execution.forget()
            outputs = execution.outputs.snapshot()
            if started.is_set():
                self._executions.finished(
                    path,
                    block.id,
                    success=run is not None and run.status == "ok",
                    order=execution.outputs.execution_count,
                    duration=execution.duration_ms,
                    error=run.error.ename if run is not None and run.error is not None else None,
                )
            if started.is_set() and (outputs or run is None or not run.kernel_died):
                noted = await self._write(path, block, outputs, client_id)
        return run, noted

    async def _write(
        self,
        path: str,
        block: DocumentBlock,
        outputs: Sequence[dict[str, object]],
        client_id: str | None,
    ) -> AppliedBlocks | str:
        """Write the outputs of a block; or why that was not possible."""
        edit = SetOutput(block.id, block.content, outputs)
        problem = ""
        for _ in range(_TRIES):
            try:
                return await self.edit(path, [edit], client_id)
            except DocumentError as error:
                problem = error.message
                if error.code != "stale":  # somebody typed in between
                    break
        return f"Its outputs could not be saved: {problem}"


def _reason_to_skip(block: DocumentBlock) -> str | None:
    if not block.runs:
        return f"A {block.kind} block has nothing to run."
    if not block.content.strip():
        return "The block is empty."
    return None


def _skipped(block: DocumentBlock, reason: str | None) -> CellRun:
    return CellRun(cell_id=block.id, index=block.index, status="skipped", note=reason)


def _reason_to_stop(run: CellRun, stop_on_error: bool) -> str | None:
    if run.kernel_died:
        return "Not run: the kernel died."
    if run.status == "timeout":
        return "Not run: a block before it timed out."
    if run.status != "ok" and stop_on_error:
        return "Not run: a block before it failed."
    return None
