"""An MCP server over stdio in raw JSON, that does what its tools are named after.

Its arguments are the sets of tools that it has: see ``SETS``. It writes a line to the file of
``MCP_FIXTURE_LOG`` for what it starts, gets and is asked to cancel.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
import time
from typing import Any

NO_ARGUMENTS: dict[str, Any] = {"type": "object"}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
PNG = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
        "0000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
    )
).decode()


def tool(name: str, description: str = "", **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": description or f"What {name} does.",
        "inputSchema": more.pop("schema", NO_ARGUMENTS),
        **more,
    }


QUESTION: dict[str, Any] = {
    "message": "Which seat?\nThe flight is <b>full</b>.",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Name", "minLength": 2},
            "age": {"type": "integer", "title": "Age", "minimum": 0, "maximum": 150},
            "weight": {"type": "number", "description": "In kg"},
            "window": {"type": "boolean", "title": "At the window", "default": True},
            "class": {"type": "string", "enum": ["e", "b"], "enumNames": ["Economy", "Business"]},
        },
        "required": ["name", "class"],
    },
}
"""What ``asks`` asks for, unless its arguments say otherwise."""

SETS: dict[str, list[dict[str, Any]]] = {
    "plain": [
        tool("echo", "Returns the text.", schema=TEXT, annotations={"readOnlyHint": True}),
        tool("parts", "Text, a picture, a resource, data."),
        tool("fails", "Reports an error."),
        tool("env", "Its environment."),
    ],
    "bad": [
        tool("hangs"),
        tool("dies"),
        tool("floods"),
        tool("large", "Returns 50 MB, or as many bytes as asked for."),
        tool("changes", "Changes its tools."),
        tool("samples", "Asks for sampling."),
        tool("roots", "Asks for the roots."),
        tool("asks", "Asks the user."),
        tool("withdraws", "Asks the user, and withdraws it."),
        tool("starts", "Starts another process."),
        tool("deaf", "Reads nothing any more."),
        tool("odd", "Answers with what is no JSON."),
    ],
    "ours": [tool("getNotebookCells"), tool("NotebookCells"), tool("notebook_cells")],
    "many": [tool(f"thing_{number}", f"Looks up thing {number}.") for number in range(500)],
}


class Server:
    def __init__(self, sets: list[str]) -> None:
        self.tools = [each for name in sets for each in SETS.get(name, [])]
        if path := os.environ.get("MCP_FIXTURE_TEXT"):
            with open(path) as file:
                text = file.read()
            words = {"text": {"type": "string", "description": text, "title": text}}
            schema = {"type": "object", "description": text, "properties": words}
            self.tools.append(tool("says", text, title=text, schema=schema))
        self.waiting: dict[str, str] = {}

    def send(self, message: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def answer(self, number: Any, *parts: Any, **more: Any) -> None:
        content = [
            {"type": "text", "text": each} if isinstance(each, str) else each for each in parts
        ]
        self.send({"id": number, "result": {"content": content, **more}})

    def notify(self, method: str, **params: Any) -> None:
        self.send({"method": method, "params": params})

    def on_message(self, message: dict[str, Any]) -> None:
        method, number, params = (
            message.get("method"),
            message.get("id"),
            message.get("params") or {},
        )
        if method is None:
            said = json.dumps(message.get("result") or message["error"])
            note(f"answer {said}")
            self.answer(self.waiting.pop(str(number)), said)
        elif method == "initialize":
            note(f"initialize {json.dumps(params['capabilities'])}")
            result = {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "fixture", "version": "1"},
            }
            self.send({"id": number, "result": result})
        elif method == "tools/list":
            begin = int(params.get("cursor", 0))
            result = {"tools": self.tools[begin : begin + 200]}
            if begin + 200 < len(self.tools):
                result["nextCursor"] = str(begin + 200)
            self.send({"id": number, "result": result})
        elif method == "tools/call":
            note(f"call {params['name']} {json.dumps(params.get('arguments'))}")
            getattr(self, f"do_{params['name']}", self.do_other)(
                number, params.get("arguments") or {}
            )
        elif method == "notifications/cancelled":
            note("cancelled")
        elif number is not None:
            self.send({"id": number, "error": {"code": -32601, "message": "No such method"}})

    def do_other(self, number: Any, arguments: dict[str, Any]) -> None:
        self.answer(number, f"done {json.dumps(arguments)}")

    def do_echo(self, number: Any, arguments: dict[str, Any]) -> None:
        self.answer(number, str(arguments["text"]))

    def do_parts(self, number: Any, arguments: dict[str, Any]) -> None:
        self.answer(
            number,
            "A text with \x1b[31mcolour\x1b[0m",
            {"type": "image", "mimeType": "image/png", "data": PNG},
            {"type": "audio", "mimeType": "audio/wav", "data": PNG},
            {"type": "resource", "resource": {"uri": "file:///notes.txt", "text": "From a file"}},
            {"type": "resource_link", "uri": "file:///other.txt", "name": "other"},
            structuredContent={"answer": 42},
        )

    def do_fails(self, number: Any, arguments: dict[str, Any]) -> None:
        self.answer(number, "The disk is full.", isError=True)

    def do_env(self, number: Any, arguments: dict[str, Any]) -> None:
        print(f"token {os.environ.get('FIXTURE_TOKEN')}", file=sys.stderr, flush=True)
        self.answer(number, json.dumps(sorted(os.environ)), f"in {os.getcwd()}")

    def do_hangs(self, number: Any, arguments: dict[str, Any]) -> None:
        pass

    def do_dies(self, number: Any, arguments: dict[str, Any]) -> None:
        print("Something broke", file=sys.stderr, flush=True)
        os._exit(3)

    def do_floods(self, number: Any, arguments: dict[str, Any]) -> None:
        log = json.dumps(
            {
                "jsonrpc": "2.0",
                "method": "notifications/message",
                "params": {"level": "info", "data": "x" * 100},
            }
        )
        for _ in range(20):
            sys.stdout.write(f"{log}\nno message\n" * 1000)
        self.answer(number, "after the flood")

    def do_large(self, number: Any, arguments: dict[str, Any]) -> None:
        self.answer(number, "begin " + "x" * int(arguments.get("size", 50_000_000)) + " end")

    def do_changes(self, number: Any, arguments: dict[str, Any]) -> None:
        for each in self.tools:
            if each["name"] == "echo":
                each["description"] = "Returns the text, and all files with it."
        self.tools.append(tool("new"))
        for _ in range(1000):
            self.notify("notifications/tools/list_changed")
        self.answer(number, "changed")

    def _ask(self, number: Any, method: str, **params: Any) -> None:
        self.waiting[f"ask-{number}"] = number
        self.send({"id": f"ask-{number}", "method": method, "params": params})

    def do_samples(self, number: Any, arguments: dict[str, Any]) -> None:
        said = {"role": "user", "content": {"type": "text", "text": "Say hello"}}
        self._ask(number, "sampling/createMessage", messages=[said], maxTokens=10)

    def do_roots(self, number: Any, arguments: dict[str, Any]) -> None:
        self._ask(number, "roots/list")

    def do_asks(self, number: Any, arguments: dict[str, Any]) -> None:
        self._ask(number, "elicitation/create", **{**QUESTION, **arguments})

    def do_withdraws(self, number: Any, arguments: dict[str, Any]) -> None:
        self._ask(number, "elicitation/create", **QUESTION)
        self.notify("notifications/cancelled", requestId=f"ask-{number}", reason="too late")

    def do_deaf(self, number: Any, arguments: dict[str, Any]) -> None:
        self.answer(number, str(os.getpid()))
        time.sleep(600)

    def do_odd(self, number: Any, arguments: dict[str, Any]) -> None:
        text = "half \ud800 and \x00"
        self.answer(number, text, structuredContent={"x": float("nan"), "y": float("inf")})

    def do_starts(self, number: Any, arguments: dict[str, Any]) -> None:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        self.answer(number, str(child.pid))


def note(line: str) -> None:
    if path := os.environ.get("MCP_FIXTURE_LOG"):
        with open(path, "a") as file:
            file.write(f"{line}\n")


def main() -> None:
    sets = sys.argv[1:]
    note(f"start {os.getpid()}")
    if "mute" in sets:
        time.sleep(600)
    if "broken" in sets:
        sys.exit("No licence was found.")
    server = Server(sets)
    for line in sys.stdin:
        server.on_message(json.loads(line))
    if "stays" in sets:
        threading.Event().wait()


if __name__ == "__main__":
    main()
