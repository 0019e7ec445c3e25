"""What tests of planned workflows have in common: plans as a model writes them, events as read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import nbformat

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say
from tests.support.page import submit_in_page

Event = dict[str, Any]


def plan_of(*steps: str, tool: str = "addNotebookCell") -> Say:
    """A plan with these steps, as the model answers it."""
    return Say(
        json.dumps(
            {
                "steps": [{"description": step, "toolCalls": [tool]} for step in steps],
                "requiredTools": [tool],
                "estimatedDuration": "a minute",
            }
        ),
        chunk=64,
    )


def add(source: str, kind: str = "code") -> Call:
    """The call that adds a cell and, where it is code, runs it."""
    arguments: dict[str, Any] = {"type": kind, "content": source}
    if kind == "code":
        arguments["run"] = True
    return Call("addNotebookCell", arguments)


def task(message: str, **more: Any) -> dict[str, Any]:
    """A request about ``cars.ipynb``, which is active."""
    return {"message": message, "activeNotebook": "cars.ipynb", "location": "panel", **more}


def submit(server: RunningServer, session: str, op: dict[str, Any]) -> None:
    submit_in_page(server, session, op)


def until(events: Iterable[Event], *types: str, **fields: Any) -> list[Event]:
    """The events up to the first one of these types with these fields."""
    seen = []
    for event in events:
        seen.append(event)
        if event["type"] in types and all(event.get(k) == v for k, v in fields.items()):
            return seen
    raise AssertionError(f"no {types} {fields} in {[event['type'] for event in seen]}")


def of_type(events: Sequence[Event], *types: str) -> list[Event]:
    return [event for event in events if event["type"] in types]


def plan_states(events: Sequence[Event]) -> list[str]:
    """The states of the plan, each once as long as it lasts."""
    states: list[str] = []
    for event in of_type(events, "plan_updated"):
        if not states or states[-1] != event["state"]:
            states.append(event["state"])
    return states


def sources(server: RunningServer, name: str = "cars.ipynb") -> list[str]:
    return [cell.source for cell in nbformat.read(server.root / name, as_version=4).cells]
