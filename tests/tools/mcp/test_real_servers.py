"""Servers that others wrote, from npm and from PyPI, in a turn."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.protocol.mcp import FormAnswer
from jupyter_datalayer_agent.tools.mcp.definition import ServerDefinition
from tests.support.ports import free_port

from .client import User, client, foreign, until

NPM = Path(sys.prefix) / "programs/node_modules/@modelcontextprotocol"
ELICITS = "all__trigger-elicitation-request"
TIME = Path(sys.prefix) / "bin/mcp-server-time"


def from_npm(package: str, *arguments: str) -> dict[str, Any]:
    program = NPM / package / "dist/index.js"
    assert program.is_file(), f"{package} is not installed: make tests-ready"
    return {"command": "node", "args": [str(program), *arguments]}


async def test_time_from_pypi_and_files_and_everything_from_npm(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("there is no Node.js")
    files = tmp_path / "root"
    files.mkdir()
    (files / "note.txt").write_text("written before")
    assert TIME.is_file(), "mcp-server-time is not installed: make tests-ready"
    entries = {
        # A program beside this Python is found without its path.
        "time": {"command": TIME.name, "args": ["--local-timezone=Europe/Paris"]},
        "files": from_npm("server-filesystem", str(files)),
        "everything": from_npm("server-everything"),
    }
    async with client(tmp_path, entries) as mcp:
        registry = await mcp.begin()
        problems = {each.name: mcp.servers.problem(each) for each in mcp.servers.usable()}
        assert set(problems.values()) == {None}
        names = foreign(registry)
        assert {"time__convert_time", "files__read_text_file", "everything__echo"} <= set(names)

        arguments = {
            "source_timezone": "Asia/Tokyo", "time": "12:30", "target_timezone": "Asia/Kolkata"
        }  # fmt: skip
        converted = (await mcp.call("time__convert_time", arguments)).result
        assert converted.ok
        assert "T09:00:00+05:30" in str(converted.output)
        wrong = (await mcp.call("time__get_current_time", {"timezone": "Nowhere/Else"})).result
        assert wrong.error is not None
        assert "Nowhere/Else" in wrong.error.message

        read = await mcp.call("files__read_text_file", {"path": str(files / "note.txt")})
        assert "written before" in str(read.result.output)
        outside = (await mcp.call("files__read_text_file", {"path": "/etc/hostname"})).result
        assert outside.error is not None
        assert outside.error.code == "server_error"
        written = {"path": str(files / "new.txt"), "content": "by the server"}
        assert (await mcp.call("files__write_file", written)).result.ok
        assert (files / "new.txt").read_text() == "by the server"

        assert "7" in str((await mcp.call("everything__get-sum", {"a": 3, "b": 4})).result.output)
        pictures = await mcp.call("everything__get-tiny-image")
        assert [image.mime for image in pictures.images] == ["image/png"]


@asynccontextmanager
async def everything_over_http() -> AsyncIterator[str]:
    """The URL of server-everything over Streamable HTTP."""
    if shutil.which("node") is None:
        pytest.skip("there is no Node.js")
    port = free_port()
    entry = from_npm("server-everything", "streamableHttp")
    process = await asyncio.create_subprocess_exec(
        entry["command"],
        *entry["args"],
        env={**os.environ, "PORT": str(port)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        while str(port).encode() not in await process.stderr.readline():
            assert process.returncode is None
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        await process.wait()
        process._transport.close()  # type: ignore[attr-defined]


async def test_everything_over_streamable_http_as_an_event_stream(tmp_path: Path) -> None:
    async with everything_over_http() as url, client(tmp_path, {"all": {"url": url}}) as mcp:
        await mcp.begin()
        [server] = mcp.servers.usable()
        assert isinstance(server, ServerDefinition)
        assert mcp.servers.problem(server) is None
        called = (await mcp.call("all__echo", {"message": "over HTTP"})).result
        assert "over HTTP" in str(called.output)
        slow = {"duration": 1, "steps": 2}
        done = await mcp.call("all__trigger-long-running-operation", slow)
        assert done.result.ok, done.result


async def test_everything_asks_for_every_kind_of_field(tmp_path: Path) -> None:
    async with client(tmp_path, {"all": from_npm("server-everything")}) as mcp:
        await mcp.begin()
        # It lists this tool once it knows that its user can be asked.
        await until(lambda: ELICITS in foreign(mcp.tools.now()))
        values = {
            "name": "Ada",
            "check": True,
            "integer": 7,
            "titledMultipleSelectEnum": ["fish-2"],
        }
        user = User(FormAnswer(action="accept", values=values))
        result = (await mcp.call(ELICITS, ask_form=user)).result
        assert result.ok, result
        assert "Favorite Integer: 7" in str(result.output)
        assert '"fish-2"' in str(result.output)
        assert user.problems == [None]
        [(_, form)] = user.asked
        fields = form.fields["properties"]
        assert len(fields) == 13
        assert fields["email"]["format"] == "email"
        assert fields["titledMultipleSelectEnum"]["default"] == ["fish-1"]
        assert fields["legacyTitledEnum"]["oneOf"][1] == {"const": "pet-2", "title": "Dogs"}


async def test_everything_asks_the_user_over_streamable_http(tmp_path: Path) -> None:
    async with everything_over_http() as url, client(tmp_path, {"all": {"url": url}}) as mcp:
        await mcp.begin()
        await until(lambda: ELICITS in foreign(mcp.tools.now()))
        user = User(FormAnswer(action="accept", values={"name": "Ada"}))
        assert "Name: Ada" in str((await mcp.call(ELICITS, ask_form=user)).result.output)
        stopped = User()
        asking = asyncio.ensure_future(mcp.call(ELICITS, ask_form=stopped))
        await until(lambda: len(stopped.asked) == 1)
        asking.cancel()
        await asyncio.wait([asking])
        assert stopped.cancelled == 1
        echo = (await mcp.call("all__echo", {"message": "still here"})).result
        assert "still here" in str(echo.output)
