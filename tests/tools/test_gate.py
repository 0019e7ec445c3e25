"""The table of DESIGN 5, row by row."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.protocol.base import Mode, NotebookMode
from jupyter_datalayer_agent.tools.builtin import builtin_registry
from jupyter_datalayer_agent.tools.gate import Gate

READS = {"getNotebookCells", "getCellOutputs"}
CHANGES = {
    "addNotebookCell",
    "updateNotebookCell",
    "runNotebookCells",
    "deleteNotebookCells",
    "moveNotebookCell",
}
ALWAYS = {"getActiveDocument", "listKernels", "updatePlan", "askUser"}
AGENT_ONLY = {"createNotebook", "createLexical", "selectKernel", "executeCode"}

ROWS: list[tuple[list[str], str | None, Mode, NotebookMode]] = [
    (["a.ipynb"], "a.ipynb", "ask", "read-only"),
    (["a.ipynb"], "a.ipynb", "edit", "read-only"),
    (["a.ipynb"], "a.ipynb", "agent", "full"),
    (["a.ipynb", "b.ipynb"], "b.ipynb", "ask", "read-only"),
    (["a.ipynb", "b.ipynb"], "b.ipynb", "agent", "full"),
    (["a.ipynb"], "b.ipynb", "agent", "off"),
    (["a.ipynb", "b.ipynb"], None, "agent", "off"),
    ([], "a.ipynb", "agent", "off"),
]


@pytest.mark.parametrize(("attached", "active", "mode", "expected"), ROWS)
def test_row_of_the_table(
    attached: list[str], active: str | None, mode: Mode, expected: NotebookMode
) -> None:
    gate = Gate(mode=mode, attached=frozenset(attached), active=active)
    names = {tool.name for tool in gate.allowed(builtin_registry())}
    assert gate.notebook_mode == expected
    assert names & READS == (READS if expected != "off" else set())
    assert names & CHANGES == (CHANGES if expected == "full" else set())
    assert names >= ALWAYS
    assert names & AGENT_ONLY == (AGENT_ONLY if mode == "agent" else set())


def test_only_the_active_one_of_several_attached_is_a_target() -> None:
    gate = Gate(mode="agent", attached=frozenset(["a.ipynb", "b.ipynb"]), active="b.ipynb")
    assert gate.targets == ["b.ipynb"]
    refusal = gate.path_refusal("a.ipynb")
    assert refusal is not None
    assert "b.ipynb" in refusal.hint


def test_inline_chat_reads_only_even_in_agent_mode() -> None:
    gate = Gate(mode="agent", location="inline", attached=frozenset(["a.ipynb"]), active="a.ipynb")
    names = {tool.name for tool in gate.allowed(builtin_registry())}
    assert gate.notebook_mode == "read-only"
    assert not names & (CHANGES | AGENT_ONLY)


def test_a_notebook_made_in_the_session_counts_as_attached_and_active() -> None:
    gate = Gate(mode="agent")
    assert gate.notebook_mode == "off"
    gate.created.append("new.ipynb")
    assert gate.notebook_mode == "full"
    assert gate.target == "new.ipynb"


@pytest.mark.parametrize(
    ("gate", "words"),
    [
        (Gate(mode="agent"), "No notebook is attached"),
        (Gate(mode="agent", attached=frozenset(["a.ipynb"])), "not the active tab"),
        (Gate(mode="agent", attached=frozenset(["a.ipynb"]), active="b.ipynb"), "b.ipynb is the"),
    ],
)
def test_a_user_learns_why_notebook_mode_is_off(gate: Gate, words: str) -> None:
    assert words in (gate.why_off() or "")


@pytest.mark.parametrize(
    ("attached", "active", "created", "mode", "count"),
    [
        (["a.dlex"], "a.dlex", [], "agent", 9),
        (["a.dlex"], "a.dlex", [], "ask", 3),
        (["a.dlex"], "a.dlex", [], "edit", 3),
        (["a.dlex"], "b.dlex", [], "agent", 0),
        (["a.dlex"], None, [], "agent", 0),
        ([], "a.dlex", [], "agent", 0),
        ([], None, ["a.lexical"], "agent", 9),
    ],
)
def test_block_tools_follow_the_rule_of_notebooks(
    attached: list[str], active: str | None, created: list[str], mode: Mode, count: int
) -> None:
    gate = Gate(
        mode=mode, lexical_attached=frozenset(attached), lexical_active=active, created=created
    )
    tools = [tool for tool in builtin_registry() if tool.group == "lexical"]
    assert len(tools) == 9
    assert len(gate.allowed(tools)) == count
    assert gate.targets == []
    assert gate.notebook_mode == "off"
