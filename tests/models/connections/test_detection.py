"""Model servers are known by their own APIs, whatever port they listen at."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

from jupyter_datalayer_agent.models.connections.connection import ServerModel
from jupyter_datalayer_agent.models.connections.detection import (
    LocalServers,
    ServerError,
    server_at,
)
from tests.support import local_servers
from tests.support.local_servers import LocalServer
from tests.support.ports import free_port

KEY = "sk-detected-0123456789"


async def test_ollama_with_sizes_and_windows_and_without_models_that_only_embed() -> None:
    with local_servers.ollama() as server:
        found = await server_at(server.origin)
    assert (found.kind, found.api_base) == ("ollama", server.origin)
    assert found.models == (
        ServerModel("qwen3:8b", 5_225_388_164, "8.2B", 40_960, vision=False, tools=True),
    )


async def test_lm_studio_with_its_context_lengths() -> None:
    with local_servers.lm_studio() as server:
        found = await server_at(server.origin)
    assert (found.kind, found.api_base) == ("lm_studio", f"{server.origin}/v1")
    assert [(each.name, each.context_window) for each in found.models] == [
        ("qwen2.5-coder-7b", 32_768)
    ]


async def test_llama_cpp_is_not_taken_for_ollama_whose_api_it_also_has() -> None:
    with local_servers.llama_cpp() as server:
        found = await server_at(server.origin)
    assert found.kind == "llama_cpp"
    assert found.models == (
        ServerModel("qwen.gguf", 1_117_320_736, context_window=8_192, vision=False),
    )


async def test_vllm_by_who_owns_its_models() -> None:
    with local_servers.vllm() as server:
        found = await server_at(f"{server.origin}/v1/chat/completions")
    assert (found.kind, found.api_base) == ("vllm", f"{server.origin}/v1")
    assert [(each.name, each.context_window) for each in found.models] == [
        ("Qwen/Qwen3-8B", 16_384)
    ]


async def test_a_server_that_needs_a_key() -> None:
    with local_servers.vllm(key=KEY) as server:
        assert (await server_at(server.origin)).needs_key
        assert (await server_at(server.origin, KEY)).models
        with pytest.raises(ServerError, match="refused the key") as refused:
            await server_at(server.origin, "sk-wrong-key")
    assert "sk-wrong-key" not in str(refused.value)


async def test_a_llama_cpp_that_lists_its_modalities_spoils_no_look() -> None:
    def answer(path: str, *_: object) -> tuple[int, object]:
        if path == "/props":
            return 200, {"default_generation_settings": {"n_ctx": 4096}, "modalities": ["text"]}
        return 200, {"data": [{"id": "qwen.gguf"}]}

    with LocalServer(answer) as odd, local_servers.ollama() as other:
        found = await LocalServers().look([odd.port, other.port])
    assert [each.kind for each in found] == ["llama_cpp", "ollama"]
    assert found[0].models == (ServerModel("qwen.gguf", context_window=4096),)


PAGE = "<!doctype html><title>JupyterHub</title>"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda *_: (200, PAGE), "not JSON"),
        (lambda *_: (404, PAGE), "ends in /v1"),
        (lambda *_: (302, "https://elsewhere.example/login"), "https://elsewhere.example"),
        (lambda *_: (500, {"error": "no"}), "status 500"),
        (lambda *_: (200, {"hello": 1}), "no list of models"),
        (lambda *_: (200, "[" * 5000), "not JSON"),
    ],
)
async def test_what_is_no_model_server_is_said_so(
    answer: Callable[..., tuple[int, object]], message: str
) -> None:
    with LocalServer(answer) as server:
        with pytest.raises(ServerError, match=message):
            await server_at(server.origin)
        assert await LocalServers().look([server.port]) == []


async def test_a_redirect_is_not_followed_with_the_key() -> None:
    with (
        local_servers.vllm() as target,
        LocalServer(lambda path, *_: (307, f"{target.origin}{path}")) as server,
    ):
        with pytest.raises(ServerError, match="redirects"):
            await server_at(f"{server.origin}/v1", KEY)
        assert target.paths == []


async def test_a_port_where_nothing_listens_is_asked_once() -> None:
    port = free_port()
    with pytest.raises(ServerError, match="Nothing listens"):
        await server_at(f"http://127.0.0.1:{port}")


async def test_https_to_a_server_without_it() -> None:
    with local_servers.vllm() as server, pytest.raises(ServerError, match="https"):
        await server_at(server.origin.replace("http:", "https:"))


async def test_a_server_that_is_silent_ends_the_wait() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(ServerError, match="did not answer in time"):
            await server_at(address, seconds=0.3)


async def test_all_ports_are_asked_at_once_and_each_only_once() -> None:
    with (
        local_servers.lm_studio() as first,
        local_servers.llama_cpp() as second,
        local_servers.ollama() as third,
    ):
        ports = [first.port, second.port, third.port, free_port(), first.port]
        found = await LocalServers().look(ports)
    assert [each.kind for each in found] == ["lm_studio", "llama_cpp", "ollama"]
    assert first.paths.count("/api/v0/models") == 1
