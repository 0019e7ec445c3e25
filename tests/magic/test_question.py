"""Prompts with question marks, in the cell that loads the magic and in later ones."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient

from tests.magic.kernels import LOAD, Kernel, notebook_kernel, write_notebook
from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer

UNLOAD = "%unload_ext jupyter_datalayer_agent"
PROMPTS = [
    "what does this notebook do?",
    "what does this notebook do??",
    "?what does this do",
    "?what does this do?",
    "stop here!",
    "what is in cell 3?",
    "it's fine, is it?",
    "why do 'df' and \"sales\" differ?",
    "what is df.a?",
    "does sales* match?",
    "und é, warum?",
    "为什么失败?",
    "is (this?",
    "one line \\\nand one more?",
]
PRINT_HELP = """
get_ipython().set_hook("show_in_pager", lambda shell, data, **_: print(data["text/plain"]), 0)
do = 1234
""".strip()


def _asked(kernel: Kernel, model: ScriptedModelServer, prompt: str, cell: str) -> None:
    before = len(model.requests)
    model.script(Say("Answered."))
    ran = kernel.run(cell)
    assert ran.status == "ok"
    assert ran.display["text/markdown"] == "Answered."
    assert len(model.requests) == before + 1
    words = " ".join(prompt.replace("\\\n", "").split())
    assert words in " ".join(model.requests[-1].text.split())


@pytest.mark.parametrize("before", ["", "if True:\n    print('loads it')\n    "])
def test_a_question_is_asked_in_the_cell_that_loads_the_magic_and_in_later_ones(
    server: RunningServer, model: ScriptedModelServer, before: str
) -> None:
    write_notebook(server, "questions.ipynb", LOAD)
    indent = before.rpartition("\n")[2]
    with notebook_kernel(server, "questions.ipynb") as kernel:
        for prompt in PROMPTS:
            _asked(kernel, model, prompt, f"{before}{LOAD}\n{indent}%agent {prompt}")
            _asked(kernel, model, prompt, f"x = 1\n%agent {prompt}")
            kernel.run(UNLOAD)


def test_help_stays_help(server: RunningServer, model: ScriptedModelServer) -> None:
    write_notebook(server, "help.ipynb", LOAD)
    with notebook_kernel(server, "help.ipynb") as kernel:
        kernel.run(PRINT_HELP)
        for load in (LOAD, "x = 1", f"{UNLOAD}\n{LOAD}"):
            asked = len(model.requests)
            model.script(Say("Answered."), Say("Twice."))
            shown = kernel.run(f"{load}\n%agent what does it do?\ndo?\n%agent?\n?do\ndo??\nd*o?")
            assert len(model.requests) == asked + 1
            assert shown.text.count("1234") >= 3
            assert "Talk to the agent." in shown.text
            assert "Talk to the agent." in kernel.run("%agent?").text
            assert "%agent ?" not in kernel.run("do?").text
            assert "--mode" in kernel.run("%agent ?").text
            model.script()
        kernel.run(UNLOAD)
        assert kernel.run("%agent what does it do?").text.count("1234") == 1


def test_text_that_looks_like_a_prompt_stays_as_it_is(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_notebook(server, "text.ipynb", LOAD)
    with notebook_kernel(server, "text.ipynb") as kernel:
        for load in (f"{LOAD}\n", ""):
            code = f'{load}text = """\n%agent what does it do?\n"""\nprint(text)'
            assert kernel.run(code).text == "\n%agent what does it do?\n\n"


def test_the_lines_of_a_cell_that_is_all_prompt_may_end_with_question_marks(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_notebook(server, "cell.ipynb", LOAD)
    with notebook_kernel(server, "cell.ipynb") as kernel:
        kernel.run(LOAD)
        _asked(kernel, model, "why? how? what!", "%%agent why?\nhow?\nwhat!")


def test_a_question_is_asked_where_a_notebook_is_executed_without_a_page(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("It adds."))
    cells = [nbformat.v4.new_code_cell(f"{LOAD}\n%agent what does this notebook do?")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    place = {"metadata": {"path": str(server.root)}}
    done = NotebookClient(notebook, resources=place).execute(env=server.environment)
    assert done.cells[0].outputs[0]["data"]["text/plain"] == "It adds."
    assert "what does this notebook do?" in model.requests[-1].text
