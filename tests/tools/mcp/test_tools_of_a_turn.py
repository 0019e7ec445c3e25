"""Which tools a message has: names, trust, changes, and many of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_datalayer_agent.tools.builtin import builtin_registry
from jupyter_datalayer_agent.tools.call_approval import ApprovalRequest, Decision
from jupyter_datalayer_agent.tools.gate import Gate
from jupyter_datalayer_agent.tools.mcp.definition import ListedTool
from jupyter_datalayer_agent.tools.mcp.turn_tools import model_name
from jupyter_datalayer_agent.tools.registry import ToolRegistry

from .client import Client, client, fixture, foreign, until


def listed(mcp: Client, server: str, name: str) -> ListedTool:
    [found] = [each for each in mcp.servers.usable() if each.name == server]
    [tool] = [each for each in mcp.state.listed(found) or [] if each.name == name]
    return tool


def trust(mcp: Client, server: str, name: str, how: str) -> None:
    [found] = [each for each in mcp.servers.usable() if each.name == server]
    mcp.state.set_tool(found, listed(mcp, server, name), enabled=True, trust=how)  # type: ignore[arg-type]


async def asked(
    mcp: Client, name: str, registry: ToolRegistry | None = None
) -> list[ApprovalRequest]:
    """The approvals that a call asks for; all are given."""
    requests: list[ApprovalRequest] = []

    async def approve(request: ApprovalRequest) -> Decision:
        requests.append(request)
        return Decision(True)

    await mcp.call(name, {"text": "hi"}, registry, approve)
    return requests


async def test_without_servers_the_registry_is_the_same_object(tmp_path: Path) -> None:
    async with client(tmp_path, {}) as mcp:
        assert await mcp.begin() is mcp.tools._own
    async with client(tmp_path, {"fix": fixture("plain")}, is_allowed=False) as mcp:
        assert await mcp.begin() is mcp.tools._own
        assert mcp.reports == []


async def test_tools_named_like_ours_are_distinct_and_shadow_nothing(tmp_path: Path) -> None:
    entries = {"get": fixture("ours"), "datalayer": fixture("ours"), "x" * 60: fixture("ours")}
    async with client(tmp_path, entries) as mcp:
        registry = await mcp.begin()
    names = foreign(registry)
    assert len(names) == len(set(names)) == 9
    assert all(len(name) <= 64 for name in names)
    ours = builtin_registry()
    assert [each.name for each in registry][: len(ours.names())] == ours.names()
    for name in [*ours.names(), "get_notebook_cells", "readAllCells", "datalayer_getNotebookCells"]:
        assert registry.behind(name) is not None
        assert registry.behind(name).parameters is None  # type: ignore[union-attr]
    assert [registry.tool(name).name for name in names] == names


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("time", "now", "time__now"),
        ("My Server!", "read/file", "My_Server__read_file"),
        ("", "日本語", "___ _".replace(" ", "")),
        ("s" * 40, "t" * 40, None),
    ],
)
def test_names_are_what_every_provider_takes(server: str, tool: str, name: str | None) -> None:
    made = model_name(server, tool, lambda name: False)
    assert name is None or made == name
    assert 0 < len(made) <= 64
    assert made.replace("_", "").replace("-", "").isalnum() or set(made) == {"_"}
    other = model_name(server, tool, lambda name: name == made)
    assert other != made
    assert other == model_name(server, tool, lambda name: name == made)


async def test_each_call_asks_until_the_tool_is_trusted_and_again_when_it_changes(
    tmp_path: Path,
) -> None:
    async with client(tmp_path, {"fix": fixture("plain", "bad")}) as mcp:
        await mcp.begin()
        [request] = await asked(mcp, "fix__echo")
        assert "MCP server fix" in request.reason
        trust(mcp, "fix", "echo", "call")
        assert await asked(mcp, "fix__echo") == []
        assert len(await asked(mcp, "fix__fails")) == 1
        before = mcp.tools.now()
        await mcp.call("fix__changes")
        await until(lambda: "fix__new" in foreign(mcp.tools.now()))
        # The turn that runs has the tools that it had, of which one is another by now.
        assert "fix__new" not in foreign(before)
        stale = (await mcp.call("fix__echo", {"text": "hi"}, before)).result
        assert stale.error is not None
        assert stale.error.code == "stale"
        [again] = await asked(mcp, "fix__echo")
        # What was approved for the session was the tool as it was.
        assert again.remember_as != request.remember_as


async def test_a_tool_that_only_reads_by_its_own_account_is_for_agent_mode(tmp_path: Path) -> None:
    async with client(tmp_path, {"fix": fixture("plain")}) as mcp:
        registry = await mcp.begin()
        assert listed(mcp, "fix", "echo").says_it_reads
        assert not foreign(allowed(registry, "ask"))
        assert len(foreign(allowed(registry, "agent"))) == 4
        trust(mcp, "fix", "echo", "read")
        registry = mcp.tools.now()
        assert foreign(allowed(registry, "ask")) == ["fix__echo"]
        assert registry.tool("fix__echo").parallel


def allowed(registry: ToolRegistry, mode: str) -> ToolRegistry:
    made = ToolRegistry()
    for each in Gate.on(None, mode).allowed(registry):  # type: ignore[arg-type]
        made.add(each)
    return made


async def test_trust_ends_where_the_definition_changes(tmp_path: Path) -> None:
    async with client(tmp_path, {"fix": fixture("plain")}) as mcp:
        await mcp.begin()
        trust(mcp, "fix", "echo", "call")
    async with client(tmp_path, {"fix": fixture("plain", "more")}) as mcp:
        assert mcp.tools.now() is mcp.tools._own
        await mcp.begin()
        assert len(await asked(mcp, "fix__echo")) == 1


async def test_known_tools_are_there_before_the_server_is_started(tmp_path: Path) -> None:
    log = tmp_path / "log"
    entry = fixture("plain", MCP_FIXTURE_LOG=str(log))
    async with client(tmp_path, {"fix": entry}) as mcp:
        await mcp.begin()
    log.unlink()
    async with client(tmp_path, {"fix": entry}) as mcp:
        assert foreign(await mcp.begin())[0] == "fix__echo"
        assert not log.exists()
        assert (await mcp.call("fix__echo", {"text": "hi"})).result.output == "hi"
        assert mcp.reports == ["Starting fix"]


async def test_500_tools_are_searched(tmp_path: Path) -> None:
    async with client(tmp_path, {"fix": fixture("plain", "many")}) as mcp:
        registry = await mcp.begin()
        assert len(foreign(registry)) == 504
        assert [each.name for each in registry if each.searches] == ["searchTools", "callTool"]
        found = (await mcp.call("searchTools", {"query": "look up thing 321"})).result.output
        assert found["found"][0]["name"] == "fix__thing_321"
        assert found["found"][0]["parameters"] == {"type": "object", "properties": {}}
        assert len(json.dumps(found)) < 4_000
        none = (await mcp.call("searchTools", {"query": "zebra"})).result.output
        assert none["found"] == []
        assert "fix__echo" in none["names"]
        call = {"name": "fix__echo", "arguments": {"text": "found"}}
        called = await mcp.call("callTool", call)
        assert (called.result.name, called.result.output) == ("fix__echo", "found")
        # By way of it nothing else is called, and nothing that needs approval without it.
        around = (await mcp.call("callTool", {"name": "executeCode", "arguments": {}})).result
        assert around.error is not None
        assert around.error.code == "invalid_arguments"

        async def deny(request: ApprovalRequest) -> Decision:
            assert (request.name, request.arguments) == ("fix__echo", {"text": "found"})
            return Decision(False)

        assert (await mcp.call("callTool", call, approve=deny)).denied


async def test_what_is_switched_off_is_not_offered_and_not_called(tmp_path: Path) -> None:
    async with client(tmp_path, {"fix": fixture("plain")}) as mcp:
        before = await mcp.begin()
        [server] = mcp.servers.usable()
        mcp.state.set_tool(server, listed(mcp, "fix", "echo"), enabled=False, trust="ask")
        assert "fix__echo" not in foreign(mcp.tools.now())
        off = (await mcp.call("fix__echo", {"text": "hi"}, before)).result
        assert off.error is not None
        assert off.error.code == "not_allowed"
        mcp.state.set_enabled(server, False)
        assert mcp.tools.now() is mcp.tools._own


async def test_an_answer_of_a_tool_list_that_makes_no_sense(tmp_path: Path) -> None:
    odd = [
        {"name": "", "inputSchema": {}},
        {"name": "no schema"},
        {"name": "text", "inputSchema": {"type": "string"}},
        {"name": "large", "inputSchema": {"description": "x" * 50_000}},
        "no tool",
    ]
    assert [ListedTool.of(each) for each in odd] == [None] * 5
    hidden = ListedTool.of(
        {"name": "ok", "inputSchema": {}, "description": "Adds\u202e.\U000e0041", "title": "A\nb"}
    )
    assert hidden is not None
    assert (hidden.description, hidden.title) == ("Adds.", "A b")
