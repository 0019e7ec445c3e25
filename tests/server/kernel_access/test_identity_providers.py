"""A kernel's token counts whatever the server authenticates its users by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import requests

from jupyter_datalayer_agent.magic.server import Refused, Server
from tests.support.cars import write_cars
from tests.support.identity_providers import PASSWORD, USER_HEADER
from tests.support.jupyter import RunningServer

SHOW = (
    "import json, os\n"
    "print(json.dumps([os.environ['DATALAYER_AGENT_' + name] for name in ('URL', 'TOKEN')]))"
)


def signed_in(server: RunningServer, kind: str) -> requests.Session:
    """A browser that the server knows."""
    browser = requests.Session()
    if kind == "SignOnProxy":
        browser.headers[USER_HEADER] = "ada"
        return browser
    page = f"{server.url}login"
    browser.get(page, timeout=30)
    browser.headers["X-XSRFToken"] = str(browser.cookies["_xsrf"])
    assert browser.post(page, data={"password": PASSWORD}, timeout=30).ok
    return browser


@pytest.mark.parametrize("kind", ["PasswordOnly", "SignOnProxy"])
def test_a_kernels_token_opens_its_routes(tmp_path: Path, kind: str) -> None:
    provider = f"--ServerApp.identity_provider_class=tests.support.identity_providers.{kind}"
    with RunningServer(tmp_path, arguments=[provider]) as server:
        write_cars(server.root)
        with signed_in(server, kind) as browser:
            asked = {"path": "cars.ipynb", "arguments": {"code": SHOW}}
            url = f"{server.url}datalayer-agent/tools/executeCode"
            result: dict[str, Any] = browser.post(url, json=asked, timeout=60).json()
        assert result.get("ok"), result
        address, token = json.loads(result["output"]["outputs"])
        kernel = Server(address, token)
        session = kernel.post("sessions", {})["id"]
        assert session in str(kernel.get("sessions"))
        with pytest.raises(Refused, match="kernel's token gives no access"):
            kernel.post("tools/executeCode", {})
        for wrong in ("", token + "x"):
            with pytest.raises(Refused, match="does not accept this kernel's token"):
                Server(address, wrong).post("sessions", {})
