"""The system prompt, assembled from the files in ``prompts/``.

A file has YAML front matter: ``mode`` (ask, edit, agent, or a list), ``order`` and ``description``,
plus ``notebook_mode`` (read-only or full) if it is only for a notebook mode, and ``location`` if it
is only for messages from one place. For a model with a small context window, files with ``size:
short`` replace all others. The text for a mode and place does not change from turn to turn, so that
providers can cache it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ...protocol.base import Location, Mode, NotebookMode
from ..instructions import NAME as INSTRUCTIONS_FILE

log = logging.getLogger(__name__)

MAX_PERSONAL_CHARACTERS_SHORT = 2_000


@dataclass(frozen=True)
class Prompt:
    """One prompt file."""

    name: str
    modes: tuple[str, ...]
    order: int
    description: str
    notebook_mode: str | None
    text: str
    location: str | None = None
    is_short: bool = False


def parse_prompt(name: str, content: str) -> Prompt:
    """A prompt file's front matter and text. ``ValueError`` names the file if it is invalid."""
    import yaml

    parts = content.split("---\n", 2)
    if len(parts) != 3 or parts[0].strip():
        raise ValueError(f"{name}: must begin with YAML front matter between two --- lines.")
    # libyaml's loader, if there is one: it takes 1 ms for all files, Python's 5, in the event loop.
    head = yaml.load(parts[1], Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    modes = head.get("mode")
    modes = tuple(modes) if isinstance(modes, list) else (modes,)
    if not set(modes) <= {"ask", "edit", "agent"}:
        raise ValueError(f"{name}: mode must be ask, edit, agent or a list of them, not {modes}.")
    return Prompt(
        name=name,
        modes=modes,
        order=int(head["order"]),
        description=str(head.get("description", "")),
        notebook_mode=head.get("notebook_mode"),
        text=parts[2].strip(),
        location=head.get("location"),
        is_short=head.get("size") == "short",
    )


@cache
def prompts() -> tuple[Prompt, ...]:
    """All prompt files of the package, in order."""
    folder = files("jupyter_datalayer_agent.agent").joinpath("prompts")
    found = [
        parse_prompt(entry.name, entry.read_text(encoding="utf-8"))
        for entry in folder.iterdir()
        if entry.name.endswith(".md")
    ]
    return tuple(sorted(found, key=lambda prompt: (prompt.order, prompt.name)))


def prompt_text(name: str) -> str:
    """The text of a prompt file that belongs to no mode."""
    return next(prompt.text for prompt in prompts() if prompt.name == name)


def system_prompt(
    mode: Mode,
    notebook_mode: NotebookMode,
    personal: str | None = None,
    location: Location | None = None,
    *,
    is_short: bool = False,
) -> str:
    """The system prompt of a mode, with the parts for the notebook mode and the place, and the
    user's own instructions, ``personal``; short for a model with a small context window."""
    chosen = [
        prompt
        for prompt in prompts()
        if mode in prompt.modes
        and prompt.is_short == is_short
        and prompt.notebook_mode in (None, notebook_mode)
        and prompt.location in (None, location)
    ]
    texts = [prompt.text for prompt in chosen]
    names = [prompt.name for prompt in chosen]
    if personal is not None:
        if is_short and len(personal) > MAX_PERSONAL_CHARACTERS_SHORT:
            personal = f"{personal[:MAX_PERSONAL_CHARACTERS_SHORT]}\n[The rest is left out.]"
        texts.append(f"# The user's own instructions ({INSTRUCTIONS_FILE})\n\n{personal}")
        names.append(INSTRUCTIONS_FILE)
    log.debug("System prompt of %s mode: %s", mode, ", ".join(names))
    return "\n\n".join(texts)
