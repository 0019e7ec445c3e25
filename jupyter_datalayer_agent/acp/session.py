"""A session of the client, which is one of ours."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import acp
from acp.schema import PromptResponse, SessionInfoUpdate, StopReason, Usage

from ..protocol.turn_view import ENDS, TurnView
from .permissions import Permissions, values_of
from .prompt import Prompt, read_prompt
from .server_client import ServerClient, ServerError, ServerGone
from .updates import TurnUpdates, message_chunk

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
