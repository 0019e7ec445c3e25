"""The sizes that are read at most. Each is applied while reading, and named where it is met."""

from __future__ import annotations

# How far code looks into what somebody wrote in sentences.


MOST_CHARACTERS = 2_000
"""What is longer is a text or a task, which a model reads: words that are looked for are in any
of these. And no text, however odd, may keep the server from answering others meanwhile."""


def compared(text: str) -> str:
    """The part of a text in which words are looked for: its beginning."""
    return text[:MOST_CHARACTERS]


MAX_ANSWER_CHARACTERS = 2_000_000
"""Characters of one answer of a model: its text, reasoning and the arguments of its calls. The
longest answers of today's models, 128,000 tokens, have about a quarter of that."""

MAX_ANSWER_EVENT_BYTES = 8 * 1024 * 1024
"""Bytes of one event of a streamed answer, or of an answer in one piece. The last event of the
Responses API repeats the whole answer."""

MAX_ANSWER_BYTES = 256 * 1024 * 1024
"""Bytes of a streamed answer: a token of four letters may come in an event of 400 bytes."""

MAX_WAITING_EVENTS = 10_000
"""Events that wait in memory for a reader of server-sent events; it is sent the rest from the
store."""

MAX_PRINTED_CHARACTERS = 2_000_000
"""Characters that are kept of what a cell prints, from its beginning."""

MAX_PRINTED_END_CHARACTERS = 500_000
"""The same from its end, if it prints more."""

MAX_SEARCHED_CHARACTERS = 500
"""Characters of a text that sessions are searched for. SQLite compares a text with a pattern in the
product of their lengths."""

MAX_NAME_CHARACTERS = 1000
"""Characters of the name or id of a model, a tool, a cell or the like in a request. Names are
looked for in lists, repeated in messages and stored with each turn."""

MAX_NOTEBOOK_BYTES = 128 * 1024 * 1024
"""Bytes of a notebook's file. Jupyter signs and writes a notebook in the server's event loop, and
holds it for 0.2 s at 50 MB and for 0.5 s at 200 MB."""

MAX_EXPORT_BYTES = 512 * 1024 * 1024
"""Bytes of each file that an export makes, and of the TeX file from which a PDF is made."""


def megabytes(size: int) -> str:
    """A number of bytes, for users."""
    return f"{size / 1024 / 1024:,.0f} MB"
