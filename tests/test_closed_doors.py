"""An installation with nothing but the base dependencies works, with the doors for other programs
closed."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.support.jupyter import PYTHONPATH, RunningServer

OTHERS = ("acp", "jupyter_ai_persona_manager", "jupyterlab_chat")
"""What the doors need, by module."""


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder before which none of them can be imported."""
    folder = tmp_path_factory.mktemp("without")
    for name in OTHERS:
        message = f"No module named {name!r}"
        text = f"raise ModuleNotFoundError({message!r}, name={name!r})\n"
        (folder / f"{name}.py").write_text(text)
    return folder


def test_the_server_answers_without_them(tmp_path: Path, without: Path) -> None:
    environment = {"PYTHONPATH": os.pathsep.join([str(without), PYTHONPATH])}
    with RunningServer(tmp_path, environment=environment, own_interpreter=True) as server:
        assert server.get("descriptor")["id"] == "datalayer-autonomous"
        assert "/data" in server.post("chat", {"message": "/help"})["reply"]
    assert "Traceback" not in server.log.read_text()


def test_the_command_for_editors_says_what_to_install() -> None:
    script = (
        "import sys; sys.modules['acp'] = None\n"
        "from jupyter_datalayer_agent.cli import main; sys.exit(main(['acp']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "pip install 'jupyter-datalayer-agent[acp]'" in done.stderr


def test_the_persona_is_declared_and_fails_alone_where_jupyter_ai_is_not(without: Path) -> None:
    [persona] = entry_points(group="jupyter_ai.personas", name="datalayer")
    script = f"from importlib import import_module; import_module({persona.module!r})"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(without), PYTHONPATH])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.endswith(
        "ModuleNotFoundError: No module named 'jupyter_ai_persona_manager'\n"
    )
