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
from tests.support.sessions import new_notebook
from tests.tools.mcp.client import fixture

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
    for suffix in ("csv", "tsv", "jsonl", "json", "parquet", "xlsx", "xml"):
        file = {"file": (f"hostile.{suffix}", text)}
        answer = server.request("POST", "upload", files=file)
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


def headers(server: RunningServer, model: ScriptedModelServer, text: str) -> None:
    # More is refused where headers are read.
    said = dict.fromkeys(("retry-after", "x-request-id"), text[:6_000])
    model.script(Status(400, said, {"error": {"message": "no"}}))
    failed = server.request("POST", "chat", json={"message": "hello"})
    assert "did not accept the request" in failed.text


def in_kernel(server: RunningServer, model: ScriptedModelServer, text: str) -> None:
    """A text as all that a kernel replies: a value and its type, what is shown, an error."""
    (server.root / "hostile.txt").write_text(text)
    path = "replies.ipynb"
    new_notebook(server.root / path, KERNEL, "display(x)\nraise Odd(text)")
    run = Call("runNotebookCells", {"cellIds": ["c0", "c1"]})
    model.script(run, Say("Done."), Say("Done."))
    attached = [{"kind": "notebook", "path": path}, {"kind": "variable", "path": path, "name": "x"}]
    wanted = {"message": "Run it", "activeNotebook": path, "location": "panel"}
    for mode in ("agent", "ask"):
        changes = {"mode": mode, "approval": "never", "attachments": attached}
        server.post("chat", wanted | changes)
        attached[:1] = []


KERNEL = """
text = open('hostile.txt').read()
x = type('A', (), {'__repr__': lambda self: text, '_repr_html_': lambda self: text})()
class Odd(Exception):
    pass
"""


def lexical(server: RunningServer, model: ScriptedModelServer, text: str) -> None:
    """A text in each kind of block, and as all that describes it."""
    children = [{"type": "text", "text": text, "format": 0, "style": text}]
    kinds = ("paragraph", "heading", "quote", "code", "jupyter-input", "equation", text[:1_000])
    blocks = [
        dict.fromkeys(("language", "equation", "jupyterInputNodeUuid", "tag"), text)
        | {"type": kind, "children": children}
        for kind in kinds
    ]
    document = {"root": {"type": "root", "children": blocks, "direction": text}}
    (server.root / "hostile.dlex").write_text(json.dumps({"editorState": document} | document))
    model.script(Call("readAllBlocks"), Say("Done."))
    attached = {"kind": "file", "path": "hostile.dlex"}
    body = {"attachments": [attached], "activeNotebook": "hostile.dlex", "location": "panel"}
    server.post("chat", {"message": "What is there?"} | body)


def mcp(server: RunningServer, model: ScriptedModelServer, text: str) -> None:
    """A text as all that a tool of an MCP server says of itself."""
    said = server.root / "hostile.txt"
    # Of a longer message nothing is read.
    said.write_text(text[:200_000])
    config = Path(server.environment["JUPYTER_CONFIG_DIR"], "mcp.json")
    config.parent.mkdir(exist_ok=True)
    servers = {"odd": fixture("plain", MCP_FIXTURE_TEXT=str(said))}
    config.write_text(json.dumps({"mcpServers": servers}))
    model.script(Call("odd__says"), Say("Done."))
    server.post("chat", {"message": "go", "mode": "agent", "approval": "never"})
    config.unlink()
    # What says so much of itself is not offered; the others are.
    assert "odd__echo" in model.requests[-1].tool_names


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
        (headers, "1"),
        (headers, "a, "),
        (in_kernel, "\n "),
        (in_kernel, "<a "),
        (in_kernel, "\x1b["),
        (lexical, "["),
        (lexical, "\n "),
        (lexical, "$"),
        (mcp, " "),
        (mcp, "<a "),
    ],
)
def test_other_requests_are_answered_while_a_text_is_read(
    private: RunningServer, model: ScriptedModelServer, entry: Entry, run: str
) -> None:
    with Health(private) as health:
        entry(private, model, run * (SIZE // len(run)))
    assert health.slowest < SLOWEST
