"""A session of the client, which is one of ours."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import acp
from acp.schema import (
    AllowedOutcome,
    BlobResourceContents,
    EmbeddedResourceContentBlock,
    PermissionOption,
    PromptResponse,
    ResourceContentBlock,
    SessionInfoUpdate,
    StopReason,
    TextContentBlock,
    ToolCallUpdate,
    Usage,
)

from ..protocol.approval_text import approval_parts, visible
from ..protocol.turn_view import ENDS, TurnView
from .server_client import ServerClient, ServerError, ServerGone
from .updates import Content, TurnUpdates, code_content, diffs, message_chunk, text_content

# What a turn asks its user, as permission requests of the client.


ONCE, SESSION, REJECT, SKIP = "allow_once", "allow_session", "reject", "skip"
APPROVAL = [
    PermissionOption(option_id=ONCE, name="Allow once", kind="allow_once"),
    PermissionOption(option_id=SESSION, name="Allow for this session", kind="allow_always"),
    PermissionOption(option_id=REJECT, name="Reject", kind="reject_once"),
]
DECISIONS = {ONCE: "approve", SESSION: "approve_for_session"}
NO_ANSWER = "no_answer"
NO_FREE_TEXT = (
    "The user's editor shows no question in the middle of a task. Ask it as your answer, and end "
    "there: the user replies with the next message."
)
NONE_OF_THESE = "None of these"
NOT_ANSWERED = "The user did not answer. Decide with what you know, and say what you assumed."
IN_THE_PANEL = "It needs values that your editor cannot ask for. Run it in the agent's panel."
NOT_ASKED = "The editor could not ask the user."


def can_run(proposal: dict[str, Any]) -> bool:
    """Whether all is known that the action needs, and no secret is to be typed."""
    needs_secret = any(each["secret"] and each["required"] for each in proposal["parameters"])
    return bool(proposal["complete"]) and not needs_secret


def values_of(proposal: dict[str, Any]) -> dict[str, Any]:
    """The values that a proposed action has."""
    return {each["name"]: each["value"] for each in proposal["parameters"] if each["found"]}


def _proposal_lines(proposal: dict[str, Any]) -> list[str]:
    found = [each for each in proposal["parameters"] if each["found"]]
    lines = [f"{each['title']}: {each.get('display') or each['value']}" for each in found]
    return [*lines, proposal["destroys"]] if proposal.get("destroys") else lines


class Permissions:
    """Asks the user of one session. A client that cannot ask, or goes away, rejects."""

    def __init__(self, client: acp.Client, session_id: str, root: Path) -> None:
        self._client = client
        self._session_id = session_id
        self._root = root
        self.proposal: dict[str, Any] | None = None
        """The action that a plan waits for."""

    async def decide(self, event: dict[str, Any]) -> dict[str, Any]:
        """The op that answers an event that asks."""
        if event["type"] == "approval_requested":
            return await self._approval(event)
        if event["type"] == "user_input_requested":
            return await self._question(event)
        return await self._plan(event)

    async def run_action(self, proposal: dict[str, Any]) -> bool:
        """Whether the user wants to run the action of a complete proposal."""
        lines = _proposal_lines(proposal)
        chosen = await self._ask(
            f"proposal:{proposal['proposalId']}",
            f"Run “{proposal['title']}”",
            [
                PermissionOption(option_id=ONCE, name="Run", kind="allow_once"),
                PermissionOption(option_id=REJECT, name="Do not run", kind="reject_once"),
            ],
            content=[text_content("\n".join(lines))] if lines else [],
        )
        return chosen == ONCE

    async def _approval(self, event: dict[str, Any]) -> dict[str, Any]:
        content: list[Content] = [*diffs(event.get("changes") or (), self._root)]
        for part in approval_parts({**event, "changes": ()}) if not content else ():
            content += [text_content(part.heading)] if part.heading else []
            content.append(code_content(part.text))
        chosen = await self._ask(
            event["callId"] or event["approvalId"],
            visible(event["reason"]),
            APPROVAL,
            content=content,
            raw_input=event["arguments"],
        )
        op = {"type": "approval_decision", "approvalId": event["approvalId"]}
        if chosen is None:
            return {**op, "decision": "deny", "unanswered": NOT_ASKED}
        return {**op, "decision": DECISIONS.get(chosen, "deny")}

    async def _question(self, event: dict[str, Any]) -> dict[str, Any]:
        op = {"type": "user_input_answer", "requestId": event["requestId"]}
        answers = event.get("options") or []
        if not answers:
            return {**op, "unanswered": NO_FREE_TEXT}
        options = [
            PermissionOption(option_id=str(number), name=answer, kind="allow_once")
            for number, answer in enumerate(answers)
        ]
        options.append(
            PermissionOption(option_id=NO_ANSWER, name=NONE_OF_THESE, kind="reject_once")
        )
        chosen = await self._ask(event["requestId"], event["question"], options)
        if chosen is None:
            return {**op, "unanswered": NOT_ANSWERED}
        given = chosen.isdecimal() and int(chosen) < len(answers)
        return {**op, "answer": answers[int(chosen)] if given else NONE_OF_THESE}

    async def _plan_action(self, proposal: dict[str, Any]) -> dict[str, Any]:
        """The plan waits for its action, which can be run here where the form asks nothing."""
        options = [
            PermissionOption(option_id=SKIP, name="Skip it", kind="reject_once"),
            PermissionOption(option_id=REJECT, name="Stop the plan", kind="reject_once"),
        ]
        lines = _proposal_lines(proposal)
        if can_run(proposal):
            options.insert(0, PermissionOption(option_id=ONCE, name="Run", kind="allow_once"))
        else:
            lines.append(IN_THE_PANEL)
        chosen = await self._ask(
            f"proposal:{proposal['proposalId']}",
            f"Run “{proposal['title']}”",
            options,
            content=[text_content("\n".join(lines))],
        )
        if chosen == ONCE:
            run = {"type": "run_action", "proposalId": proposal["proposalId"]}
            return {**run, "parameters": values_of(proposal)}
        return {"type": "plan_decision", "decision": "skip" if chosen == SKIP else "reject"}

    async def _plan(self, event: dict[str, Any]) -> dict[str, Any]:
        if event["state"] == "waiting" and self.proposal is not None:
            return await self._plan_action(self.proposal)
        steps = [
            f"{number}. {step['description']}" for number, step in enumerate(event["steps"], 1)
        ]
        chosen = await self._ask(
            f"plan:{event['turnId']}",
            "Go on with this plan" if event["state"] == "paused" else "Run this plan",
            [
                PermissionOption(option_id=ONCE, name="Run", kind="allow_once"),
                PermissionOption(option_id=REJECT, name="Reject", kind="reject_once"),
            ],
            content=[text_content("\n".join(steps))],
        )
        return {"type": "plan_decision", "decision": "approve" if chosen == ONCE else "reject"}

    async def _ask(
        self,
        call_id: str,
        title: str,
        options: list[PermissionOption],
        *,
        content: Sequence[Content] = (),
        raw_input: Any = None,
    ) -> str | None:
        """The id of the option that was chosen, None where none was."""
        given: dict[str, Any] = {"content": list(content)} if content else {}
        if isinstance(raw_input, dict) and len(json.dumps(raw_input)) < 20_000:
            given["raw_input"] = raw_input
        try:
            answer = await self._client.request_permission(
                session_id=self._session_id,
                tool_call=ToolCallUpdate(
                    tool_call_id=call_id, title=title, status="pending", **given
                ),
                options=options,
            )
        except (acp.RequestError, ConnectionError):
            return None
        outcome = answer.outcome
        return outcome.option_id if isinstance(outcome, AllowedOutcome) else None


# A prompt's content blocks as a message with attachments.


NOTEBOOK = ".ipynb"
_MENTION = re.compile(r'(?:^|(?<=\s))@(?:"([^"]+\.ipynb)"|([^\s"]+(?:(?<=\\) [^\s"]+)*\.ipynb))')
_RUN_TOGETHER = re.compile(r"[^\s(\[\"'`][^\s.,;:!?)\]\"'`]")
_TICKS = re.compile(r"`{3,}")


class PromptRefused(Exception):
    """A block that cannot be sent; the message says why and what to do."""


@dataclass
class Prompt:
    """A message; ``attachments`` are those of a ``ChatRequest``, ``notebooks`` the paths of the
    notebooks among them, and of those that the text mentions (``@sales.ipynb``), in order."""

    message: str = ""
    attachments: list[dict[str, Any]] = field(default_factory=list)
    notebooks: list[str] = field(default_factory=list)

    def attach(self, path: str) -> None:
        """Attach a document, once."""
        kind = "notebook" if path.endswith(NOTEBOOK) else "file"
        attachment = {"kind": kind, "path": path}
        if attachment not in self.attachments:
            self.attachments.append(attachment)
            if kind == "notebook":
                self.notebooks.append(path)


def read_prompt(blocks: Sequence[Any], root: Path) -> Prompt:
    """The prompt of these blocks, for a server with this root. Raises ``PromptRefused``.

    A link to a file is an attachment, which the server reads. What a client embeds is text of the
    message, since its editor may hold what is not saved; a notebook is attached all the same, as
    it is read and changed by its cells.
    """
    prompt = Prompt()
    said, after_link = "", False
    quoted: list[str] = []
    for block in blocks:
        is_text = isinstance(block, TextContentBlock)
        if is_text:
            part = block.text
        elif isinstance(block, ResourceContentBlock):
            part = _link(prompt, block, root)
        elif isinstance(block, EmbeddedResourceContentBlock):
            part = _embedded(prompt, block, root, quoted)
        else:
            raise PromptRefused(
                f"This agent takes text, links and text resources, not {block.type} content. Save "
                "it to a file of the project and link that."
            )
        # Some clients put links after the text, without a space.
        apart = (after_link or not is_text) and _RUN_TOGETHER.search(f"{said[-1:]}{part[:1]}")
        said += f" {part}" if apart else part
        after_link = not is_text
    prompt.message = "\n\n".join([said.strip(), *quoted]).strip()
    for in_quotes, bare in _MENTION.findall(said):
        path = in_quotes or bare.replace("\\ ", " ")
        if path not in prompt.notebooks and (root / path).is_file():
            prompt.notebooks.append(path)
    return prompt


def _link(prompt: Prompt, block: ResourceContentBlock, root: Path) -> str:
    file = file_of(block.uri)
    if file is None:
        return f"[{block.name}]({block.uri})"
    path = _below(file, root)
    prompt.attach(path)
    fragment = urlsplit(block.uri).fragment
    return f"{path}#{fragment}" if fragment else path


def _embedded(
    prompt: Prompt, block: EmbeddedResourceContentBlock, root: Path, quoted: list[str]
) -> str:
    resource = block.resource
    file = file_of(resource.uri)
    if file is not None and (file.suffix == NOTEBOOK or isinstance(resource, BlobResourceContents)):
        path = _below(file, root)
        prompt.attach(path)
        return path
    if isinstance(resource, BlobResourceContents):
        raise PromptRefused(f"{resource.uri} is not text. Link a file of the project instead.")
    name = resource.uri
    if file is not None and file.is_relative_to(root):
        name = file.relative_to(root).as_posix()
        if fragment := urlsplit(resource.uri).fragment:
            name = f"{name}#{fragment}"
    longest = max((len(ticks) for ticks in _TICKS.findall(resource.text)), default=2)
    fence = "`" * (longest + 1)
    quoted.append(f"{name}:\n{fence}\n{resource.text}\n{fence}")
    return name


def file_of(uri: str) -> Path | None:
    """The file that a URI names, or None for one that names none on this machine."""
    parts = urlsplit(uri)
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return Path(os.path.normpath(url2pathname(parts.path)))
    return Path(uri) if not parts.scheme and uri.startswith("/") else None


def _below(file: Path, root: Path) -> str:
    """The file's path under the root. Raises ``PromptRefused`` where it is outside."""
    for each in (file, Path(os.path.realpath(file))):
        if each.is_relative_to(root):
            return each.relative_to(root).as_posix()
    raise PromptRefused(
        f"{file} is outside the root folder of the Jupyter server, {root}. Open a folder that "
        "contains it, or start Jupyter in one."
    )


STOP_REASONS: dict[str, StopReason] = {
    "interrupted": "cancelled",
    "replaced": "cancelled",
    "token_limit": "max_tokens",
    "tool_limit": "max_turn_requests",
}
SECRET = (
    "It needs a value that is kept secret. Run it in the agent's panel in JupyterLab, which asks "
    "for it."
)
IN_PROGRESS = "A turn is running in this session. Wait for its end, or cancel it."
ENDED = "The Jupyter server ended before the turn did. What was done until then is kept."


@dataclass
class Session:
    """A conversation. ``notebook`` is the one that messages are about until another is linked.

    ``own`` is false for one that was loaded: an empty session that this process made is deleted
    when the client leaves.
    """

    id: str
    cwd: Path
    server: ServerClient
    client: acp.Client
    mode: str
    model: str | None = None
    notebook: Path | None = None
    context_window: int | None = None
    own: bool = True
    title: str | None = None
    used: Usage = field(
        default_factory=lambda: Usage(total_tokens=0, input_tokens=0, output_tokens=0)
    )
    running: bool = False
    prompted: bool = False
    _cancelled: bool = False
    _asking: dict[str, tuple[dict[str, Any], asyncio.Task[None]]] = field(default_factory=dict)

    async def prompt(self, blocks: list[Any]) -> PromptResponse:
        """Carry out a message. Raises ``PromptRefused``, ``ServerError`` and ``ServerGone``."""
        if self.running:
            raise ServerError("turn_in_progress", IN_PROGRESS)
        body = self._request(read_prompt(blocks, self.server.root))
        self._cancelled = False
        self.running = self.prompted = True
        try:
            end, proposal = await self._turn(body)
            if proposal is not None and end["type"] == "turn_completed":
                end = await self._run_proposed(body, proposal) or end
        except (asyncio.CancelledError, ConnectionError):
            # The client is gone: ``leave`` stops the turn.
            raise
        except BaseException:
            self.running = False
            raise
        finally:
            await self._stop_asking()
        self.running = False
        await self._name()
        if end["type"] == "turn_completed":
            return PromptResponse(stop_reason="end_turn", usage=self.used)
        reason = STOP_REASONS.get(end["reason"])
        if reason is None:
            raise ServerError("internal", end.get("message") or ENDED)
        return PromptResponse(stop_reason=reason, usage=self.used)

    async def cancel(self) -> None:
        """Stop the running turn, also one that is about to begin."""
        self._cancelled = True
        if self.running:
            await self._interrupt()

    async def leave(self) -> None:
        """The client is gone: stop what runs, and delete a session that nothing was said in."""
        with contextlib.suppress(ServerError, ServerGone):
            if self.running:
                await self.server.post(f"sessions/{self.id}/ops", {"type": "interrupt"})
            elif self.own and not self.prompted:
                await self.server.delete(f"sessions/{self.id}")

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        """The ``ChatRequest``. The first notebook that is linked is the one that the message works
        on, and so do later messages that link none."""
        root = self.server.root
        if prompt.notebooks:
            self.notebook = root / prompt.notebooks[0]
        elif self.notebook is not None and not self.notebook.is_file():
            self.notebook = None
        active = None
        # The server may be another one than before, with another root.
        if self.notebook is not None and self.notebook.is_relative_to(root):
            active = self.notebook.relative_to(root).as_posix()
            if active not in prompt.notebooks:
                prompt.attach(active)
        return {
            "message": prompt.message,
            "sessionId": self.id,
            "mode": self.mode,
            "location": "api",
            "runsActions": True,
            "activeNotebook": active,
            "attachments": prompt.attachments,
            **({"model": self.model} if self.model else {}),
        }

    async def _turn(self, body: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Follow a turn to its end: its last event, and the action that it proposed."""
        updates = TurnUpdates(self.server.root, self.context_window)
        view = updates.view
        permissions = Permissions(self.client, self.id, self.server.root)
        async for event in self.server.turn(self.id, body):
            for update in updates.of(event):
                await self.client.session_update(self.id, update)
            if event["type"] == "turn_started" and self._cancelled:
                await self._interrupt()
            permissions.proposal = view.proposal
            await self._follow_questions(permissions, view)
            if event["type"] in ENDS:
                self.count(event.get("usage"))
                return {**event, "message": view.error or None}, view.proposal
        raise ServerGone

    async def _run_proposed(
        self, body: dict[str, Any], proposal: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Run the action that was proposed, if all is known that it needs and the user wants it.
        Else a reply refines the proposal."""
        if not proposal["complete"]:
            return None
        if any(each["secret"] and each["required"] for each in proposal["parameters"]):
            await self.client.session_update(self.id, message_chunk(f"\n\n{SECRET}"))
            return None
        permissions = Permissions(self.client, self.id, self.server.root)
        if not await permissions.run_action(proposal) or self._cancelled:
            return None
        action: dict[str, Any] = {n: proposal[n] for n in ("service", "action", "proposalId")}
        action["parameters"] = values_of(proposal)
        end, _ = await self._turn({**body, "message": proposal["title"], "action": action})
        return end

    # -- questions -------------------------------------------------------------------------------

    async def _follow_questions(self, permissions: Permissions, view: TurnView) -> None:
        """Ask what waits for the user, beside the turn; stop asking what was settled elsewhere, as
        in the panel."""
        for key, (asked, _) in list(self._asking.items()):
            if view.questions.get(key) is not asked:
                await self._stop_asking(key)
        for key, event in view.questions.items():
            if key not in self._asking:
                task = asyncio.create_task(self._answer(permissions, event))
                self._asking[key] = (event, task)

    async def _answer(self, permissions: Permissions, event: dict[str, Any]) -> None:
        op = await permissions.decide(event)
        with contextlib.suppress(ServerError, ServerGone):
            await self.server.post(f"sessions/{self.id}/ops", op)

    async def _stop_asking(self, key: str | None = None) -> None:
        for each in [key] if key is not None else list(self._asking):
            _, task = self._asking.pop(each)
            if not task.done():
                task.cancel()
                await asyncio.wait([task])

    # -- the rest --------------------------------------------------------------------------------

    async def _interrupt(self) -> None:
        with contextlib.suppress(ServerError, ServerGone):
            await self.server.post(f"sessions/{self.id}/ops", {"type": "interrupt"})

    def count(self, usage: dict[str, Any] | None) -> None:
        """Add the tokens of a turn."""
        if usage is not None:
            self.used.input_tokens += usage["inputTokens"]
            self.used.output_tokens += usage["outputTokens"]
            self.used.total_tokens += usage["totalTokens"]
            self.used.cached_read_tokens = (self.used.cached_read_tokens or 0) + usage[
                "cachedTokens"
            ]

    async def _name(self) -> None:
        """Send the session's title, which its first message gave it."""
        with contextlib.suppress(ServerError, ServerGone):
            title = (await self.server.get(f"sessions/{self.id}"))["title"]
            if title != self.title:
                self.title = title
                update = SessionInfoUpdate(session_update="session_info_update", title=title)
                await self.client.session_update(self.id, update)
