"""The agent under a real JupyterHub: through its proxy, below an address of the hub's, with the
hub's tokens and cookies."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import requests

from tests.magic.kernels import LOAD, notebook_kernel, write_notebook
from tests.server.mcp.test_transport import ACCEPT, INITIALIZE, events
from tests.support.jupyterhub import HubServer, JupyterHub
from tests.support.model_server import Call, Gate, Say, ScriptedModelServer
from tests.support.page import FakePage


@pytest.fixture(scope="module")
def hub(
    tmp_path_factory: pytest.TempPathFactory, shared_model: ScriptedModelServer
) -> Iterator[JupyterHub]:
    folder = tmp_path_factory.mktemp("hub")
    with JupyterHub(folder, api_base=shared_model.base_url) as running:
        yield running


@pytest.fixture(scope="module")
def server(hub: JupyterHub) -> HubServer:
    return hub.start_server("ada")


def test_the_magic_reaches_the_server_of_its_own_kernel(
    server: HubServer, model: ScriptedModelServer
) -> None:
    model.script(Say("Hello."), Say("Again."))
    write_notebook(server, "mine.ipynb", LOAD)
    with notebook_kernel(server, "mine.ipynb") as kernel:
        kernel.run(LOAD)
        assert kernel.run("%agent hello").display["text/markdown"] == "Hello."
        # The hub's check of XSRF takes the place of Jupyter's with the first request that it knows.
        assert server.get("sessions")["sessions"][0]["title"] == "hello"
        assert kernel.run("%agent again").display["text/markdown"] == "Again."


def test_the_magic_finds_the_server_from_a_kernel_that_it_did_not_start(
    server: HubServer, model: ScriptedModelServer
) -> None:
    model.script(Say("Found."))
    write_notebook(server, "other.ipynb", LOAD)
    with notebook_kernel(server, "other.ipynb") as kernel:
        kernel.run(
            "import os\ndel os.environ['DATALAYER_AGENT_URL'], os.environ['DATALAYER_AGENT_TOKEN']"
        )
        kernel.run(LOAD)
        assert kernel.run("%agent hello").display["text/markdown"] == "Found."


def test_a_kernel_that_the_agent_started_has_a_token_that_counts(
    server: HubServer, model: ScriptedModelServer
) -> None:
    write_notebook(server, "agents.ipynb", LOAD)
    code = (
        "import json, os\n"
        "assert 'JUPYTERHUB_API_TOKEN' not in os.environ\n"
        "print(json.dumps([os.environ['DATALAYER_AGENT_' + name] for name in ('URL', 'TOKEN')]))"
    )
    model.script(Call("executeCode", {"code": code}), Say("Done."))
    reply = server.post(
        "chat",
        {
            "message": "Where is the server?",
            "mode": "agent",
            "approval": "never",
            "activeNotebook": "agents.ipynb",
            "attachments": [{"kind": "notebook", "path": "agents.ipynb"}],
        },
    )
    [call] = reply["toolCalls"]
    assert call["status"] == "ok", call
    url, token = json.loads(call["output"]["output"]["outputs"])
    headers = {"Authorization": f"token {token}"}
    assert requests.post(f"{url}sessions", json={}, headers=headers, timeout=30).status_code == 201
    refused = requests.post(f"{url}tools/listKernels", json={}, headers=headers, timeout=30)
    assert refused.status_code == 403
    assert "kernel's token" in refused.json()["error"]["message"]
    headers["Authorization"] += "x"
    assert requests.post(f"{url}sessions", json={}, headers=headers, timeout=30).status_code == 403


def test_a_page_with_the_hubs_cookies_sends_a_message_and_hears_of_its_turn(
    hub: JupyterHub, server: HubServer, model: ScriptedModelServer
) -> None:
    model.script(Say("Hello."))
    with hub.sign_in("ada") as browser:
        route = f"{server.url}datalayer-agent/"
        page_request = requests.Request("GET", f"{route}page").prepare()
        cookies = requests.cookies.get_cookie_header(browser.cookies, page_request)
        own = {"Cookie": str(cookies), "Origin": hub.origin, "Sec-Fetch-Mode": "websocket"}
        with FakePage(server, headers=own) as page:
            token = hub.page_config(browser, "ada")["token"]
            headers = {"Sec-Fetch-Mode": "cors", "Authorization": f"token {token}"}
            made = browser.post(f"{route}sessions", json={}, headers=headers, timeout=30)
            assert made.status_code == 201, made.text
            session = made.json()["id"]
            page.send({"type": "subscribe", "sessionId": session})
            op = {"type": "user_message", "request": {"message": "hi"}}
            page.send({"type": "submit_op", "ref": "r", "sessionId": session, "op": op})
            assert page.wait_for("turn_completed")
            # It is the user's page; the hub's token, which kernels might have, is not.
            loose = {"type": "config_update", "settings": {"approval": "never"}}
            route_of_ops = f"{server.url}datalayer-agent/sessions/{session}/ops"
            alone = {"Authorization": f"token {server.token}"}
            assert (
                requests.post(route_of_ops, json=loose, headers=alone, timeout=30).status_code
                == 403
            )
            page.send({"type": "submit_op", "ref": "s", "sessionId": session, "op": loose})
            assert page.wait_for("op_accepted")["ref"] == "s"
        del headers["Authorization"]
        forged = browser.post(f"{route}sessions", json={}, headers=headers, timeout=30)
        assert forged.status_code == 403


def test_an_answer_comes_through_the_proxy_as_it_is_written(
    server: HubServer, model: ScriptedModelServer
) -> None:
    model.script(Gate(Say("One two three.", chunk=4), after=2))
    stream = server.stream("chat/stream", {"message": "count"})
    assert next(each for each in stream if each["type"] == "text_delta")["delta"]
    # The model has not ended its answer.
    model.release()
    assert [each["type"] for each in stream][-1] == "turn_completed"


def test_a_file_is_uploaded_through_the_proxy(server: HubServer) -> None:
    rows = "n,half\n" + "".join(f"{n},{n / 2}\n" for n in range(50_000))
    response = server.request("POST", "upload", files={"file": ("numbers.csv", rows)})
    assert response.status_code == 201, response.text
    assert response.json()["dataset"]["rows"] == 50_000


def test_the_mcp_endpoint_answers_through_the_proxy(server: HubServer) -> None:
    url = f"{server.url}datalayer-agent/mcp"
    headers = {"Accept": ACCEPT, "Authorization": f"Bearer {server.token}"}
    with requests.Session() as client:
        opened = client.post(url, json=INITIALIZE, headers=headers, timeout=30)
        assert opened.status_code == 200, opened.text
        headers["Mcp-Session-Id"] = opened.headers["Mcp-Session-Id"]
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert client.post(url, json=ready, headers=headers, timeout=30).status_code == 202
        call = {"name": "listKernels", "arguments": {}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        with client.post(url, json=body, headers=headers, timeout=30, stream=True) as called:
            answer = [message for _, message in events(called) if message][-1]
        assert not answer["result"].get("isError"), answer
        for wrong in ({}, {"Authorization": "Bearer wrong"}):
            refused = client.post(
                url, json=INITIALIZE, headers={"Accept": ACCEPT, **wrong}, timeout=30
            )
            assert refused.status_code == 401, refused.text
            assert refused.headers["WWW-Authenticate"].startswith("Bearer")


def test_where_the_hub_encrypts_within_the_magic_reaches_its_server_without_a_certificate(
    tmp_path: Path, model: ScriptedModelServer
) -> None:
    """The server takes connections from the hub and the proxy only (``internal_ssl``)."""
    model.script(Say("Hello."))
    with JupyterHub(tmp_path, api_base=model.base_url, internal_ssl=True) as hub:
        server = hub.start_server("ada")
        write_notebook(server, "mine.ipynb", LOAD)
        with notebook_kernel(server, "mine.ipynb") as kernel:
            kernel.run(LOAD)
            assert kernel.run("%agent hello").display["text/markdown"] == "Hello."
            place = kernel.run("import os\nprint(os.environ['DATALAYER_AGENT_URL'])").text
            folder = Path(unquote(urlsplit(place).netloc)).parent
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
