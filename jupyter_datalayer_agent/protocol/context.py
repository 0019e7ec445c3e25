"""What the model is sent about the active notebook (DESIGN 6)."""

from __future__ import annotations

from typing import Literal

from .base import Mode, NotebookMode, Wire
from .tools import SharingNow

# What the user attaches to a message.


class Attachment(Wire):
    """Something the user attached to a message. ``path`` is relative to the server root.

    A ``cell``, and the ``output`` of one, have a ``cell_id``; a ``dataset`` and a ``variable`` of
    the kernel of the notebook ``path`` (left out: the active one) a ``name``.
    """

    kind: Literal["notebook", "file", "cell", "output", "dataset", "variable"]
    path: str | None = None
    cell_id: str | None = None
    name: str | None = None


# The variables of a notebook's kernel, as a user may attach them.


VariablesStatus = Literal["ok", "busy", "no_kernel", "not_known", "failed"]
"""``not_known``: variables of the kernel's language cannot be read."""


class Variable(Wire):
    """One variable: its name, type (``pandas.DataFrame``) and short form.

    ``shape`` is given for arrays and tables, ``columns`` of tables (name and type of each, the
    first 100). ``short`` is the value in at most 80 characters; it is empty for tables, and where
    to ask for it would run code of others.
    """

    name: str
    type: str
    short: str = ""
    shape: list[int] | None = None
    columns: list[str] | None = None


class VariablesReply(Wire):
    """Answer of ``GET variables``. ``reason`` says why they are not known now;
    ``left_out`` is how many there are beyond the listed ones."""

    status: VariablesStatus
    reason: str | None = None
    variables: list[Variable] = []
    left_out: int = 0


CellType = Literal["code", "markdown", "raw"]
SelectionStatus = Literal["unselected", "selected", "active"]
ExecutionStatus = Literal["running", "pending", "idle"]
PartKind = Literal[
    "notebook", "file", "dataset", "cells", "outputs", "variables", "references", "state"
]


class CellContext(Wire):
    """One cell. The execution fields are None for cells that are not code.

    ``selection_status`` is ``active`` when the cell's editor has the cursor (edit mode).
    ``last_execution_duration`` is in ms, ``last_run_end_time`` in ms since 1970. ``error`` is the
    name of the exception that the cell's outputs show, whoever ran it.
    """

    id: str
    index: int
    type: CellType
    content: str
    has_output: bool
    selection_status: SelectionStatus = "unselected"
    execution_status: ExecutionStatus | None = None
    execution_order: int | None = None
    last_run_success: bool | None = None
    last_execution_duration: float | None = None
    last_run_end_time: int | None = None
    error: str | None = None


class CellOutline(Wire):
    """One line for a cell of a notebook with 20 cells or more."""

    id: str
    index: int
    type: CellType
    heading: str
    status: str


class NotebookContext(Wire):
    """``all_cells`` when the notebook has fewer than 20 cells, else ``outline``.

    ``kernel_note``: how the kernel before this one ended, and which cells have not run since.
    """

    uri: str
    kernel_id: str | None = None
    kernel_note: str | None = None
    kernel_language: str
    cell_count: int
    selected_cells: list[CellContext]
    all_cells: list[CellContext] | None = None
    outline: list[CellOutline] | None = None


class FileContext(Wire):
    """The text file that is the active document."""

    path: str
    language: str | None = None
    content: str
    truncated: bool = False


class RequestPreview(Wire):
    """The whole of a turn's first request but the user's message, which comes last. The history
    holds the contexts of earlier turns.

    Sizes are tokens, estimated without the model's own tokenizer. ``instructions`` is the system
    prompt, ``model`` None where none is ready; ``window`` is how much that model reads, None where
    it is not known.
    """

    mode: Mode
    model: str | None = None
    instructions: str
    instructions_tokens: int
    tools: list[str]
    tools_tokens: int
    history_turns: int
    history_items: int
    history_tokens: int
    context_tokens: int
    total_tokens: int
    sharing: SharingNow | None = None
    window: int | None = None


class ContextPart(Wire):
    """A part of the context: what the model is sent of the ``path`` (or ``name``), whole, and the
    size of what is sent of it now, 0 where the model has it already.

    ``kind`` ``state`` is what is said of notebook mode, ``references`` of the tools that are meant.
    """

    kind: PartKind
    path: str | None = None
    names: list[str] = []
    text: str
    tokens: int


class ContextReply(Wire):
    """Answer of ``GET context``: what a turn would send now.

    ``text`` is what is new in the context, ``tokens`` its estimated size: empty where the session's
    model knows all of it. ``parts`` are what the context is made of, in order; ``request`` the rest
    of what is sent.
    """

    notebook: NotebookContext | None = None
    file: FileContext | None = None
    text: str
    tokens: int
    parts: list[ContextPart] = []
    notebook_mode: NotebookMode = "off"
    reason: str | None = None
    request: RequestPreview | None = None
