"""Asks the user to approve a call: before it is made, before its code goes to a kernel, and while
that code runs.

An approval covers what its card showed. If the call would do something else by the time it is made,
the user is asked again.
"""

from __future__ import annotations

import ast
import asyncio
import hashlib
import os
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, get_args
from urllib.parse import quote, urlsplit

from ..notebook.document import DocumentError
from ..notebook.kernel.acts import Act, ActDecision, NotAllowed, RunNow
from ..notebook.kernel.acts_in_kernel import runs_later, shadowed_module
from ..protocol.base import ApprovalPolicy
from ..protocol.cells import line_feeds
from ..protocol.events import ApprovalAct, ApprovalRequested
from ..protocol.json_text import to_json
from ..protocol.tools import Change, CodePart, ShareRequest, ToolLabel
from .code_to_run import CodeToRun, Look, look_at
from .context import ShownTexts, ToolContext, ToolFailure
from .redaction import CallRef
from .registry import Tool
from .risky_code import Reason
from .risky_code.action import Kind

# Text of a file or a web page may make a model write instructions for itself, or code that
# something else runs later. Nobody is asked at that time, so such writes need approval.


INSTRUCTIONS = "AGENTS.md"
"""In the server root: the user's instructions to the agent, sent with every request."""
_KIND = "changes what runs later"


async def reason_of_write(path: str, context: ToolContext) -> Reason | None:
    """Return why a write to this path needs approval, whichever tool makes it; None for an
    ordinary file. Raises ``DocumentError`` for a path outside the root."""
    files = context.notebooks.text_files
    path = await context.notebooks.confine(path)
    if files.leads_to(path, INSTRUCTIONS):
        said = f"Changes {INSTRUCTIONS}: the agent follows it in every conversation"
        return Reason(said, ("changes the agent's instructions",))
    exists = await files.exists(path)
    why = runs_later(path) or runs_later(files.where(path))
    module = None if exists or why else await _shadowed(path, context)
    if module is not None:
        why = f"Python will import it instead of the module {module}"
    if why is None:
        return None
    return Reason(f"{'Changes' if exists else 'Creates'} {path}: {why}", (_KIND,))


async def _shadowed(path: str, context: ToolContext) -> str | None:
    """Return the module that code in the same folder would no longer import. Modules in a package
    have other names, so they hide none."""
    beside = f"{path.rpartition('/')[0]}/__init__.py".lstrip("/")
    if await context.notebooks.text_files.exists(beside):
        return None
    return await asyncio.to_thread(shadowed_module, path)


CHANGED = "This is not what you approved: it has changed since. "
EVERY_ACTION = "Every action requires approval"
MAY_BE_EXAMPLE = "The model wrote this call as text, so it may be an example"
NOT_WATCHED = "The kernel cannot ask while this runs. "
OTHER_KERNEL = "It would now run in another kernel. "


@dataclass(frozen=True)
class Decision:
    """The user's answer to an approval request, and what they wrote when they denied it, which the
    model reads.

    ``undecided`` is the reason if no user decided. ``for_session`` approves such acts for the rest
    of the session. ``earlier``: an approval for the session covers it, so no card was shown.
    """

    approved: bool
    feedback: str | None = None
    undecided: str | None = None
    for_session: bool = False
    earlier: bool = False

    @property
    def words(self) -> str:
        """Why it was denied, for the model."""
        said = f" The user wrote: {self.feedback}" if self.feedback else ""
        return self.undecided or f"The user declined.{said}"


@dataclass(frozen=True)
class ApprovalRequest:
    """A request for approval. ``changes`` is what the call would change, and ``code`` what it would
    run, if known.

    With ``share`` the act is sending something to the model. ``kinds`` are the kinds of act that
    the code does beyond the kernel. ``remember_as`` are the keys, separated by spaces, that an
    approval for the session covers, and ``covered_by`` those of wider approvals. ``during_run``:
    the call has begun and waits; ``act`` is what its code wants to do. ``basis`` differs if the
    card's content does; ``again``: a card was approved, and its content has changed since.
    """

    call_id: str
    name: str
    arguments: dict[str, Any]
    reason: str
    destructive: bool
    changes: list[Change] | None
    remember_as: str
    share: ShareRequest | None = None
    kinds: tuple[str, ...] = ()
    label: ToolLabel | None = None
    during_run: bool = False
    act: ApprovalAct | None = None
    covered_by: tuple[str, ...] = ()
    code: list[CodePart] | None = None
    basis: str | None = None
    again: bool = False

    def as_event(self, approval_id: str) -> ApprovalRequested:
        """The request as an event."""
        return ApprovalRequested(
            approval_id=approval_id,
            call_id=self.call_id,
            name=self.name,
            arguments=self.arguments,
            reason=self.reason,
            destructive=self.destructive,
            changes=self.changes,
            share=self.share,
            kinds=list(self.kinds) or None,
            label=self.label,
            act=self.act,
            code=self.code,
            basis=self.basis,
            again=self.again or None,
        )


Approve = Callable[[ApprovalRequest], Awaitable[Decision]]


@dataclass(frozen=True)
class _Shown:
    """What the card of a call shows, and so what its approval covers."""

    loss: Reason | None
    untrusted: str | None
    changes: list[Change] | None
    code: CodeToRun | None
    look: Look

    @property
    def compared(self) -> list[Any]:
        """Return what is compared. Paths and positions in documents are left out, since they may
        change without anyone's doing."""
        apart = {"path", "index"}
        changes = [each.model_dump(exclude=apart) for each in self.changes or ()]
        parts = [] if self.code is None else [(e.cell_id, e.source) for e in self.code.parts]
        loss = None if self.loss is None else (self.loss.kinds, sorted(self.loss.targets))
        return [changes, parts, loss, self.untrusted, self.look.kernel_id]

    @property
    def basis(self) -> str:
        """Return a key for the page, which differs if what is compared does."""
        text = to_json(self.compared)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class CallApproval:
    """The approvals of one call. Without ``approve`` nothing is asked: the call is the user's own.

    ``is_unsure``: the call may be an example, so the user is asked whatever it does."""

    def __init__(
        self,
        tool: Tool,
        args: Any,
        call: CallRef,
        context: ToolContext,
        policy: ApprovalPolicy,
        approve: Approve | None,
    ) -> None:
        self.tool = tool
        self.args = args
        self._call = call
        self.context = context
        self._policy = policy
        self._approve = approve
        self.is_unsure = False
        self._shown: _Shown | None = None
        self._asked = False
        # The code that may run, by cell, as it was shown.
        self._parts: set[tuple[str | None, str]] = set()
        self._approved: list[Reason] = []

    @property
    def asks(self) -> bool:
        """Whether the user may be asked about this call."""
        return self._policy != "never" and self._approve is not None

    # -- before the call -----------------------------------------------------------------------

    async def denied(self) -> Decision | None:
        """Ask for approval if needed. Returns the denial, or None if the call may be made."""
        if not self.asks:
            return None
        before, self._shown = self._shown, await self._look()
        if self.context.on_card is not None:
            self.context.on_card.while_made = False
        shown = self._shown
        asks_always = self._policy == "always" and self.tool.changes
        self._asked = bool(shown.loss or shown.untrusted or asks_always or self.is_unsure)
        is_shown = False
        if self._asked:
            why = _since(before, shown) if before else ""
            request = self._request(shown, why, is_unsure=self.is_unsure)
            decision = await self._ask(replace(request, again=before is not None))
            if not decision.approved:
                return decision
            is_shown = not decision.earlier
            self._approved = [] if shown.loss is None else [shown.loss]
        if not is_shown:
            # Parts that the model has not read are changed only if the card shows them.
            self.context = replace(self.context, on_card=None)
        if shown.code is not None:
            self._parts = {(each.cell_id, _text(each.source)) for each in shown.code.parts}
        return None

    async def still_holds(self) -> bool:
        """Whether the call would still do what was approved."""
        if not self._asked or self._shown is None:
            return True
        if isinstance(path := getattr(self.args, "path", None), str):
            # The document may have been renamed while the user was asked.
            self.args = self.args.model_copy(update={"path": self.context.now(path)})
        approved = self.context
        # Changes made meanwhile do not fail the call, since the card shows them.
        self.context = replace(approved, on_card=ShownTexts())
        if (await self._look()).compared != self._shown.compared:
            return False
        self.context = approved
        return True

    @asynccontextmanager
    async def documents(self) -> AsyncIterator[None]:
        """Lock the documents that the card showed, so that the agent cannot change them between the
        comparison and the call."""
        shown = self._shown if self._asked else None
        paths = {each.path for each in (shown.changes or ())} if shown else set()
        if shown and shown.code and shown.code.path and shown.code.names_cells:
            paths.add(shown.code.path)
        async with AsyncExitStack() as held:
            for path in sorted(map(self.context.now, paths)):
                await held.enter_async_context(self.context.notebooks.lock(path))
            yield

    async def _look(self) -> _Shown:
        tool, args, context = self.tool, self.args, self.context
        loss: str | Reason | None = None
        if tool.writes is not None:
            loss = await reason_of_write(await tool.writes(args, context), context)
        if loss is None and tool.destructive is not None:
            loss = await tool.destructive(args, context)
        if isinstance(loss, str):
            loss = Reason(loss, ())
        untrusted = tool.needs_approval() if tool.needs_approval is not None else None
        code = await tool.code(args, context) if tool.code else None
        look = Look(None)
        if code is not None:
            look = await look_at(code, context, whole=self._policy == "always")
        loss = loss or look.reason
        asks = loss or untrusted or self._policy == "always" or self.is_unsure
        changes = await tool.preview(args, context) if tool.preview and asks else None
        return _Shown(loss, untrusted, changes, code, look)

    def _request(self, shown: _Shown, why: str, *, is_unsure: bool = False) -> ApprovalRequest:
        tool, loss = self.tool, shown.loss
        reasons = [loss.message if loss else shown.untrusted, MAY_BE_EXAMPLE if is_unsure else None]
        message = ". ".join(filter(None, reasons)) or EVERY_ACTION
        kinds = loss.kinds if loss else ()
        return ApprovalRequest(
            call_id=self._call.call_id,
            name=tool.name,
            arguments=self._call.arguments,
            reason=why + message,
            destructive=loss is not None,
            changes=shown.changes,
            remember_as=_remembered(tool, loss is not None, kinds, is_unsure),
            kinds=kinds,
            # It may have been called by way of another tool, which the page knows.
            label=tool.label if tool.parameters is not None else None,
            code=self._shown_parts(shown),
            basis=shown.basis,
        )

    def _shown_parts(self, shown: _Shown) -> list[CodePart] | None:
        """Return the code that neither the changes nor the arguments show."""
        if shown.code is None or not shown.code.names_cells or shown.changes:
            return None
        subjects = shown.loss.subjects if shown.loss else frozenset()
        whole = self._policy == "always" or self.is_unsure
        return [each for each in shown.code.parts if whole or each.subject in subjects]

    async def _ask(self, request: ApprovalRequest) -> Decision:
        assert self._approve is not None
        return await self._approve(request)

    # -- where code is sent to a kernel ----------------------------------------------------------

    async def run(self, run: RunNow) -> None:
        """Return once this code may run in this kernel. Raises ``NotAllowed``."""
        if self._covers(run):
            return
        shown = None if self._shown is None else self._shown.code
        look, code = await self._look_at_run(run, shown)
        is_text_new = shown is not None and not self._knows(run)
        if look.reason is not None or (is_text_new and self._policy == "always"):
            why = OTHER_KERNEL if run.is_watched else NOT_WATCHED
            why = CHANGED if is_text_new else why
            request = self._request(_Shown(look.reason, None, None, code, look), why)
            decision = await self._ask(
                replace(request, during_run=True, code=list(code.parts), basis=None)
            )
            if not decision.approved:
                what = "its text has changed" if is_text_new else "it needs approval here"
                raise NotAllowed(f"Not run: {what}. {decision.words}")
        if look.reason is not None:
            self._approved.append(look.reason)
        self._parts.update((cell_id, _text(source)) for cell_id, source in run.parts)
        if self._shown is not None:
            now = replace(look, kernel_id=run.kernel_id)
            self._shown = replace(self._shown, look=now)

    def _covers(self, run: RunNow) -> bool:
        """Whether this code was examined as it would run now, and approved if that was needed."""
        if self._shown is None or self._shown.code is None:
            # No code was declared before the call, so only the guard asks.
            return run.is_watched
        look = self._shown.look
        same_kernel = look.kernel_id in (None, run.kernel_id)
        # Under "always" the user saw all of it, whether or not the guard watches it.
        as_watched = run.is_watched or not look.is_watched or self._policy == "always"
        return same_kernel and as_watched and self._knows(run)

    def _knows(self, run: RunNow) -> bool:
        """Whether all of its text was examined."""
        sources = {source for _, source in self._parts}
        return all(
            not self._parts.isdisjoint([(cell_id, text), (None, text)])
            # Blocks of a Lexical document are sent without their ids.
            or (cell_id is None and text in sources)
            for cell_id, text in ((cell_id, _text(source)) for cell_id, source in run.parts)
        )

    async def _look_at_run(self, run: RunNow, shown: CodeToRun | None) -> tuple[Look, CodeToRun]:
        if shown is not None and self._knows(run):
            # The kernel differs, so one request covers all of the code.
            parts = list(shown.parts)
        else:
            parts = [await self._part(cell_id, source, shown) for cell_id, source in run.parts]
        path = await self.context.notebooks.path_of_kernel(run.kernel_id)
        code = CodeToRun(tuple(parts), path, run.kernel_id)
        if shown is not None:
            code = replace(code, path=path or shown.path, notebook=shown.notebook)
        whole = self._policy == "always"
        return await look_at(code, self.context, is_watched=run.is_watched, whole=whole), code

    async def _part(self, cell_id: str | None, source: str, shown: CodeToRun | None) -> CodePart:
        subjects = {each.cell_id: each.subject for each in shown.parts} if shown else {}
        subject = subjects.get(cell_id) or await self._subject(cell_id, "The code")
        return CodePart(subject=subject, source=source, cell_id=cell_id)

    # -- while it runs ---------------------------------------------------------------------------

    async def act(self, act: Act) -> ActDecision:
        """Return whether the code may do this."""
        if any(_is_shown(act, each) for each in self._approved):
            return ActDecision(True, only=True)
        target = self._target(act)
        what = f"{act.verb} {target} {act.more}".strip()
        line = f" (line {act.line})" if act.line is not None else ""
        subject = await self._subject(act.cell_id, "The cell" if act.cell_id else "The code")
        name = self._call.name
        decision = await self._ask(
            ApprovalRequest(
                call_id=self._call.call_id,
                name=name,
                arguments=self._call.arguments,
                reason=f"{subject} wants to {what}{line}",
                destructive=True,
                changes=None,
                remember_as=_remembered_act(name, act),
                covered_by=_covering(name, act),
                kinds=(f"would {what}",),
                during_run=True,
                act=ApprovalAct(kind=act.kind, target=target, cell_id=act.cell_id),
            )
        )
        said = decision.feedback and f"the user declined and wrote: {decision.feedback}"
        return ActDecision(decision.approved, decision.undecided or said)

    def _target(self, act: Act) -> str:
        """Return the real target, even if code has changed its working directory."""
        folder = None if self._shown is None else self._shown.look.folder
        if folder is None or act.folder is None or _is_in(act.folder, folder):
            return act.target
        if act.kind == "runs a shell command":
            return f"{act.target} in {act.folder}"
        return act.path if os.path.isabs(act.path) else act.target

    async def _subject(self, cell_id: str | None, otherwise: str) -> str:
        """Return what wants to act as users know it: a cell by its number."""
        if cell_id is None:
            return otherwise
        try:
            document = await self.context.document(getattr(self.args, "path", None))
            cells = (await document.read([cell_id])).cells
        except (ToolFailure, DocumentError):
            cells = []
        return f"Cell {cells[0].index + 1}" if cells else otherwise


def _since(before: _Shown, now: _Shown) -> str:
    """Return what has changed since the previous card, for the next one."""
    old = {each.cell_id or each.path: each.before for each in before.changes or ()}
    changed = [
        f"Cell {each.index + 1}" if each.index is not None else each.path
        for each in now.changes or ()
        if each.before != old.get(each.cell_id or each.path)
    ]
    return f"{', '.join(changed)} changed while this waited for you. " if changed else CHANGED


def _text(source: str) -> str:
    """Return the source without what a file format may change in it."""
    return line_feeds(source).strip()


def _remembered(tool: Tool, destructive: bool, kinds: Sequence[str], is_unsure: bool) -> str:
    """Return the keys of an approval for the session: this tool with these kinds of act only.

    Approvals to install packages, to run shell commands and to make plain changes do not cover each
    other. None covers calls written as text, except an approval of such a call.
    """
    if is_unsure:
        return f"{_remembered(tool, destructive, kinds, False)} text:{tool.name}"
    if not destructive:
        return tool.name if tool.version is None else f"{tool.name}:{tool.version}"
    return " ".join(f"{tool.name}:{kind.replace(' ', '-')}" for kind in kinds or ("loss",))


def _remembered_act(tool: str, act: Act) -> str:
    """Return the key of an approval for the session: this act by this tool, or all it covers."""
    if act.covers is None:
        return f"act:{tool}:{quote(act.verb)}:{quote(act.path)}"
    return f"acts:{tool}:{quote(act.verb if act.covers else act.kind)}:{quote(act.covers)}"


def _covering(tool: str, act: Act) -> tuple[str, ...]:
    """Return the keys of wider approvals: all acts of this kind, or a folder around the target."""
    path = act.path if act.covers is None else os.path.join(act.covers, "x")
    folders = PurePath(path).parents if os.path.isabs(path) else ()
    around = [os.path.join(each, "") for each in folders]
    of_verb = [f"acts:{tool}:{quote(act.verb)}:{quote(each)}" for each in around]
    return (f"acts:{tool}:{quote(act.kind)}:", *of_verb)


def _is_shown(act: Act, approved: Reason) -> bool:
    """Whether the approval before the run named this act and its real target."""
    if act.by_shell_line:
        # The shell may be given something else than the line says: by a variable, or its folder.
        return _is_in(act.folder, approved.folder) and any(
            act.target == each or act.target.endswith((f" -m {each}", f"/{each}"))
            for each in approved.commands
        )
    if act.kind in get_args(Kind) and act.kind not in approved.kinds:
        return False
    return any(_names(target, act, approved.folder) for target in approved.targets)


def _is_in(folder: str | None, other: str | None) -> bool:
    known = folder is not None and other is not None
    return known and os.path.realpath(folder or "") == os.path.realpath(other or "")


def _names(target: str, act: Act, folder: str | None) -> bool:
    """Whether a target as written in the code is the real target of the act."""
    if act.kind == "changes a database":
        return f" {target} " in f" {act.verb} "
    if act.kind == "connects to another machine":
        return urlsplit(target).hostname == act.target
    if act.kind == "runs a shell command":
        same = target == act.target or act.target in _commands(target)
        return same and _is_in(act.folder, folder)
    if target == act.path:
        return True
    if folder is None or not os.path.isabs(act.path):
        return False
    whole = os.path.join(folder, os.path.expanduser(target))
    above, name = os.path.split(os.path.normpath(whole))
    return act.path in (os.path.realpath(whole), os.path.join(os.path.realpath(above), name))


def _commands(target: str) -> tuple[str, ...]:
    """Return a program's arguments, ``['ls', '-l']``, as a command line."""
    try:
        arguments = ast.literal_eval(target)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ()
    is_list = isinstance(arguments, list) and all(isinstance(each, str) for each in arguments)
    return (shlex.join(arguments),) if is_list else ()
