"""Which server a kernel belongs to: the one that started it, else one that runs on this machine."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .failure import AgentMagicError, Refused, ServerGone
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

    The token is taken out of the environment, so that neither a cell that prints it nor a child
    process has it.
    """
    global _from_environment
    url = os.environ.get("DATALAYER_AGENT_URL")
    token = os.environ.pop("DATALAYER_AGENT_TOKEN", None)
    if url and (token is not None or _from_environment is None):
        certificate = os.environ.get("DATALAYER_AGENT_CERTIFICATE")
        _from_environment = Server(url, token or "", certificate)
    return _from_environment


def find_server() -> Server:
    """The kernel's server. Raises ``AgentMagicError`` that says what was looked for."""
    server = environment_server()
    return server if server is not None else local_server()


def local_server() -> Server:
    """A server of this person on this machine, by Jupyter's runtime files: first those whose root
    holds the working directory, then the newest. Raises ``AgentMagicError``."""
    reasons: list[str] = []
    for info in _running():
        if info.get("password") and not info.get("token"):
            reasons.append(f"{info['url']} wants a password")
            continue
        address = f"http+unix://{info['sock']}" if info.get("sock") else str(info["url"])
        server = Server(address, str(info.get("token") or ""))
        try:
            server.get("sessions", seconds=PROBE_SECONDS, limit="1")
        except ServerGone:
            reasons.append(f"{info['url']} does not answer")
        except Refused as error:
            has_none = error.status in (404, 405)
            reasons.append(f"{info['url']} {'has no agent' if has_none else 'refuses'}")
        else:
            return server
    looked = f" Looked at: {'; '.join(reasons)}." if reasons else ""
    raise AgentMagicError(NO_SERVER + looked)


def _running() -> Iterator[dict[str, Any]]:
    here = Path.cwd()
    found: list[tuple[bool, float, dict[str, Any]]] = []
    for file in runtime_folder().glob("jpserver-*.json"):
        try:
            info = json.loads(file.read_text(encoding="utf-8"))
            changed = file.stat().st_mtime
            if not _lives(int(info["pid"])):
                continue
            holds = here.is_relative_to(Path(info["root_dir"]).resolve())
            found.append((holds, changed, info))
        except (OSError, ValueError, KeyError, TypeError):
            continue  # half written, or not for us to read
    found.sort(key=lambda each: each[:2], reverse=True)
    for _, _, info in found:
        yield info


def runtime_folder() -> Path:
    """Where running servers note themselves, as ``jupyter --runtime-dir`` says."""
    try:
        from jupyter_core.paths import jupyter_runtime_dir
    except ImportError:
        pass
    else:
        return Path(jupyter_runtime_dir())
    if os.environ.get("JUPYTER_RUNTIME_DIR"):
        return Path(os.environ["JUPYTER_RUNTIME_DIR"])
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Jupyter" / "runtime"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", "")) / "jupyter" / "runtime"
    return Path.home() / ".local" / "share" / "jupyter" / "runtime"


def _lives(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # a signal would end it there; the probe tells
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
