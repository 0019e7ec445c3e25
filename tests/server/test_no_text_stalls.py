"""Texts that others write, made to be slow to read: the server answers meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.support.health import Health
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Reasoning, Say, ScriptedModelServer, Status

SIZE = 1_000_000
SLOWEST = 0.3
"""Seconds that another request may wait."""

Entry = Callable[[RunningServer, ScriptedModelServer, str], None]


@pytest.fixture(scope="module")
def private(server: RunningServer) -> Iterator[RunningServer]:
    """Rows of data are withheld: so what looks like rows is looked for."""
    answer = server.request("PATCH", "config", json={"values": {"row_data": "never"}})
    assert answer.ok, answer.text
    yield server
    server.request("PATCH", "config", json={"values": {"row_data": None}})


def _notebook(root: Path, source: str = "x = 1", *outputs: dict[str, Any]) -> dict[str, Any]:
    """A chat's fields with a notebook of one cell attached. It is written as it is: nbformat takes
    its time over long texts, and is not what is tried here."""
    cell = nbformat.v4.new_code_cell(source, id="c0") | {"outputs": list(outputs)}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": kernel})
    (root / "hostile.ipynb").write_text(json.dumps(notebook))
    attached = {"kind": "notebook", "path": "hostile.ipynb"}
    return {"attachments": [attached], "activeNotebook": "hostile.ipynb", "location": "panel"}


def message(server: RunningServer, model: ScriptedModelServer, text: str) -> None:
    model.script(Say("Done."))
    server.post("chat", {"message": f"x{text[:-1]}", "location": "panel"})


def output(server: RunningServer, model: ScriptedModelServer, text: str) -> None:
    model.script(Call("getNotebookCells"), Say("Done."))
    printed = {"output_type": "stream", "name": "stdout", "text": text}
    server.post("chat", {"message": "What is there?"} | _notebook(server.root, "x = 1", printed))


def error(server: RunningServer, model: ScriptedModelServer, text: str) -> None:
    model.script(Say("Done."))
    failed = {"output_type": "error", "ename": "E", "evalue": text, "traceback": [text]}
    server.post("chat", {"message": "What is there?"} | _notebook(server.root, "x = 1", failed))


def source(server: RunningServer, model: ScriptedModelServer, text: str) -> None:
    model.script(Say("Done."))
    server.post("chat", {"message": "What is there?"} | _notebook(server.root, text))


def provider(server: RunningServer, model: ScriptedModelServer, text: str) -> None:
    model.script(Status(400, {}, {"error": {"message": text}}))
    failed = server.request("POST", "chat", json={"message": "hello"})
    assert "did not accept the request" in failed.text


def answer(server: RunningServer, model: ScriptedModelServer, text: str) -> None:
    model.script(Say(text, chunk=50_000))
    # An answer that repeats itself is ended.
    wanted = {"message": "hello", "mode": "agent"} | _notebook(server.root)
    assert server.request("POST", "chat", json=wanted).status_code in (200, 502)


def attached(server: RunningServer, model: ScriptedModelServer, text: str) -> None:
    model.script(Say("Done."))
    (server.root / "hostile.txt").write_text(text)
    file = {"kind": "file", "path": "hostile.txt"}
    server.post("chat", {"message": "What is there?", "attachments": [file], "location": "panel"})


def printed(server: RunningServer, model: ScriptedModelServer, text: str) -> None:
    model.script(Call("runNotebookCells", {"cellIds": ["c0"]}), Say("Done."))
    (server.root / "hostile.txt").write_text(text)
    wanted = {"message": "Run it", "mode": "agent", "approval": "never"}
    server.post("chat", wanted | _notebook(server.root, "print(open('hostile.txt').read())"))


def reasoning(server: RunningServer, model: ScriptedModelServer, text: str) -> None:
    model.script(Reasoning(text, chunk=50_000), Say("Done."))
    wanted = {"message": "hello", "mode": "agent"}
    assert server.request("POST", "chat", json=wanted).status_code in (200, 502)


def described(server: RunningServer, model: ScriptedModelServer, text: str) -> None:
    """A text as all that describes a notebook, a cell and an output."""
    model.script(Call("getNotebookCells"), Say("Done."))
    data = dict.fromkeys(("text/plain", "text/html", "text/markdown", "text/latex"), text)
    shown = {"output_type": "execute_result", "execution_count": 1, "data": data, "metadata": data}
    body = {"message": "What is there?"} | _notebook(server.root, "x = 1", shown)
    path = server.root / "hostile.ipynb"
    notebook = json.loads(path.read_text())
    notebook["metadata"] |= {"title": text, "kernelspec": {"name": text, "display_name": text}}
    notebook["cells"][0]["metadata"] = {"tags": [text], text[:1_000]: text}
    path.write_text(json.dumps(notebook))
    server.post("chat", body)


def upload(server: RunningServer, model: ScriptedModelServer, text: str) -> None:
    for name in ("hostile.csv", "hostile.json", "hostile.xml"):
        answer = server.request("POST", "upload", files={"file": (name, text)})
        assert answer.status_code in (201, 400)


def instructions(server: RunningServer, model: ScriptedModelServer, text: str) -> None:
    model.script(Say("Done."))
    path = server.root / "AGENTS.md"
    path.write_text(text)
    server.post("chat", {"message": "hello"})
    path.unlink()


def named(server: RunningServer, model: ScriptedModelServer, text: str) -> None:
    for name in ("model", "clientId", "cellId"):
        answer = server.request("POST", "chat", json={"message": "hello", name: text})
        assert "1000 characters" in answer.text


@pytest.mark.parametrize(
    ("entry", "run"),
    [
        (message, "0123456789abcdef"),
        (message, "a"),
        (message, "\t"),
        (message, "@a "),
        (output, "\n "),
        (output, "["),
        (output, '{"a": ['),
        (error, "Traceback (most recent call last):\n"),
        (source, "\t"),
        (source, "'"),
        (provider, " "),
        (provider, "Error: "),
        (answer, "~~~a\n"),
        (answer, "<f"),
        (answer, "[](turn: "),
        (attached, "a\n"),
        (printed, "\n "),
        (printed, "["),
        (printed, "\x1b["),
        (reasoning, "<a "),
        (described, "<a "),
        (described, "\n "),
        (upload, "["),
        (upload, "a\n"),
        (instructions, "- "),
        (named, "a"),
    ],
)
def test_other_requests_are_answered_while_a_text_is_read(
    private: RunningServer, model: ScriptedModelServer, entry: Entry, run: str
) -> None:
    with Health(private) as health:
        entry(private, model, run * (SIZE // len(run)))
    assert health.slowest < SLOWEST
