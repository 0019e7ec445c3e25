"""The log of an MCP server, in memory: its newest lines, without secrets."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TextIO

MOST_LINES = 300
LONGEST_LINE = 2_000


class ServerLog:
    """The newest lines, including those from before the server was started again."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=MOST_LINES)
        self.redact: Callable[[str], str] = str

    def add(self, line: str) -> None:
        """Add a line, with the time."""
        text = self.redact(line.rstrip())[:LONGEST_LINE]
        if text:
            self._lines.append(f"{time.strftime('%H:%M:%S')} {text}")

    def lines(self) -> list[str]:
        """The lines, oldest first."""
        return list(self._lines)

    def end(self) -> str:
        """A sentence with the last lines, empty if there are none."""
        lines = [line.partition(" ")[2] for line in list(self._lines)[-3:]]
        return f"Its log ends: {' · '.join(lines)[:500]}" if lines else ""

    @contextlib.contextmanager
    def of_process(self) -> Iterator[TextIO]:
        """A file for a process to write to, whose lines are added."""
        reading, writing = os.pipe()
        thread = threading.Thread(target=self._read, args=(reading,), daemon=True, name="mcp-log")
        thread.start()
        with open(writing, "w", encoding="utf-8") as file:
            yield file

    def _read(self, number: int) -> None:
        with open(number, encoding="utf-8", errors="replace", newline="\n") as file:
            # The process blocks if its output is not read to the end.
            while line := file.readline(LONGEST_LINE):
                self.add(line)
