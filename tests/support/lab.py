"""JupyterLab for the browser tests: a server in folders of its own, led by a program line by line.

``python -m tests.support.lab [--api-base URL]`` prints ``{"url", "token", "root", "log"}`` when the
server answers. Then each line of standard input is ``{"do": NAME, ...}`` and is answered with one
line, ``{"ok": value}`` or ``{"error": text}``:

- ``cars {folder}``: ``cars.csv`` and ``cars.ipynb`` in a new folder under the root; ``{"mean"}``,
  what the main job has to answer
- ``notebook {path, cells, kernel}``: a notebook of ``[{"type", "source", "id"}]``, for the kernel
  ``python3`` (as always) or ``bash``
- ``text {path, text}``: any file
- ``read {path}``: the notebook as it is on disk, after nbformat has validated it
- ``decide {method, path, body}``: a request of ours (``sessions/ID/ops``) as another page sends it
- ``kill``, ``start``, ``stop``: the server's process; the folders stay

It ends, and the server with it, when standard input is closed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import nbformat
from jupyter_server.services.contents.fileio import path_to_intermediate

from tests.support.cars import mean_horsepower, write_cars
from tests.support.jupyter import REPOSITORY, TOKEN, RunningServer
from tests.support.page import request_in_page

SAVING_SECONDS = 10.0
ARGUMENTS = [
    "--LabApp.expose_app_in_browser=True",
    "--JupyterNotebookApp.expose_app_in_browser=True",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    # Whether JupyterLab itself should be built anew is found out by Node.js at each load.
    "--ServerApp.tornado_settings={'page_config_data': {'buildCheck': False}}",
    # A kernel that dies in its first ten seconds comes back at other ports. Jupyter Server looks
    # for them when the page connects again, which on a busy machine is before they are chosen:
    # then the page talks to nobody. Kernels of people are seldom that young; those of tests always.
    "--AsyncIOLoopKernelRestarter.random_ports_until_alive=False",
]
# Else it makes each of nbconvert's exporters at each load to see which are switched off.
QUICK = {"NBCONVERT_DISABLE_CONFIG_EXPORTERS": "1"}
# Whether to fetch news is asked in a notification that lies over the panel.
NO_NEWS = {"fetchNews": "false", "checkForUpdates": False}
KERNELS = {
    "python3": {"name": "python3", "display_name": "Python 3", "language": "python"},
    "bash": {"name": "bash", "display_name": "Bash", "language": "bash"},
}
BASH = {
    "argv": [sys.executable, "-m", "bash_kernel", "-f", "{connection_file}"],
    "display_name": "Bash",
    "language": "bash",
}


class Lab:
    """The server, and what the lines say is done with it."""

    def __init__(self, folder: Path, api_base: str | None, environment: dict[str, str]) -> None:
        self.server = RunningServer(
            folder,
            api_base=api_base,
            environment=QUICK | environment | labextension(folder, environment),
            arguments=ARGUMENTS,
            lab=True,
        )
        settings = folder / "home" / "config" / "lab" / "user-settings"
        answered = settings / "@jupyterlab" / "apputils-extension"
        answered.mkdir(parents=True)
        (answered / "notification.jupyterlab-settings").write_text(json.dumps(NO_NEWS))
        bash = folder / "home" / "data" / "kernels" / "bash"
        bash.mkdir(parents=True)
        (bash / "kernel.json").write_text(json.dumps(BASH))
        self.commands: dict[str, Callable[..., Any]] = {
            "cars": self.cars,
            "notebook": self.notebook,
            "text": self.text,
            "read": self.read,
            "decide": self.decide,
            "kill": self.server.kill,
            "start": self.server.start,
            "stop": self.server.stop,
            "signal": self.signal,
        }

    def about(self) -> dict[str, str]:
        """What a browser needs to come here."""
        server = self.server
        return {
            "url": server.url,
            "token": TOKEN,
            "root": str(server.root),
            "log": str(server.log),
        }

    def cars(self, folder: str) -> dict[str, float]:
        target = self.server.root / folder
        target.mkdir(parents=True)
        write_cars(target)
        return {"mean": mean_horsepower()}

    def notebook(self, path: str, cells: list[dict[str, str]], kernel: str = "python3") -> None:
        spec = KERNELS[kernel]
        made = nbformat.v4.new_notebook(
            cells=[_new_cell(**cell) for cell in cells],
            metadata={"kernelspec": spec, "language_info": {"name": spec["language"]}},
        )
        target = self.server.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(made, target)

    def text(self, path: str, text: str) -> None:
        target = self.server.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def read(self, path: str) -> Any:
        notebook = nbformat.reads(
            text_when_saved(self.server.root / path), as_version=nbformat.NO_CONVERT
        )
        nbformat.validate(notebook)
        return notebook

    def signal(self, name: str) -> None:
        assert self.server.process is not None
        self.server.process.send_signal(signal.Signals[name])

    def decide(self, method: str, path: str, body: Any) -> None:
        answer = request_in_page(self.server, method, path, json=body)
        if not answer.ok:
            raise RuntimeError(f"{answer.status_code} {answer.text}")

    def obey(self, line: str) -> dict[str, Any]:
        """Carry out one line."""
        command = json.loads(line)
        act = self.commands[command.pop("do")]
        try:
            return {"ok": act(**command)}
        except (OSError, RuntimeError, ValueError) as error:
            return {"error": f"{type(error).__name__}: {error}"}


def _new_cell(source: str, type: str = "code", id: str | None = None) -> Any:
    make = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}[type]
    return make(source, **({"id": id} if id else {}))


def text_when_saved(path: Path) -> str:
    """The text of a file that Jupyter may be saving just now. It writes a file in place, so that a
    reader sees an empty one or a part; what it was before is beside it meanwhile."""
    before = path_to_intermediate(path)
    deadline = time.monotonic() + SAVING_SECONDS
    while True:
        state = path.stat()
        content = path.read_bytes()
        after = path.stat()
        is_saved = (state.st_mtime_ns, state.st_size) == (after.st_mtime_ns, after.st_size)
        if is_saved and not os.path.exists(before):
            return content.decode("utf-8")
        if time.monotonic() > deadline:
            raise RuntimeError(f"{path} is still being written after {SAVING_SECONDS} s")
        time.sleep(0.01)


def labextension(folder: Path, environment: dict[str, str]) -> dict[str, str]:
    """Where the package is not installed, the labextension that was built in the repository, beside
    those of the environment."""
    with contextlib.suppress(PackageNotFoundError):
        distribution("jupyter-datalayer-agent")
        return {}
    built = REPOSITORY / "jupyter_datalayer_agent" / "labextension"
    extensions = folder / "share" / "labextensions"
    extensions.mkdir(parents=True)
    (extensions / "jupyter-datalayer-agent").symlink_to(built)
    others = filter(None, [environment.get("JUPYTER_PATH")])
    return {"JUPYTER_PATH": os.pathsep.join([str(extensions.parent), *others])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--api-base", help="of the scripted model; none: no model is configured")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    environment = dict(item.split("=", 1) for item in options.env)
    if path := os.environ.get("PRELOADED_SERVERS"):
        RunningServer.preloaded = staticmethod(lambda: path)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        lab = Lab(Path(folder).resolve(), options.api_base, environment)
        with lab.server:
            print(json.dumps(lab.about()), flush=True)
            for line in sys.stdin:
                print(json.dumps(lab.obey(line)), flush=True)


if __name__ == "__main__":
    main()
