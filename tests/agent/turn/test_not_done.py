"""What of a turn's acts did not come about: the results of its calls, and what is made of them."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_datalayer_agent.agent.turn.record import NOTHING, facts_of, not_done
from jupyter_datalayer_agent.protocol.requests import ToolCallRecord
from jupyter_datalayer_agent.protocol.tools import NotDone
from jupyter_datalayer_agent.tools.builtin import builtin_registry

REGISTRY = builtin_registry()
Result = tuple[str, str, dict[str, Any]]
NB = "work.ipynb"


def ok(name: str, output: Any = None, changes: Any = None, **arguments: Any) -> Result:
    return name, "ok", {"arguments": arguments, "output": output, "changes": changes}


def bad(name: str, code: str = "invalid_arguments", message: str = "No.", **more: Any) -> Result:
    return name, "error", {"error": {"code": code, "message": message}, **more}


def denied(name: str) -> Result:
    return name, "denied", {"error": {"code": "denied", "message": "They said no."}}


def change(op: str, cell: str, after: str | None = "1", kind: str = "code") -> dict[str, Any]:
    return {"path": NB, "op": op, "cellId": cell, "after": after, "cellType": kind}


def add(cell: str = "n") -> Result:
    return ok("addNotebookCell", {"cellId": cell}, [change("insert", cell)])


def update(cell: str = "a", after: str = "1", kind: str = "code") -> Result:
    return ok("updateNotebookCell", {"cellId": cell}, [change("update", cell, after, kind)])


def same(cell: str = "a", **more: Any) -> Result:
    return ok("updateNotebookCell", {"cellId": cell, "unchanged": True, **more}, [])


def delete(cell: str) -> Result:
    return ok("deleteNotebookCells", {}, [change("delete", cell, None)])


def run(*cells: str) -> Result:
    runs = [{"cellId": cell, "status": "ok"} for cell in cells]
    return ok("runNotebookCells", {"runs": runs}, cellIds=list(cells))


def fails(cell: str, *skipped: str, status: str = "error") -> Result:
    runs = [{"cellId": cell, "status": status}]
    runs += [{"cellId": each, "status": "skipped"} for each in skipped]
    message = f"Cell {cell} failed: KeyError: 'x'"
    return bad("runNotebookCells", "kernel_error", message, output={"runs": runs})


def adds_and_fails(cell: str) -> Result:
    output = {"cellId": cell, "status": "error"}
    changes = [change("insert", cell)]
    message = f"Cell {cell} failed: NameError"
    return bad("addNotebookCell", "kernel_error", message, output=output, changes=changes)


READ = ok("getNotebookCells", {"cells": []})
CODE = ok("executeCode", {"outputs": "3"})
CODE_FAILS = bad("executeCode", "kernel_error", "NameError: df")


def after(*steps: list[Result]) -> NotDone | None:
    """The notice after these answers of the model, each with calls."""
    items, records = called(*steps)
    return not_done(items, records, {}, REGISTRY)


def called(*steps: list[Result]) -> tuple[list[dict[str, Any]], dict[str, ToolCallRecord]]:
    """The items and the calls, by their ids, of these answers of the model."""
    items: list[dict[str, Any]] = [{"type": "message", "role": "user"}]
    records = {}
    for number, calls in enumerate(steps):
        ids = [f"call_{number}_{place}" for place in range(len(calls))]
        for call_id, (name, _, _) in zip(ids, calls, strict=True):
            # Between the calls of one answer a model may have reasoned.
            items += [{"type": "reasoning"}]
            items += [{"type": "function_call", "call_id": call_id, "name": name}]
        for call_id, (name, status, result) in zip(ids, calls, strict=True):
            items.append({"type": "function_call_output", "call_id": call_id})
            arguments = result.get("arguments", {})
            output = {"ok": status == "ok", "name": name, **result}
            records[call_id] = ToolCallRecord(
                call_id=call_id, name=name, arguments=arguments, status=status, output=output
            )
    return items, records


@pytest.mark.parametrize(
    "steps",
    [
        [[add()]],
        [[CODE]],
        [[bad("addNotebookCell")], [add()]],
        [[bad("addNotebookCell")], [bad("addNotebookCell")], [add()]],
        [[bad("updateNotebookCell", "not_found")], [READ], [update()]],
        [[bad("createNotebook")], [add()]],
        [[bad("selectKernel", "not_found")], [run("a")]],
        [[fails("a")], [update("a")], [run("a")]],
        [[fails("a", "b", "c")], [update("a")], [run("a", "b", "c")]],
        [[fails("a")], [delete("a")]],
        [[fails("a")], [update("a", "")]],
        [[fails("a")], [update("a", "# A", "markdown")]],
        [[adds_and_fails("n")], [run("n")]],
        [[bad("runNotebookCells", "kernel_error", output={"notRun": ["a"]})], [run("a")]],
        [[CODE_FAILS], [CODE]],
        [[CODE_FAILS], [add()]],
        [[bad("runNotebookCells", "not_found")], [run("a")]],
        [[denied("deleteNotebookCells"), add()]],
        [[add()], [denied("deleteNotebookCells")]],
        [[add()], [READ, bad("getCellOutputs", "not_found")]],
        [[same()], [add()]],
        [[same(status="ok")]],
        [[same()], [run("a")]],
        [[bad("updateNotebookCell", "stale")], [update()], [same()]],
    ],
)
def test_where_all_is_well_in_the_end_nothing_is_reported(steps: list[list[Result]]) -> None:
    assert after(*steps) is None


@pytest.mark.parametrize(
    ("steps", "kind", "said"),
    [
        (
            [[bad("addNotebookCell")]] * 3,
            "nothing_done",
            "Nothing was changed in this turn. The last change failed: No.",
        ),
        (
            [[bad("insertCell", message="Which?")], [READ]],
            "nothing_done",
            "Nothing was changed in this turn. The last change failed: Which?",
        ),
        ([[add()], [bad("updateNotebookCell")]], "change_failed", "The last change failed: No."),
        (
            # What was asked for in the same breath fixes nothing.
            [[bad("updateNotebookCell"), add()]],
            "change_failed",
            "A change failed and was not fixed: No.",
        ),
        (
            [[bad("updateNotebookCell", "stale")], [run("a")]],
            "nothing_done",
            "Nothing was changed in this turn. A change failed and was not fixed: No.",
        ),
        ([[fails("a")]], "run_failed", "The last run failed: Cell a failed: KeyError: 'x'"),
        (
            [[fails("a", status="timeout")], [update("a")]],
            "run_failed",
            "A run failed and was not fixed: Cell a failed: KeyError: 'x'",
        ),
        (
            [[fails("a")], [add("b")], [run("b")]],
            "run_failed",
            "A run failed and was not fixed: Cell a failed: KeyError: 'x'",
        ),
        (
            # A cell that was not reached is not fixed by that.
            [[fails("b")], [fails("a", "b")], [run("a")]],
            "run_failed",
            "A run failed and was not fixed: Cell b failed: KeyError: 'x'",
        ),
        ([[adds_and_fails("n")]], "run_failed", "The last run failed: Cell n failed: NameError"),
        ([[run("a")], [CODE_FAILS]], "run_failed", "The last run failed: NameError: df"),
        (
            [[bad("runNotebookCells", "kernel_error", output={"notRun": ["a"]})], [READ]],
            "run_failed",
            "The last run failed: No.",
        ),
        (
            [[add()], [bad("selectKernel", "not_found")]],
            "call_failed",
            "The last call of selectKernel failed: No.",
        ),
        (
            [[denied("deleteNotebookCells")]],
            "nothing_done",
            "Nothing was changed in this turn: it was not approved.",
        ),
        (
            [[READ], [same()]],
            "nothing_done",
            "Nothing was changed in this turn: everything was already in place.",
        ),
        (
            [[same(), denied("deleteNotebookCells")]],
            "nothing_done",
            "Nothing was changed in this turn: it was not approved.",
        ),
        (
            [[same()], [bad("addNotebookCell")]],
            "nothing_done",
            "Nothing was changed in this turn. The last change failed: No.",
        ),
        (
            [[denied("executeCode")]],
            "nothing_done",
            "Nothing was run in this turn: it was not approved.",
        ),
    ],
)
def test_final_failures_are_reported(steps: list[list[Result]], kind: str, said: str) -> None:
    found = after(*steps)
    assert found is not None
    assert (found.kind, found.message) == (kind, said)
    assert found.call_id is not None


@pytest.mark.parametrize(
    "steps",
    [
        [],
        [[READ]],
        [[bad("getNotebookCells", "not_found")]],
        [[bad("drawChart", "not_found")]],
        [[bad("askUser")], [bad("updatePlan")]],
    ],
)
def test_where_nothing_was_tried_nothing_failed(steps: list[list[Result]]) -> None:
    assert after(*steps) is None


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([], NOTHING),
        ([[READ], [bad("getNotebookCells", "not_found")]], NOTHING),
        ([[denied("executeCode")], [same()]], NOTHING),
        ([[bad("addNotebookCell")]], NOTHING),
        ([[add()], [update("n")], [update("a")]], "2 changes"),
        ([[add()], [run("n", "a")]], "1 change · 2 runs"),
        ([[adds_and_fails("n")]], "1 change · 1 run · 1 error left"),
        ([[adds_and_fails("n")], [run("n")]], "1 change · 1 run"),
        ([[adds_and_fails("n")], [delete("n")]], "1 change · 1 run"),
        ([[fails("a", "b")]], "1 run · 1 error left"),
        ([[CODE_FAILS]], "1 run · 1 error left"),
        ([[CODE_FAILS], [CODE]], "2 runs"),
        ([[ok("selectKernel", {})]], "1 other action"),
    ],
)
def test_the_facts_are_counted_from_results(steps: list[list[Result]], message: str) -> None:
    _, records = called(*steps)
    assert facts_of(records.values(), REGISTRY).message == message
