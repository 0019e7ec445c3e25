"""How SQLite carries out the queries that must not read a table from end to end."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from jupyter_datalayer_agent.protocol.history import Provenance
from jupyter_datalayer_agent.store.queries import responses
from jupyter_datalayer_agent.store.search import session_search, texts

Plans = dict[str, list[str]]


def search_plans(connection: sqlite3.Connection) -> Plans:
    """Of the search in messages and answers."""
    queries = {
        "long": texts.MATCHING,
        "long, in one session": texts.MATCHING_IN_SESSION,
        "short: blocks": texts.BLOCKS,
        "short: a block's texts": texts.NUMBERED,
        "in one session": texts.OF_SESSION,
    }
    values = {"match": '"abc"', "first": 1, "last": 9, "session": "s", "after": 0}
    return _explained(connection, queries, values)


def session_search_plans(connection: sqlite3.Connection) -> Plans:
    """Of the search for sessions."""
    queries = {
        "messages": session_search.MESSAGES,
        "titles": session_search.TITLES,
        "matches": session_search.MATCHES,
    }
    return _explained(connection, queries, {"match": '"abc"', "most": session_search.MOST})


def plan_of_a_look_up(connection: sqlite3.Connection) -> list[str]:
    """Of an answer, by its provenance."""
    key = Provenance(ai_turn_id="t", provider_id="p", response_type="batch")
    sql, rows = responses.LOOK_UP.rows([responses.key_values(key)])
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", rows[0])]


def _explained(
    connection: sqlite3.Connection, queries: Mapping[str, str], values: Mapping[str, object]
) -> Plans:
    return {
        name: [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
        for name, sql in queries.items()
    }
