"""Calls of servers that behave, and of servers that do not: over both transports, by the SDK."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import psutil
import pytest

from jupyter_datalayer_agent.protocol.tools import ToolResult
from jupyter_datalayer_agent.tools.mcp import bounded_http
from tests.support.mcp.http_fixture import http_server

from .client import client, fixture, foreign, until


async def test_texts_pictures_resources_data_and_errors(tmp_path: Path) -> None:
    async with client(tmp_path, {"fix": fixture("plain")}) as mcp:
        registry = await mcp.begin()
        assert foreign(registry) == ["fix__echo", "fix__parts", "fix__fails", "fix__env"]
        echo = await mcp.call("fix__echo", {"text": "../../etc", "path": "/etc"})
        # A path of another program's tool is passed as it is.
        assert echo.result.ok
        assert echo.result.output == "../../etc"
        parts = await mcp.call("fix__parts")
        assert parts.result.output == {
            "text": "A text with colour\n[picture 1: image/png 1x1]\n"
            "[audio/wav, 69 bytes, not shown]\n[file:///notes.txt]\nFrom a file\n"
            "[link: other · file:///other.txt]",
            "data": {"answer": 42},
        }
        assert [image.mime for image in parts.images] == ["image/png"]
        failed = (await mcp.call("fix__fails")).result
        assert failed.error is not None
        assert (failed.error.code, failed.error.message) == ("server_error", "The disk is full.")


async def test_a_process_gets_its_own_environment_and_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-ours-0123456789")
    monkeypatch.setenv("MY_TOKEN", "token-of-the-fixture")
    entry = fixture("plain", FIXTURE_TOKEN="${env:MY_TOKEN}")
    async with client(tmp_path, {"fix": entry}) as mcp:
        await mcp.begin()
        said = str((await mcp.call("fix__env")).result.output)
        assert "FIXTURE_TOKEN" in said
        assert "OPENAI_API_KEY" not in said
        assert f"in {mcp.root}" in said
        [server] = mcp.servers.usable()
        await until(lambda: any("token " in line for line in mcp.servers.log_of(server)))
        log = "\n".join(mcp.servers.log_of(server))
        assert "token [redacted]" in log
        assert "token-of-the-fixture" not in log


async def test_what_a_server_asks_of_us(tmp_path: Path) -> None:
    """The root is what it gets; sampling is refused, and not offered. Nobody is there to ask."""
    log = tmp_path / "log"
    async with client(tmp_path, {"fix": fixture("bad", MCP_FIXTURE_LOG=str(log))}) as mcp:
        await mcp.begin()
        assert mcp.root.as_uri() in str((await mcp.call("fix__roots")).result.output)
        assert "not supported" in str((await mcp.call("fix__samples")).result.output)
        assert (await mcp.call("fix__asks")).result.output == '{"action": "cancel"}'
    offered = json.loads(log.read_text().splitlines()[1].removeprefix("initialize "))
    assert offered == {"roots": {"listChanged": True}, "elicitation": {"form": {}}}


async def test_a_flood_is_dropped_and_50_megabytes_are_cut(tmp_path: Path) -> None:
    async with client(tmp_path, {"fix": fixture("plain", "bad")}) as mcp:
        await mcp.begin()
        flooded = await mcp.call("fix__floods")
        assert flooded.result.output == "after the flood"
        [server] = mcp.servers.usable()
        assert len(mcp.servers.log_of(server)) <= 300
        check_cut((await mcp.call("fix__large")).result)
        assert (await mcp.call("fix__echo", {"text": "still here"})).result.output == "still here"


def check_cut(large: ToolResult) -> None:
    """An answer of 50 MB with its beginning and end."""
    assert large.ok, large
    text = str(large.output)
    assert text.startswith("begin xxx")
    assert text.endswith("xxx end")
    assert "characters left out" in text
    assert len(text) < 1_100_000


async def test_answers_that_are_no_json_are_made_such(tmp_path: Path) -> None:
    async with client(tmp_path, {"fix": fixture("bad")}) as mcp:
        await mcp.begin()
        odd = (await mcp.call("fix__odd")).result
        assert odd.output == {"text": "half ? and \x00", "data": {"x": None, "y": None}}


async def test_a_server_that_dies_is_an_error_and_starts_again(tmp_path: Path) -> None:
    async with client(tmp_path, {"fix": fixture("plain", "bad")}) as mcp:
        await mcp.begin()
        died = (await mcp.call("fix__dies")).result
        assert died.error is not None
        assert died.error.code == "server_error"
        assert "ended during the call" in died.error.message
        assert "Something broke" in died.error.message
        assert (await mcp.call("fix__echo", {"text": "again"})).result.output == "again"


async def test_a_server_that_hangs_is_cancelled_in_time_and_started_anew(tmp_path: Path) -> None:
    log = tmp_path / "log"
    entry = fixture("plain", "bad", MCP_FIXTURE_LOG=str(log))
    async with client(tmp_path, {"fix": entry}, call_seconds=0.5) as mcp:
        await mcp.begin()
        hung = (await mcp.call("fix__hangs")).result
        assert hung.error is not None
        assert hung.error.code == "timeout"
        assert (await mcp.call("fix__echo", {"text": "again"})).result.output == "again"
        # An interrupt cancels the call, too.
        calling = asyncio.ensure_future(mcp.call("fix__hangs"))
        await until(lambda: log.read_text().count("call hangs") == 2)
        calling.cancel()
        await asyncio.wait([calling])
        assert calling.cancelled()
        assert (await mcp.call("fix__echo", {"text": "on"})).result.output == "on"
    assert log.read_text().count("cancelled") == 2
    assert log.read_text().count("start ") == 2


async def test_an_idle_server_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    async with client(tmp_path, {"fix": fixture("bad", "stays")}, idle_seconds=0.2) as mcp:
        await mcp.begin()
        child = int(str((await mcp.call("fix__starts")).result.output))
        assert psutil.pid_exists(child)
        [server] = mcp.servers.usable()
        await until(lambda: mcp.servers.status(server) == "stopped" and not runs(child))


async def test_servers_that_cannot_be_started_say_why_and_cost_the_others_nothing(
    tmp_path: Path,
) -> None:
    entries = {
        "good": fixture("plain"),
        "gone": {"command": "no-such-program", "args": []},
        "broken": fixture("broken"),
        "unset": {"command": "x", "env": {"KEY": "${env:NOT_SET_ANYWHERE}"}},
        "refused": {"url": "http://127.0.0.1:9/mcp"},
    }
    async with client(tmp_path, entries) as mcp:
        registry = await mcp.begin()
        assert foreign(registry)[0] == "good__echo"
        problems = {each.name: mcp.servers.problem(each) or "" for each in mcp.servers.usable()}
    assert "no-such-program was not found" in problems["gone"]
    assert "No licence was found." in problems["broken"]
    assert "NOT_SET_ANYWHERE" in problems["unset"]
    assert "Nothing answers" in problems["refused"]
    assert not problems["good"]


async def test_over_http_with_headers_that_stay_with_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.environ["HTTP_FIXTURE_TOKEN"] = "abc-secret-123"
    headers = {"Authorization": "Bearer ${env:HTTP_FIXTURE_TOKEN}"}
    with http_server("plain", "bad") as http, http_server("plain") as other:
        http.token = "Bearer abc-secret-123"
        async with client(tmp_path, {"fix": {"url": http.url, "headers": headers}}) as mcp:
            await mcp.begin()
            assert (await mcp.call("fix__echo", {"text": "hi"})).result.output == "hi"
            nine = {"size": 9_000_000}
            check_cut((await mcp.call("fix__large", nine)).result)
            http.streams = True
            check_cut((await mcp.call("fix__large", nine)).result)
            assert (await mcp.call("fix__echo", {"text": "on"})).result.output == "on"
            http.streams = False
            monkeypatch.setattr(bounded_http, "LARGEST", 8_000_000)
            large = (await mcp.call("fix__large", nine)).result
            assert large.error is not None
            assert large.error.code == "too_large"
            http.status = 503
            down = (await mcp.call("fix__echo", {"text": "hi"})).result
            assert down.error is not None
            assert "status 503" in down.error.message
            http.status = 200
            assert (await mcp.call("fix__echo", {"text": "up"})).result.output == "up"
            [server] = mcp.servers.usable()
            await mcp.servers.stop(server)
            http.redirect = other.url
            moved = (await mcp.call("fix__echo", {"text": "hi"})).result
            assert moved.error is not None
            assert "edirect" in moved.error.message
            http.redirect, http.token = None, "Bearer another"
            refused = (await mcp.call("fix__echo", {"text": "hi"})).result
            assert refused.error is not None
            assert "refused access (status 401)" in refused.error.message
            assert "abc-secret-123" not in "".join(mcp.servers.log_of(server))
    assert other.seen == []


def runs(pid: int) -> bool:
    """Whether a process runs, and is no zombie that nobody has waited for."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
