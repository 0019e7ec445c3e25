"""What a session remembers of a message: its title, and what the person chose."""

from __future__ import annotations

from ..protocol.requests import Session, SessionSettings
from ..store.store import Store
from .targets import AGENT_PREFIX, Submission

UNTITLED = "New session"
UNTITLED_BEFORE = "New chat"
"""What earlier versions called a session without a message."""
TITLE_CHARACTERS = 60


def title_from(text: str) -> str | None:
    """What a session is called after the text of its first message, if anything."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return first[:TITLE_CHARACTERS] or None


async def titles_from_messages(store: Store, session_id: str) -> set[str]:
    """What the messages of a session can have made its title."""
    prompts = await (await store.withdrawals()).prompts(session_id)
    titles = (title_from(AGENT_PREFIX.sub("", prompt.message)) for prompt in prompts)
    return {title for title in titles if title}


def to_remember(record: Session, about: Submission) -> tuple[str | None, SessionSettings | None]:
    """The title, made of the first message; the mode, model and notebook where they are others
    than before. None for what stays.

    An option of ``%agent`` is for its message alone: the person's choice in the panel stays.
    """
    title = title_from(about.text) if record.title in (UNTITLED, UNTITLED_BEFORE) else None
    chosen = {"notebook": about.gate.target}
    if about.location != "magic":
        chosen |= {"mode": about.request.mode, "model": about.request.model}
    new = {
        name: value
        for name, value in chosen.items()
        if value is not None and value != getattr(record.settings, name)
    }
    return title, SessionSettings.model_validate(new) if new else None
