"""A conversation for programs: all that is stored of it."""

from __future__ import annotations

import json

from ....protocol.requests import Session, Turn

VERSION = 1


def as_json(session: Session, turns: list[Turn]) -> str:
    """``{version, session, turns}`` with the wire's names; withdrawn turns are among them."""
    data = {
        "version": VERSION,
        "session": session.to_wire(),
        "turns": [turn.to_wire() for turn in turns],
    }
    return json.dumps(data, ensure_ascii=False, indent=1)
