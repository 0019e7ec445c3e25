"""The one way to call a tool: find it, gate it, check its arguments, ask, time it, report.

What all tools share is here, so that no tool contains it. Every failure becomes a ``ToolResult``
that says what was wrong and what would be right; only a cancellation leaves this module as an
exception.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from ..notebook.document import DocumentError
from ..notebook.paths import resolve_path
from ..protocol.base import ApprovalPolicy
from ..protocol.json_text import parse_json
from ..protocol.sharing import ShareRequest
from ..protocol.tools import Change, ToolError, ToolResult
from .context import ToolContext, ToolFailure
from .redaction import CallRef
from .registry import Alias, Tool, ToolRegistry
from .result import Dispatched, ResultBuilder
from .risky_code import Reason
from .schema import compact_schema

log = logging.getLogger(__name__)
_MODEL = re.compile(r"a valid dictionary or instance of \w+")


@dataclass(frozen=True)
class Decision:
    """The answer to an approval: whether, and if not, why (which the model reads)."""

    approved: bool
    feedback: str | None = None


@dataclass(frozen=True)
class ApprovalRequest:
    """A request for approval. ``changes`` is what the call would change, if known.

    With ``share`` the act is sending something to the model. ``kinds`` are the kinds of act that
    code does beyond the kernel. ``remember_as`` are the keys, separated by spaces, that an approval
    for the session covers.
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
            entry = self._find(name)
            tool = self.registry.tool(entry.tool) if isinstance(entry, Alias) else entry
            shown = tool.name
            if (refusal := self.context.gate.refusal(tool)) is not None:
                raise ToolFailure.of(refusal)
            args = await self._arguments(entry, tool, arguments)
            denial = await self._ask(tool, args, call_id)
            if denial is not None:
                done = _denied(shown, denial)
            else:
                asking = CallRef(call_id, tool.name, _plain_arguments(args), f"this {tool.name}")
                done = await self._run(tool, args, asking)
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

    async def _run(self, tool: Tool, args: Any, asking: CallRef) -> Dispatched:
        try:
            outcome = await tool.run(args, replace(self.context, call_id=asking.call_id or None))
        except (ToolFailure, DocumentError) as failure:
            draft = ResultBuilder.of_failure(tool.name, failure)
        else:
            draft = ResultBuilder.of_outcome(tool.name, outcome)
        return await draft.shared(self.context.sharing, asking)

    def _find(self, name: str) -> Tool | Alias:
        entry = self.registry.find(name)
        if entry is not None:
            return entry
        names = [tool.name for tool in self.context.gate.allowed(self.registry)]
        near = get_close_matches(name, names, n=3, cutoff=0.5)
        raise ToolFailure(
            "not_found",
            f"There is no tool named {name!r}.",
            f"Did you mean {', '.join(near)}?" if near else f"The tools are {', '.join(names)}.",
        )

    async def _arguments(
        self, entry: Tool | Alias, tool: Tool, arguments: str | dict[str, Any]
    ) -> Any:
        given = parse_arguments(arguments)
        values = given
        if isinstance(entry, Alias):
            translated = _validate(entry.arguments, self._confined(given), entry.name)
            values = await entry.translate(translated, self.context)
        return _validate(tool.arguments, self._confined(values), tool.name)

    def _confined(self, values: dict[str, Any]) -> dict[str, Any]:
        """``path`` (or ``uri``) as a path under the server root; refused where it leads out. Models
        that fill in every argument leave one empty that they do not mean."""
        values = {key: each for key, each in values.items() if key != "path" or each != ""}
        if values.get("path") is None and isinstance(values.get("uri"), str):
            values["path"] = values.pop("uri")
        if isinstance(values.get("path"), str):
            values["path"] = resolve_path(values["path"], self.context.notebooks.root_dir)
        return values

    async def _ask(self, tool: Tool, args: Any, call_id: str) -> Decision | None:
        """The denial, or None if the call may continue."""
        if self.policy == "never" or self._approve is None:
            return None
        reason = await tool.destructive(args, self.context) if tool.destructive else None
        if reason is None and not (self.policy == "always" and tool.changes):
            return None
        kinds = reason.kinds if isinstance(reason, Reason) else ()
        message = reason.message if isinstance(reason, Reason) else reason
        preview = await tool.preview(args, self.context) if tool.preview else None
        decision = await self._approve(
            ApprovalRequest(
                call_id=call_id,
                name=tool.name,
                arguments=_plain_arguments(args),
                reason=message or "Every action requires approval",
                destructive=reason is not None,
                changes=preview,
                remember_as=_remembered(tool, reason is not None, kinds),
                kinds=kinds,
            )
        )
        return None if decision.approved else decision


def _remembered(tool: Tool, destructive: bool, kinds: Sequence[str]) -> str:
    """The keys of an approval for the session: this tool with these kinds of act only.

    An approval to install packages covers no shell command; neither covers plain changes, nor do
    those cover it.
    """
    if not destructive:
        return tool.name
    return " ".join(f"{tool.name}:{kind.replace(' ', '-')}" for kind in kinds or ("loss",))


def _plain_arguments(args: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = args.model_dump(mode="json", by_alias=True, exclude_none=True)
    return arguments


def parse_arguments(arguments: str | dict[str, Any]) -> dict[str, Any]:
    """The call's arguments as an object. Raises ``ToolFailure`` that says where the JSON is
    broken."""
    if isinstance(arguments, dict):
        return arguments
    try:
        parsed = parse_json(arguments or "{}", strict=False)
    except ValueError as error:
        raise ToolFailure(
            "invalid_arguments",
            f"The arguments are not valid JSON: {error}.",
            "Send the call again with one complete JSON object.",
        ) from error
    if not isinstance(parsed, dict):
        raise ToolFailure(
            "invalid_arguments",
            f"The arguments must be a JSON object, not {type(parsed).__name__}.",
            "Send the call again with one JSON object.",
        )
    return parsed


def _validate(model: Any, values: dict[str, Any], name: str) -> Any:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        # Each once, in order: pydantic reports one error for each member of a union.
        found: dict[str, dict[str, None]] = {}
        for each in error.errors(include_url=False):
            problem = _MODEL.sub("an object", each["msg"].removeprefix("Value error, "))
            found.setdefault(_place(each, values), {})[problem] = None
        problems = "; ".join(
            f"{place}: {', or '.join(problem)}" for place, problem in found.items()
        )
        raise ToolFailure(
            "invalid_arguments",
            f"{name} was not called, nothing was changed: {problems}.",
            "The arguments follow this schema: " + json.dumps(compact_schema(model)),
            summary=f"{name}: invalid request, nothing was changed",
        ) from error


def _place(problem: Mapping[str, Any], values: Any) -> str:
    """The location of a problem in the arguments, without the names of union members."""
    if not problem["loc"]:
        return "arguments"
    *outer, last = problem["loc"]
    names = []
    for step in outer:
        if step in values if isinstance(values, dict) else isinstance(step, int):
            values = values[step]
            names.append(str(step))
    is_name = problem["type"] == "missing" or (isinstance(values, dict) and last in values)
    if is_name or isinstance(last, int):
        names.append(str(last))
    return ".".join(names) or "arguments"


def _denied(name: str, decision: Decision) -> Dispatched:
    feedback = f" The user wrote: {decision.feedback}" if decision.feedback else ""
    result = ToolResult(
        ok=False,
        name=name,
        error=ToolError(
            code="denied",
            message=f"The user declined this call; nothing was done.{feedback}",
            hint="Continue another way, or explain to the user what is needed.",
        ),
    )
    return Dispatched(result, f"Not approved: {name}", denied=True)
