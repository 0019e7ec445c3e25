"""Pictures of outputs on their way to the model: bounded, named by cell, and sent once."""

from __future__ import annotations

import base64
import json
import os
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.support.jupyter import PYTHONPATH, RunningServer
from tests.support.model_request import RecordedRequest
from tests.support.model_server import Call, Say, ScriptedModelServer, Step
from tests.support.sessions import act
from tests.tools.test_outputs import png
from tests.tools.test_pictures import noise

MOST_REQUEST_BYTES = 6_000_000


def shown(request: RecordedRequest) -> list[str]:
    """The lines that name pictures, and each picture as its type, in order."""
    found: list[str] = []
    for item in request.items:
        content = item.get("content") if item.get("role") == "user" else None
        for part in [{"text": content}] if isinstance(content, str) else content or []:
            if (address := part.get("image_url")) is not None:
                found.append(address["url"].partition(";")[0])
            else:
                lines = part["text"].split("\n")
                found += [line for line in lines if line.startswith("Picture")]
    return found


def chat(
    server: RunningServer, model: ScriptedModelServer, path: str, *steps: Step, **more: Any
) -> dict[str, Any]:
    model.script(*steps)
    request = {
        "message": "Look.",
        "mode": "agent",
        "approval": "never",
        "activeNotebook": path,
        "attachments": [{"kind": "notebook", "path": path}],
        **more,
    }
    reply: dict[str, Any] = server.post("chat", request)
    assert reply["status"] == "completed", reply
    return reply


def write(server: RunningServer, path: str, *cells: Any) -> None:
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=list(cells), metadata={"kernelspec": spec})
    nbformat.write(notebook, server.root / path)


def drawn(cell_id: str, *pictures: str) -> Any:
    outputs = [
        nbformat.v4.new_output("display_data", {"image/png": each, "text/plain": "<Figure>"})
        for each in pictures
    ]
    return nbformat.v4.new_code_cell("draw()", id=cell_id, outputs=outputs, execution_count=1)


@pytest.mark.parametrize("megabytes", [6, 12, 60])
def test_a_request_with_a_large_picture_stays_below_six_megabytes(
    server: RunningServer, model: ScriptedModelServer, megabytes: int
) -> None:
    path, height = f"large-{megabytes}.ipynb", megabytes * 1_000_000 // 6000
    large = base64.b64encode(noise(2000, height)).decode()
    write(server, path, nbformat.v4.new_code_cell("1"), drawn("large", large))
    chat(server, model, path, Call("getCellOutputs", {"cellId": "large"}), Say("Noise."))
    size = f"2000x{height}"
    assert shown(model.requests[-1]) == [
        f"Picture of cell 2's output (scaled from {size}):",
        "data:image/jpeg",
    ]
    assert f"[picture 1: image/png {size} <Figure>]" in model.requests[-1].text
    for request in model.requests:
        assert len(json.dumps(request.body)) < MOST_REQUEST_BYTES


def test_a_scaled_picture_that_is_read_again_in_another_way_is_not_sent_again(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    path = "again.ipynb"
    write(server, path, drawn("large", png(2000, 1000)))
    read = Call("getCellOutputs", {"cellId": "large"})
    every = Call("getNotebookCells", {"includeOutputs": True})
    chat(server, model, path, read, every, Say("Black."))
    name = "Picture of cell 1's output"
    sent = f"{name} (scaled from 2000x1000)"
    assert shown(model.requests[-1]) == [
        f"{sent}:",
        "data:image/png",
        f"{name} is unchanged: it is the one above, “{sent}”.",
    ]


def test_pictures_are_named_by_cell_and_number_and_only_a_changed_one_is_sent_again(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    path = "drawn.ipynb"
    write(server, path, drawn("two", png(20, 9), png(21, 9)), drawn("one", png(22, 9)))
    every = Call("getNotebookCells", {"includeOutputs": True})
    reply = chat(server, model, path, every, Say("Three."))
    one = "Picture of cell 2's output"
    first, second = "Picture 1 of cell 1's output", "Picture 2 of cell 1's output"
    before = [f"{first}:", "data:image/png", f"{second}:", "data:image/png", f"{one}:",
              "data:image/png"]  # fmt: skip
    assert shown(model.requests[-1]) == before
    write(
        server, path, drawn("two", png(20, 9), png(21, 9)), drawn("one", png(23, 9)),
        drawn("copy", png(20, 9)),
    )  # fmt: skip
    chat(server, model, path, every, Say("Three."), sessionId=reply["sessionId"])
    assert shown(model.requests[-1]) == [
        *before,
        f"{first} is unchanged: it is the one above, “{first}”.",
        f"{second} is unchanged: it is the one above, “{second}”.",
        f"{one} (2):",
        "data:image/png",
        f"Picture of cell 3's output is the same picture: it is the one above, “{first}”.",
    ]


def test_a_run_names_its_cells_and_a_run_again_says_that_nothing_changed(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    path = "run.ipynb"
    code = "import base64\nfrom IPython.display import Image\nImage(base64.b64decode({!r}))"
    cells = [nbformat.v4.new_code_cell(code.format(png(24 + n, 9)), id=f"c{n}") for n in range(2)]
    write(server, path, *cells)
    run = Call("runNotebookCells", {"cellIds": ["c0", "c1"]})
    chat(server, model, path, run, run, Say("Drawn."))
    one, two = "Picture of cell 1's output", "Picture of cell 2's output"
    assert shown(model.requests[-1]) == [
        f"{one}:",
        "data:image/png",
        f"{two}:",
        "data:image/png",
        f"{one} is unchanged: it is the one above, “{one}”.",
        f"{two} is unchanged: it is the one above, “{two}”.",
    ]


def test_a_picture_that_cannot_be_sent_is_named_and_the_others_are_sent(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    path = "damaged.ipynb"
    damaged = base64.b64encode(base64.b64decode(png(20, 9))[:-40]).decode()
    write(server, path, drawn("mixed", png(10_000, 10_000), damaged, png(25, 9)))
    chat(server, model, path, Call("getCellOutputs", {"cellId": "mixed"}), Say("One of three."))
    large, broken, name, picture = shown(model.requests[-1])
    assert large.startswith("Picture 1 of cell 1's output is not shown: with 10000x10000 pixels")
    assert broken.startswith("Picture 2 of cell 1's output is not shown: its file is damaged")
    assert (name, picture) == ("Picture 3 of cell 1's output:", "data:image/png")


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes in the file system")
def test_a_run_that_is_stopped_while_its_picture_is_scaled_was_carried_out(
    tmp_path: Path, model: ScriptedModelServer
) -> None:
    started, released = tmp_path / "started", tmp_path / "released"
    for pipe in (started, released):
        os.mkfifo(pipe)
    # In place of Pillow: it says that it was begun, and waits.
    (tmp_path / "PIL.py").write_text(
        f"open({str(started)!r}, 'w').close()\nopen({str(released)!r}).close()\nraise ImportError\n"
    )
    path = f"{tmp_path}{os.pathsep}{PYTHONPATH}"
    with RunningServer(
        tmp_path, api_base=model.base_url, environment={"PYTHONPATH": path}
    ) as server:
        code = "import base64\nfrom IPython.display import Image\nImage(base64.b64decode({!r}))"
        cell = nbformat.v4.new_code_cell(code.format(png(2000, 9)), id="large")
        write(server, "stopped.ipynb", cell)
        session = server.post("sessions", {})["id"]
        model.script(Call("runNotebookCells", {"cellIds": ["large"]}), Say("Never."))
        request = {
            "message": "Run it.",
            "mode": "agent",
            "activeNotebook": "stopped.ipynb",
            "attachments": [{"kind": "notebook", "path": "stopped.ipynb"}],
        }
        op = {"type": "user_message", "request": request}
        server.post(f"sessions/{session}/ops", op)
        started.open().close()
        aborted = act(server, session, {"type": "interrupt"}, "turn_aborted")
        assert aborted["reason"] == "interrupted"
        released.open("w").close()
        [turn] = server.get(f"sessions/{session}/turns")["turns"]
        [call] = turn["toolCalls"]
        assert call["status"] == "ok"
        [written] = nbformat.read(server.root / "stopped.ipynb", as_version=4).cells
        assert written.execution_count == 1
