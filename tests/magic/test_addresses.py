"""The addresses that a server may have: another folder than the root, https, a socket."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jupyter_datalayer_agent.magic.server import AgentMagicError, Server, local_server
from tests.magic.kernels import LOAD, notebook_kernel, write_notebook
from tests.support.cars import write_cars
from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer

SHOW = (
    "import json, os\n"
    "print(json.dumps([os.environ['DATALAYER_AGENT_' + name] for name in ('URL', 'TOKEN')]))"
)


def make_certificate(folder: Path, *, by_authority: bool) -> tuple[Path, Path, Path]:
    """A server's certificate, its key, and the certificate by which others know it."""
    certificate, key, authority = (folder / name for name in ("own.pem", "own.key", "ca.pem"))
    new = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1")
    own = ("-keyout", key, "-out", certificate, "-subj", "/CN=somebody",
           "-addext", "subjectAltName=IP:127.0.0.1")  # fmt: skip
    if not by_authority:
        subprocess.run([*new, *own], check=True, capture_output=True)
        return certificate, key, certificate
    signed = (*new, *own, "-CA", authority, "-CAkey", folder / "ca.key",
              "-addext", "basicConstraints=critical,CA:FALSE")  # fmt: skip
    root = (*new, "-keyout", folder / "ca.key", "-out", authority, "-subj", "/CN=authority")
    for command in (root, signed):
        subprocess.run(command, check=True, capture_output=True)
    return certificate, key, authority


@pytest.mark.parametrize("by_authority", [False, True])
def test_a_server_over_https_and_below_another_address_is_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_authority: bool
) -> None:
    certificate, key, known_by = make_certificate(tmp_path, by_authority=by_authority)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(known_by))
    with ScriptedModelServer(Say("Hello."), Say("Found.")) as model:
        server = RunningServer(
            tmp_path,
            api_base=model.base_url,
            arguments=[
                "--ServerApp.base_url=/user/me/",
                f"--ServerApp.certfile={certificate}",
                f"--ServerApp.keyfile={key}",
            ],
        )
        server.url = f"https://127.0.0.1:{server.port}/user/me/"
        with server:
            write_notebook(server, "far.ipynb", LOAD)
            with notebook_kernel(server, "far.ipynb") as kernel:
                kernel.run(LOAD)
                assert kernel.run("%agent hello").display["text/markdown"] == "Hello."
                # Who does not know the server's certificate is shown that, and what to do.
                kernel.run(
                    "from jupyter_datalayer_agent.magic import server\n"
                    "import os; server._from_environment = None\n"
                    "del os.environ['DATALAYER_AGENT_CERTIFICATE']\n"
                    f"os.environ['DATALAYER_AGENT_URL'] = {server.url!r}\n"
                    "os.environ['DATALAYER_AGENT_TOKEN'] = 'x'\n"
                    "%reload_ext jupyter_datalayer_agent"
                )
                error = kernel.run("%agent hello").error
                assert "certificate" in error
                assert "DATALAYER_AGENT_CERTIFICATE" in error


@pytest.mark.skipif(sys.platform == "win32", reason="no sockets in the file system")
def test_a_server_on_a_socket_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = RunningServer(tmp_path).environment
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", environment["JUPYTER_RUNTIME_DIR"])
    process = subprocess.Popen(
        [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root",
         f"--ServerApp.sock={tmp_path / 's.sock'}",
         "--ServerApp.jpserver_extensions={'jupyter_datalayer_agent': True}"],
        env=environment, cwd=tmp_path, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        # The runtime file is written before this is said, and the socket is there soon after it.
        assert any("is listening on" in line for line in process.stderr)
        server = _found(40)
        assert server.get("sessions")["sessions"] == []
        # A kernel that it started has the address and a token of its own.
        write_cars(tmp_path)
        asked = {"path": "cars.ipynb", "arguments": {"code": SHOW}}
        result = server.post("tools/executeCode", asked)
        url, token = json.loads(result["output"]["outputs"])
        assert url == server.url
        assert Server(url, token).post("sessions", {})["id"]
    finally:
        process.kill()
        process.communicate()


def _found(seconds: float) -> Server:
    """On a busy machine a new server's first answer takes longer than one search waits for it."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return local_server()
        except AgentMagicError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
