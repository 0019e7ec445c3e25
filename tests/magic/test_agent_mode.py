"""Agent mode: the magic never holds the kernel that the agent needs."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbconvert import HTMLExporter

from tests.magic.kernels import LOAD, notebook_kernel, write_notebook
from tests.support.beside import with_package
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Gate, Say, ScriptedModelServer
from tests.support.page import submit_in_page
from tests.support.planning import plan_of

NOTHING = "*Nothing was changed or run in this turn.*"


def add(content: str) -> Call:
    return Call("addNotebookCell", {"type": "code", "content": content, "run": True})


def test_the_cell_is_done_at_once_and_cells_are_added_and_run_below_it(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_notebook(server, "agent.ipynb", LOAD, "%agent --mode agent go", "later = 5")
    model.script(Gate(add("twice = 2 * later"), after=0), add("print(twice)"), Say("It is 10."))
    with notebook_kernel(server, "agent.ipynb") as kernel:
        first = kernel.begin(LOAD, "cell-0")
        asked = kernel.begin("%agent --mode agent --out said go", "cell-1")
        last = kernel.begin("later = 5", "cell-2")
        kernel.wait(lambda: bool(last.status))
        assert [first.status, asked.status, last.status] == ["ok"] * 3
        assert "Working…" in asked.display["text/markdown"]
        captured = kernel.run("%%capture shown\nimport threading\nprint('captured')")
        assert captured.outputs == []
        model.release()
        kernel.wait_for_answer(asked, "It is 10.")
        shown = asked.display["text/markdown"]
        assert shown.startswith("<details><summary>2 steps</summary>")
        assert "✓ <code>addNotebookCell</code> Added cell 3" in shown
        assert "✓ Added cell 3" in asked.display["text/plain"]
        assert "It is 10." in kernel.run("print(said, twice)").text
    cells = nbformat.read(server.root / "agent.ipynb", as_version=4).cells
    assert [cell.source for cell in cells[2:]] == [
        "twice = 2 * later", "print(twice)", "later = 5"
    ]  # fmt: skip
    assert cells[3].outputs[0]["text"] == "10\n"
    # Who opens the notebook learns of it, until it is decided on.
    (session,) = server.get("sessions", undecided="agent.ipynb")["sessions"]
    assert session["id"] == server.get("sessions", limit=1)["sessions"][0]["id"]
    assert server.get("sessions", undecided="other.ipynb")["sessions"] == []


def test_a_plan_that_runs_at_once_is_shown_with_its_tools(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_notebook(server, "plan.ipynb", LOAD, "%agent agent: go")
    model.script(plan_of("Add a cell"), add("planned = 1"), Say("Added."))
    with notebook_kernel(server, "plan.ipynb") as kernel:
        kernel.run(LOAD)
        asked = kernel.run("%agent agent: go", "cell-1")
        kernel.wait(lambda: "1 of 1 step done" in asked.display["text/markdown"])
        plan, tools, *_ = asked.display["text/markdown"].split("\n\n")
        assert plan == "1. ✓ Add a cell"
        assert tools == "Tools: addNotebookCell"
        assert asked.display["text/plain"].startswith("✓ Add a cell\nTools: addNotebookCell\n")


def test_an_answer_is_under_a_line_that_says_what_was_not_done(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_notebook(server, "claims.ipynb", LOAD, "%agent --mode agent go")
    wrong = Call("updateNotebookCell", {"cellId": "nowhere", "content": "1"})
    model.script(wrong, Say("The chart is in the new cell below."))
    with notebook_kernel(server, "claims.ipynb") as kernel:
        kernel.run(LOAD)
        asked = kernel.run("%agent --mode agent go", "cell-1")
        kernel.wait_for_answer(asked, "below.")
        *_, line, answer, facts = asked.display["text/markdown"].split("\n\n")
        assert line.startswith(
            "**Nothing was changed in this turn. The last change failed: No cell"
        )
        assert answer == "The chart is in the new cell below."
        assert facts == NOTHING
        *_, line, answer, facts = asked.display["text/plain"].split("\n")
        assert line.startswith("Nothing was changed in this turn.")


def test_what_would_wait_for_itself_is_refused_with_the_reason(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_notebook(server, "waits.ipynb", LOAD)
    model.script(Gate(Say("First."), after=0), Say("Second."))
    with notebook_kernel(server, "waits.ipynb") as kernel:
        kernel.run(LOAD)
        refused = kernel.run("%agent --mode agent --wait run it all")
        assert "--wait would hold this kernel, which the agent needs" in refused.error
        refused = kernel.run("%agent --wait agent: run it all")
        assert "--wait would hold this kernel" in refused.error
        assert model.requests == [] or model.remaining == 2
        working = kernel.run("%agent --mode agent go")
        refused = kernel.run("%agent --out answer and now?")
        assert "Leave --out out" in refused.error
        queued = kernel.run("%agent and now?")
        assert (working.status, queued.status) == ("ok", "ok")
        assert "Working…" in queued.display["text/markdown"]
        model.release()
        kernel.wait(lambda: queued.display["text/markdown"] == "Second.")
        assert working.display["text/markdown"] == f"First.\n\n{NOTHING}"


def test_what_waits_for_approval_is_reported_and_decided_elsewhere(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_notebook(server, "approve.ipynb", LOAD, "superfluous = 1")
    model.script(Call("deleteNotebookCells", {"cellIds": ["cell-1"]}), Say("It is gone."))
    with notebook_kernel(server, "approve.ipynb") as kernel:
        kernel.run(LOAD)
        asked = kernel.run("%agent --mode agent delete the last cell", "cell-0")
        kernel.wait(lambda: "waits for your approval" in asked.display["text/markdown"])
        kernel.run("print('the kernel is free')")
        session = server.get("sessions", limit=1)["sessions"][0]["id"]
        # The page opens what the link names; elsewhere it leads nowhere.
        assert asked.display["text/markdown"].endswith(f"[Open it there](#session-{session})")
        assert "waits for you in the agent's panel" in kernel.run("%agent status").text
        (waiting,) = [
            event
            for event in server.get(f"sessions/{session}/turns", include="events")["turns"][0][
                "events"
            ]
            if event["type"] == "approval_requested"
        ]
        decision = {"approvalId": waiting["approvalId"], "decision": "approve"}
        submit_in_page(server, session, {"type": "approval_decision", **decision})
        kernel.wait_for_answer(asked, "It is gone.")
        assert "#session" not in asked.display["text/markdown"]
    assert len(nbformat.read(server.root / "approve.ipynb", as_version=4).cells) == 1


def test_the_saved_notebook_is_valid_and_converts(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_notebook(server, "saved.ipynb", "1 + 1")
    model.script(add("6 * 7"), Say("See **42**:\n\n```python\n6 * 7\n```"))
    with notebook_kernel(server, "saved.ipynb") as kernel:
        kernel.run(LOAD)
        asked = kernel.run("%agent --mode agent go", "cell-0")
        kernel.wait_for_answer(asked, "```")
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("%agent --mode agent go", outputs=asked.outputs)]
    )
    nbformat.validate(notebook)
    page, _ = HTMLExporter(template_name="lab").from_notebook_node(notebook)
    assert "<strong>42</strong>" in page
    assert "<details><summary>1 step</summary>" in page
    assert "&lt;details" not in page


def test_a_script_that_is_open_as_a_notebook_is_not_waited_for_and_takes_cells(
    tmp_path: Path, model: ScriptedModelServer
) -> None:
    """jupytext serves it as a notebook; a console for it is none."""
    with RunningServer(
        tmp_path,
        api_base=model.base_url,
        environment=with_package("jupytext"),
        own_interpreter=True,
    ) as server:
        for name in ("script.py", "text.md"):
            file = server.root / name
            file.write_text("# %%\nx = 6\n" if name == "script.py" else "```python\nx = 6\n```\n")
            with notebook_kernel(server, name) as kernel:
                kernel.run(LOAD)
                refused = kernel.run("%agent --mode agent --wait run it all")
                assert "--wait would hold this kernel" in refused.error
                model.script(add("print(x * 7)"), Say("It is 42."))
                kernel.run("x = 6")
                asked = kernel.run("%agent --mode agent go")
                kernel.wait_for_answer(asked, "42.")
            assert "print(x * 7)" in file.read_text()
        (server.root / "plain.txt").write_text("text\n")
        for path, kind in (("console-1-abc", "console"), ("plain.txt", "notebook")):
            model.script(Say("Waited."))
            with notebook_kernel(server, path, kind=kind) as kernel:
                kernel.run(LOAD)
                waited = kernel.run("%agent --mode agent --wait go")
                assert waited.display["text/markdown"] == f"Waited.\n\n{NOTHING}"
