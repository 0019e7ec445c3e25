"""Connections that need more than a key: headers, certificates, Azure's and Bedrock's forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.server.handlers.test_connections import IN_A_FILE, KEY, OPENAI, error, start
from tests.support import certificates, local_servers
from tests.support.bedrock_wire import converse_stream
from tests.support.jupyter import RunningServer
from tests.support.local_servers import LocalServer
from tests.support.model_server import Say, ScriptedModelServer
from tests.support.page import post_in_page

VALUE = "gateway-secret-0123456789"
IN_MEMORY = {"storeIn": "memory"}


@pytest.fixture
def model(model: ScriptedModelServer) -> ScriptedModelServer:
    """The scripted model, which always has an answer."""
    model.set_default(Say("Ready."))
    return model


def files_with(folder: Path, text: str) -> list[str]:
    return [
        path.name
        for path in folder.rglob("*")
        if path.is_file() and text.encode() in path.read_bytes()
    ]


def test_headers_are_sent_kept_like_a_key_and_never_shown(
    tmp_path: Path, model: ScriptedModelServer
) -> None:
    with start(tmp_path, DATALAYER_AGENT_LOG_CONTENT="true") as server:
        headers = {"X-Team": VALUE, "X-Plain": "blue"}
        body = {"address": model.base_url, "headers": headers, **IN_A_FILE}
        assert server.post("connections/test", {"address": model.base_url, "headers": headers})[
            "ok"
        ]
        reply = post_in_page(server, "connections", body)
        assert reply["connections"][0]["headers"] == ["X-Team", "X-Plain"]
        assert reply["connections"][0]["keySource"] == "file"
        server.post("chat", {"message": "Hello"})
        sent = model.requests[-1].headers
        assert (sent["x-team"], sent["x-plain"]) == (VALUE, "blue")
        assert model.requests[-1].authorization is None
        assert VALUE not in json.dumps([server.get("connections"), server.get("config")])
        assert len(files_with(tmp_path, VALUE)) == 1
        # One is kept, one is new, one is left out; a key comes along.
        change = {
            "address": model.base_url,
            "headers": {"X-Team": None, "X-New": "2"},
            "key": "EMPTY",
        }
        post_in_page(server, "connections", change)
        server.stop()
        server.start()
        server.post("chat", {"message": "Hello"})
        sent = model.requests[-1].headers
        assert (sent["x-team"], sent["x-new"], "x-plain" in sent) == (VALUE, "2", False)
        assert model.requests[-1].has_key("EMPTY")
        # Without any, all stay; with none, none does.
        post_in_page(server, "connections", {"address": model.base_url})
        post_in_page(server, "connections", {"address": model.base_url, "headers": {}})
        server.post("chat", {"message": "Hello"})
        assert "x-team" not in model.requests[-1].headers
        assert model.requests[-1].has_key("EMPTY")
        server.request("DELETE", f"connections/{reply['connections'][0]['id']}")
        assert files_with(tmp_path / "home/data", VALUE) == []


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"X Team": "v"}, "letters, digits and hyphens"),
        ({"X-Team:": "v"}, "letters, digits and hyphens"),
        ({"": "v"}, "letters, digits and hyphens"),
        ({"X-Team": "a\r\nX-Other: b"}, "one line"),
        ({"X-Team": "a\nb"}, "one line"),
        ({"X-Team": "größe"}, "one line"),
        ({"X-Team": " "}, "one line"),
        ({"Host": "other"}, "is set automatically"),
        ({"content-length": "3"}, "is set automatically"),
        ({"X-Team": "1", "x-team": "2"}, "is given twice"),
        ({"X-Team": None}, "Enter the value"),
        ({f"X-{n}": "v" for n in range(21)}, "At most 20 headers"),
        ({"Authorization": "Basic eA=="}, "Leave out either"),
    ],
)
def test_headers_that_cannot_be_sent_are_refused(
    server: RunningServer, headers: dict[str, Any], message: str
) -> None:
    body = {"address": "http://127.0.0.1:1", "headers": headers, "key": KEY}
    for path in ("connections", "connections/test"):
        status, text = error(server, "POST", path, {**body})
        assert (status, message in text) == (400, True), text
        assert "X-Other" not in text


def test_an_authorization_without_a_key_is_a_header(
    tmp_path: Path, model: ScriptedModelServer
) -> None:
    headers = {"Authorization": "Basic b2s6b2s="}
    with start(tmp_path) as server:
        post_in_page(
            server, "connections", {"address": model.base_url, "headers": headers, **IN_MEMORY}
        )
        server.post("chat", {"message": "Hello"})
        assert model.requests[-1].key_header == "authorization"
        assert not model.requests[-1].has_key("none")


def test_a_key_that_is_kept_until_the_server_stops(
    tmp_path: Path, model: ScriptedModelServer
) -> None:
    with start(tmp_path, OPENAI_BASE_URL=model.base_url) as server:
        reply = post_in_page(server, "connections", {**OPENAI, "key": KEY, **IN_MEMORY})
        assert reply["connections"][0]["keySource"] == "memory"
        post_in_page(
            server, "connections", {"address": model.base_url, "key": "EMPTY", **IN_MEMORY}
        )
        server.post("chat", {"message": "Hello"})
        assert model.requests[-1].has_key("EMPTY")
        assert (
            server.post("chat", {"message": "Hello", "model": "openai/gpt-6.1-sol"})["reply"]
            == "Ready."
        )
        assert model.requests[-1].has_key(KEY)
        assert files_with(tmp_path, KEY) == []
        server.stop()
        server.start()
        connections = server.get("connections")["connections"]
        assert [each["needsKey"] for each in connections] == [True, True]
        models = server.get("models")
        assert not models["ready"]
        assert "was kept until the server stopped. Enter it again" in models["message"]
        assert "Enter it again" in error(server, "POST", "chat", {"message": "Hello"})[1]
        post_in_page(server, "connections", {**OPENAI, "key": KEY, **IN_MEMORY})
        assert server.post("chat", {"message": "Hello"})["reply"] == "Ready."
        assert server.get("models")["ready"]
        # From memory to a file, and forgotten.
        post_in_page(server, "connections", {**OPENAI, "key": KEY, **IN_A_FILE})
        assert files_with(tmp_path, KEY) == ["openai"]
        post_in_page(server, "connections", {**OPENAI, "key": f"{KEY}2", **IN_MEMORY})
        assert files_with(tmp_path, KEY) == []
        server.request("DELETE", "connections/openai")
        assert not server.get("models")["ready"]


def test_a_client_certificate_is_shown_to_the_server_that_asks_for_it(tmp_path: Path) -> None:
    made = certificates.make(tmp_path / "pki")
    with (
        local_servers.ollama(tls=made.server_context()) as ollama,
        start(tmp_path, SSL_CERT_FILE=str(made.authority)) as server,
    ):
        address = {"address": ollama.origin, "model": "qwen3:8b"}
        shown = {"certificate": str(made.client), "certificateKey": str(made.client_key)}
        tried = server.post("connections/test", address)
        assert "for a client certificate" in tried["message"], tried
        for wrong, message in (
            ({"certificate": "/nowhere.pem"}, "/nowhere.pem does not exist"),
            ({**shown, "certificateKey": str(made.encrypted_key)}, "protected by a password"),
            ({**shown, "certificateKey": str(made.authority)}, "cannot be used together"),
        ):
            assert message in server.post("connections/test", {**address, **wrong})["message"]
        assert server.post("connections/test", {**address, **shown})["ok"]
        reply = post_in_page(server, "connections", {**address, **shown})
        assert reply["connections"][0]["certificate"] == str(made.client)
        assert server.post("chat", {"message": "Hello"})["reply"] == "Ready."


def test_headers_and_certificate_of_the_configured_address(tmp_path: Path) -> None:
    made = certificates.make(tmp_path / "pki")
    environment = {
        "DATALAYER_AGENT_MODEL": "ollama_chat/qwen3:8b",
        "DATALAYER_AGENT_API_HEADERS": '{"X-Team": "TEAM_VALUE"}',
        "DATALAYER_AGENT_API_CERTIFICATE": str(made.client),
        "DATALAYER_AGENT_API_CERTIFICATE_KEY": str(made.client_key),
        "SSL_CERT_FILE": "",
        "REQUESTS_CA_BUNDLE": str(made.authority),
    }
    with local_servers.ollama(tls=made.server_context()) as ollama:
        base = {**environment, "DATALAYER_AGENT_API_BASE": ollama.origin}
        with start(tmp_path, **base) as server:
            assert "TEAM_VALUE" in error(server, "POST", "chat", {"message": "Hello"})[1]
            assert ollama.paths == []
            server.stop()
            server.environment["TEAM_VALUE"] = VALUE
            server.start()
            assert server.post("chat", {"message": "Hello"})["reply"] == "Ready."
            assert ollama.headers[-1]["x-team"] == VALUE
            assert VALUE not in json.dumps(server.get("config"))


AZURE = {"provider": "azure", "model": "my-deployment"}


@pytest.mark.parametrize("version", [None, "2024-10-21"])
@pytest.mark.parametrize("way", ["key", "token"])
def test_azure_is_connected_by_its_form(
    tmp_path: Path, model: ScriptedModelServer, version: str | None, way: str
) -> None:
    endpoint = model.base_url.removesuffix("/v1")
    secret = {"api_key": KEY} if way == "key" else {"bearer_token": KEY}
    values = {"api_base": f"{endpoint}/", **secret}
    if version is not None:
        values["api_version"] = version
    body = {**AZURE, "signIn": way, "values": values}
    with start(tmp_path) as server:
        tried = server.post("connections/test", body)
        assert tried["ok"], tried
        reply = post_in_page(server, "connections", {**body, **IN_A_FILE})
        assert reply["connections"][0]["models"] == ["azure/my-deployment"]
        azure = next(each for each in reply["providers"] if each["id"] == "azure")
        assert (azure["signIn"], azure["keySource"]) == (way, "file")
        assert azure["fields"][0]["value"] == endpoint
        assert KEY not in json.dumps(reply)
        assert server.get("models")["default"] == "azure/my-deployment"
        assert server.post("chat", {"message": "Hello"})["reply"] == "Ready."
    sent = model.requests[-1]
    assert sent.has_key(KEY)
    assert sent.key_header == {"key": "api-key", "token": "authorization"}[way]
    if version is None:
        assert sent.path == "/openai/v1/responses"
    else:
        assert sent.path == "/openai/deployments/my-deployment/chat/completions"
        assert sent.query == f"api-version={version}"
    assert sent.body["model"] == "my-deployment"


BEDROCK = {"provider": "bedrock", "model": "anthropic.claude-sonnet-5-5"}
SIGN_INS = {
    "keys": {
        "aws_access_key_id": "AKIAEXAMPLE0123456789",
        "aws_secret_access_key": KEY,
        "aws_session_token": "session-0123456789",
    },
    "bearer": {"api_key": KEY},
    "profile": {"aws_profile_name": "work"},
    "computer": {},
}


@pytest.mark.parametrize("way", SIGN_INS)
def test_bedrock_is_connected_by_its_form(tmp_path: Path, way: str) -> None:
    def answer(path: str, body: Any, key: str | None) -> tuple[int, Any]:
        return 200, converse_stream("Ready.")

    keys = "aws_access_key_id = AKIAOFTHEPROFILE0123\naws_secret_access_key = of-the-profile"
    profile = tmp_path / "credentials"
    profile.write_text(f"[work]\n{keys}\n[default]\n{keys}\n")
    with (
        LocalServer(answer) as bedrock,
        start(tmp_path, AWS_SHARED_CREDENTIALS_FILE=str(profile)) as server,
    ):
        given = {"aws_region_name": "eu-central-1", "api_base": bedrock.origin, **SIGN_INS[way]}
        body = {**BEDROCK, "signIn": way, "values": given}
        tried = server.post("connections/test", body)
        assert tried["ok"], tried
        reply = post_in_page(server, "connections", {**body, **IN_MEMORY})
        assert reply["connections"][0]["models"] == ["bedrock/anthropic.claude-sonnet-5-5"]
        assert KEY not in json.dumps(reply)
        assert server.post("chat", {"message": "Hello"})["reply"] == "Ready."
        sent = bedrock.headers[-1]
        assert bedrock.paths[-1] == "/model/anthropic.claude-sonnet-5-5/converse-stream"
    if way == "bearer":
        assert sent["authorization"] == f"Bearer {KEY}"
        return
    account = given.get("aws_access_key_id", "AKIAOFTHEPROFILE0123")
    assert f"Credential={account}/" in sent["authorization"]
    assert "/eu-central-1/bedrock/aws4_request" in sent["authorization"]
    assert sent.get("x-amz-security-token") == given.get("aws_session_token")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({**AZURE, "values": {"api_key": KEY}}, "Enter a value: Endpoint"),
        ({**AZURE, "values": {"api_base": "http://h"}}, "Enter a value: Key"),
        (
            {**AZURE, "values": {"api_base": "ftp://h", "api_key": KEY}},
            "Endpoint: The address must",
        ),
        ({**AZURE, "signIn": "magic", "values": {}}, "There are key, token"),
        ({**AZURE, "values": {"endpoint": KEY}}, "The values of this form are"),
        ({"provider": "azure", "values": {"api_base": "http://h", "api_key": KEY}}, "model's name"),
        ({**BEDROCK, "values": {"aws_region_name": "x"}}, "Access key ID, Secret access key"),
        ({**OPENAI, "values": {"api_base": "http://h"}}, "Only providers with a form"),
        ({**OPENAI, "headers": {"X": "y"}, "key": KEY}, "for a server at an address"),
    ],
)
def test_what_a_form_lacks_is_said(
    server: RunningServer, body: dict[str, Any], message: str
) -> None:
    status, text = error(server, "POST", "connections", {**body, **IN_A_FILE})
    assert (status, message in text) == (400, True), text
    assert KEY not in text


def test_a_form_keeps_its_key_for_its_endpoint_only(
    tmp_path: Path, model: ScriptedModelServer
) -> None:
    endpoint = model.base_url.removesuffix("/v1")
    body = {**AZURE, "values": {"api_base": endpoint, "api_key": KEY}}
    with start(tmp_path) as server:
        post_in_page(server, "connections", {**body, **IN_A_FILE})
        again = {"provider": "azure", "model": "other", "values": {"api_base": endpoint}}
        assert server.post("connections/test", again)["ok"]
        post_in_page(server, "connections", again)
        server.post("chat", {"message": "Hello"})
        assert model.requests[-1].body["model"] == "other"
        elsewhere = {**AZURE, "values": {"api_base": "http://127.0.0.1:1"}}
        assert "Enter a value: Key" in error(server, "POST", "connections/test", elsewhere)[1]


def test_without_boto3_bedrock_says_what_to_install(tmp_path: Path) -> None:
    missing = tmp_path / "without"
    for name in ("boto3", "botocore"):
        (missing / name).mkdir(parents=True)
        (missing / name / "__init__.py").write_text(
            f"raise ModuleNotFoundError('There is no {name}', name='{name}')"
        )
    body = {
        **BEDROCK,
        "signIn": "keys",
        "values": {"aws_region_name": "us-east-1", **SIGN_INS["keys"]},
    }
    server = start(tmp_path, PYTHONPATH=str(missing))
    with server:
        tried = server.post("connections/test", body)
    assert "pip install boto3" in tried["message"], tried
