"""Where the magic is loaded by itself, and where there is none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from jupyter_datalayer_agent.magic.answer import Answer, TerminalOutput, bundle
from tests.magic.kernels import LOAD, notebook_kernel, write_notebook
from tests.notebook.support import BASH_SPEC, install_spec
from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer

IMPORTED = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
before = set(sys.modules)
shell.run_line_magic("load_ext", "jupyter_datalayer_agent")
new = {name.split(".")[0] for name in set(sys.modules) - before}
print(sorted(new - {"IPython"} - set(sys.stdlib_module_names)))
shell.run_line_magic("agent", "hello")
"""


def test_the_setting_loads_it_in_every_kernel(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text("mine = 'as always'\n")
    with ScriptedModelServer(Say("Hello.")) as model:
        server = RunningServer(
            tmp_path,
            api_base=model.base_url,
            environment={"DATALAYER_AGENT_AUTOLOAD_MAGIC": "true"},
        )
        server.environment["PYTHONSTARTUP"] = str(own)
        with server:
            _both_kernels(server, own)


def _both_kernels(server: RunningServer, own: Path) -> None:
    install_spec(Path(server.environment["JUPYTER_DATA_DIR"]) / "kernels", "bash", BASH_SPEC)
    write_notebook(server, "auto.ipynb", "%agent hello")
    with notebook_kernel(server, "auto.ipynb") as kernel:
        assert kernel.run("%agent hello").display["text/markdown"] == "Hello."
        printed = kernel.run("import os; print(mine, os.environ['PYTHONSTARTUP'])").text
        assert printed == f"as always {own}\n"
    with notebook_kernel(server, "auto.ipynb", "bash") as kernel:
        assert "no such job" in str(kernel.run("%agent hello").outputs)


def test_in_a_terminal_nothing_is_printed_twice_and_what_was_not_done_follows_the_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer = Answer()
    terminal = TerminalOutput("markdown")
    for event in (
        {"type": "text_delta", "itemId": "a", "delta": "It is "},
        {"type": "text_delta", "itemId": "a", "delta": "added."},
        {"type": "warning", "message": "Cut off."},
        {
            "type": "final_reply",
            "text": "It is added.",
            "notDone": {"kind": "change_failed", "message": "The last change failed: No."},
        },
        {"type": "turn_completed"},
    ):
        answer.take(event)
        terminal.show(answer)
    printed = capsys.readouterr().out
    assert printed == "It is added.\nCut off.\nThe last change failed: No.\n"
    assert bundle(answer, "text")["text/plain"] == "The last change failed: No.\nIt is added."


def test_in_a_terminal_it_is_plain_text_and_imports_next_to_nothing(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("Hello **you**."))
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED],
        cwd=server.root,
        env=server.environment,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["['jupyter_datalayer_agent']", "Hello **you**."]


def test_where_a_notebook_is_executed_without_a_page_the_output_is_whole(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("Hello."), Say("Nothing to do."))
    cells = [LOAD, "%agent hello", "%agent --mode agent --format text go"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in cells])
    place = {"metadata": {"path": str(server.root)}}
    done = NotebookClient(notebook, resources=place).execute(env=server.environment)
    assert [cell.outputs[0]["data"].get("text/plain") for cell in done.cells[1:]] == [
        "Hello.", "Nothing to do."
    ]  # fmt: skip
