"""The blocks of a Lexical document as cells, for what looks at documents of either kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...protocol.cells import PageCell, PageNotebook
from ..kernel.execution_log import ExecutionLog
from .blocks import DocumentBlock
from .documents import OpenDocument


def blocks_as_cells(
    document: OpenDocument, executions: ExecutionLog | None = None, *, outputs: bool = False
) -> PageNotebook:
    """Code that runs as code cells, all else as Markdown; a cell's ``index`` is its block's.
    ``executions`` has the counts, which a document does not."""
    kernel = document.kernel or {}
    runs = {} if executions is None else executions.life(document.path).cells

    def count_of(block: DocumentBlock) -> int | None:
        known = runs.get(block.id)
        return None if known is None else known.order

    return PageNotebook(
        path=document.path,
        kernel_id=kernel.get("id"),
        kernel_name=kernel.get("name"),
        kernel_language=document.language,
        kernel_status=kernel.get("status"),
        cells=[
            _cell(each, document.blocks.outputs_of(each), count_of(each), outputs=outputs)
            for each in document.blocks.all
            if not each.is_output
        ],
    )


def _cell(
    block: DocumentBlock, found: Sequence[dict[str, Any]], count: int | None, *, outputs: bool
) -> PageCell:
    return PageCell(
        id=block.id,
        index=block.index,
        type="code" if block.runs else "markdown",
        source=block.content,
        hash=block.block.hash,
        has_output=bool(found),
        outputs=list(found) if outputs and block.runs else None,
        execution_count=count,
    )
