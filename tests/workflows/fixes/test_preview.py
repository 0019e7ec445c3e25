"""What a fix is shown as before it is carried out."""

from __future__ import annotations

from typing import Any

from jupyter_datalayer_agent.protocol.workflows import FixCall, FixInfo
from jupyter_datalayer_agent.workflows.fix import key_of, preview

SOURCES = {"a": "one\ntwo\ntwo", "b": "three"}


def fix(*calls: tuple[str, dict[str, Any]], title: str = "T") -> FixInfo:
    made = [FixCall(name=name, arguments=arguments) for name, arguments in calls]
    return FixInfo(id="f", title=title, explanation="E", safe=True, calls=made)


def edit(cell_id: str, old: str, new: str = "") -> tuple[str, dict[str, Any]]:
    edits = [{"oldString": old, "newString": new}]
    return ("updateNotebookCell", {"cellId": cell_id, "edits": edits, "run": True})


def test_edits_become_whole_sources_and_the_runs_keep_their_order() -> None:
    found = preview(
        fix(
            edit("a", "one", "$& 1"),
            ("updateNotebookCell", {"cellId": "b", "content": "3"}),
            ("runNotebookCells", {"cellIds": ["b", "a"]}),
        ),
        SOURCES,
    )
    assert found is not None
    assert [(each.kind, each.cell_id, each.source) for each in found.changes] == [
        ("cell", "a", "$& 1\ntwo\ntwo"),
        ("cell", "b", "3"),
    ]
    assert found.runs == ["a", "b"]


def test_a_new_cell_comes_first_and_is_beside_the_one_that_failed() -> None:
    found = preview(
        fix(
            edit("a", "one", "1"),
            ("addNotebookCell", {"content": "%pip install x", "position": {"before": "a"}}),
        ),
        SOURCES,
    )
    assert found is not None
    assert [(each.kind, each.cell_id, each.source) for each in found.changes] == [
        ("before", "a", "%pip install x"),
        ("cell", "a", "1\ntwo\ntwo"),
    ]
    assert found.runs == ["a"]


def test_what_cannot_be_shown_as_a_diff_is_none() -> None:
    assert preview(fix(edit("a", "two")), SOURCES) is None
    assert preview(fix(edit("gone", "two")), SOURCES) is None
    assert preview(fix(("selectKernel", {})), SOURCES) is None
    assert preview(fix(("addNotebookCell", {"content": "x"})), SOURCES) is None


def test_the_key_is_that_of_the_calls() -> None:
    assert key_of(fix(edit("a", "one"))) == key_of(fix(edit("a", "one"), title="Another"))
    assert key_of(fix(edit("a", "one"))) != key_of(fix(edit("b", "one")))
