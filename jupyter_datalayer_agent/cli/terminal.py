"""The user at the terminal, if somebody is there."""

from __future__ import annotations

import getpass
import shutil
import sys
from collections.abc import Sequence
from typing import Any, TextIO

from ..protocol.turn_view import Call, Note, NoteKind, TurnView

# Prints a run: a line for each result; on a terminal, the current action as well.


LINES: tuple[NoteKind, ...] = ("step", "step_failed", "recovery", "warning", "error")
"""The notes that are printed as they come; the rest is with the answer."""


class Progress:
    """Prints what is new of a turn. ``quiet`` prints nothing (``--json``)."""

    def __init__(self, out: TextIO | None = None, *, quiet: bool = False) -> None:
        self._out = out or sys.stderr
        self._live = self._out.isatty()
        self._quiet = quiet
        self._shown = False
        self._has_plan = False

    def take(self, view: TurnView, event: dict[str, Any]) -> None:
        """Take the turn's next event into its view, and show what is new for the user."""
        for part in view.take(event):
            if isinstance(part, Call) and part.status != "running":
                self.line(f"  {part.line}")
            elif isinstance(part, Note) and part.kind in LINES:
                indent = "" if part.kind in ("step", "warning", "error") else "  "
                self.line(f"{indent}{part.line}")
        if event["type"] == "plan_updated" and event.get("state") in ("proposed", "running"):
            self._plan(view)
        elif event["type"] == "answer_finished" and event["model"]:
            done = event["status"] == "completed"
            self.line(f"  {'✓' if done else '✗'} {event['model']}")
        elif event["type"] in ("status", "action_progress"):
            self.now(view.activity)

    def _plan(self, view: TurnView) -> None:
        """Print the plan once; its steps are printed as they run."""
        if self._has_plan:
            return
        self._has_plan = True
        self.line("Plan:")
        for number, step in enumerate(view.plan, start=1):
            self.line(f"  {number}. {step['description']}")
        if view.required_tools:
            self.line(f"  Tools: {', '.join(view.required_tools)}")

    def line(self, text: str) -> None:
        """Print a permanent line."""
        if not self._quiet:
            self.clear()
            print(text, file=self._out, flush=True)

    def now(self, text: str) -> None:
        """Print the current action: on a terminal as a line that the next one replaces, else
        not."""
        if self._live and not self._quiet:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[2K{text[:width]}…", end="", file=self._out, flush=True)
            self._shown = True

    def clear(self) -> None:
        """Clear the temporary line."""
        if self._shown:
            print("\r\x1b[2K", end="", file=self._out, flush=True)
            self._shown = False


ABSENT = "Nobody is at the terminal to answer. Decide from what you know, and say what you assumed."
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
