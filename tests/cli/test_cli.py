"""``jupyter datalayer-agent`` as a process, with real servers, kernels and the scripted model."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.support.cars import LOAD, MAIN_JOB, mean_horsepower, write_cars
from tests.support.jupyter import PYTHONPATH, RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.planning import add, plan_of
from tests.support.preloaded.modules import FONTS


def environment(home: Path, api_base: str | None = None) -> dict[str, str]:
    """A home of its own, and a model only where one is given."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if "_API_KEY" not in name and not name.startswith(("JUPYTER_", "DATALAYER_AGENT_"))
    }
    # Looking at the machine's fonts takes a new home seconds.
    kept |= {"HOME": str(home), "PYTHONPATH": PYTHONPATH, "MPLCONFIGDIR": str(FONTS)}
    if api_base is not None:
        kept |= {
            "DATALAYER_AGENT_API_BASE": api_base,
            "DATALAYER_AGENT_MODEL": "openai/scripted",
            "OPENAI_API_KEY": "sk-test-0123456789abcdef",
        }
    return kept


def command(
    folder: Path, *arguments: str, whole: bool = False, **env: Any
) -> subprocess.CompletedProcess[str]:
    """Run it; ``whole`` makes it start its private server as a user's does."""
    module = "jupyter_datalayer_agent.cli"
    if RunningServer.preloaded is not None and not whole:
        RunningServer.preloaded()
        module = "tests.support.preloaded.cli"
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        env=environment(folder, **env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def test_a_task_is_carried_out_by_a_private_server(tmp_path: Path) -> None:
    write_cars(tmp_path)
    with ScriptedModelServer(*MAIN_JOB) as model:
        task = ["run", "Mean horsepower?", "cars.ipynb"]
        done = command(tmp_path, *task, whole=True, api_base=model.base_url)
    assert done.returncode == 0, done.stderr
    assert str(mean_horsepower()) in done.stdout
    assert "✗ Added cell 3 · cell 3 failed: KeyError" in done.stderr
    assert "✓ Changed cell 3" in done.stderr
    assert "\x1b" not in done.stderr
    assert len(nbformat.read(tmp_path / "cars.ipynb", as_version=4).cells) == 3


def test_a_server_that_runs_already_is_used(tmp_path: Path) -> None:
    with (
        ScriptedModelServer(add("1 + 1"), Say("Two.")) as model,
        RunningServer(tmp_path, api_base=model.base_url) as server,
    ):
        write_cars(server.root)
        env = {**server.environment}
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "jupyter_datalayer_agent.cli",
                "run",
                "add",
                "cars.ipynb",
                "--json",
            ],
            cwd=server.root,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        sessions = server.get("sessions")["sessions"]
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert json.loads(done.stdout)["reply"] == "Two."
    assert [session["title"] for session in sessions] == ["add"]


def test_a_new_notebook_a_plan_and_a_failure_with_an_exit_code(tmp_path: Path) -> None:
    write_cars(tmp_path)
    with ScriptedModelServer(
        plan_of("Load", "Divide"),
        add(LOAD),
        Say("Loaded."),
        add("1 / 0"),
        Say("It failed."),
        Say("No."),
    ) as model:
        done = command(tmp_path, "run", "go", "new.ipynb", "--plan", api_base=model.base_url)
    assert done.returncode == 1
    assert "Plan:\n  1. Load\n  2. Divide\n  Tools: addNotebookCell\n" in done.stderr
    assert done.stderr.count("Plan:") == 1
    assert "Step 1 of 2: Load" in done.stderr
    assert "Stopped at step 2 of 2" in done.stdout
    assert nbformat.read(tmp_path / "new.ipynb", as_version=4).cells[0].source == LOAD


def test_what_needs_approval_is_denied_where_nobody_sits_at_the_terminal(tmp_path: Path) -> None:
    write_cars(tmp_path)
    delete = Call("deleteNotebookCells", {"cellIds": ["heading"]})
    with ScriptedModelServer(delete, Say("I may not.")) as model:
        done = command(tmp_path, "run", "delete", "cars.ipynb", api_base=model.base_url)
    assert done.returncode == 0
    assert "--approval never" in done.stderr
    assert len(nbformat.read(tmp_path / "cars.ipynb", as_version=4).cells) == 1


def test_where_nobody_sits_at_the_terminal_nothing_is_asked_and_no_answer_made_up(
    tmp_path: Path,
) -> None:
    write_cars(tmp_path)
    delete = Call("deleteNotebookCells", {"cellIds": ["heading"]})
    script = [Call("askUser", {"question": "Which?"}), delete, Say("A.")]
    with ScriptedModelServer(*script) as model:
        done = command(tmp_path, "run", "choose", "cars.ipynb", api_base=model.base_url)
    assert done.returncode == 0
    assert "askUser" not in model.requests[0].tool_names
    asked, denied = model.requests[-1].tool_outputs.values()
    assert '{"error":{"code":' in asked
    assert "This call was not approved; nothing was done. Nobody is at the terminal." in denied


def test_an_answer_is_printed_under_what_was_not_done(tmp_path: Path) -> None:
    write_cars(tmp_path)
    script = [add("1 / 0"), Say("It ran without an error.")] * 2
    task = ["run", "Divide", "cars.ipynb"]
    with ScriptedModelServer(*script) as model:
        done = command(tmp_path, *task, api_base=model.base_url)
        machine = command(tmp_path, *task, "--json", api_base=model.base_url)
    line, _, answer, *_ = done.stdout.split("\n")
    assert line.startswith("The last run failed: Cell 2 (“1 / 0”) failed")
    assert "ZeroDivisionError" in line
    assert answer == "It ran without an error."
    assert done.stdout.endswith("\n1 change · 1 run · 1 error left\n")
    assert json.loads(machine.stdout)["notDone"]["kind"] == "run_failed"


def test_a_template_needs_no_model(tmp_path: Path) -> None:
    write_cars(tmp_path)
    done = command(
        tmp_path, "run", "explore", "made.ipynb",
        "--template", "data-analysis-notebook", "--param", "data=cars.csv",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    cells = nbformat.read(tmp_path / "made.ipynb", as_version=4).cells
    assert any("406" in str(cell.get("outputs")) for cell in cells)
    assert not (tmp_path / "data_analysis.ipynb").exists()


def test_without_a_model_a_task_fails_and_says_what_to_do(tmp_path: Path) -> None:
    write_cars(tmp_path)
    done = command(tmp_path, "run", "sing", "cars.ipynb")
    assert done.returncode == 1
    assert "model" in done.stderr


def test_without_a_model_what_is_close_is_offered_with_the_command_that_runs_it(
    tmp_path: Path,
) -> None:
    write_cars(tmp_path)
    before = (tmp_path / "cars.ipynb").read_bytes()
    done = command(tmp_path, "run", "a data analysis notebook of cars.csv", "cars.ipynb")
    assert done.returncode == 1
    assert (tmp_path / "cars.ipynb").read_bytes() == before
    offered = done.stdout.strip().splitlines()[-1].strip()
    assert offered == (
        "jupyter datalayer-agent run 'Data analysis notebook' data-analysis-notebook.ipynb "
        "--template data-analysis-notebook --param data=cars.csv"
    )
    again = command(tmp_path, *shlex.split(offered)[2:])
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "data-analysis-notebook.ipynb").exists()


def test_without_a_model_an_action_that_is_near_is_offered(tmp_path: Path) -> None:
    write_cars(tmp_path)
    done = command(tmp_path, "run", "review this notebook", "cars.ipynb", "--json")
    assert done.returncode == 1, done.stderr
    reply = json.loads(done.stdout)
    assert "`/notebook quality`" in reply["reply"]
    assert reply["offers"] == []
    asked = command(tmp_path, "run", "/notebook quality", "cars.ipynb", "--yes")
    assert asked.returncode == 0, asked.stderr
    assert "of 100" in asked.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "x", "notes.txt"], "not the name of a notebook"),
        (["run", "x", "nowhere/a.ipynb"], "no folder"),
        (["run", "x", "a.ipynb", "--template", "t", "--param", "novalue"], "NAME=VALUE"),
        (["quality", "none.ipynb"], "no notebook"),
        (["fly"], "invalid choice"),
    ],
)
def test_a_wrong_command_says_what_is_wrong(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    done = command(tmp_path, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_quality_has_an_exit_code_for_ci(tmp_path: Path) -> None:
    good = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title")])
    bad = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("from os import *")])
    nbformat.write(good, tmp_path / "good.ipynb")
    nbformat.write(bad, tmp_path / "bad.ipynb")
    assert command(tmp_path, "quality", "good.ipynb").returncode == 0
    done = command(tmp_path, "quality", "good.ipynb", "bad.ipynb", "--min-score", "99", "--json")
    assert done.returncode == 1
    reports = json.loads(done.stdout)
    assert reports["bad.ipynb"]["score"] < reports["good.ipynb"]["score"]


def test_lists_are_printed(tmp_path: Path) -> None:
    assert "machine-learning-pipeline" in command(tmp_path, "workflows").stdout
    assert json.loads(command(tmp_path, "sessions", "--json").stdout) == []
    models = command(tmp_path, "models")
    assert models.returncode == 1
    assert models.stdout


EXPORT = Call(
    "proposeAction",
    {"service": "notebook", "action": "export", "parameters": {"format": "html"}},
)


def test_a_proposed_action_is_run_only_where_the_user_allows_it(tmp_path: Path) -> None:
    write_cars(tmp_path)
    task = ["run", "/notebook export this as HTML", "cars.ipynb"]
    with ScriptedModelServer(EXPORT, EXPORT) as model:
        proposed = command(tmp_path, *task, api_base=model.base_url)
        assert proposed.returncode == 1
        assert "Nothing has been done yet." in proposed.stdout
        assert "add --yes" in proposed.stdout
        assert not (tmp_path / "cars.html").exists()
        done = command(tmp_path, *task, "--yes", api_base=model.base_url)
    assert done.returncode == 0, done.stderr
    assert "cars.html" in done.stdout
    assert "<html" in (tmp_path / "cars.html").read_text()


def test_a_plan_in_a_terminal_has_no_action_and_nothing_is_run_in_its_place(
    tmp_path: Path,
) -> None:
    write_cars(tmp_path)
    step = {"description": "Convert cars.csv", "action": "data/convert"}
    step["parameters"] = {"data": "cars.csv", "format": "parquet"}
    planned = Say(json.dumps({"steps": [step], "requiredTools": []}), chunk=64)
    task = ["run", "convert cars.csv to Parquet, then note it", "cars.ipynb", "--plan"]
    with ScriptedModelServer(planned, plan_of("Note it"), add("noted = 1"), Say("Noted.")) as model:
        done = command(tmp_path, *task, api_base=model.base_url)
        refused = json.dumps(model.requests[1].body)
    assert done.returncode == 0, done.stderr
    assert "Actions need a form" in refused
    assert "Plan:\n  1. Note it\n" in done.stderr
    assert not (tmp_path / "cars.parquet").exists()


def test_a_command_of_a_service_needs_no_notebook(tmp_path: Path) -> None:
    write_cars(tmp_path)
    done = command(tmp_path, "run", "/data convert cars.csv Parquet", "--yes")
    assert done.returncode == 0, done.stderr
    assert "cars.parquet" in done.stdout
    assert (tmp_path / "cars.parquet").is_file()
    refused = command(tmp_path, "run", "plot the price")
    assert refused.returncode == 2
    assert "Name a notebook, too." in refused.stderr


def test_the_benchmark_reports_and_fails_below_the_minimum(tmp_path: Path) -> None:
    only = ["benchmark", "--service", "ordinary"]
    done = command(tmp_path, *only, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["model"] is None
    assert found["services"]["ordinary"]["runs"] >= 100
    assert list((tmp_path / "logs").glob("*.eval"))
    (tmp_path / "report.json").write_text(done.stdout)
    compared = command(tmp_path, "benchmark", "--compare", "report.json", "report.json")
    assert "| ordinary | 100.0% | 100.0% |" in compared.stdout
    assert command(tmp_path, *only, "--min-success", "1.01").returncode == 1
    assert command(tmp_path, "benchmark", "--service", "nothing").returncode == 2


def test_the_benchmark_asks_the_model_that_it_is_given(tmp_path: Path) -> None:
    arguments = ["benchmark", "--service", "ordinary", "--runs", "2", "--json"]
    with ScriptedModelServer(default=Say("Well.")) as model:
        done = command(
            tmp_path, *arguments, "--model", "openai/scripted", "--api-base", model.base_url,
            api_base=model.base_url,
        )  # fmt: skip
        asked = len(model.requests)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["services"]["ordinary"]
    assert found["runs"] >= 200
    assert asked == found["runs"]
    assert found["offered"] == 0
