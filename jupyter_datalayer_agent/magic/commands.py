"""``%agent status | stop | undo | history | models | help``: each answers with a few lines."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .server import AgentMagicError, Server

# Parses what follows ``%agent``: options, then the prompt or a command.


COMMANDS = ("status", "stop", "undo", "history", "models", "help")
MODES = ("ask", "edit", "agent")
FORMATS = ("markdown", "code", "text")
VALUED = ("mode", "model", "session", "attach", "out", "format")
FLAGS = ("wait",)
_OPTION = re.compile(r"""\s*--([a-z]+)(?:(=|\s+)("[^"]*"|'[^']*'|\S+))?""")
_PLANNED = re.compile(r"^\s*agent:", re.IGNORECASE)


@dataclass
class Options:
    """A message and its options. ``command`` is set instead of a ``prompt``."""

    prompt: str = ""
    command: str | None = None
    mode: str = "ask"
    model: str | None = None
    session: str | None = None
    attach: list[str] = field(default_factory=list)
    out: str | None = None
    wait: bool = False
    format: str = "markdown"

    @property
    def changes(self) -> bool:
        """Whether the turn may change and run cells; ``agent:`` asks for that in any mode."""
        return self.mode == "agent" or _PLANNED.match(self.prompt) is not None


def parse(line: str, cell: str | None = None) -> Options:
    """The options of a magic's line and cell. Raises ``AgentMagicError`` for what is not one."""
    options = Options()
    rest = line
    while found := _OPTION.match(rest):
        name, joined, value = found.groups()
        if name in FLAGS:
            if joined == "=":
                raise AgentMagicError(f"--{name} takes no value.")
            rest = rest[found.end(1) :]
            setattr(options, name, True)
            continue
        if name not in VALUED:
            known = ", ".join(f"--{each}" for each in (*VALUED, *FLAGS))
            raise AgentMagicError(f"There is no option --{name}. There are {known}.")
        if value is None:
            raise AgentMagicError(f"--{name} needs a value.")
        _set(options, name, value[1:-1] if value[0] in "\"'" and len(value) > 1 else value)
        rest = rest[found.end() :]
    rest = re.sub(r"^\s*--(?=\s|$)", "", rest).strip()
    if cell is None and rest in ("?", "??"):
        options.command = "help"
    elif cell is None and rest in COMMANDS:
        options.command = rest
    else:
        options.prompt = "\n".join(part for part in (rest, (cell or "").strip()) if part)
        if not options.prompt:
            options.command = "help"
    return options


def _set(options: Options, name: str, value: str) -> None:
    allowed = {"mode": MODES, "format": FORMATS}.get(name)
    if allowed is not None and value not in allowed:
        raise AgentMagicError(f"--{name} is one of {', '.join(allowed)}, not {value}.")
    if name == "out" and not value.isidentifier():
        raise AgentMagicError(f"--out needs the name of a variable, not {value!r}.")
    if name == "attach":
        options.attach.append(value)
    else:
        setattr(options, name, value)


# Completion after ``%agent``: options, their values, commands.


SECONDS = 2.0
KEPT_SECONDS = 20.0


class Completer:
    """Completions at the cursor. Answers of the server are cached for a while."""

    def __init__(self, find: Callable[[], Server]) -> None:
        self._find = find
        self._kept: dict[str, tuple[float, list[str]]] = {}

    def __call__(self, shell: Any, event: Any) -> list[str]:
        """IPython's hook ``complete_command``."""
        before = event.text_until_cursor.split()
        if not event.text_until_cursor[-1:].isspace():
            before = before[:-1]
        option = before[-1][2:] if before and before[-1].startswith("--") else ""
        values = self._values(option)
        if values is not None:
            return [value for value in values if value.startswith(event.symbol)]
        candidates = [f"--{name}" for name in (*VALUED, *FLAGS)]
        if len(before) == 1:
            candidates += COMMANDS
        return [word for word in candidates if word.startswith(event.symbol)]

    def _values(self, option: str) -> list[str] | None:
        if option == "mode":
            return list(MODES)
        if option == "format":
            return list(FORMATS)
        if option == "model":
            return self._asked("models", lambda reply: [
                model["id"] for model in reply["models"] if model["ready"]
            ])  # fmt: skip
        if option == "session":
            return self._asked("sessions", lambda reply: [
                "new", *(_quoted(each["title"]) for each in reply["sessions"])
            ])  # fmt: skip
        return [] if option in ("out", "attach") else None

    def _asked(self, route: str, names: Callable[[Any], list[str]]) -> list[str]:
        at, kept = self._kept.get(route, (0.0, []))
        if not kept or time.monotonic() - at > KEPT_SECONDS:
            try:
                kept = names(self._find().get(route, seconds=SECONDS))
            except AgentMagicError:
                return kept
            self._kept[route] = (time.monotonic(), kept)
        return kept


def _quoted(title: str) -> str:
    return f'"{title}"' if " " in title else title


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
