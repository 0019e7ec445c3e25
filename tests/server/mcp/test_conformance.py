"""The protocol's own conformance suite, against a real server with the fixtures that it calls."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.support.jupyter import TOKEN, RunningServer

SUITE = (
    Path(sys.prefix)
    / "programs/node_modules/@modelcontextprotocol/conformance/dist/conformance.mjs"
)
NOT_APPLICABLE = Path(__file__).with_name("conformance.yml")
EXTENSION = {"ServerApp": {"jpserver_extensions": {"tests.support.mcp.conformance": True}}}


def test_active_suite(tmp_path: Path) -> None:
    assert SUITE.is_file(), "Not installed: scripts/test_programs.sh .venv/programs"
    config = tmp_path / "home" / "config" / "jupyter_server_config.d"
    config.mkdir(parents=True)
    (config / "conformance.json").write_text(json.dumps(EXTENSION))
    with RunningServer(tmp_path) as server:
        # The suite sends no header of its own; Jupyter takes a token in the address, too.
        command = [
            *("node", SUITE, "server", "--url", f"{server.url}datalayer-agent/mcp?token={TOKEN}"),
            *("--suite", "active", "--expected-failures", NOT_APPLICABLE),
            *("--output-dir", tmp_path / "results"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=100)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr
    assert done.stdout.count("✓") >= 24, done.stdout[-6000:]
