"""What outlives the server: sessions, turns, items, events, tool calls, changes and usage.

``Store`` is all that the rest of the package uses. SQLAlchemy is imported when the database is
first opened, not when this package is imported, so that a server start does not pay for it.
"""

from .records import StoredOp, TurnHistory
from .store import Store

__all__ = ["Store", "StoredOp", "TurnHistory"]
