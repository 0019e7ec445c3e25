"""How much a program may send, keep open and have kept for it."""

from __future__ import annotations

MAX_MESSAGE_BYTES = 8 * 1024 * 1024
"""The largest message of a program: a file or a cell, and not a data set."""
MAX_CONNECTIONS = 32
"""Of one server. Beyond it the one that has been idle longest ends, if one is idle."""
MAX_OPEN_REQUESTS = 100
"""Of one connection, at the same time."""
MAX_RUNNING_READS = 8
"""Reads of one connection that are carried out at the same time; others wait."""
IDLE_SECONDS = 30 * 60.0
"""After which a connection without any HTTP request ends."""
MAX_KEPT_STREAMS = 50
MAX_KEPT_CHARACTERS = 8_000_000
"""Answers that are kept for a program whose HTTP connection broke."""
MAX_UNREAD_NOTIFICATIONS = 200
MAX_SUBSCRIPTIONS = 100
ELICITATION_SECONDS = 600.0
"""For which a program's user may think about a form."""
