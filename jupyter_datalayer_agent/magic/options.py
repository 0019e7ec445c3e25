"""Parses what follows ``%agent``: options, then the prompt or a command."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .failure import AgentMagicError

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
