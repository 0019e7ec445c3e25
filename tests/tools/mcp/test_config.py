"""``mcp.json``: what it may say, what is wrong with it, and whose word counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_datalayer_agent.tools.mcp.config_files import ConfigFiles, read_config
from jupyter_datalayer_agent.tools.mcp.definition import DefinitionError, ServerDefinition
from jupyter_datalayer_agent.tools.mcp.state_file import StateFile

GOOD = '{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}'


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ('{"mcpServers": {\n  "a": {"command": "x",}\n}}', 2, "trailing commas"),
        ("{\n// mine\n}", 2, "Comments"),
        ("[]", 1, '"mcpServers"'),
        ('{\n"servers": {}}', 2, 'Rename "servers"'),
        ('{"mcpServers": {\n"a": {}}}', 2, 'either "command"'),
        ('{"mcpServers": {\n"a": {"command": "x", "url": "http://h"}}}', 2, 'either "command"'),
        (
            '{"mcpServers": {"b": {"command": "x"},\n"a": {"command": ["x"]}}}',
            2,
            '"command" must be',
        ),
        ('{"mcpServers": {\n\n"a": {"command": "x", "args": "y"}}}', 3, '"args" must be a list'),
        ('{"mcpServers": {"a": {"command": "x", "env": {"K": 1}}}}', 1, '"env" must be'),
        ('{"mcpServers": {"a": {"url": "ftp://h"}}}', 1, "http:// or https://"),
        ('{"mcpServers": {"a": {"url": "https://u:p@h"}}}', 1, "user name or password"),
        ('{"mcpServers": {"a": {"url": "https://h", "type": "sse"}}}', 1, "Streamable HTTP"),
        ('{"mcpServers": {"a": {"url": "https://h", "headers": {"A": "b\\nc"}}}}', 1, "breaks"),
        ('{"mcpServers": {"a%b": {"command": "x"}}}', 1, "Names may have"),
        ('{"mcpServers": {"a": 3}}', 1, "an object"),
        ("[" * 100_000, None, "nested"),
    ],
)
def test_what_is_wrong_is_named_with_file_line_and_what_to_do(
    text: str, line: int | None, problem: str
) -> None:
    read = read_config(text.encode(), Path("/c/mcp.json"), "user")
    [found] = read.problems
    assert (found.file, found.line) == (Path("/c/mcp.json"), line)
    assert problem in found.message
    assert [each.name for each in read.servers] in ([], ["b"])


@pytest.mark.parametrize("data", [b"", b"  \n", b"{}", b'{"mcpServers": {}}'])
def test_an_empty_file_is_no_problem(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "mcp.json").write_bytes(data)
    found = ConfigFiles(tmp_path, None, StateFile(tmp_path)).read()
    assert (found.servers, found.problems) == ((), ())


def test_a_file_that_is_not_text_too_large_or_a_folder(tmp_path: Path) -> None:
    files = ConfigFiles(tmp_path, None, StateFile(tmp_path))
    path = tmp_path / "mcp.json"
    for content in (b"\xff\xfe{}", b" " * 1_000_001):
        path.write_bytes(content)
        assert len(files.read().problems) == 1
    path.unlink()
    path.mkdir()
    assert "not a regular file" in str(files.read().problems[0])


def test_the_file_of_the_server_root_counts_once_it_is_allowed_as_it_is(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "mcp.json").write_text(GOOD)
    state = StateFile(tmp_path / "data")
    files = ConfigFiles(tmp_path, root, state)

    def names() -> list[str]:
        return [each.name for each in files.read().servers]

    folder = files.read().folder
    assert folder is not None
    assert (names(), folder.file.is_allowed, folder.file.was_allowed) == ([], False, False)
    state.decide(folder.file, "mcp.json", folder.file.content_hash, True)
    assert names() == ["time"]
    # Another Jupyter server of the user knows it, too.
    assert len(ConfigFiles(tmp_path, root, StateFile(tmp_path / "data")).read().servers) == 1
    (root / "mcp.json").write_text(GOOD.replace("uvx", "rm"))
    folder = files.read().folder
    assert folder is not None
    assert (names(), folder.file.is_allowed, folder.file.was_allowed) == ([], False, True)
    # The user's own server of that name is the one that counts.
    (tmp_path / "mcp.json").write_text(GOOD)
    state.decide(folder.file, "mcp.json", folder.file.content_hash, True)
    assert [(each.name, each.source) for each in files.read().servers] == [("time", "user")]


def test_saving_keeps_what_else_is_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    other = {"command": "y", "args": [], "timeout": 5}
    path.write_text(json.dumps({"inputs": [1], "mcpServers": {"b": other}}))
    files = ConfigFiles(tmp_path, None, StateFile(tmp_path))
    files.save(ServerDefinition("a", "user", path, command="x", env={"K": "v"}))
    files.save(ServerDefinition("b", "user", path, url="https://h/mcp"))
    assert json.loads(path.read_text()) == {
        "inputs": [1],
        "mcpServers": {
            "b": {"timeout": 5, "url": "https://h/mcp"},
            "a": {"command": "x", "args": [], "env": {"K": "v"}},
        },
    }
    assert path.stat().st_mode & 0o077 == 0
    files.remove("b")
    assert [each.name for each in files.read().servers] == ["a"]
    path.write_text("{broken")
    with pytest.raises(ValueError, match="Expecting"):
        files.save(ServerDefinition("c", "user", path, command="x"))
    assert path.read_text() == "{broken"


def test_references_to_the_environment(tmp_path: Path) -> None:
    server = ServerDefinition(
        "a",
        "user",
        tmp_path,
        command="${BIN}/x",
        args=("--key=${env:KEY}", "${NONE:-default}"),
        env={"TOKEN": "literal-token"},
        headers={},
    )
    resolved = server.resolved({"BIN": "/opt", "KEY": "k-123456"})
    assert resolved.command == ["/opt/x", "--key=k-123456", "default"]
    assert resolved.redacted("k-123456 literal-token x") == "[redacted] [redacted] x"
    with pytest.raises(DefinitionError, match="variable BIN"):
        server.resolved({})
    odd = ServerDefinition("a", "user", tmp_path, command="${input:key}")
    with pytest.raises(DefinitionError, match="not supported"):
        odd.resolved({})


def test_a_state_file_that_is_broken_trusts_nothing(tmp_path: Path) -> None:
    state = StateFile(tmp_path)
    path = tmp_path / "mcp.json"
    file = state.folder_file(path, b"{}")
    state.decide(file, "mcp.json", file.content_hash, True)
    assert StateFile(tmp_path).folder_file(path, b"{}").is_allowed
    state.path.write_text("{broken")
    assert not state.folder_file(path, b"{}").is_allowed
    state.path.write_text('{"servers": [], "allowed": 3}')
    assert not StateFile(tmp_path).folder_file(path, b"{}").is_allowed
