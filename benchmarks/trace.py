"""Through how many files and functions of ours a turn goes: counted in a server that is traced.

The server runs under ``sys.setprofile`` (``launch``), which counts the calls of each function of
the package. A signal writes the counts to a file and clears them: so they are those of one turn.
What a piece of text goes through is what is called once more for each piece of a longer answer.
Times mean nothing here.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from benchmarks.chats import request, running, write_notebook
from benchmarks.table import show
from tests.support.jupyter import RunningServer
from tests.support.model_script import Call, Say
from tests.support.model_server import ScriptedModelServer

PACKAGE = Path(__file__).parents[1] / "jupyter_datalayer_agent"
OUT = "DATALAYER_AGENT_TRACE"
NOW = signal.SIGUSR2
"""Jupyter takes ``SIGUSR1``."""
PIECE, PIECES = "a word. ", 200

Counts = Counter[tuple[str, str]]


def launch(arguments: list[str]) -> None:
    """Run ``python -m module …`` traced, in this process."""
    calls: Counter[CodeType] = Counter()
    own = f"{PACKAGE}{os.sep}"

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(own):
            calls[frame.f_code] += 1

    def write(*_: object) -> None:
        found = [
            (code.co_filename.removeprefix(own), getattr(code, "co_qualname", code.co_name), count)
            for code, count in list(calls.items())
        ]
        calls.clear()
        out = Path(os.environ[OUT])
        out.with_suffix(".part").write_text(json.dumps(found))
        out.with_suffix(".part").replace(out)

    signal.signal(NOW, write)
    threading.setprofile(profile)
    sys.setprofile(profile)
    _, flag, module, *rest = arguments
    assert flag == "-m"
    sys.argv = [module, *rest]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def traced(
    server: RunningServer, model: ScriptedModelServer, out: Path, answer: str, path: str
) -> Counts:
    """The calls of each function of ours, by file and name, in one turn."""
    model.script(Call("addNotebookCell", {"type": "code", "content": "y = 2"}), Say(answer))
    counted(server, out)
    reply = server.post("chat", request(path))
    assert reply["status"] == "completed", reply
    return counted(server, out)


def counted(server: RunningServer, out: Path) -> Counts:
    """What was called since this was asked last."""
    assert server.process is not None
    out.unlink(missing_ok=True)
    os.kill(server.process.pid, NOW)
    while not out.exists():
        time.sleep(0.05)
    return Counter({(file, name): count for file, name, count in json.loads(out.read_text())})


def files(found: Counts) -> int:
    return len({file for file, _ in found})


def main() -> None:
    """Print how many files and functions, and which a piece of text goes through."""
    launcher = [sys.executable, "-m", "benchmarks.trace", "launch"]
    out = Path(os.environ.setdefault(OUT, f"/tmp/datalayer-agent-trace-{os.getpid()}.json"))
    with running(launcher=launcher, environment={OUT: str(out)}) as (server, model):
        path = write_notebook(server, 10)
        for _ in range(2):  # the first turns import, and fill caches
            traced(server, model, out, PIECE, path)
        one, many = (traced(server, model, out, PIECE * n, path) for n in (1, PIECES))
    out.unlink(missing_ok=True)
    per_piece = Counter(
        {each: count for each in many if (count := (many[each] - one[each]) // (PIECES - 1)) > 0}
    )
    show(
        "Through how much code a turn goes (10 cells, one `addNotebookCell`, a short answer)",
        ["", "files", "functions", "calls"],
        [
            ("the whole turn", files(one), len(one), one.total()),
            ("a piece of text", files(per_piece), len(per_piece), per_piece.total()),
        ],
    )
    show(
        "A piece of text",
        ["file", "functions"],
        [
            (f"`{file}`", ", ".join(f"`{name}`" for at, name in sorted(per_piece) if at == file))
            for file in sorted({file for file, _ in per_piece})
        ],
    )
    show(
        "Called most in the turn",
        ["function", "calls"],
        [(f"`{file}`: `{name}`", count) for (file, name), count in one.most_common(15)],
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["launch"]:
        launch(sys.argv[2:])
    else:
        main()
