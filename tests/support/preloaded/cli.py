"""``python -m tests.support.preloaded.cli …`` is ``jupyter datalayer-agent …``, whose
private server is a child of the process with the imports at ``PRELOADED_SERVERS``."""

from __future__ import annotations

import os
import subprocess
import sys

from jupyter_datalayer_agent import cli
from jupyter_datalayer_agent.cli import server

from .client import Child, Program, ask

PATH = "PRELOADED_SERVERS"


def begin(command: list[str], *, env: dict[str, str], **streams: int) -> Child:
    """What ``subprocess.Popen`` does for the private server, but that it ends with its input."""
    assert command[:3] == [sys.executable, "-m", server.PROGRAM]
    program = Program("jupyter_server", command[3:], env, os.getcwd())
    reading, writing = os.pipe()
    nothing = os.open(os.devnull, os.O_WRONLY)
    child = ask(os.environ[PATH], program, nothing, writing)
    os.close(nothing)
    os.close(writing)
    child.stderr = os.fdopen(reading, "rb")
    return child


class _Subprocess:
    """As much of the module as the command uses."""

    Popen = staticmethod(begin)
    DEVNULL, PIPE = subprocess.DEVNULL, subprocess.PIPE
    TimeoutExpired = subprocess.TimeoutExpired


if __name__ == "__main__":
    server.subprocess = _Subprocess  # type: ignore[attr-defined]
    sys.exit(cli.main())
