"""Prints a run: a line for each result; on a terminal, the current action as well."""

from __future__ import annotations

import shutil
import sys
from typing import Any, TextIO

from ..protocol.turn_view import Call, Note, NoteKind, TurnView

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
