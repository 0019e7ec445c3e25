"""The guard, as a program: it ends the server when its own input ends, whatever the server does."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import psutil

from jupyter_datalayer_agent.tools.mcp.connection import GUARD

from .client import FIXTURE


def message(number: int, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


def test_a_server_that_reads_nothing_is_ended_too() -> None:
    guard = subprocess.Popen(
        [sys.executable, "-I", "-S", GUARD, sys.executable, "-S", FIXTURE, "bad"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert guard.stdin is not None
    assert guard.stdout is not None
    with guard.stdin, guard.stdout:
        guard.stdin.write(message(1, "tools/call", name="deaf") + b"\n")
        guard.stdin.flush()
        answer = json.loads(guard.stdout.readline())
        server = psutil.Process(int(answer["result"]["content"][0]["text"]))
        # More than a pipe holds: the server does not take it.
        guard.stdin.write(
            message(2, "tools/call", name="x", arguments={"x": "y" * 500_000}) + b"\n"
        )
        guard.stdin.close()
        guard.wait(timeout=20)
        server.wait(timeout=20)
    assert not server.is_running()


def test_a_command_that_cannot_be_started_is_named() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", GUARD, "/no/such/program"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 127
    assert "/no/such/program cannot be started" in done.stderr
