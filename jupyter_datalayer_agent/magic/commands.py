"""``%agent status | stop | undo | history | models | help``: each answers with a few lines."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .failure import AgentMagicError
from .server import Server

SETTLE_SECONDS = 30.0
LONGEST = 100

HELP = """\
%agent PROMPT, or %%agent [options] with the prompt in the cell

  --mode ask|edit|agent         what the agent may do now (ask: it reads and answers)
  --model NAME                  another model, for this message
  --session S                   a session of this notebook by its title or id; new begins one
  --attach PATH                 a file or a notebook; may be given more than once
  --out VAR                     keep the answer in a variable
  --format markdown|code|text   code: only the code of the answer
  --wait                        in a kernel that the agent does not need: wait for the end

In Agent mode the cell is done at once. The agent adds its cells below it and runs them when the
kernel is free; the output goes on changing meanwhile.

In a prompt, {name} inserts a variable's short form, @path attaches a file, #tool names a tool.
_agent holds the last answer. Stop a cell that waits with the kernel's interrupt button.

%agent status | stop | undo | history | models | help"""


class Commands:
    """The commands, about the session ``session_id``."""

    def __init__(self, find: Callable[[], Server], session_id: str | None) -> None:
        self._find = find
        self._session_id = session_id

    def run(self, name: str) -> str:
        """The command's output. Raises ``AgentMagicError``."""
        output: str = getattr(self, name)()
        return output

    def help(self) -> str:
        """How the magic is used."""
        return HELP

    def status(self) -> str:
        """The server, the model, the session and its state."""
        server = self._find()
        models = server.get("models")
        model = models.get("default") if models["ready"] else models.get("message")
        lines = [f"Server: {server.url}", f"Model: {model or 'none'}"]
        if self._session_id is None:
            return "\n".join([*lines, "Session: none yet in this kernel"])
        session = server.get(f"sessions/{self._session_id}")
        running = "at work" if session.get("runningTurnId") else "idle"
        if session.get("waits"):
            running = "waits for you in the agent's panel"
        queued = len(session.get("queued") or [])
        waits = f", {queued} waiting" if queued else ""
        lines.append(f"Session: {session['title']} ({session['id']}), {running}{waits}")
        lines.append(f"Turns: {session['turnCount']}, tokens: {session['sessionTokens']}")
        return "\n".join(lines)

    def stop(self) -> str:
        """Stop the running turn."""
        server, session_id = self._conversation()
        if not server.get(f"sessions/{session_id}").get("runningTurnId"):
            return "Nothing is running."
        server.post(f"sessions/{session_id}/ops", {"type": "interrupt"})
        return "Stopped."

    def undo(self) -> str:
        """Undo the last turn that changed something."""
        server, session_id = self._conversation()
        for turn in reversed(server.get(f"sessions/{session_id}/turns", limit="50")["turns"]):
            states = _states(server, session_id, turn["id"]) if turn["changes"] else []
            if any(state != "undone" for state in states):
                break
        else:
            return "Nothing to undo."
        after = server.get(f"sessions/{session_id}")["lastSeq"]
        op = {"type": "undo", "turnId": turn["id"]}
        op_id = server.post(f"sessions/{session_id}/ops", op)["opId"]
        deadline = time.monotonic() + SETTLE_SECONDS
        for event in server.stream(f"sessions/{session_id}/events", after=str(after)):
            if event["type"] == "changes_undone" and event["ofTurnId"] == turn["id"]:
                return _undone(event)
            if event["type"] == "error" and event.get("opId") == op_id:
                raise AgentMagicError(event["message"])
            if time.monotonic() > deadline:
                break
        raise AgentMagicError("It is not undone yet. See the changes in the agent's panel.")

    def history(self) -> str:
        """The session's messages and answers, in short."""
        server, session_id = self._conversation()
        turns = server.get(f"sessions/{session_id}/turns", limit="20")["turns"]
        lines = []
        for turn in turns:
            mark = {"completed": "✓", "running": "…"}.get(turn["status"], "✗")
            lines.append(f"{mark} {_short(turn['message'])}")
            if turn["reply"]:
                lines.append(f"  {_short(turn['reply'])}")
        return "\n".join(lines) or "No messages yet."

    def models(self) -> str:
        """The models that can be chosen now."""
        reply = self._find().get("models")
        ready = [model["id"] for model in reply["models"] if model["ready"]]
        if not ready:
            return str(reply.get("message") or "No model is ready.")
        return "\n".join(
            f"{name} (default)" if name == reply.get("default") else name for name in ready
        )

    def _conversation(self) -> tuple[Server, str]:
        if self._session_id is None:
            raise AgentMagicError("There is no session in this kernel yet.")
        return self._find(), self._session_id


def _states(server: Server, session_id: str, turn_id: str) -> list[str]:
    return list(server.get(f"sessions/{session_id}/turns/{turn_id}/changes")["states"])


def _undone(event: dict[str, Any]) -> str:
    count, left = len(event["changes"]), len(event.get("conflicts") or [])
    lines = [f"Undone: {count} change{'' if count == 1 else 's'}."]
    if left:
        lines.append(f"{left} changed again since then and were kept; see the agent's panel.")
    return " ".join([*lines, event.get("note") or ""]).strip()


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
