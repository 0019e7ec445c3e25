"""Answers that several models give to the message of one turn."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from ...protocol.errors import AgentError
from ...protocol.events import AnswerChosen, AnswerFinished, BaseEvent
from ...protocol.requests import ChatRequest
from .. import schema
from ..answer_provenance import answer_type, provider_of
from ..encoding import from_json
from ..file.database import Database
from ..file.driver import Connection
from ..records import AskedWith, TurnContext
from .checkpoints import INSERT_LATER
from .event_log import save_events
from .joined_text import LOOK_AGAIN
from .responses import add
from .statements import insert_into, run_all
from .upkeep import Upkeep

INSERT_OPEN = insert_into(schema.open_answers)
OPEN = """
    SELECT o.turn_id, o.answer_id, o.model, o.server_id, t.session_id
    FROM open_answers AS o JOIN turns AS t ON t.id = o.turn_id"""
CLOSE = "DELETE FROM open_answers WHERE turn_id = ? AND answer_id = ?"
TYPE = """
    SELECT k.kind, t.mode, t.location
    FROM turns AS t LEFT JOIN session_kinds AS k ON k.session_id = t.session_id
    WHERE t.id = ?"""
ASKED_WITH = """
    SELECT t.request, c.turn_id, c.data, c.stated
    FROM turns AS t LEFT JOIN contexts AS c ON c.turn_id = t.id
    WHERE t.id = ?"""
KNOWN = "SELECT 1 FROM responses WHERE ai_turn_id = ? AND answer_id = ?"
CHOOSE = "UPDATE turns SET chosen_answer = ? WHERE id = ?"
SERVER_ENDED = "The server ended before the answer did."


class Answers:
    """Begins and ends further answers, several of a turn at once."""

    def __init__(self, database: Database, upkeep: Upkeep) -> None:
        self._database = database
        self._upkeep = upkeep
        self._end_not_kept: set[str] = set()

    async def asked_with(self, turn_id: str) -> AskedWith:
        """What the turn's message was asked with. Raises ``not_found``."""

        def query(connection: sqlite3.Connection) -> Any:
            return connection.execute(ASKED_WITH, (turn_id,)).fetchone()

        row = await self._database.look(query)
        if row is None:
            raise AgentError("not_found", f"There is no turn {turn_id}.")
        request, known, data, stated = row
        context = None if known is None else TurnContext(from_json(data), from_json(stated))
        return AskedWith(ChatRequest.model_validate(from_json(request)), context)

    async def begin(
        self,
        session_id: str,
        turn_id: str,
        answer_id: str,
        model: str,
        events: Sequence[BaseEvent],
    ) -> None:
        """An answer begins, with its events. If the server dies under it, it is
        reported as stopped."""
        row = {
            "turn_id": turn_id,
            "answer_id": answer_id,
            "model": model,
            "server_id": self._database.server.server_id,
        }

        def write(connection: Connection) -> None:
            INSERT_OPEN.run(connection, **row)
            save_events(connection, session_id, turn_id, events)

        await self._database.quick(write)

    async def finish(
        self, session_id: str, turn_id: str, finished: AnswerFinished, *, chosen: bool = False
    ) -> None:
        """Keep how an answer ended. A complete one is saved under its ``provenance``,
        which is set in the event; ``chosen``: the conversation continues from it."""
        ends: list[BaseEvent] = [finished]
        if chosen:
            ends.append(AnswerChosen(answer_id=finished.answer_id))

        def write(connection: Connection) -> None:
            if finished.status == "completed":
                kind, mode, location = connection.execute(TYPE, (turn_id,)).fetchone()
                own = answer_type(kind, mode, location, finished.text)
                finished.provenance = add(
                    connection,
                    turn_id,
                    provider_of(finished.model),
                    own if finished.sources is None else "synthesis",
                    finished.text,
                    further=finished,
                )
            if chosen:
                connection.execute(CHOOSE, (finished.answer_id, turn_id))
            _write_end(connection, session_id, turn_id, ends)

        try:
            await self._database.quick(write)
        except AgentError:
            # This answer is no longer generated, whatever its status in the database.
            self._end_not_kept.add(finished.answer_id)
            raise
        self._upkeep.begin()

    async def choose(
        self, session_id: str, turn_id: str, answer_id: str | None, events: Sequence[BaseEvent]
    ) -> None:
        """The conversation continues from this answer of the turn; None: from its own.

        Raises ``not_found`` for an answer that the turn has not.
        """

        def write(connection: Connection) -> None:
            known = connection.execute(KNOWN, (turn_id, answer_id)).fetchone()
            if answer_id is not None and known is None:
                raise AgentError("not_found", f"The turn {turn_id} has no answer {answer_id}.")
            connection.execute(CHOOSE, (answer_id, turn_id))
            save_events(connection, session_id, turn_id, events)

        await self._database.quick(write)

    async def recover(self, session_id: str | None) -> None:
        """End orphaned answers, of one session or all, and report it."""

        def rows(connection: sqlite3.Connection) -> list[Any]:
            found = connection.execute(OPEN).fetchall()
            return [row for row in found if session_id in (None, row[4]) and self._is_over(row)]

        def write(connection: Connection) -> None:
            for turn_id, answer_id, model, _, session in rows(connection):
                finished = AnswerFinished(
                    answer_id=answer_id, model=model, status="stopped", message=SERVER_ENDED
                )
                _write_end(connection, session, turn_id, [finished])

        if await self._database.look(rows):
            await self._database.quick(write)

    def _is_over(self, row: Any) -> bool:
        _, answer_id, _, server_id, _ = row
        return answer_id in self._end_not_kept or not self._database.server.is_alive(server_id)


def _write_end(
    connection: Connection, session_id: str, turn_id: str, ends: Sequence[BaseEvent]
) -> None:
    finished = [event for event in ends if isinstance(event, AnswerFinished)]
    connection.executemany(CLOSE, [(turn_id, event.answer_id) for event in finished])
    connection.execute(LOOK_AGAIN, (turn_id,))
    save_events(connection, session_id, turn_id, ends)
    # Another server may have begun the next turn meanwhile.
    later = [{"turn_id": turn_id, "seq": event.seq} for event in ends]
    run_all(connection, [INSERT_LATER.rows(later)])
