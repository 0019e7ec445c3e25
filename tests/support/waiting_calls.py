"""A folder in which calls are asked about, and in which something changes while they wait."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import nbformat

from tests.support.jupyter import RunningServer
from tests.support.model_script import Step
from tests.support.model_server import Say, ScriptedModelServer

CHANGED = "This is not what you approved: it has changed since. "
FOLDERS = itertools.count()


class Folder:
    """A folder of the server with a notebook, ``cars.csv`` and ``junk.txt``."""

    def __init__(self, server: RunningServer, model: ScriptedModelServer) -> None:
        self.server, self.model = server, model
        self.name = f"approved{next(FOLDERS)}"
        self.path = server.root / self.name
        self.path.mkdir()
        self.notebook = f"{self.name}/a.ipynb"
        for name in ("cars.csv", "junk.txt"):
            (self.path / name).write_text("kept", encoding="utf-8")

    def write(self, *sources: str) -> None:
        """The notebook with these cells, as somebody writes it on the disk."""
        cells = [nbformat.v4.new_code_cell(each, id=f"c{i}") for i, each in enumerate(sources)]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), self.server.root / self.notebook)

    def turn(
        self,
        *calls: Step,
        meanwhile: Callable[[], None],
        decisions: str,
        each_time: bool = False,
        **more: Any,
    ) -> list[dict[str, Any]]:
        """What these calls ask; ``meanwhile`` happens while the first question waits, or while each
        one does."""
        self.model.script(*calls, Say("Done."))
        session = self.server.post("sessions", {})["id"]
        request = {
            "message": "go",
            "mode": "agent",
            "sessionId": session,
            "attachments": [{"kind": "notebook", "path": self.notebook}],
            "activeNotebook": self.notebook,
            **more,
        }
        asked: list[dict[str, Any]] = []
        answers = iter(decisions.split())
        for event in self.server.stream("chat/stream", request):
            if event["type"] == "approval_requested":
                if each_time or not asked:
                    meanwhile()
                asked.append(event)
                op = {"type": "approval_decision", "approvalId": event["approvalId"]}
                self.server.post(f"sessions/{session}/ops", {**op, "decision": next(answers)})
            if event["type"] == "turn_completed":
                return asked
        raise AssertionError("the turn has no end")

    @property
    def left(self) -> set[str]:
        return {each.name for each in self.path.iterdir() if each.suffix in (".csv", ".txt")}
