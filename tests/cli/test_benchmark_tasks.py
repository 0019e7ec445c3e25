"""``benchmark --tasks`` as a process: real servers, kernels and notebooks, and a scripted model."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import psutil

from tests.benchmark.scripted import CLAIM, solving
from tests.benchmark.solutions import RIGHT
from tests.benchmark.wrong_solutions import WRONG
from tests.cli.test_cli import command
from tests.support.model_request import RecordedRequest
from tests.support.model_script import Step
from tests.support.model_server import Call, ScriptedModelServer


def tasks(
    folder: Path, model: ScriptedModelServer, *arguments: str
) -> subprocess.CompletedProcess[str]:
    return command(
        folder, "benchmark", "--tasks", *arguments,
        "--model", "openai/scripted", "--api-base", model.base_url, api_base=model.base_url,
    )  # fmt: skip


def processes_in(folder: Path) -> list[psutil.Process]:
    """Those that work in the folder, or in one that was in it."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.cwd().startswith(str(folder)):
                found.append(process)
        except psutil.Error:
            continue
    return found


def test_what_is_done_counts_and_not_what_is_claimed(tmp_path: Path, monkeypatch: Any) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    solutions = {
        "group-means": RIGHT["group-means"],
        "missing-filled": CLAIM,
        "keep-cell": WRONG["keep-cell"][0],
    }
    with ScriptedModelServer(default=solving(solutions)) as model:
        done = tasks(tmp_path, model, *solutions, "--min-success", "0.3", "--json")
        assert model.errors == []
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["what"] == "tasks"
    assert found["total"]["right"] == 1
    cases = found["cases"]
    assert cases["tasks/group-means"]["success"] == 1
    assert cases["tasks/group-means"]["callsPerRun"] == 3
    assert cases["tasks/group-means"]["tokensPerRun"] > 0
    assert cases["tasks/group-means"]["secondsPerRun"] > 0
    (claimed,) = cases["tasks/missing-filled"]["problems"]
    assert "NameError: name 'cars' is not defined" in claimed
    assert cases["tasks/keep-cell"]["problems"] == ["cell-2 was changed"]
    assert list(temporary.glob("datalayer-agent-task-*")) == []
    assert processes_in(tmp_path) == []
    assert list(tmp_path.glob("*.ipynb")) == []


def test_a_task_that_hangs_ends_with_its_server_and_its_kernel(
    tmp_path: Path, monkeypatch: Any
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    forever = Call("addNotebookCell", {"type": "code", "content": "while True: pass", "run": True})
    running: list[psutil.Process] = []

    def step(request: RecordedRequest) -> Step:
        running.extend(processes_in(tmp_path))
        return forever

    with ScriptedModelServer(default=step) as model:
        done = tasks(tmp_path, model, "german", "--seconds", "4")
    assert done.returncode == 1, done.stderr
    assert "| german | 1 | 0.0% | 0.0% to 79.3% |" in done.stdout
    assert "- `tasks/german` (0 of 1): took more than 4 s" in done.stdout
    assert running
    assert processes_in(tmp_path) == []


def test_a_task_needs_a_model_and_a_name_that_there_is(tmp_path: Path) -> None:
    without = command(tmp_path, "benchmark", "--tasks")
    assert without.returncode == 2
    assert "--tasks needs --model" in without.stderr
    unknown = command(
        tmp_path,
        "benchmark",
        "--tasks",
        "sing",
        "--model",
        "openai/x",
        api_base="http://127.0.0.1:9/v1",
    )
    assert unknown.returncode == 2
    assert "There is no task 'sing'. There are: missing-counts, " in unknown.stderr
