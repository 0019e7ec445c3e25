"""What travels over ``WS page``, the one connection of an open page (DESIGN 6).

The page sends ``ClientMessage``s and gets ``ServerMessage``s, both JSON texts. The server asks the
page with ``PageRequest`` and the page answers with one ``PageResponse`` of the same
``request_id``; while a run goes on it may send ``PageProgress``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from .base import Wire
from .cells import CellEdit, CellRun, PageCell
from .errors import ErrorBody
from .ops import Op


class ActiveDocument(Wire):
    """The document whose editor is the active one in JupyterLab's main area."""

    path: str
    kind: Literal["notebook", "file", "lexical"]


class OpenNotebook(Wire):
    """A notebook that is open in the page, with what its editor shows now.

    ``ready``: its content is loaded; until then nothing is known of its cells. ``active_cell_id``
    has the cursor or the focus; ``editing`` is edit mode.
    """

    path: str
    ready: bool = True
    kernel_id: str | None = None
    kernel_name: str | None = None
    kernel_language: str | None = None
    kernel_status: str | None = None
    cell_count: int = 0
    active_cell_id: str | None = None
    editing: bool = False
    selected_cell_ids: list[str] = []
    running_cell_ids: list[str] = []
    pending_cell_ids: list[str] = []


class Hello(Wire):
    """First message of a connection. ``client_id`` lives as long as the browser tab.

    ``pending_request_ids`` are the server's requests that the page still works on and will answer
    on this connection: none after a reload. Left out, the page does not say.
    ``renames_known_until`` is the newest such time that the page was sent on any connection: it is
    sent what was renamed since. None after a reload. ``key`` is a secret of at least 16 characters
    that the page makes for itself: by it the server knows the page's HTTP requests.
    """

    type: Literal["hello"] = "hello"
    client_id: str
    pending_request_ids: list[str] | None = None
    renames_known_until: int | None = None
    key: str | None = None


class EditorState(Wire):
    """The whole editor state; sent on each change, at most every 50 ms. ``files`` are the paths
    of the text files that are open, be it in an editor or in a viewer. Its paths are as after the
    renames up to ``renames_known_until``."""

    type: Literal["editor_state"] = "editor_state"
    active_document: ActiveDocument | None = None
    notebooks: list[OpenNotebook] = []
    files: list[str] = []
    renames_known_until: int = 0

    def paths(self) -> frozenset[str]:
        """The paths of all open documents."""
        return frozenset([*(each.path for each in self.notebooks), *self.files])


class Subscribe(Wire):
    """Send the session's events with ``seq`` over ``after``, then live ones."""

    type: Literal["subscribe"] = "subscribe"
    session_id: str
    after: int = Field(default=0, ge=0, le=2**53 - 1)


class Unsubscribe(Wire):
    """No more events of this session."""

    type: Literal["unsubscribe"] = "unsubscribe"
    session_id: str


class SubmitOp(Wire):
    """An op for a session; answered by ``op_accepted`` or ``op_rejected`` with this ``ref``.

    ``again``: it was sent before, over a connection that broke before the answer came.
    """

    type: Literal["submit_op"] = "submit_op"
    ref: str
    session_id: str
    op: Op
    again: bool = False


class InputFocused(Wire):
    """The user turned to the input: the model library may be loaded now."""

    type: Literal["input_focused"] = "input_focused"


class PanelShown(Wire):
    """The panel is on the page: the model library may be loaded when the server is idle."""

    type: Literal["panel_shown"] = "panel_shown"


class PageFailure(Wire):
    """Why the page could not do it. ``cells`` are the cells as they are now, for ``stale``."""

    code: Literal["not_open", "not_found", "stale", "kernel_error", "invalid", "internal"]
    message: str
    cells: list[PageCell] | None = None


class PageResponse(Wire):
    """The answer to a ``PageRequest``: ``result`` where ``ok``, else ``error``."""

    type: Literal["response"] = "response"
    request_id: str
    ok: bool
    result: Any = None
    error: PageFailure | None = None


class PageProgress(Wire):
    """A cell of a run began or ended in the page, or waits for the user to answer its ``input()``.
    Once answered it has ``started`` again.

    ``msg_id`` is the kernel request that runs it, where the page knows which one that is.
    """

    type: Literal["progress"] = "progress"
    request_id: str
    cell_id: str
    state: Literal["started", "waiting_for_input", "finished"]
    msg_id: str | None = None


class ReadParams(Wire):
    """``notebook.read``: all cells, or only ``cell_ids``; outputs only if wanted.

    With ``brief``, outputs come as a context needs them: texts cut to 1,000 characters a cell,
    pictures empty; of more than 150 cells only those of selected cells, and errors.
    With ``whole`` the cells come as nbformat has them, too, those of ``cell_ids`` that are not
    there are left out, and ``order`` says which cells there are.
    """

    path: str
    cell_ids: list[str] | None = None
    outputs: bool = False
    brief: bool = False
    whole: bool = False


class EditParams(Wire):
    """``notebook.edit``: applied whole or not at all, as one step of the notebook's undo, saved.

    The result is a ``PageNotebook`` with the cells of the edits as read back.
    """

    path: str
    edits: list[CellEdit]


class RunParams(Wire):
    """``notebook.run``: these cells in this order, through the page's own kernel session.

    ``timeout_ms`` is for each cell, from ``execute_input``; afterwards the kernel is interrupted.
    ``metadata`` goes with each request to the kernel. A run that is ``held`` shows its cells as
    waiting, and sends none of them to the kernel before ``notebook.allow``.
    """

    path: str
    cell_ids: list[str]
    stop_on_error: bool = True
    timeout_ms: float
    metadata: dict[str, Any] = {}
    held: bool = False


class AllowParams(Wire):
    """``notebook.allow``: the held run ``request_id`` may go on. ``hashes`` are those of the
    sources that may run, by cell: the run ends before a cell with another one."""

    path: str
    request_id: str
    hashes: dict[str, str] = {}


class RunResult(Wire):
    """Result of ``notebook.run``: one for each cell; fewer where the next one has another source
    than may run, which is ``changed``."""

    runs: list[CellRun]
    changed: str | None = None


class InterruptParams(Wire):
    """``notebook.interrupt``: stop the run ``request_id``, if it is ours that runs there."""

    path: str
    request_id: str


class OpenParams(Wire):
    """``document.open``: show the document in the main area without taking the focus."""

    path: str


class KernelParams(Wire):
    """``notebook.selectKernel``: connect the notebook to a running kernel, or start one."""

    path: str
    kernel_id: str | None = None
    kernel_name: str | None = None


class RevealParams(Wire):
    """``notebook.reveal``: scroll a cell into view."""

    path: str
    cell_id: str


class DeleteDocumentParams(Wire):
    """``document.delete``: delete the file as JupyterLab does, and close it."""

    path: str


class DocumentReadParams(Wire):
    """``document.read``: the text of an open file, with what is not saved yet. A text with the
    SHA-256 ``known_hash`` (of its UTF-8, hexadecimal) is not sent."""

    path: str
    known_hash: str | None = None


class WriteTextParams(Wire):
    """``document.write``: the new text of an open file, as one step of its editor's undo, saved.

    Refused as ``stale`` when the SHA-256 of its text in UTF-8 is not ``base_hash``. The result is
    a ``DocumentText``, read back.
    """

    path: str
    base_hash: str
    content: str


class DocumentText(Wire):
    """Result of ``document.read`` and ``document.write``. ``content`` is None where it is the one
    of ``known_hash``, or as it was to be written; ``language`` is the editor's name for it, where
    known."""

    path: str
    content: str | None = None
    language: str | None = None


PageCommand = Literal[
    "apputils:change-theme",
    "apputils:decr-font-size",
    "apputils:incr-font-size",
    "application:set-mode",
    "application:toggle-left-area",
    "application:toggle-right-area",
    "docmanager:open",
    "documentsearch:start",
    "notebook:interrupt-kernel",
    "notebook:restart-run-all",
    "notebook:run-all-cells",
    "notebook:run-cell",
    "settingeditor:open",
]
"""JupyterLab's commands that the server may ask a page for. None deletes or sends anything."""


class ExecuteCommandParams(Wire):
    """``page.executeCommand``: a command of JupyterLab, with its arguments."""

    id: PageCommand
    args: dict[str, Any] = {}


PageMethod = Literal[
    "notebook.read",
    "notebook.edit",
    "notebook.run",
    "notebook.allow",
    "notebook.interrupt",
    "notebook.selectKernel",
    "notebook.reveal",
    "document.open",
    "document.read",
    "document.write",
    "document.delete",
    "page.executeCommand",
]


class PageRequest(Wire):
    """The server asks the page; ``params`` is the ``…Params`` of the method."""

    type: Literal["request"] = "request"
    request_id: str
    method: PageMethod
    params: dict[str, Any]


class Welcome(Wire):
    """Answer to ``hello``. A message of more than ``max_message_bytes`` (UTF-8) closes the
    connection. The page was sent all renames up to ``renames_known_until``, in ms since 1970.

    ``awaited_request_ids`` are those of the page's pending requests whose answer somebody waits
    for. A page that has had no connection for ``return_ms`` is not waited for any more."""

    type: Literal["welcome"] = "welcome"
    client_id: str
    version: str
    max_message_bytes: int
    renames_known_until: int
    awaited_request_ids: list[str]
    return_ms: int


class SessionEvent(Wire):
    """An event of a session that the page subscribed to."""

    type: Literal["event"] = "event"
    session_id: str
    event: dict[str, Any]


class DocumentTouched(Wire):
    """A session, whether the page listens to it or not, changed a notebook that the page shows."""

    type: Literal["document_touched"] = "document_touched"
    session_id: str
    path: str


class FileWritten(Wire):
    """The server wrote the file of a notebook or text file itself, while the page shows it, or not
    long before the page reported that it does: what the page has loaded may be older."""

    type: Literal["file_written"] = "file_written"
    path: str


class FileRenamed(Wire):
    """A file or folder was renamed, or moved to another folder, by whatever page or program: what
    the page has open of it is at ``path`` now. With it, the page knows of renames until then."""

    type: Literal["file_renamed"] = "file_renamed"
    old_path: str
    path: str
    renames_known_until: int


class WaitingSession(Wire):
    """A session whose turn waits for the user: for an approval, an answer or a plan's."""

    session_id: str
    title: str


class SessionsWaiting(Wire):
    """Every session that waits for the user, the newest first. Sent at each change, and after
    ``welcome``; those of the chat in a cell, which asks there, are not among them.
    """

    type: Literal["sessions_waiting"] = "sessions_waiting"
    sessions: list[WaitingSession]


class ModelsChanged(Wire):
    """A model was connected or forgotten: ``GET models`` has what can be chosen now."""

    type: Literal["models_changed"] = "models_changed"


class OpAcceptedMessage(Wire):
    """The op was put on the session's queue."""

    type: Literal["op_accepted"] = "op_accepted"
    ref: str
    op_id: str


class OpRejectedMessage(Wire):
    """The op, or another message of the page, was refused."""

    type: Literal["op_rejected"] = "op_rejected"
    ref: str | None = None
    error: ErrorBody


ClientMessage = Annotated[
    Hello
    | EditorState
    | Subscribe
    | Unsubscribe
    | SubmitOp
    | InputFocused
    | PanelShown
    | PageResponse
    | PageProgress,
    Field(discriminator="type"),
]

ServerMessage = Annotated[
    Welcome
    | SessionEvent
    | DocumentTouched
    | FileWritten
    | FileRenamed
    | SessionsWaiting
    | ModelsChanged
    | OpAcceptedMessage
    | OpRejectedMessage
    | PageRequest,
    Field(discriminator="type"),
]

CLIENT_MESSAGE_ADAPTER: TypeAdapter[ClientMessage] = TypeAdapter(ClientMessage)
SERVER_MESSAGE_ADAPTER: TypeAdapter[ServerMessage] = TypeAdapter(ServerMessage)
