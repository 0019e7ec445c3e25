"""The arguments of a call: exactly what its tool takes, or what is wrong with them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jupyter_datalayer_agent.tools.arguments import inexact, typed
from jupyter_datalayer_agent.tools.builtin import builtin_registry
from jupyter_datalayer_agent.tools.mcp.turn_tools import ForeignArguments
from jupyter_datalayer_agent.tools.registry import Tool

ARGUMENTS = {"type": "code", "content": "print(1)\n", "run": True}
REPLACEMENT = {"oldString": "1", "newString": "2"}


@pytest.mark.parametrize(
    ("name", "arguments", "fits"),
    [
        ("addNotebookCell", ARGUMENTS, True),
        ("addNotebookCell", {"content": "1", "position": {"after": "a"}}, True),
        ("addNotebookCell", {"content": "1", "path": None}, True),
        ("updateNotebookCell", {"cellId": "a", "edits": [REPLACEMENT]}, True),
        ("updateNotebookCell", {"cell_id": "a", "content": "2"}, True),
        ("runNotebookCells", {"all": True, "timeoutSeconds": 60}, True),
        ("addNotebookCell", {}, False),
        ("addNotebookCell", {"content": 1}, False),
        ("addNotebookCell", {"content": "1", "run": "true"}, False),
        ("addNotebookCell", {"content": "1", "run": 1}, False),
        ("addNotebookCell", {"content": "1", "code": "2"}, False),
        ("addNotebookCell", {"content": "1", "position": {"after": "a", "then": "b"}}, False),
        ("addNotebookCell", {"content": "1", "type": "python"}, False),
        ("updateNotebookCell", {"cellId": "a", "content": "2", "edits": []}, True),
        ("updateNotebookCell", {"cellId": "a", "content": "2", "edits": [REPLACEMENT]}, False),
        ("runNotebookCells", {"cellIds": "a"}, False),
    ],
)  # fmt: skip
def test_arguments_match_exactly_or_not_at_all(
    name: str, arguments: dict[str, Any], fits: bool
) -> None:
    assert (inexact(builtin_registry().tool(name), arguments) is None) is fits


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"cellId": "a", "source": "2"}, "source: Extra inputs are not permitted"),
        ({"content": "2"}, "cellId: Field required"),
        ({"cellId": 4, "content": "2"}, "cellId: Input should be a valid string"),
        ({"cellId": "a", "content": "2", "run": "yes"}, "run: Input should be a valid boolean"),
    ],
)
def test_what_is_wrong_is_named_with_the_schema(arguments: dict[str, Any], problem: str) -> None:
    failure = inexact(builtin_registry().tool("updateNotebookCell"), arguments)
    assert failure is not None
    assert failure.message.startswith("updateNotebookCell was not called, nothing was changed: ")
    assert problem in failure.message
    assert failure.hint is not None
    assert '"cellId"' in failure.hint


@pytest.mark.parametrize(
    ("name", "texts", "values"),
    [
        ("addNotebookCell", {"content": "6", "run": "true"}, {"content": "6", "run": True}),
        ("addNotebookCell", {"content": "None", "path": "None"}, {"content": "None", "path": None}),
        ("addNotebookCell", {"content": "null", "path": "null"}, {"content": "null", "path": None}),
        ("addNotebookCell", {"content": "[1]", "run": "False"}, {"content": "[1]", "run": False}),
        (
            "addNotebookCell",
            {"content": "1", "position": '{"after": "a"}'},
            {"content": "1", "position": {"after": "a"}},
        ),
        (
            "addNotebookCell",
            {"content": "1", "position": "end"},
            {"content": "1", "position": "end"},
        ),
        ("deleteNotebookCells", {"cell_ids": "['a', 'b']"}, {"cell_ids": ["a", "b"]}),
        ("runNotebookCells", {"timeoutSeconds": "60"}, {"timeoutSeconds": 60}),
        ("runNotebookCells", {"timeoutSeconds": "soon"}, {"timeoutSeconds": "soon"}),
        ("runNotebookCells", {"cellIds": "[1"}, {"cellIds": "[1"}),
    ],
)
def test_text_becomes_the_value_that_the_tool_takes(
    name: str, texts: dict[str, Any], values: dict[str, Any]
) -> None:
    assert typed(builtin_registry().tool(name), texts, texts) == values


def test_text_becomes_the_value_that_a_schema_of_another_program_has() -> None:
    async def run(*_: Any) -> Any: ...

    properties = {
        "n": {"type": "integer"},
        "t": {"type": ["string", "null"]},
        "l": {"type": "array"},
    }
    tool = Tool("a__b", "", ForeignArguments, run, "mcp", parameters={"properties": properties})
    texts = {"n": "4", "t": "4", "l": "[4]", "other": "4"}
    assert typed(tool, texts, texts) == {"n": 4, "t": "4", "l": [4], "other": "4"}
    assert typed(tool, {"t": "null"}, ["t"]) == {"t": None}
    for odd in (
        {"properties": ["n"]},
        {"properties": {"n": 4}},
        {"properties": {"n": {"type": 4}}},
    ):
        assert typed(replace(tool, parameters=odd), {"n": "4"}, ["n"]) == {"n": "4"}
