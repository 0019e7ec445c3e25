"""How SQLite carries out the queries that must not read a table from end to end."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from jupyter_datalayer_agent.protocol.history import Provenance
from jupyter_datalayer_agent.store import search
from jupyter_datalayer_agent.store.queries import answers

Plans = dict[str, list[str]]


def search_plans(connection: sqlite3.Connection) -> Plans:
    """Of the search in messages and answers."""
    queries = {
        "long": search.MATCHING,
        "long, in one session": search.MATCHING_IN_SESSION,
        "short: blocks": search.BLOCKS,
        "short: a block's texts": search.NUMBERED,
        "in one session": search.OF_SESSION,
    }
    values = {"match": '"abc"', "first": 1, "last": 9, "session": "s", "after": 0}
    return _explained(connection, queries, values)


def session_search_plans(connection: sqlite3.Connection) -> Plans:
    """Of the search for sessions."""
    queries = {
        "messages": search.MESSAGES,
        "titles": search.TITLES,
        "matches": search.MATCHES,
    }
    return _explained(connection, queries, {"match": '"abc"', "most": search.MOST})


def plan_of_a_look_up(connection: sqlite3.Connection) -> list[str]:
    """Of an answer, by its provenance."""
    key = Provenance(ai_turn_id="t", provider_id="p", response_type="batch")
    sql, rows = answers.LOOK_UP.rows([answers.key_values(key)])
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", rows[0])]


def _explained(
    connection: sqlite3.Connection, queries: Mapping[str, str], values: Mapping[str, object]
) -> Plans:
    return {
        name: [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
        for name, sql in queries.items()
    }
