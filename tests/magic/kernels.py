"""A notebook's real kernel as a frontend sees it: cells are run, and displays change in place."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.blocking import BlockingKernelClient

from tests.support.jupyter import RunningServer

LOAD = "%load_ext jupyter_datalayer_agent"
SECONDS = 60.0


@dataclass
class Ran:
    """The result of a cell: outputs as in a notebook (displays shared, so that they keep updating),
    and its error."""

    status: str = ""
    outputs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What it printed."""
        return "".join(each["text"] for each in self.outputs if each["output_type"] == "stream")

    @property
    def display(self) -> dict[str, str]:
        """The data of its only display, as it is now."""
        (shown,) = [each for each in self.outputs if each["output_type"] == "display_data"]
        return dict(shown["data"])

    @property
    def error(self) -> str:
        """What was shown of its error."""
        (error,) = [each for each in self.outputs if each["output_type"] == "error"]
        return "\n".join(error["traceback"])


class Kernel:
    """Runs cells as a page does."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self.client = client
        self.cells: dict[str, Ran] = {}
        self.displays: dict[str, dict[str, Any]] = {}
        self.seen: list[str] = []

    def begin(self, code: str, cell_id: str | None = None) -> Ran:
        """Send a cell, and do not wait."""
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": True,
        }
        metadata = {"cellId": cell_id} if cell_id else {}
        message = self.client.session.msg("execute_request", content, metadata=metadata)
        self.client.shell_channel.send(message)
        ran = self.cells[message["header"]["msg_id"]] = Ran()
        return ran

    def run(self, code: str, cell_id: str | None = None) -> Ran:
        """Run a cell to its end."""
        ran = self.begin(code, cell_id)
        self.wait(lambda: bool(ran.status))
        return ran

    def wait(self, condition: Callable[[], bool], seconds: float = SECONDS) -> None:
        """Take what the kernel says until the condition holds."""
        deadline = time.monotonic() + seconds
        while not condition():
            left = deadline - time.monotonic()
            assert left > 0, f"waited {seconds} s; cells: {list(self.cells.values())}"
            self._take(self.client.get_iopub_msg(timeout=left))

    def wait_for_answer(self, ran: Ran, text: str) -> None:
        """Wait until a turn in Agent mode has ended, whose answer ends like this. The facts are the
        last line then; before, it says what the agent is doing."""

        def has_ended() -> bool:
            *_, last = ran.display["text/markdown"].split("\n\n")
            return last.startswith("*Nothing was") or last.removeprefix("*")[:1].isdigit()

        self.wait(has_ended)
        assert f"{text}\n\n*" in ran.display["text/markdown"]

    def _take(self, message: dict[str, Any]) -> None:
        kind, content = message["header"]["msg_type"], message["content"]
        if kind == "update_display_data":
            self.displays[content["transient"]["display_id"]]["data"] = content["data"]
            self.seen.append(content["data"].get("text/markdown", ""))
            return
        ran = self.cells.get(message["parent_header"].get("msg_id", ""))
        if ran is None:
            return
        if kind == "status" and content["execution_state"] == "idle":
            failed = any(each["output_type"] == "error" for each in ran.outputs)
            ran.status = "error" if failed else "ok"
        elif kind in ("stream", "display_data", "execute_result", "error"):
            output = nbformat.from_dict({"output_type": kind, **content})
            transient = output.pop("transient", {})
            ran.outputs.append(output)
            if transient.get("display_id"):
                self.displays[transient["display_id"]] = output
                # What comes fast enough is there when it is first shown.
                self.seen.append(output["data"].get("text/markdown", ""))


@contextlib.contextmanager
def notebook_kernel(
    server: RunningServer, path: str, kernel_name: str = "python3", kind: str = "notebook"
) -> Iterator[Kernel]:
    """The kernel of a session that is started for the notebook, as JupyterLab starts it."""
    body = {"path": path, "name": Path(path).name, "type": kind}
    session = server.post("/api/sessions", {**body, "kernel": {"name": kernel_name}})
    runtime = Path(server.environment["JUPYTER_RUNTIME_DIR"])
    client = BlockingKernelClient()
    client.load_connection_file(str(runtime / f"kernel-{session['kernel']['id']}.json"))
    client.start_channels(hb=False)  # on a busy machine the heartbeat seems to stop
    try:
        client.wait_for_ready(timeout=SECONDS)
        yield Kernel(client)
    finally:
        client.stop_channels()
        server.request("DELETE", f"/api/sessions/{session['id']}")


def write_notebook(server: RunningServer, path: str, *cells: Any) -> None:
    """A notebook of these cells; texts are code cells with ids ``cell-0``, ``cell-1``…"""
    made = [
        nbformat.v4.new_code_cell(each, id=f"cell-{index}") if isinstance(each, str) else each
        for index, each in enumerate(cells)
    ]
    notebook = nbformat.v4.new_notebook(cells=made)
    notebook.metadata["kernelspec"] = {
        "name": "python3", "display_name": "Python 3", "language": "python"
    }  # fmt: skip
    nbformat.write(notebook, server.root / path)
