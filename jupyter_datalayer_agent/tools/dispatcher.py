"""The one way to call a tool: find it, gate it, check its arguments, ask, time it, report.

What all tools share is here, so that no tool contains it. Every failure becomes a ``ToolResult``
that says what was wrong and what would be right; only a cancellation leaves this module as an
exception.
"""

from __future__ import annotations

import ast
import asyncio
import logging
import os
import posixpath
import shlex
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any, get_args
from urllib.parse import quote, urlsplit

from ..notebook.document import DocumentError
from ..notebook.kernel.acts import Act, ActDecision, Ask, asking
from ..notebook.paths import resolve_path
from ..protocol.base import ApprovalPolicy
from ..protocol.sharing import ShareRequest
from ..protocol.tools import Change, ToolError, ToolLabel, ToolResult
from .arguments import parse_arguments, validated
from .context import ToolContext, ToolFailure
from .redaction import CallRef
from .registry import Alias, CallOfAnother, Tool, ToolRegistry
from .result import Dispatched, ResultBuilder
from .risky_code import Reason
from .risky_code.action import Kind

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Decision:
    """The answer to an approval: whether, and if not, what the user wrote (which the model reads).

    ``undecided`` is the reason where no user has decided. ``for_session`` approves such acts for
    the rest of the session.
    """

    approved: bool
    feedback: str | None = None
    undecided: str | None = None
    for_session: bool = False


@dataclass(frozen=True)
class ApprovalRequest:
    """A request for approval. ``changes`` is what the call would change, if known.

    With ``share`` the act is sending something to the model. ``kinds`` are the kinds of act that
    code does beyond the kernel. ``remember_as`` are the keys, separated by spaces, that an approval
    for the session covers, and ``covered_by`` those of wider approvals. ``during_run``: the call's
    code has begun to run, and waits.
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
    covered_by: tuple[str, ...] = ()


Approve = Callable[[ApprovalRequest], Awaitable[Decision]]


class Dispatcher:
    """Calls tools of a registry for one message (or one direct call)."""

    def __init__(
        self,
        registry: ToolRegistry,
        context: ToolContext,
        *,
        policy: ApprovalPolicy = "never",
        approve: Approve | None = None,
    ) -> None:
        self.registry = registry
        self.context = context
        self.policy = policy
        self._approve = approve

    async def call(
        self, name: str, arguments: str | dict[str, Any], call_id: str = ""
    ) -> Dispatched:
        """Call a tool by any of its names; ``arguments`` as the model wrote them, or parsed."""
        began = time.monotonic()
        shown = name
        try:
            name, arguments = self._named(name, arguments)
            shown = name
            entry = self._find(name)
            tool = self.registry.tool(entry.tool) if isinstance(entry, Alias) else entry
            shown = tool.name
            if (refusal := self.context.gate.refusal(tool)) is not None:
                raise ToolFailure.of(refusal)
            context = replace(self.context, renames=self.context.notebooks.renames.count)
            args = await self._arguments(entry, tool, arguments)
            approved, denial = await self._ask(tool, args, call_id)
            if denial is not None:
                done = _denied(shown, denial)
            else:
                call = CallRef(call_id, tool.name, _plain_arguments(args), f"this {tool.name}")
                with asking(self._about_acts(call, args, approved) if tool.changes else None):
                    done = await self._run(tool, args, call, context)
        except (ToolFailure, DocumentError) as failure:
            done = ResultBuilder.of_failure(shown, failure).whole()
        except asyncio.CancelledError:
            raise
        except Exception:
            # Third-party code may raise anything: the model gets an error, the log the traceback.
            log.exception("Tool %s failed", shown)
            inside = ToolFailure(
                "internal",
                f"{shown} failed with an internal error. See the server log.",
                "Read the notebook again before continuing.",
            )
            done = ResultBuilder.of_failure(shown, inside).whole()
        done.result.duration_ms = (time.monotonic() - began) * 1000
        return done

    async def _run(
        self, tool: Tool, args: Any, asking: CallRef, context: ToolContext
    ) -> Dispatched:
        if isinstance(path := getattr(args, "path", None), str) and tool.parameters is None:
            # It may have been renamed while the user was asked.
            args = args.model_copy(update={"path": context.now(path)})
        try:
            outcome = await tool.run(args, replace(context, call_id=asking.call_id or None))
        except (ToolFailure, DocumentError) as failure:
            if isinstance(failure, ToolFailure):
                failure.changes = context.with_paths_now(failure.changes)
            draft = ResultBuilder.of_failure(tool.name, failure)
        else:
            outcome.changes = context.with_paths_now(outcome.changes)
            draft = ResultBuilder.of_outcome(tool.name, outcome)
        return await draft.shared(self.context.sharing, asking)

    def _named(
        self, name: str, arguments: str | dict[str, Any]
    ) -> tuple[str, str | dict[str, Any]]:
        """The tool and arguments that a call means; those of ``callTool`` name another tool."""
        entry = self.registry.find(name)
        if not isinstance(entry, Tool) or not issubclass(entry.arguments, CallOfAnother):
            return name, arguments
        call = validated(entry.arguments, parse_arguments(arguments), entry.name)
        found = self._find(call.name)
        if not isinstance(found, Tool) or not found.is_found_by_search:
            raise ToolFailure(
                "invalid_arguments",
                f"{call.name} is not called by way of {entry.name}.",
                "Call it directly.",
            )
        return found.name, call.arguments

    def _find(self, name: str) -> Tool | Alias:
        entry = self.registry.find(name)
        if entry is not None:
            return entry
        allowed = self.context.gate.allowed(self.registry)
        near = get_close_matches(name, [tool.name for tool in allowed], n=3, cutoff=0.5)
        names = [tool.name for tool in allowed if not tool.is_found_by_search]
        raise ToolFailure(
            "not_found",
            f"There is no tool named {name!r}.",
            f"Did you mean {', '.join(near)}?" if near else f"The tools are {', '.join(names)}.",
        )

    async def _arguments(
        self, entry: Tool | Alias, tool: Tool, arguments: str | dict[str, Any]
    ) -> Any:
        given = parse_arguments(arguments)
        if tool.parameters is not None:
            # A path of another program's tool is its own affair.
            return tool.arguments.model_validate(given)
        values = given
        if isinstance(entry, Alias):
            translated = validated(entry.arguments, await self._confined(given), entry.name)
            values = await entry.translate(translated, self.context)
        return validated(tool.arguments, await self._confined(values), tool.name)

    async def _confined(self, values: dict[str, Any]) -> dict[str, Any]:
        """``path`` (or ``uri``) as a path under the server root, of a document that was renamed
        the newer one; refused where it leads out. Models that fill in every argument leave one
        empty that they do not mean."""
        values = {key: each for key, each in values.items() if key != "path" or each != ""}
        if values.get("path") is None and isinstance(values.get("uri"), str):
            values["path"] = values.pop("uri")
        if isinstance(values.get("path"), str):
            path = resolve_path(values["path"], self.context.notebooks.root_dir)
            values["path"] = await self.context.notebooks.located(path)
        return values

    async def _ask(
        self, tool: Tool, args: Any, call_id: str
    ) -> tuple[Reason | None, Decision | None]:
        """What the user approved that the code of the call does, and the denial, None if the call
        may continue."""
        if self.policy == "never" or self._approve is None:
            return None, None
        reason = await tool.destructive(args, self.context) if tool.destructive else None
        untrusted = tool.needs_approval() if tool.needs_approval is not None else None
        asks_always = self.policy == "always" and tool.changes
        if reason is None and untrusted is None and not asks_always:
            return None, None
        kinds = reason.kinds if isinstance(reason, Reason) else ()
        message = reason.message if isinstance(reason, Reason) else reason
        preview = await tool.preview(args, self.context) if tool.preview else None
        decision = await self._approve(
            ApprovalRequest(
                call_id=call_id,
                name=tool.name,
                arguments=_plain_arguments(args),
                reason=message or untrusted or "Every action requires approval",
                destructive=reason is not None,
                changes=preview,
                remember_as=_remembered(tool, reason is not None, kinds),
                kinds=kinds,
                # It may have been called by way of another tool, which the page knows.
                label=tool.label if tool.parameters is not None else None,
            )
        )
        if not decision.approved:
            return None, decision
        return reason if isinstance(reason, Reason) else None, None

    def _about_acts(self, call: CallRef, args: Any, approved: Reason | None) -> Ask | None:
        """What asks the user about what the call's code does while it runs; None where nobody is
        to be asked. ``approved`` was approved when its code was analysed."""
        approve = self._approve
        if self.policy == "never" or approve is None:
            return None

        async def ask(act: Act) -> ActDecision:
            if approved is not None and _is_shown(act, approved):
                return ActDecision(True, only=True)
            what = f"{act.verb} {act.target} {act.more}".strip()
            line = f" (line {act.line})" if act.line is not None else ""
            decision = await approve(
                ApprovalRequest(
                    call_id=call.call_id,
                    name=call.name,
                    arguments=call.arguments,
                    reason=f"{await self._subject(act, args)} wants to {what}{line}",
                    destructive=True,
                    changes=None,
                    remember_as=_remembered_act(call.name, act),
                    covered_by=_covering(call.name, act),
                    kinds=(f"would {what}",),
                    during_run=True,
                )
            )
            return ActDecision(decision.approved, decision.undecided or _words(decision.feedback))

        return ask

    async def _subject(self, act: Act, args: Any) -> str:
        """What wants to act, as people call it: the cell by its number."""
        if act.cell_id is None:
            return "The code"
        try:
            document = await self.context.document(getattr(args, "path", None))
            cells = (await document.read([act.cell_id])).cells
        except (ToolFailure, DocumentError):
            cells = []
        return f"Cell {cells[0].index + 1}" if cells else "The cell"


def _remembered(tool: Tool, destructive: bool, kinds: Sequence[str]) -> str:
    """The keys of an approval for the session: this tool with these kinds of act only.

    An approval to install packages covers no shell command; neither covers plain changes, nor do
    those cover it.
    """
    if not destructive:
        return tool.name if tool.version is None else f"{tool.name}:{tool.version}"
    return " ".join(f"{tool.name}:{kind.replace(' ', '-')}" for kind in kinds or ("loss",))


def _remembered_act(tool: str, act: Act) -> str:
    """The key of an approval for the session: by this tool, this act, or all that it covers."""
    if act.covers is None:
        return f"act:{tool}:{quote(act.verb)}:{quote(act.path)}"
    return f"acts:{tool}:{quote(act.verb if act.covers else act.kind)}:{quote(act.covers)}"


def _covering(tool: str, act: Act) -> tuple[str, ...]:
    """The keys of wider approvals: of all acts of this kind, or in a folder around it."""
    path = act.path if act.covers is None else os.path.join(act.covers, "x")
    folders = PurePath(path).parents if os.path.isabs(path) else ()
    around = [os.path.join(each, "") for each in folders]
    of_verb = [f"acts:{tool}:{quote(act.verb)}:{quote(each)}" for each in around]
    return (f"acts:{tool}:{quote(act.kind)}:", *of_verb)


def _is_shown(act: Act, approved: Reason) -> bool:
    """Whether the question before the run named this act and target."""
    if act.by_shell_line:
        # The question shows the line, of which the shell may make another text.
        return bool({"runs a shell command", "installs or removes packages"} & set(approved.kinds))
    if act.kind in get_args(Kind) and act.kind not in approved.kinds:
        return False
    return any(_names(target, act) for target in approved.targets)


def _names(target: str, act: Act) -> bool:
    """Whether a target as the code has it is that of the act, as it really is."""
    if posixpath.normpath(target) == posixpath.normpath(act.target):
        return True
    if act.kind == "changes a database":
        return f" {target} " in f" {act.verb} "
    if act.kind == "connects to another machine":
        return urlsplit(target).hostname == act.target
    if act.kind == "runs a shell command":
        return act.target in _commands(target)
    return False


def _commands(target: str) -> tuple[str, ...]:
    """A program's arguments, ``['ls', '-l']``, or ``%%bash``, as a command."""
    if target.startswith("%%"):
        return (target[2:].removeprefix("script "),)
    try:
        arguments = ast.literal_eval(target)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ()
    is_list = isinstance(arguments, list) and all(isinstance(each, str) for each in arguments)
    return (shlex.join(arguments),) if is_list else ()


def _words(feedback: str | None) -> str | None:
    return f"the user declined and wrote: {feedback}" if feedback else None


def _plain_arguments(args: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = args.model_dump(mode="json", by_alias=True, exclude_none=True)
    return arguments


def _denied(name: str, decision: Decision) -> Dispatched:
    message = "The user declined this call; nothing was done."
    if decision.undecided:
        message = f"This call was not approved; nothing was done. {decision.undecided}"
    elif decision.feedback:
        message += f" The user wrote: {decision.feedback}"
    result = ToolResult(
        ok=False,
        name=name,
        error=ToolError(
            code="denied",
            message=message,
            hint="Continue another way, or explain to the user what is needed.",
        ),
    )
    return Dispatched(result, f"Not approved: {name}", denied=True)
