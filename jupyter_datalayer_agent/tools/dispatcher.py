"""The one way to call a tool: find it, gate it, check its arguments, ask, time it, report.

What all tools share is here, so that no tool repeats it. Every failure becomes a ``ToolResult``
that says what was wrong and what to do; only a cancellation leaves this module as an exception.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from ..notebook.document import DocumentError
from ..notebook.kernel.acts import asking, deciding
from ..notebook.paths import resolve_path
from ..protocol.base import ApprovalPolicy
from ..protocol.tools import ToolError, ToolResult
from .arguments import parse_arguments, validated
from .call_approval import Approve, CallApproval, Decision
from .context import ToolContext, ToolFailure
from .redaction import CallRef
from .registry import Alias, CallOfAnother, Tool, ToolRegistry
from .result import Dispatched, ResultBuilder

log = logging.getLogger(__name__)

_OTHERWISE = "Continue another way, or explain to the user what is needed."
_SHOW = "If it was an example, write it with a sentence before it: then it is shown."


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
        self,
        name: str,
        arguments: str | dict[str, Any],
        call_id: str = "",
        *,
        may_be_example: bool = False,
    ) -> Dispatched:
        """Call a tool by any of its names, with ``arguments`` as the model wrote them or parsed. If
        the call ``may_be_example``, the user is asked before it changes anything."""
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
            call = CallRef(call_id, tool.name, _plain_arguments(args), f"this {tool.name}")
            approval = CallApproval(tool, args, call, context, self.policy, self._approve)
            approval.is_unsure = may_be_example and tool.changes
            done = await self._approved(approval, call, context)
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

    async def _approved(
        self, approval: CallApproval, call: CallRef, context: ToolContext
    ) -> Dispatched:
        """Make the call once the user has approved what it would do now."""
        asks = approval.asks and approval.tool.changes
        act, run = (approval.act, approval.run) if asks else (None, None)
        while True:
            if (denial := await approval.denied()) is not None:
                hint = _SHOW if approval.is_unsure else _OTHERWISE
                return _denied(approval.tool.name, denial, hint)
            async with approval.documents():
                if not await approval.still_holds():
                    continue
                with asking(act), deciding(run):
                    return await self._run(approval.tool, approval.args, call, approval.context)

    async def _run(
        self, tool: Tool, args: Any, asking: CallRef, context: ToolContext
    ) -> Dispatched:
        if isinstance(path := getattr(args, "path", None), str) and tool.parameters is None:
            # The document may have been renamed while the user was asked.
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
        """The tool and arguments that a call names; those of ``callTool`` name another tool."""
        entry = self.registry.find(name)
        if not isinstance(entry, Tool) or not issubclass(entry.arguments, CallOfAnother):
            return name, arguments
        call = validated(entry.arguments, parse_arguments(arguments), entry.name)
        found = self._find(call.name)
        if not isinstance(found, Tool) or not found.is_found_by_search:
            raise ToolFailure(
                "invalid_arguments",
                f"{call.name} cannot be called through {entry.name}.",
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
            # A tool of another program interprets its paths itself.
            return tool.arguments.model_validate(given)
        values = given
        if isinstance(entry, Alias):
            translated = validated(entry.arguments, await self._confined(given), entry.name)
            values = await entry.translate(translated, self.context)
        return validated(tool.arguments, await self._confined(values), tool.name)

    async def _confined(self, values: dict[str, Any]) -> dict[str, Any]:
        """Resolve ``path`` (or ``uri``) under the server root, following renames. Raises if it is
        outside. An empty one is dropped, since some models fill in every argument."""
        values = {key: each for key, each in values.items() if key != "path" or each != ""}
        if values.get("path") is None and isinstance(values.get("uri"), str):
            values["path"] = values.pop("uri")
        if isinstance(values.get("path"), str):
            path = resolve_path(values["path"], self.context.notebooks.root_dir)
            values["path"] = await self.context.notebooks.located(path)
        return values


def _denied(name: str, decision: Decision, hint: str) -> Dispatched:
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
            hint=hint,
        ),
    )
    return Dispatched(result, f"Not approved: {name}", denied=True)


def _plain_arguments(args: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = args.model_dump(mode="json", by_alias=True, exclude_none=True)
    return arguments
