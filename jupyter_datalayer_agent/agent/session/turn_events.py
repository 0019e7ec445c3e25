"""The events of one turn among those of its session."""

from __future__ import annotations

from ...protocol.turn_view import ENDS
from ..events.channel import SerializedEvent


class TurnEvents:
    """Tells the events of the next turn that starts from others; one that asks for each of a
    session's events in order."""

    def __init__(self) -> None:
        self._turn_id: str | None = None

    def has(self, event: SerializedEvent) -> bool:
        """Whether the event belongs to the turn."""
        if self._turn_id is None and event.type == "turn_started":
            self._turn_id = event.turn_id
        return self._turn_id is not None and event.turn_id == self._turn_id

    def ends_with(self, event: SerializedEvent) -> bool:
        """Whether the turn's last event is this one."""
        return event.type in ENDS and self._turn_id is not None and event.turn_id == self._turn_id
