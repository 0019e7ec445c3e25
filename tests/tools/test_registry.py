"""One registry for built-in and third-party tools."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from jupyter_datalayer_agent.protocol.tools import ToolLabel
from jupyter_datalayer_agent.tools.builtin import builtin_registry
from jupyter_datalayer_agent.tools.builtin.conversation import ask_user
from jupyter_datalayer_agent.tools.registry import Alias, ToolRegistry
from tests.support.packages import declare, import_from

PLUGIN = '''
from jupyter_datalayer_agent.protocol.base import Wire
from jupyter_datalayer_agent.tools.registry import ToolOutcome, tool

class Nothing(Wire):
    pass

@tool(Nothing, group="dataset", label=("Count the moons", "Counting the moons"), parallel=True)
async def count_moons(args, context):
    """How many moons there are."""
    return ToolOutcome({"moons": 1}, "Counted the moons")
'''


@pytest.mark.parametrize(
    "name", ["getNotebookCells", "get_notebook_cells", "GETNOTEBOOKCELLS",
             "datalayer_getNotebookCells", " getnotebookcells "],
)  # fmt: skip
def test_names_match_without_regard_to_case_underscores_or_prefix(name: str) -> None:
    found = builtin_registry().find(name)
    assert found is not None
    assert found.name == "getNotebookCells"


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("run everything", "run-everything"),
        ("", "unknown-tool"),
        ("é" * 3, "---"),
        ("x" * 65, "x" * 64),
        # It is not made a call of another tool.
        ("datalayer listKernels", "unknown-tool"),
        ("anything_else-2", "anything_else-2"),
        (" listKernels ", "listKernels"),
        ("functions.listKernels", "listKernels"),
    ],
)
def test_each_call_has_a_name_that_servers_take(written: str, kept: str) -> None:
    assert builtin_registry().own_name(written) == kept


def test_a_duplicate_name_raises_and_what_is_returned_takes_it_out() -> None:
    registry = ToolRegistry()
    remove = registry.add(ask_user)
    with pytest.raises(ValueError, match="askUser"):
        registry.add(ask_user)
    remove()
    assert registry.find("askUser") is None
    registry.add(ask_user)


def test_an_alias_needs_its_tool() -> None:
    async def translate(args: object, context: object) -> dict[str, object]:
        return {}

    with pytest.raises(ValueError, match="nothingThere"):
        ToolRegistry().add(Alias("x", "nothingThere", ask_user.arguments, translate))


def test_third_parties_add_tools_by_an_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "moons.py").write_text(PLUGIN)
    declare(
        tmp_path,
        "moons",
        "[jupyter_datalayer_agent.tools]\nmoons = moons:count_moons\nbroken = moons:nothing\n",
    )
    import_from(tmp_path, monkeypatch)
    registry = builtin_registry()
    problems = registry.add_entry_points()
    sys.modules.pop("moons", None)
    assert registry.tool("countMoons").description == "How many moons there are."
    assert len(problems) == 1
    assert "broken" in problems[0]
    started = registry.call_started("call_1", "count_moons")
    assert started.label == ToolLabel(action="Count the moons", activity="Counting the moons")
    assert (started.name, started.reads, started.runs) == ("count_moons", True, False)


def test_every_tool_of_ours_declares_what_the_page_calls_it() -> None:
    assert [tool.name for tool in builtin_registry() if tool.label is None] == []


def test_every_tool_of_ours_that_writes_a_file_says_which() -> None:
    runs_only = {"selectKernel", "executeCode", "loadDatasetFull"}
    outputs_only = {"runNotebookCells", "runBlock", "runAllBlocks"}
    silent = {tool.name for tool in builtin_registry() if tool.changes and tool.writes is None}
    assert silent == runs_only | outputs_only


def test_a_call_by_an_alias_is_shown_as_its_tool_and_an_unknown_one_by_its_name() -> None:
    registry = builtin_registry()
    by_alias = registry.call_started("call_1", "readAllCells")
    assert by_alias.label == registry.tool("getNotebookCells").label
    assert by_alias.reads is True
    unknown = registry.call_started("call_2", "noSuchTool")
    assert (unknown.label, unknown.reads, unknown.runs) == (None, None, None)


def test_aliases_are_callable_and_not_listed() -> None:
    registry = builtin_registry()
    assert registry.find("readAllCells") is not None
    assert "readAllCells" not in registry.names()
    assert registry.aliases_of("getNotebookCells") == ["readCell", "readAllCells"]
