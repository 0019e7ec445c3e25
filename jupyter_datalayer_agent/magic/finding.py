"""Finds a kernel's server: the one that started it, else one that runs on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from ..running_servers import running_servers
from .failure import AgentMagicError, Refused, ServerGone, UnknownCertificate
from .server import Server

PROBE_SECONDS = 5.0
NO_SERVER = (
    "No Jupyter server was found. A kernel that JupyterLab starts knows its server; any other "
    "looks for one on this machine. Start one (jupyter lab), or, where it runs elsewhere, set "
    "DATALAYER_AGENT_URL and DATALAYER_AGENT_TOKEN before the first %agent."
)

_from_environment: Server | None = None


def environment_server() -> Server | None:
    """The server that the environment names.

    The token is removed from the environment, so that neither ``!env`` nor a child process has it.
    """
    global _from_environment
    url = os.environ.get("DATALAYER_AGENT_URL")
    token = os.environ.pop("DATALAYER_AGENT_TOKEN", None)
    if url and (token is not None or _from_environment is None):
        certificate = os.environ.get("DATALAYER_AGENT_CERTIFICATE")
        _from_environment = Server(url, token or "", certificate)
    return _from_environment


def find_server() -> Server:
    """The kernel's server. Raises ``AgentMagicError`` that says where it looked."""
    server = environment_server()
    return server if server is not None else local_server()


def local_server() -> Server:
    """A server of this user on this machine, by Jupyter's runtime files: first those whose root
    contains the working directory, then the newest. Raises ``AgentMagicError``."""
    reasons: list[str] = []
    for info in running_servers(Path.cwd()):
        if info.get("password") and not info.get("token"):
            reasons.append(f"{info['url']} requires a password")
            continue
        certificate = os.environ.get("DATALAYER_AGENT_CERTIFICATE")
        server = Server(str(info["url"]), str(info.get("token") or ""), certificate)
        try:
            server.get("sessions", seconds=PROBE_SECONDS, limit="1")
        except UnknownCertificate:
            reasons.append(
                f"{info['url']} has an untrusted certificate (set "
                "DATALAYER_AGENT_CERTIFICATE to its file)"
            )
        except ServerGone:
            reasons.append(f"{info['url']} does not answer")
        except Refused as error:
            has_none = error.status in (404, 405)
            reasons.append(f"{info['url']} {'has no agent' if has_none else 'refuses'}")
        else:
            return server
    looked = f" Looked at: {'; '.join(reasons)}." if reasons else ""
    raise AgentMagicError(NO_SERVER + looked)
