"""Prints a run: a line for each result; on a terminal, the current action as well."""

from __future__ import annotations

import shutil
import sys
from typing import Any, TextIO

MARKS = {"ok": "✓", "error": "✗", "denied": "–", "aborted": "–"}

ACTION_MARKS = {"ok": "✓", "error": "✗", "cancelled": "–"}


class Progress:
    """Prints events. ``quiet`` prints nothing (``--json``)."""

    def __init__(self, out: TextIO | None = None, *, quiet: bool = False) -> None:
        self._out = out or sys.stderr
        self._live = self._out.isatty()
        self._quiet = quiet
        self._shown = False
        self._has_plan = False
        self._action = ""

    def take(self, event: dict[str, Any]) -> None:
        """Show an event, if it is one for the user."""
        kind = event["type"]
        if kind == "status":
            self.now(event["message"])
        elif kind == "plan_updated" and event.get("state") in ("proposed", "running"):
            self._plan(event)
        elif kind == "step_started":
            self.line(f"[{event['index'] + 1}/{event['total']}] {event['description']}")
        elif kind == "step_finished" and not event["success"]:
            self.line(f"  ✗ {event['message']}")
        elif kind == "tool_call_output":
            self.line(f"  {MARKS[event['status']]} {event.get('summary') or event['name']}")
        elif kind == "action_started":
            self._action = event["title"]
        elif kind == "action_progress":
            share = "" if event.get("fraction") is None else f" {event['fraction']:.0%}"
            self.now(f"{event['message']}{share}")
        elif kind == "action_finished":
            self.line(f"  {ACTION_MARKS[event['status']]} {event.get('error') or self._action}")
        elif kind == "recovery_started":
            self.line(f"  ↻ fixing, attempt {event['attempt']}: {event['error']}")
        elif kind == "answer_finished" and event["model"]:
            done = event["status"] == "completed"
            self.line(f"  {'✓' if done else '✗'} {event['model']}")
        elif kind in ("warning", "error"):
            self.line(f"! {event['message']}")

    def _plan(self, event: dict[str, Any]) -> None:
        """Print the plan once; its steps are printed as they run."""
        if self._has_plan:
            return
        self._has_plan = True
        self.line("Plan:")
        for number, step in enumerate(event["steps"], start=1):
            self.line(f"  {number}. {step['description']}")
        if tools := event.get("requiredTools"):
            self.line(f"  Tools: {', '.join(tools)}")

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
