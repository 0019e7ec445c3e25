"""The turn request: mode, targets, references and attachments, fixed when a message is sent."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from typing_extensions import assert_never

from ..notebook.document import DocumentError
from ..notebook.files.kinds import is_lexical
from ..notebook.paths import resolve_path
from ..protocol.base import Location, Mode
from ..protocol.context import Attachment
from ..protocol.errors import AgentError
from ..protocol.page import ActiveDocument
from ..protocol.renames import Rename
from ..protocol.requests import AGENT_PREFIX, ChatRequest, SessionSettings
from ..tools.gate import Gate
from ..tools.registry import ToolRegistry
from .runtime import Runtime

# A path with spaces is quoted, or has a backslash before each space.
_FILE = re.compile(r'(?:^|(?<=\s))@(?:"([^"]+)"|([^\s"]+(?:(?<=\\) [^\s"]+)*))')
MOST_MENTIONS = 100
"""Names after "@" in a message that are looked up, each with a look into the root."""
_TOOL = re.compile(r"(?:^|(?<=\s))#([A-Za-z_][\w-]*)")


@dataclass
class TurnRequest:
    """A message with everything that is decided before its turn begins.

    ``chat`` is the request as it came, ``text`` its message without ``agent:``; ``files`` are
    attached paths that are neither notebooks nor Lexical documents. By notebook, ``cells`` and
    ``outputs`` are the ids of attached cells and of those whose output is attached, and
    ``variables`` the names of attached variables of its kernel. ``planned`` messages are carried
    out by a plan, which waits for the user with ``plan_first``. ``instructions`` replace the mode's
    system prompt. ``tools`` are the same for the whole turn. ``renames`` is how many documents were
    renamed before all this was decided.
    """

    chat: ChatRequest
    text: str
    mode: Mode
    location: Location
    gate: Gate
    tools: ToolRegistry
    files: list[str] = field(default_factory=list)
    cells: dict[str, list[str]] = field(default_factory=dict)
    outputs: dict[str, list[str]] = field(default_factory=dict)
    variables: dict[str, list[str]] = field(default_factory=dict)
    references: list[str] = field(default_factory=list)
    active_document: ActiveDocument | None = None
    planned: bool = False
    plan_first: bool = False
    instructions: str | None = None
    renames: int = 0

    def work_on(self, notebook: str | None) -> None:
        """Resume a plan that works on this notebook."""
        gate = self.gate
        self.mode = gate.mode = "agent"
        if notebook is not None and is_lexical(notebook):
            gate.lexical_attached |= {notebook}
        elif notebook is not None:
            gate.attached |= {notebook}

    def renamed(self, rename: Rename) -> None:
        """Use the new path of a renamed document."""
        self.gate.renamed(rename)
        self.chat = with_paths_now(self.chat, rename)
        self.files[:] = rename.paths(self.files)
        if self.active_document is not None:
            self.active_document.path = rename.path(self.active_document.path)
        for each in (self.cells, self.outputs, self.variables):
            rename.rekey(each)

    def as_decided(self) -> ChatRequest:
        """The chat request with the values of the page and the session filled in, so that it is
        decided in the same way later, without a page."""
        active = self.gate.active or self.gate.lexical_active
        return self.chat.model_copy(
            update={"active_notebook": active, "mode": self.mode, "location": self.location}
        )


def with_paths_now(chat: ChatRequest, rename: Rename) -> ChatRequest:
    """The chat request with the new path of a renamed document."""
    update: dict[str, object] = {
        "attachments": [
            each.model_copy(update={"path": rename.optional(each.path)})
            for each in chat.attachments
        ]
    }
    if chat.active_notebook is not None:
        update["active_notebook"] = rename.path(chat.active_notebook)
    return chat.model_copy(update=update)


def as_submitted(runtime: Runtime, request: ChatRequest) -> ChatRequest:
    """The request with the active notebook or Lexical document, if it names none: changing the tab
    while it is queued must not redirect it."""
    page = runtime.pages.get(request.client_id)
    if page is None or "active_notebook" in request.model_fields_set:
        return request
    document = page.state.active_document
    path = document.path if document is not None and _has_tools(document) else None
    return request.model_copy(update={"active_notebook": path})


async def turn_request(
    runtime: Runtime, request: ChatRequest, session: SessionSettings, created: list[str]
) -> TurnRequest:
    """Decide what the message is about.

    Raises ``AgentError`` ``invalid_request`` or ``not_found`` for an attachment that is outside the
    root or does not exist.
    """
    renames = runtime.notebooks.renames.count
    text = request.message
    mode: Mode = request.mode or session.mode or "ask"
    location: Location = request.location or ("panel" if request.client_id else "api")
    page = runtime.pages.get(request.client_id)
    active_document = page.state.active_document if page is not None else None
    document = await _active_document(runtime, request, active_document)
    is_block_document = document is not None and is_lexical(document)
    active = None if is_block_document else document
    attached = await _attached(runtime, request, text, active)
    notebooks = attached.notebooks
    planned = AGENT_PREFIX.match(text)
    if planned is not None:
        text, mode = text[planned.end() :], "agent"
    # The user started these, so they may change the notebook in any mode.
    is_started = request.workflow is not None or request.action is not None
    if is_started:
        mode = "agent"
    if active is not None and (
        planned is not None or is_started or location in ("inline", "magic")
    ):
        notebooks.add(active)
    if is_block_document and document is not None and (planned is not None or is_started):
        attached.lexical.add(document)
    plan_first = request.plan_first if request.plan_first is not None else session.plan_first
    return TurnRequest(
        chat=request,
        text=text,
        mode=mode,
        location=location,
        gate=Gate(
            mode=mode,
            location=location,
            attached=frozenset(notebooks),
            active=active,
            created=created,
            below=request.cell_id if location == "magic" else None,
            files=frozenset(attached.files),
            lexical_attached=frozenset(attached.lexical),
            lexical_active=document if is_block_document else None,
        ),
        tools=runtime.tools(),
        files=attached.files,
        cells=attached.cells,
        outputs=attached.outputs,
        variables=attached.variables,
        references=list(dict.fromkeys([*request.tool_references, *_TOOL.findall(text)])),
        active_document=active_document,
        planned=planned is not None
        or request.workflow is not None
        or (mode == "agent" and bool(plan_first)),
        plan_first=bool(plan_first),
        renames=renames,
    )


def _has_tools(document: ActiveDocument) -> bool:
    """Whether it is a notebook or a Lexical document, for which there are tools."""
    return document.kind == "notebook" or is_lexical(document.path)


async def _active_document(
    runtime: Runtime, request: ChatRequest, document: ActiveDocument | None
) -> str | None:
    if "active_notebook" in request.model_fields_set:
        if request.active_notebook is None:
            return None
        return await confined(runtime, request.active_notebook)
    if document is not None and _has_tools(document):
        return document.path
    return None


@dataclass
class _Attached:
    """What is attached, by path."""

    notebooks: set[str] = field(default_factory=set)
    lexical: set[str] = field(default_factory=set)
    files: list[str] = field(default_factory=list)
    cells: dict[str, list[str]] = field(default_factory=dict)
    outputs: dict[str, list[str]] = field(default_factory=dict)
    variables: dict[str, list[str]] = field(default_factory=dict)

    def add_document(self, path: str, *, is_notebook: bool) -> None:
        """Add a document by its kind."""
        if is_notebook:
            self.notebooks.add(path)
        elif is_lexical(path):
            self.lexical.add(path)
        elif path not in self.files:
            self.files.append(path)


def _add_part(found: dict[str, list[str]], path: str | None, part: str | None) -> None:
    """Add a part of the notebook ``path``, unless it is there already."""
    if path is not None and part is not None and part not in found.get(path, ()):
        found.setdefault(path, []).append(part)


async def _attached(
    runtime: Runtime, request: ChatRequest, text: str, active: str | None
) -> _Attached:
    attached = _Attached()
    for attachment in request.attachments:
        path = await _attachment_path(runtime, attachment, request.location)
        # An attached cell, output or variable gives no access to the rest of its notebook.
        match attachment.kind:
            case "notebook" | "file":
                if path is not None:
                    named = attachment.kind == "notebook"
                    is_notebook = named or runtime.notebooks.is_notebook(path)
                    attached.add_document(path, is_notebook=is_notebook)
            case "cell":
                _add_part(attached.cells, path or active, attachment.cell_id)
            case "output":
                _add_part(attached.outputs, path or active, attachment.cell_id)
            case "variable":
                _add_part(attached.variables, path or active, attachment.name)
            case "dataset":
                pass  # It has no path, and is read when the message is sent.
            case unknown:
                assert_never(unknown)
    for path in await mentioned(runtime, text):
        attached.add_document(path, is_notebook=runtime.notebooks.is_notebook(path))
    return attached


async def mentioned(runtime: Runtime, text: str) -> list[str]:
    """The documents under the root that a text mentions (``@sales.ipynb``), in order."""
    found = []
    for quoted, bare in list(dict.fromkeys(_FILE.findall(text)))[:MOST_MENTIONS]:
        # "@" also occurs in decorators, handles and addresses.
        path = await _existing(runtime, quoted or bare.replace("\\ ", " ").rstrip(".,;:!?)"))
        if path is not None:
            found.append(path)
    return found


async def _attachment_path(
    runtime: Runtime, attachment: Attachment, location: Location | None
) -> str | None:
    if attachment.kind == "dataset" or attachment.path is None:
        return None
    path = await confined(runtime, attachment.path)
    if not await runtime.notebooks.exists(path):
        where = "under the server's root"
        if location == "magic":
            where = f"beside the notebook or {where}"
        elif location != "api":
            where += ". Remove it from the message or attach it again"
        raise AgentError(
            "not_found",
            f"The attached {attachment.kind} {attachment.path} does not exist {where}.",
        )
    return path


async def _existing(runtime: Runtime, path: str) -> str | None:
    try:
        below = resolve_path(path, runtime.notebooks.root_dir)
        confined_path = await runtime.notebooks.located(below)
    except DocumentError:
        return None
    return confined_path if await runtime.notebooks.exists(confined_path) else None


async def confined(runtime: Runtime, path: str) -> str:
    """The path under the root, after renames. Raises ``AgentError`` if it is outside."""
    try:
        return await runtime.notebooks.located(resolve_path(path, runtime.notebooks.root_dir))
    except DocumentError as error:
        raise AgentError("invalid_request", error.message, error.hint) from error
