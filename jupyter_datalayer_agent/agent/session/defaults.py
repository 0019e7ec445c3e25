"""What a session remembers of a message: a title, and the user's choices."""

from __future__ import annotations

from ...protocol.requests import Session, SessionSettings
from ...store.store import Store
from ..request import AGENT_PREFIX, TurnRequest

UNTITLED = "New session"
UNTITLED_BEFORE = "New chat"
"""The title of a session without a message in earlier versions."""
TITLE_CHARACTERS = 60


def title_from(text: str) -> str | None:
    """The title from the text of the first message, if any."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return first[:TITLE_CHARACTERS] or None


async def titles_from_messages(store: Store, session_id: str) -> set[str]:
    """The titles that the messages of a session can have given it."""
    prompts = await store.withdrawals.prompts(session_id)
    titles = (title_from(AGENT_PREFIX.sub("", prompt.message)) for prompt in prompts)
    return {title for title in titles if title}


def changed_defaults(
    record: Session, request: TurnRequest
) -> tuple[str | None, SessionSettings | None]:
    """The title, from the first message; the mode, model and notebook if they changed. None for
    what stays.

    An option of ``%agent`` is for its message alone: the user's choice in the panel stays.
    """
    title = title_from(request.text) if record.title in (UNTITLED, UNTITLED_BEFORE) else None
    chosen = {"notebook": request.gate.target}
    if request.location != "magic":
        chosen |= {"mode": request.chat.mode, "model": request.chat.model}
    new = {
        name: value
        for name, value in chosen.items()
        if value is not None and value != getattr(record.settings, name)
    }
    return title, SessionSettings.model_validate(new) if new else None
