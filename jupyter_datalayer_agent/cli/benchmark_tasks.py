"""The tasks of ``benchmark --tasks``: each on a private server of its own, as ``run`` has one."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from ..benchmark.item import Item
from ..benchmark.tasks.catalogue import TASKS
from ..benchmark.tasks.runner import TaskEnded, Used, items_of
from ..benchmark.tasks.task import NOTEBOOK
from .failure import CommandFailed
from .run import TurnOutput
from .server import PrivateServer, private_server
from .terminal import Progress


def tasks(given: argparse.Namespace) -> list[Item]:
    """The tasks that were asked for. Raises ``CommandFailed``."""
    if given.model is None:
        raise CommandFailed("--tasks needs --model: without a model none can be carried out.")
    known = {each.id: each for each in TASKS}
    unknown = [name for name in given.tasks if name not in known]
    if unknown:
        raise CommandFailed(f"There is no task {unknown[0]!r}. There are: {', '.join(known)}.")
    chosen = [known[name] for name in given.tasks or known]
    for package in ("sklearn", "vega_datasets"):
        _require(package)
    # Not what the user has configured, and a history that has nothing of other tasks.
    arguments = ["--DatalayerAgentApp.database_url=sqlite://"]
    if given.api_base is not None:
        arguments.append(f"--DatalayerAgentApp.api_base={given.api_base}")

    @contextmanager
    def start(folder: Path) -> Iterator[_Agent]:
        with private_server(folder, arguments) as server:
            yield _Agent(server, given.model, given.seconds)

    return items_of(chosen, start)


def _require(package: str) -> None:
    from importlib.util import find_spec

    if find_spec(package) is None:
        raise CommandFailed(
            "The tasks need their data: pip install 'jupyter-datalayer-agent[benchmark]'"
        )


class _Agent:
    """See ``Agent``. A turn that takes longer than ``seconds`` ends with its server."""

    def __init__(self, server: PrivateServer, model: str, seconds: float) -> None:
        self._server = server
        self._model = model
        self._seconds = seconds

    def call(self, tool: str, arguments: dict[str, Any]) -> None:
        """See ``Agent``."""
        body = {"path": NOTEBOOK, "arguments": arguments}
        self._server.post(f"tools/{tool}", body)

    def ask(self, message: str) -> str:
        """See ``Agent``."""
        body = {
            "message": message,
            "mode": "agent",
            "location": "api",
            "activeNotebook": NOTEBOOK,
            "attachments": [{"kind": "notebook", "path": NOTEBOOK}],
            "model": self._model,
        }
        too_long = threading.Event()

        def end() -> None:
            too_long.set()
            self._server.end()

        timer = threading.Timer(self._seconds, end)
        timer.start()
        turn = TurnOutput(self._server, Progress(quiet=True), interactive=False)
        try:
            status = turn.follow(body)
            reply = turn.reply()
        except (CommandFailed, requests.RequestException) as error:
            if not too_long.is_set():
                raise TaskEnded(f"the agent broke off: {error}") from error
            raise TaskEnded(f"took more than {self._seconds:g} s") from error
        finally:
            timer.cancel()
            timer.join()
        if too_long.is_set():
            raise TaskEnded(f"took more than {self._seconds:g} s")
        if status != "completed":
            why = (reply.get("error") or {}).get("message", "")
            raise TaskEnded(f"the turn was {status}: {why}".rstrip(": "))
        return str(reply["reply"])

    def used(self) -> Used:
        """See ``Agent``."""
        total = self._server.get("usage")["total"]
        return Used(total["modelCalls"], total["totalTokens"], total.get("cost"))
