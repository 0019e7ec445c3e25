"""One turn, from the message to its end: sent as an op, followed by the session's events."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from typing import Any

from ..protocol.turn_view import ENDS
from .answer import Answer
from .failure import AgentMagicError, ServerGone
from .server import Server

AGAIN_SECONDS = 30.0
"""How long a connection that broke off is tried again."""
PAUSE_SECONDS = 0.5
STOP_SECONDS = 10.0


class MagicTurn:
    """A message on its way, and the answer as far as it is known."""

    def __init__(self, server: Server, session_id: str, op_id: str, after: int) -> None:
        self.server = server
        self.session_id = session_id
        self.op_id = op_id
        self.answer = Answer(session_id=session_id)
        self._after = after
        self.started = False
        self._waiting: queue.Queue[dict[str, Any] | AgentMagicError] = queue.Queue()

    @classmethod
    def begin(cls, server: Server, session_id: str, request: dict[str, Any]) -> MagicTurn:
        """Send a message. Raises ``Refused`` or ``ServerGone``."""
        session = server.get(f"sessions/{session_id}")
        op = {"type": "user_message", "request": {**request, "sessionId": session_id}}
        accepted = server.post(f"sessions/{session_id}/ops", op)
        turn = cls(server, session_id, accepted["opId"], session["lastSeq"])
        threading.Thread(target=turn._read, name="%agent events", daemon=True).start()
        return turn

    @property
    def refused(self) -> bool:
        """Whether the message was not taken, so that there is no turn."""
        return self.answer.ended and not self.started and bool(self.answer.error)

    def follow(self, interval: float | None = None) -> Iterator[Answer]:
        """The answer each time something happened, and at the latest after ``interval`` seconds;
        the last one when the turn is over. Raises ``ServerGone``."""
        while not self.answer.ended:
            try:
                event = self._waiting.get(timeout=interval)
            except queue.Empty:
                yield self.answer
                continue
            while True:
                if isinstance(event, AgentMagicError):
                    raise event
                self.answer.take(event)
                try:
                    event = self._waiting.get_nowait()
                except queue.Empty:
                    break
            yield self.answer

    def stop(self) -> None:
        """Stop it, or withdraw it where it still waits; the answer shows how far it got.

        Whether it waits or has begun is known when its beginning is heard of, which may be later
        than this: it is then interrupted all the same.
        """
        deadline = time.monotonic() + STOP_SECONDS
        heard = self.follow(PAUSE_SECONDS)
        asked = None
        while not self.answer.ended and time.monotonic() < deadline:
            started = self.started
            if asked != started:
                op = {"type": "interrupt"} if started else {"type": "dequeue", "opId": self.op_id}
                self.server.post(f"sessions/{self.session_id}/ops", op)
                asked = started
            next(heard, None)

    def _read(self) -> None:
        """In a thread: the events of this turn, over connections that break off."""
        deadline = time.monotonic() + AGAIN_SECONDS
        while True:
            try:
                for event in self._events():
                    deadline = time.monotonic() + AGAIN_SECONDS
                    if self._take(event):
                        return
                gone = ServerGone("The server ended the connection before the turn was over.")
            except ServerGone as error:
                gone = error
            except AgentMagicError as error:
                self._waiting.put(error)
                return
            if time.monotonic() > deadline:
                self._waiting.put(gone)
                return
            time.sleep(PAUSE_SECONDS)

    def _events(self) -> Iterator[dict[str, Any]]:
        route = f"sessions/{self.session_id}/events"
        for event in self.server.stream(route, after=str(self._after)):
            self._after = max(self._after, event.get("seq") or 0)
            yield event

    def _take(self, event: dict[str, Any]) -> bool:
        """Hand on what is about this turn; True when it is over."""
        kind, op_id = event["type"], event.get("opId")
        if kind == "turn_started" and op_id == self.op_id:
            self.started = True
            self.answer.turn_id = event["turnId"]
        elif kind == "op_dequeued" and op_id == self.op_id and event["reason"] == "removed":
            event = {"type": "turn_aborted", "reason": "interrupted"}
        elif kind == "error" and op_id == self.op_id and not self.started:
            # A message that is refused has no turn.
            self._waiting.put(event)
            event = {"type": "turn_aborted", "reason": "error"}
        elif not self.started or event.get("turnId") != self.answer.turn_id:
            return False
        self._waiting.put(event)
        return event["type"] in ENDS
