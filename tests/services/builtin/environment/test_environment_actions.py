"""``/environment`` on real environments, by uv and by pip, with packages that are made here."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyter_datalayer_agent.services.action import Action, ActionFailed, ActionStopped
from jupyter_datalayer_agent.services.builtin.environment import programs
from jupyter_datalayer_agent.services.builtin.environment.packages import (
    CheckRequirements,
    Install,
    ListPackages,
    Remove,
    WriteRequirements,
    problem_of,
)
from jupyter_datalayer_agent.services.dry_run import dry_run
from jupyter_datalayer_agent.services.matcher import Matcher
from tests.services.builtin.running import refused, run
from tests.support.jupyter import RunningServer
from tests.support.planning import of_type, submit, until
from tests.support.wheels import repack, slow_source, wheel


class Context:
    """An ``ActionContext`` of a kernel with this interpreter."""

    notebook = "a.ipynb"

    def __init__(self, root: Path, python: Path) -> None:
        self.root = root
        self._python = python

    async def python(self) -> str:
        return str(self._python)

    async def path(self, relative: str) -> Path:
        return self.root / relative

    async def text(self, relative: str) -> str:
        return (self.root / relative).read_text("utf-8-sig")

    async def files(self) -> list[str]:
        return [each.name for each in self.root.iterdir()]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "wheels"
    wheel(folder, "old-thing", "old_thing")
    wheel(folder, "old-thing", "old_thing", "2.0")
    wheel(folder, "user-thing", "user_thing", needs="old-thing>=1")
    return folder


@pytest.fixture(scope="module", params=["uv", "pip"])
def empty(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment, called as what installs into it."""
    folder = tmp_path_factory.mktemp("made") / str(request.param)
    program = programs.uv()
    assert program is not None
    command = [program, "venv", "--python", sys.executable, str(folder)]
    if request.param == "pip":
        command = [sys.executable, "-m", "venv", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture
def context(empty: Path, tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    if empty.name == "pip":
        monkeypatch.setattr(programs, "uv", lambda: None)
    for name in ("UV", "PIP"):
        monkeypatch.setenv(f"{name}_NO_INDEX", "1")
        monkeypatch.setenv(f"{name}_FIND_LINKS", str(wheels))
    folder = tmp_path / "env"
    shutil.copytree(empty, folder, symlinks=True)
    root = tmp_path / "root"
    root.mkdir()
    return Context(root, folder / "bin" / "python")


async def silent(message: str, fraction: float | None = None) -> None:
    """No progress is shown."""


def do(context: Context, action: type[Action], **parameters: Any) -> str:
    made = action(context)  # type: ignore[arg-type]
    values = action.Parameters(**parameters)
    return asyncio.run(made.execute(values, silent)).output


def test_packages_are_installed_listed_and_removed(context: Context) -> None:
    said = do(context, Install, packages=["user-thing", "old-thing<2"])
    assert "- old-thing 1.0" in said
    assert "- user-thing 1.0" in said
    assert "| old-thing | 1.0 |" in do(context, ListPackages)
    assert "installed" in do(context, Install, packages=["user-thing"])
    assert "do not conflict" in do(context, ListPackages, show="conflicts")
    assert "(was 1.0)" in do(context, Install, packages=["old-thing"], upgrade=True)
    python = asyncio.run(context.python())
    subprocess.run([python, "-c", "import user_thing, old_thing"], check=True)

    assert "- old-thing 2.0" in do(context, Remove, packages=["old-thing"])
    assert subprocess.run([python, "-c", "import old_thing"], capture_output=True).returncode == 1
    assert "old-thing" in do(context, ListPackages, show="conflicts")
    with pytest.raises(ActionFailed, match=r"Not installed in .*: old-thing"):
        do(context, Remove, packages=["old-thing"])


def test_what_is_out_of_date_is_listed(context: Context) -> None:
    if programs.uv() is not None:
        pytest.skip("uv asks an index only, and there is none here")
    do(context, Install, packages=["old-thing==1.0"])
    assert "| old-thing | 1.0 | 2.0 |" in do(context, ListPackages, show="outdated")


def test_the_proposal_to_remove_says_what_needs_it(context: Context) -> None:
    do(context, Install, packages=["user-thing"])
    action = Remove(context)  # type: ignore[arg-type]
    matcher = Matcher(context, is_arguments=True)  # type: ignore[arg-type]
    found = asyncio.run(dry_run(action, "old-thing", {}, matcher))
    proposal = found.proposal("environment", action)
    assert proposal.destroys == (
        "Removes old-thing from the kernel's environment. old-thing is needed by user-thing."
    )
    do(context, Remove, packages=["user-thing"])


def test_a_package_that_there_is_not_is_an_error_with_what_pip_said(context: Context) -> None:
    with pytest.raises(ActionFailed, match=r"could not be installed:(.|\n)*no-such-thing"):
        do(context, Install, packages=["no-such-thing"])


def test_requirements_are_written_and_checked(context: Context) -> None:
    do(context, Install, packages=["old-thing<2"])
    assert "Wrote `requirements.txt`" in do(context, WriteRequirements)
    assert "old-thing==1.0" in (context.root / "requirements.txt").read_text()
    assert " fits `requirements.txt`" in do(context, CheckRequirements, file="requirements.txt")
    with pytest.raises(ActionFailed, match="already"):
        do(context, WriteRequirements)

    text = "# mine\nold-thing>=2  # newer\nabsent\n-r other.txt\nx; python_version < '3'\n"
    (context.root / "other.txt").write_text(text)
    said = do(context, CheckRequirements, file="other.txt")
    assert "does not fit `other.txt` (2 requirements)" in said
    assert "- old-thing is 1.0, not >=2" in said
    assert "- absent is missing: absent" in said
    assert "- `-r other.txt`" in said


def begun(pids: Path) -> list[int]:
    """The processes of a build that never ends, once it has begun."""
    return [int(each) for each in pids.read_text().split()]


def gone(pid: int) -> bool:
    """Whether there is no such process; one that nobody has waited for yet has ended, too."""
    try:
        return " Z " in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True


@pytest.mark.parametrize("old", [True, False])
def test_a_cancelled_installation_ends_with_its_build_and_leaves_the_environment_as_it_was(
    context: Context, wheels: Path, tmp_path: Path, old: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids, links = tmp_path / "pids", tmp_path / "links"
    shutil.copytree(wheels, links)
    slow_source(links, "slow-thing", pids)
    for name in ("UV", "PIP"):
        monkeypatch.setenv(f"{name}_FIND_LINKS", str(links))
    if old:
        do(context, Install, packages=["old-thing<2"])
    before = files_of(context)

    async def cancelled() -> tuple[list[int], str]:
        action = Install(context)  # type: ignore[arg-type]
        # The package that could be replaced at once is to wait for the one that is built.
        values = Install.Parameters(packages=["old-thing==2.0", "slow-thing"])
        task = asyncio.create_task(action.execute(values, silent))
        processes = await asyncio.to_thread(begun, pids)
        task.cancel()
        with pytest.raises(ActionStopped) as stopped:
            await task
        return processes, stopped.value.said

    processes, said = asyncio.run(cancelled())
    assert len(processes) == 2
    assert all(map(gone, processes))
    python = asyncio.run(context.python())
    assert said == f"Stopped. The packages of `{python}` are as they were."
    assert files_of(context) == before
    assert "do not conflict" in do(context, ListPackages, show="conflicts")
    assert "- old-thing 2.0" in do(context, Install, packages=["old-thing==2.0"])


def files_of(context: Context) -> list[str]:
    """What there is in the environment, without what Python and uv keep for themselves."""
    folder = Path(asyncio.run(context.python())).parent.parent
    found = [str(each.relative_to(folder)) for each in folder.rglob("*")]
    return sorted(each for each in found if "__pycache__" not in each and each != ".lock")


def test_what_is_being_written_already_is_written_to_its_end() -> None:
    async def cancelled() -> list[str]:
        code = (
            "import signal, time\nprint('Installing collected packages: x', flush=True)\n"
            "time.sleep(1)\nprint('Installed', flush=True)"
        )
        began, lines = asyncio.Event(), []

        async def progress(message: str, fraction: float | None = None) -> None:
            lines.append(message)
            began.set()

        command = [sys.executable, "-c", code]
        task = asyncio.create_task(programs.run(command, progress, programs.INSTALLS))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return lines

    assert asyncio.run(cancelled())[-1] == "Installed"


def test_an_installation_that_was_stopped_too_late_says_what_was_changed(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    do(context, Install, packages=["old-thing<2"])
    real = programs.run

    async def stopped_at_its_end(*arguments: Any) -> programs.Done:
        done = await real(*arguments)
        if "install" in arguments[0]:
            raise asyncio.CancelledError
        return done

    monkeypatch.setattr(programs, "run", stopped_at_its_end)
    with pytest.raises(ActionStopped) as stopped:
        do(context, Install, packages=["user-thing", "old-thing>=2"])
    assert stopped.value.said.startswith("Stopped, but these packages of")
    assert "- old-thing 2.0 (was 1.0)\n- user-thing 1.0" in stopped.value.said


@pytest.mark.parametrize(
    "text",
    [
        *("--index-url=x", "-r requirements.txt", "a b", "", "a; rm -rf /", "../x", "$(id)"),
        *("x @ file:///etc/passwd", "git+ssh://x/y", "./x.whl"),
    ],
)
def test_what_is_no_package_name_is_refused(text: str) -> None:
    assert problem_of(text) is not None


@pytest.mark.parametrize("text", ["pandas", "scikit-learn>=1.4,<2", "uvicorn[standard]==0.30.*"])
def test_names_with_versions_and_extras_are_accepted(text: str) -> None:
    assert problem_of(text) is None


# -- over HTTP, with a kernel of another environment


def notebook_with(server: RunningServer, kernel: str) -> None:
    spec = {"name": kernel, "display_name": kernel, "language": "python"}
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": spec})
    nbformat.write(notebook, server.root / "a.ipynb")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Iterator[RunningServer]:
    repack(wheels, "ipykernel")
    slow_source(wheels, "slow-thing", wheels.parent / "pids")
    links = {
        f"{name}_{key}": value
        for name in ("UV", "PIP")
        for key, value in (("NO_INDEX", "1"), ("FIND_LINKS", str(wheels)))
    }
    with RunningServer(tmp_path_factory.mktemp("server"), environment=links) as server:
        yield server


def test_a_new_kernel_has_packages_of_its_own(server: RunningServer) -> None:
    notebook_with(server, "python3")
    reply = run(server, "environment/new-kernel", name="Forecasts", packages=["user-thing"])
    assert "Created the kernel **Forecasts**" in reply["reply"]
    data = server.folder / "home" / "data"
    spec = json.loads((data / "kernels" / "forecasts" / "kernel.json").read_text())
    folder = data / "datalayer-agent-kernels" / "forecasts"
    assert Path(spec["argv"][0]).parent == folder / "bin"
    assert "already" in refused(server, "environment/new-kernel", name="forecasts", packages=[])

    reply = run(server, "environment/change-kernel", kernel="forecasts")
    assert reply["reply"] == "`a.ipynb` has the kernel forecasts now."
    reply = run(server, "environment/list", show="all")
    assert f"packages of `{folder}" in reply["reply"]
    assert "| user-thing | 1.0 |" in reply["reply"]


def test_an_installation_under_way_is_stopped_by_the_user(
    server: RunningServer, wheels: Path
) -> None:
    notebook_with(server, "forecasts")
    session = server.post("sessions", {})["id"]
    request = {
        "message": "Install packages", "activeNotebook": "a.ipynb", "location": "panel",
        "action": {
            "service": "environment", "action": "install",
            "parameters": {"packages": ["slow-thing"]},
        },
    }  # fmt: skip
    submit(server, session, {"type": "user_message", "request": request})
    processes = begun(wheels.parent / "pids")
    assert not any(map(gone, processes))
    submit(server, session, {"type": "interrupt"})
    events = until(server.stream(f"sessions/{session}/events"), "turn_aborted", "turn_completed")
    (finished,) = of_type(events, "action_finished")
    assert finished["status"] == "cancelled"
    assert finished["output"].startswith("Stopped. The packages of")
    assert finished["output"].endswith("are as they were.")
    assert all(map(gone, processes))


def test_a_kernel_that_could_not_be_made_leaves_nothing(server: RunningServer) -> None:
    notebook_with(server, "python3")
    why = refused(server, "environment/new-kernel", name="broken", packages=["no-such-thing"])
    assert "no-such-thing" in why
    data = server.folder / "home" / "data"
    assert not (data / "datalayer-agent-kernels" / "broken").exists()
    assert not (data / "kernels" / "broken").exists()


def test_without_a_notebook_it_says_which_to_open(server: RunningServer) -> None:
    why = refused(server, "environment/list", active=None, show="all")
    assert why == "No notebook is active. Open the one whose kernel you mean."
