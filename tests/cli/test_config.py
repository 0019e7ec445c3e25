"""``jupyter datalayer-agent config`` as a process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.cli.test_cli import command
from tests.support.jupyter import RunningServer


def test_settings_are_printed_with_where_they_come_from(tmp_path: Path) -> None:
    done = command(tmp_path, "config", api_base="http://me:swordfish@127.0.0.1:9/v1")
    assert done.returncode == 0, done.stderr
    lines = {line.split()[0]: line.split() for line in done.stdout.splitlines()}
    assert lines["model"] == ["model", '"openai/scripted"', "environment"]
    assert lines["api_base"] == ["api_base", '"http://***@127.0.0.1:9/v1"', "environment"]
    assert lines["max_tool_calls"] == ["max_tool_calls", "50", "default"]
    assert "swordfish" not in done.stdout


def printed(server: RunningServer, *options: str) -> dict[str, Any]:
    """The settings that the command prints beside a server that runs, by name."""
    done = subprocess.run(
        [sys.executable, "-m", "jupyter_datalayer_agent.cli", "config", "--json", *options],
        cwd=server.root,
        env=server.environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return {each["name"]: each for each in json.loads(done.stdout)}


def test_a_running_server_is_asked_also_for_a_session(tmp_path: Path) -> None:
    with RunningServer(
        tmp_path, environment={"DATALAYER_AGENT_LOCKED": '["max_tool_calls"]'}
    ) as server:
        session = server.post("sessions", {"settings": {"temperature": 0.5}})["id"]
        settings = printed(server)
        in_session = printed(server, "--session", session)
    assert (settings["temperature"]["source"], in_session["temperature"]["source"]) == (
        "default",
        "session",
    )
    assert settings["max_tool_calls"]["locked"] is True
