"""Stores sessions, turns, items, events, tool calls, changes and usage in a database.

The rest of the package uses ``Store`` only. SQLAlchemy is imported when the database is first
opened, not when this package is imported, so that it does not delay the server's start.
"""

from .records import StoredOp, TurnHistory
from .store import Store

__all__ = ["Store", "StoredOp", "TurnHistory"]
