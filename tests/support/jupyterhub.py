"""A real JupyterHub with its proxy, below an address of its own; its users' servers have the agent.

with JupyterHub(tmp_path, api_base=model.base_url) as hub:
    server = hub.start_server("ada")
    reply = server.post("chat", {"message": "..."})
"""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import requests

from .jupyter import PYTHONPATH, RunningServer
from .ports import free_port
from .preloaded import bare_environment

PROXY = (
    Path(sys.prefix) / "programs/node_modules/configurable-http-proxy/bin/configurable-http-proxy"
)
BASE = "/prefix/"
CONFIG = """
import json, os, sys
given = json.loads(os.environ["GIVEN"])
c.JupyterHub.bind_url = given["bind_url"]
c.JupyterHub.hub_bind_url = given["hub"]
c.JupyterHub.internal_ssl = given["internal_ssl"]
c.JupyterHub.internal_certs_location = os.path.join(os.environ["HOME"], "internal-ssl")
c.JupyterHub.db_url = "sqlite://"
c.JupyterHub.cookie_secret = os.urandom(32)
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.services = [{"name": "tests", "api_token": given["token"], "admin": True}]
c.ConfigurableHTTPProxy.command = given["proxy"]
c.ConfigurableHTTPProxy.api_url = given["proxy_api"]
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = given["homes"] + "/{username}"
c.Spawner.cmd = [sys.executable, "-m", "jupyterhub.singleuser"]
c.Spawner.args = given["arguments"]
c.Spawner.environment = given["environment"]
c.Spawner.http_timeout = c.Spawner.start_timeout = 60

def own_runtime_folder(spawner):
    spawner.environment["JUPYTER_RUNTIME_DIR"] = os.path.join(spawner.home_dir, "runtime")

c.Spawner.pre_spawn_hook = own_runtime_folder
"""


class HubServer(RunningServer):
    """A user's server, reached through the hub's proxy with the user's token. The hub ends it."""

    def __init__(self, hub: JupyterHub, name: str, token: str) -> None:
        self.root = hub.folder / "homes" / name
        self.url = f"{hub.url}user/{name}/"
        self.environment = {"JUPYTER_RUNTIME_DIR": str(self.root / "runtime")}
        self._connect(token)

    def stop(self) -> None:
        """Close the connections; the process is the hub's."""
        self._disconnect()


class JupyterHub:
    """Starts on entry and ends, with its proxy and its users' servers, on exit."""

    def __init__(self, folder: Path, *, api_base: str, internal_ssl: bool = False) -> None:
        self.folder = folder
        inside = f"{'https' if internal_ssl else 'http'}://127.0.0.1"
        self.origin = f"http://127.0.0.1:{free_port()}"
        self.url = f"{self.origin}{BASE}"
        self.log = folder / "hub.log"
        self._token = secrets.token_hex(16)
        self._headers = {"Authorization": f"token {self._token}"}
        self._servers: list[HubServer] = []
        self._given = {
            "bind_url": self.url,
            "hub": f"{inside}:{free_port()}",
            "proxy_api": f"{inside}:{free_port()}",
            "internal_ssl": internal_ssl,
            "token": self._token,
            "proxy": ["node", str(PROXY)],
            "homes": str(folder / "homes"),
            "arguments": [
                "--allow-root",
                "--ServerApp.jpserver_extensions={'jupyter_datalayer_agent': True}",
            ],
            "environment": {
                "PYTHONPATH": PYTHONPATH,
                "OMP_NUM_THREADS": "1",
                "DATALAYER_AGENT_API_BASE": api_base,
                "DATALAYER_AGENT_MODEL": "openai/scripted",
                "OPENAI_API_KEY": "sk-test-0123456789abcdef",
            },
        }

    def __enter__(self) -> JupyterHub:
        assert PROXY.is_file(), "configurable-http-proxy is not installed: make tests-ready"
        (self.folder / "homes").mkdir(parents=True)
        config = self.folder / "jupyterhub_config.py"
        config.write_text(CONFIG)
        environment = bare_environment() | {
            "HOME": str(self.folder),
            "GIVEN": json.dumps(self._given),
            "PYTHONPATH": PYTHONPATH,
        }
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "jupyterhub", f"--config={config}"],
                env=environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # So that its end is the end of its children, too.
                start_new_session=True,
            )
        self._wait()
        return self

    def _wait(self, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while self._process.poll() is None and time.monotonic() < deadline:
            try:
                if requests.get(f"{self.url}hub/api/", timeout=30).ok:
                    return
            except requests.ConnectionError:
                pass
            time.sleep(0.05)
        raise RuntimeError(f"The hub did not start:\n{self.log.read_text()[-4000:]}")

    def __exit__(self, *error: object) -> None:
        for server in self._servers:
            server.stop()
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        print(self.log.read_text(errors="replace")[-12000:])

    def _api(self, method: str, path: str, **options: Any) -> requests.Response:
        url = f"{self.url}hub/api/{path}"
        response = requests.request(method, url, headers=self._headers, timeout=90, **options)
        assert response.ok, f"{response.status_code} {response.text}"
        return response

    def start_server(self, name: str) -> HubServer:
        """The server of a user, once it is ready."""
        self._api("POST", f"users/{name}")
        self._api("POST", f"users/{name}/server")
        with self._api("GET", f"users/{name}/server/progress", stream=True) as progress:
            for line in progress.iter_lines(chunk_size=1):
                event = json.loads(line[6:]) if line.startswith(b"data: ") else {}
                assert not event.get("failed"), event
                if event.get("ready"):
                    break
        token = self._api("POST", f"users/{name}/tokens", json={}).json()["token"]
        self._servers.append(HubServer(self, name, token))
        return self._servers[-1]

    def sign_in(self, name: str) -> requests.Session:
        """A browser in which the user has signed in and opened the own server."""
        browser = requests.Session()
        browser.headers["Sec-Fetch-Mode"] = "navigate"
        login = f"{self.url}hub/login"
        browser.get(login, timeout=30)
        form = {"username": name, "password": "any", "_xsrf": browser.cookies["_xsrf"]}
        assert browser.post(login, data=form, timeout=30).ok
        assert browser.get(f"{self.url}user/{name}/lab", timeout=60).ok
        return browser

    def page_config(self, browser: requests.Session, name: str) -> dict[str, Any]:
        """What JupyterLab's page is given."""
        page = browser.get(f"{self.url}user/{name}/lab", timeout=60).text
        match = re.search(r'<script id="jupyter-config-data"[^>]*>(.*?)</script>', page, re.DOTALL)
        assert match is not None, page
        config: dict[str, Any] = json.loads(match[1])
        return config
