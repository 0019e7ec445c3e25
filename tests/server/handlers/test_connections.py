"""Connecting models over HTTP: a real server, litellm, and model servers that speak their APIs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support import local_servers
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Gate, NoFinish, Say, ScriptedModelServer, Status
from tests.support.page import post_in_page, request_in_page
from tests.support.ports import free_port

KEY = "sk-saved-in-the-panel-0123456789abcdef"
OTHER_KEY = "sk-of-the-environment-0123456789abcdef"
IN_A_FILE = {"storeIn": "file", "consent": True}
OPENAI = {"provider": "openai", "model": "openai/gpt-6.1-sol"}


@pytest.fixture
def model(model: ScriptedModelServer) -> ScriptedModelServer:
    """The scripted model, which always has an answer."""
    model.set_default(Say("Ready."))
    return model


def start(folder: Path, **environment: str) -> RunningServer:
    """A server without a model, which looks for none unless a test names ports."""
    environment = {"DATALAYER_AGENT_LOCAL_MODEL_PORTS": "[]", **environment}
    return RunningServer(folder, environment=environment)


def error(server: RunningServer, method: str, path: str, body: Any = None) -> tuple[int, str]:
    answer = request_in_page(server, method, path, json=body)
    assert not answer.ok, answer.text
    return answer.status_code, answer.json()["error"]["message"]


def test_a_server_that_ends_its_answers_without_a_word_works(
    tmp_path: Path, model: ScriptedModelServer
) -> None:
    environment = {"OPENAI_BASE_URL": model.base_url, "DATALAYER_AGENT_MODEL_API": "chat"}
    with start(tmp_path, **environment) as server:
        model.script(NoFinish(Say("Ready."), done=False))
        tested = server.post("connections/test", {**OPENAI, "key": KEY})
        assert tested["ok"], tested["message"]
        model.script(NoFinish(Say(""), done=False))
        assert not server.post("connections/test", {**OPENAI, "key": KEY})["ok"]


def test_from_nothing_to_an_answer_and_back(tmp_path: Path, model: ScriptedModelServer) -> None:
    with start(tmp_path, OPENAI_BASE_URL=model.base_url) as server:
        assert not server.get("models")["ready"]
        session = server.post("sessions", {})["id"]
        model.script(Status(401, body={"error": {"message": f"Bad key {KEY}"}}))
        failed = server.post("connections/test", {**OPENAI, "key": KEY})
        assert not failed["ok"]
        assert "refused the key" in failed["message"]
        assert KEY not in failed["message"]
        assert server.post("connections/test", {**OPENAI, "key": KEY})["ok"]
        assert not server.get("models")["ready"], "a test saves nothing"

        reply = post_in_page(server, "connections", {**OPENAI, "key": f" {KEY}\n", **IN_A_FILE})
        assert reply["connections"] == [
            {
                "id": "openai",
                "label": "OpenAI",
                "keySource": "file",
                "needsKey": False,
                "headers": [],
                "models": ["openai/gpt-6.1-sol"],
                "isDefault": True,
            }
        ]
        assert server.get("models")["default"] == "openai/gpt-6.1-sol"
        answer = server.post("chat", {"message": "Hello", "sessionId": session})
        assert answer["reply"] == "Ready."
        assert model.requests[-1].has_key(KEY)

        after = server.request("DELETE", "connections/openai").json()
        assert after["connections"] == []
        assert not server.get("models")["ready"]
        assert list((tmp_path / "home/data/datalayer-agent/keys").iterdir()) == []
        assert error(server, "POST", "chat", {"message": "Hello"})[0] == 503
        assert error(server, "DELETE", "connections/nothing")[0] == 404
        assert error(server, "DELETE", "connections/..%2Fagent.db")[0] == 404


def test_what_was_saved_is_there_after_a_restart(
    tmp_path: Path, model: ScriptedModelServer
) -> None:
    with start(tmp_path, OPENAI_BASE_URL=model.base_url) as server:
        post_in_page(server, "connections", {**OPENAI, "key": KEY, **IN_A_FILE})
        server.stop()
        server.start()
        assert server.post("chat", {"message": "Hello"})["reply"] == "Ready."
        assert model.requests[-1].has_key(KEY)


def test_kernels_do_not_inherit_a_saved_key(tmp_path: Path, model: ScriptedModelServer) -> None:
    with start(tmp_path, OPENAI_BASE_URL=model.base_url) as server:
        post_in_page(server, "connections", {**OPENAI, "key": KEY, **IN_A_FILE})
        server.post("chat", {"message": "Hello"})
        run = {"code": "import os; print(sorted(os.environ.items()))"}
        out = server.post("tools/executeCode", {"arguments": run})
        assert "HOME" in json.dumps(out)
        assert KEY not in json.dumps(out)
        environ = Path(f"/proc/{server.process.pid}/environ")  # type: ignore[union-attr]
        if environ.exists() and os.access(environ, os.R_OK):
            assert KEY.encode() not in environ.read_bytes()


def test_a_file_needs_consent_in_the_request(tmp_path: Path, model: ScriptedModelServer) -> None:
    with start(tmp_path, PYTHON_KEYRING_BACKEND="keyring.backends.fail.Keyring") as server:
        for body in ({}, {"storeIn": "file"}, {"storeIn": "keyring"}):
            status, message = error(server, "POST", "connections", {**OPENAI, "key": KEY, **body})
            assert status == 400
            assert "consent" in message
        assert not (tmp_path / "home/data/datalayer-agent/keys").exists()
        assert server.get("connections")["connections"] == []


def test_the_keyring_is_used_where_there_is_one(tmp_path: Path, model: ScriptedModelServer) -> None:
    pytest.importorskip("keyring")
    kept = tmp_path / "keyring.json"
    with start(
        tmp_path,
        OPENAI_BASE_URL=model.base_url,
        PYTHON_KEYRING_BACKEND="tests.support.keyrings.FileKeyring",
        TEST_KEYRING=str(kept),
    ) as server:
        assert server.get("connections")["keyring"] == "Test keyring"
        reply = post_in_page(server, "connections", {**OPENAI, "key": KEY})
        assert reply["connections"][0]["keySource"] == "keyring"
        assert json.loads(kept.read_text()) == {"jupyter-datalayer-agent/openai": KEY}
        assert server.post("chat", {"message": "Hello"})["reply"] == "Ready."
        assert model.requests[-1].has_key(KEY)
        server.request("DELETE", "connections/openai")
        assert json.loads(kept.read_text()) == {}


def test_a_saved_key_wins_over_the_environments_which_is_back_once_it_is_forgotten(
    tmp_path: Path, model: ScriptedModelServer
) -> None:
    with start(tmp_path, OPENAI_BASE_URL=model.base_url, OPENAI_API_KEY=OTHER_KEY) as server:
        provider = next(
            each for each in server.get("connections")["providers"] if each["id"] == "openai"
        )
        assert (provider["keySource"], provider["variable"]) == ("environment", "OPENAI_API_KEY")
        server.post("chat", {"message": "Hello"})
        assert model.requests[-1].has_key(OTHER_KEY)
        post_in_page(server, "connections", {**OPENAI, "key": KEY, **IN_A_FILE})
        server.post("chat", {"message": "Hello"})
        assert model.requests[-1].has_key(KEY)
        server.request("DELETE", "connections/openai")
        assert server.post("chat", {"message": "Hello"})["reply"] == "Ready."
        assert model.requests[-1].has_key(OTHER_KEY)


def test_a_server_gets_no_key_of_the_provider_whose_api_it_speaks(
    tmp_path: Path, model: ScriptedModelServer
) -> None:
    with start(tmp_path, OPENAI_API_KEY=OTHER_KEY) as server:
        post_in_page(server, "connections", {"address": model.base_url})
        assert server.post("chat", {"message": "Hello"})["reply"] == "Ready."
    assert model.requests
    assert not any(request.has_key(OTHER_KEY) for request in model.requests)


def test_ollama_and_openai_side_by_side(tmp_path: Path, model: ScriptedModelServer) -> None:
    with (
        local_servers.ollama() as ollama,
        start(
            tmp_path,
            OPENAI_BASE_URL=model.base_url,
            DATALAYER_AGENT_LOCAL_MODEL_PORTS=f"[{ollama.port}]",
        ) as server,
    ):
        found = server.post("connections/look", {})["servers"]
        assert [(each["label"], each["address"]) for each in found] == [("Ollama", ollama.origin)]
        assert found[0]["models"][0]["size"] == 5_225_388_164
        post_in_page(server, "connections", {"address": ollama.origin, "model": "qwen3:8b"})
        post_in_page(server, "connections", {**OPENAI, "key": KEY, **IN_A_FILE})
        ready = [each["id"] for each in server.get("models")["models"] if each["ready"]]
        assert {"ollama_chat/qwen3:8b", "openai/gpt-6.1-sol"} <= set(ready)
        before = len(model.requests)
        ask = {"message": "Hello", "model": "ollama_chat/qwen3:8b"}
        assert server.post("chat", ask)["reply"] == "Ready."
        asked = ollama.bodies[ollama.paths.index("/api/chat")]
        assert asked["model"] == "qwen3:8b"
        assert asked["options"]["num_ctx"] == 16_384
        assert len(model.requests) == before
        assert server.post("chat", {"message": "Hello"})["reply"] == "Ready."
        assert len(model.requests) == before + 1
        assert KEY not in str(ollama.keys)


def test_a_model_that_is_chosen_holds_for_sessions_without_a_choice_of_their_own(
    tmp_path: Path, model: ScriptedModelServer
) -> None:
    with start(tmp_path, OPENAI_BASE_URL=model.base_url, OPENAI_API_KEY=OTHER_KEY) as server:
        free = server.post("sessions", {})["id"]
        own = server.post("sessions", {"settings": {"model": "openai/gpt-5.3-codex"}})["id"]

        def models_of_both() -> list[Any]:
            for session in (free, own):
                server.post("chat", {"message": "Hello", "sessionId": session})
            return [request.body["model"] for request in model.requests[-2:]]

        assert models_of_both() == ["gpt-6.1-sol", "gpt-5.3-codex"]
        post_in_page(server, "connections", {"provider": "openai", "model": "openai/gpt-6.1-terra"})
        assert models_of_both() == ["gpt-6.1-terra", "gpt-5.3-codex"]


def test_a_running_turn_keeps_its_model(tmp_path: Path, model: ScriptedModelServer) -> None:
    with start(tmp_path, OPENAI_BASE_URL=model.base_url, OPENAI_API_KEY=OTHER_KEY) as server:
        model.script(Gate(Call("listKernels")), Say("Done."))
        events = server.stream("chat/stream", {"message": "Hello", "mode": "ask"})
        model.wait_for(model.at_gate)
        post_in_page(server, "connections", {**OPENAI, "model": "gpt-6.1-terra"})
        model.release()
        assert list(events)[-1]["type"] == "turn_completed"
        assert {each.body["model"] for each in model.requests} == {"gpt-6.1-sol"}


def test_nobody_is_asked_but_on_a_users_request(tmp_path: Path, model: ScriptedModelServer) -> None:
    with (
        local_servers.ollama() as ollama,
        start(
            tmp_path,
            OPENAI_BASE_URL=model.base_url,
            DATALAYER_AGENT_LOCAL_MODEL_PORTS=f"[{ollama.port}, {free_port()}]",
        ) as server,
    ):
        for route in ("models", "connections", "config", "openapi.json", "sessions", "services"):
            server.get(route)
        assert ollama.paths == []
        assert server.post("connections/look", {"again": False})["looked"]
        asked = len(ollama.paths)
        assert asked
        post_in_page(server, "connections", {**OPENAI, "key": KEY, **IN_A_FILE})
        server.post("chat", {"message": "Hello"})
        assert server.post("connections/look", {}) == {"looked": False, "servers": []}
        assert len(ollama.paths) == asked
        again = server.post("connections/look", {"again": True})
        assert [each["label"] for each in again["servers"]] == ["Ollama"]
        assert len(ollama.paths) == 2 * asked


def test_a_server_with_a_key_at_an_address(tmp_path: Path) -> None:
    with local_servers.vllm(key=KEY) as vllm, start(tmp_path) as server:
        needs = server.post("connections/test", {"address": vllm.origin})
        assert not needs["ok"]
        assert needs["server"]["needsKey"]
        wrong = server.post("connections/test", {"address": vllm.origin, "key": "sk-wrong-key"})
        assert "refused the key" in wrong["message"]
        assert "sk-wrong-key" not in json.dumps(wrong)
        body = {"address": vllm.origin, "key": KEY, **IN_A_FILE}
        reply = post_in_page(server, "connections", body)
        assert reply["connections"][0]["id"] == "hosted_vllm"
        assert reply["connections"][0]["keySource"] == "file"
        assert server.get("models")["default"] == "hosted_vllm/Qwen/Qwen3-8B"
        infos = {each["id"]: each for each in server.get("models")["models"]}
        assert infos["hosted_vllm/Qwen/Qwen3-8B"]["contextWindow"] == 16_384
        # The key that was saved is for this address, and the list is shown with it.
        assert server.post("connections/test", {"address": vllm.origin})["ok"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "either a provider or an address"),
        ({"provider": "openai", "address": "http://localhost"}, "either a provider or an address"),
        ({"provider": "nobody"}, "There is no such provider"),
        ({"provider": "anthropic"}, "needs a key"),
        ({"provider": "openai", "key": "sk-with white space", **IN_A_FILE}, "no key can have"),
        ({"provider": "openai", "key": "sk-ключ-0123456789", **IN_A_FILE}, "no key can have"),
        ({"provider": "openai", "key": {"sk-nested-0123": 1}}, "key"),
        ({"address": "ftp://host"}, "http:// or https://"),
        ({"address": "https://me:secret-1234@host"}, "user name or password"),
    ],
)
def test_bad_input_is_refused_and_not_repeated(
    server: RunningServer, body: dict[str, Any], message: str
) -> None:
    status, text = error(server, "POST", "connections", body)
    assert status == 400
    assert message in text
    for secret in ("white space", "ключ", "sk-nested", "secret-1234"):
        assert secret not in text


def test_a_server_that_is_not_there_is_said_so_and_nothing_is_saved(
    server: RunningServer,
) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    before = server.get("connections")["connections"]
    status, text = error(server, "POST", "connections", {"address": address})
    assert (status, "Nothing listens" in text) == (502, True)
    assert server.get("connections")["connections"] == before


LOCKS = {
    "switched off": {"DATALAYER_AGENT_CONNECT_MODELS": "false"},
    "the address": {"DATALAYER_AGENT_LOCKED": '["api_base"]'},
}


@pytest.mark.parametrize("how", LOCKS)
def test_what_an_administrator_locks_is_neither_connected_nor_used(
    tmp_path: Path, model: ScriptedModelServer, how: str
) -> None:
    with start(tmp_path, OPENAI_BASE_URL=model.base_url) as server:
        post_in_page(server, "connections", {**OPENAI, "key": KEY, **IN_A_FILE})
        server.stop()
        server.environment |= LOCKS[how]
        server.start()
        assert how in server.get("connections")["locked"]
        assert server.get("connections")["connections"] == []
        assert not server.get("models")["ready"]
        assert not server.get("models")["canConnect"]
        for method, path in (
            ("POST", "connections"),
            ("POST", "connections/test"),
            ("DELETE", "connections/openai"),
        ):
            body = {**OPENAI, "key": KEY} if method == "POST" else None
            assert error(server, method, path, body)[0] == 403
        assert not server.post("connections/look", {"again": True})["looked"]
        assert error(server, "POST", "chat", {"message": "Hello"})[0] == 503
        assert model.requests == []


def test_a_locked_model_takes_a_users_own_key_and_stays(
    tmp_path: Path, model: ScriptedModelServer
) -> None:
    locked = {
        "DATALAYER_AGENT_LOCKED": '["model"]',
        "DATALAYER_AGENT_MODEL": "openai/gpt-6.1-sol",
    }
    with start(tmp_path, OPENAI_BASE_URL=model.base_url, **locked) as server:
        other = {"provider": "openai", "model": "openai/gpt-6.1-terra", "key": KEY, **IN_A_FILE}
        assert error(server, "POST", "connections", other)[0] == 403
        assert not server.get("models")["ready"]
        post_in_page(server, "connections", {**OPENAI, "key": KEY, **IN_A_FILE})
        assert server.post("chat", {"message": "Hello"})["reply"] == "Ready."


def test_a_file_that_others_can_read_is_not_used(
    tmp_path: Path, model: ScriptedModelServer
) -> None:
    with start(tmp_path, OPENAI_BASE_URL=model.base_url) as server:
        post_in_page(server, "connections", {**OPENAI, "key": KEY, **IN_A_FILE})
        (tmp_path / "home/data/datalayer-agent/keys/openai").chmod(0o644)
        answer = server.request("POST", "chat", json={"message": "Hello"}).json()
        assert "chmod 600" in answer["error"]["message"]
        assert model.requests == []


def test_models_of_one_name_differ_by_server_and_a_locked_effort_is_not_offered(
    tmp_path: Path, model: ScriptedModelServer
) -> None:
    locked = {"DATALAYER_AGENT_LOCKED": "reasoning_effort"}
    with (
        ScriptedModelServer(default=Say("Ready.")) as other,
        start(tmp_path, **locked) as server,
    ):
        hosts = [each.base_url.split("/")[2] for each in (model, other)]
        for host in hosts:
            post_in_page(
                server, "connections", {"address": f"http://{host}/v1", "model": "scripted"}
            )
        reasons, *models = server.get("models?model=openai/o3-mini")["models"]
        labels = {each["label"] for each in models if each["ready"]}
        assert labels == {f"scripted · {host}" for host in hosts}
        assert (reasons["id"], reasons.get("reasoningEfforts")) == ("openai/o3-mini", None)
