"""``acp``: the agent for editors, over standard input and output."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from .failure import CommandFailed
from .server import AgentServer, server_for

EXTRA = "The protocol needs its package: pip install 'jupyter-datalayer-agent[acp]'"


def acp(given: argparse.Namespace) -> int:
    """Serve an editor until it closes standard input."""
    if find_spec("acp") is None:
        raise CommandFailed(EXTRA)
    from ..acp.agent import run
    from ..acp.server_client import ServerError

    @contextmanager
    def open_server(folder: Path) -> Iterator[AgentServer]:
        try:
            with server_for(folder) as server:
                yield server
        except CommandFailed as error:
            raise ServerError("internal", str(error)) from error

    if sys.stdin.isatty():
        print("Waiting for an editor on standard input. Ctrl+C ends it.", file=sys.stderr)
    run(open_server)
    return 0
