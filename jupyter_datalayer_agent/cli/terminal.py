"""The user at the terminal, if somebody is there."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Sequence

from .progress import Progress

ABSENT = "Nobody is at the terminal to answer. Decide with what is known, and say what you assumed."
NOBODY = "Nobody is at the terminal. Allow it with --approval never."


class Terminal:
    """Asks on standard error, and reads what is typed. ``interactive``: there is a terminal."""

    def __init__(self, progress: Progress, *, interactive: bool = True) -> None:
        self._progress = progress
        self.interactive = interactive and sys.stdin.isatty() and sys.stderr.isatty()

    def line(self, text: str) -> None:
        """Print a line."""
        self._progress.line(text)

    def show(self, text: str) -> None:
        """Print what is about to be asked about, with ``--json`` too."""
        self._progress.clear()
        print(text, file=sys.stderr, flush=True)

    def confirm(self, question: str) -> bool:
        """Yes or no; no where nobody is there."""
        if not self.interactive:
            self.line(f"! {question} {NOBODY}")
            return False
        return self._read(f"{question} [y/N]").lower() in ("y", "yes")

    def choose(self, question: str) -> str:
        """The first letter of what is typed, or nothing."""
        return self._read(question).lower()[:1]

    def text(self, question: str, options: Sequence[str] | None = None) -> str | None:
        """What is typed; None where nobody is there."""
        choices = f" ({', '.join(options)})" if options else ""
        if not self.interactive:
            self.line(f"! {question}{choices} Nobody is at the terminal to answer.")
            return None
        return self._read(f"{question}{choices}")

    def secret(self, question: str) -> str:
        """What is typed, without showing it."""
        self._progress.clear()
        return getpass.getpass(f"{question}: ")

    def _read(self, question: str) -> str:
        self._progress.clear()
        print(f"{question} ", end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip()
