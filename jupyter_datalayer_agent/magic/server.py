"""A server's routes over HTTP, with nothing but the standard library."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import secrets
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

from ..running_servers import running_servers

# The magic's errors, shown without a traceback.


class AgentMagicError(Exception):
    """The magic failed; the message says why, and what to do."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows these lines, and the cell counts as failed."""
        return [f"%agent: {self}"]


class ServerGone(AgentMagicError):
    """The server does not answer."""


class UnknownCertificate(ServerGone):
    """The server's certificate is not trusted."""


class Refused(AgentMagicError):
    """The server answered with an error; ``code`` and ``status`` are as in its API."""

    def __init__(self, message: str, status: int, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code


ROUTE = "datalayer-agent/"
ANSWER_SECONDS = 60.0
SILENCE_SECONDS = 45.0
"""A stream sends at least a sign of life every 15 seconds."""


class Server:
    """A Jupyter server with the extension. ``url`` may be the server's or that of our routes;
    ``certificate`` is the file of the server's own certificate, for https.
    """

    def __init__(self, url: str, token: str, certificate: str | None = None) -> None:
        url = url if url.endswith("/") else f"{url}/"
        self.url = url if url.endswith(f"/{ROUTE}") else f"{url}{ROUTE}"
        self._token = token
        self._certificate = certificate
        # By which the server knows who started a turn, where the token is not a kernel's.
        self._client = secrets.token_urlsafe(32)

    def __repr__(self) -> str:
        return f"Server({self.url!r})"

    def get(self, route: str, seconds: float = ANSWER_SECONDS, **query: str) -> Any:
        """The JSON answer of a GET. Raises ``Refused`` or ``ServerGone``."""
        return self._ask("GET", route, query, None, seconds)

    def post(self, route: str, body: Any) -> Any:
        """The JSON answer of a POST. Raises ``Refused`` or ``ServerGone``."""
        return self._ask("POST", route, {}, body, ANSWER_SECONDS)

    def stream(self, route: str, **query: str) -> Iterator[dict[str, Any]]:
        """The events of a stream as they come, until the server ends it.

        Raises ``Refused`` or ``ServerGone``.
        """
        with self._response("GET", route, query, None, SILENCE_SECONDS) as response:
            while line := self._line(response):
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])

    def _line(self, response: http.client.HTTPResponse) -> bytes:
        try:
            return response.readline()
        except (OSError, http.client.HTTPException) as error:
            raise ServerGone(f"The connection to {self._place()} was lost.") from error

    def _ask(
        self, method: str, route: str, query: dict[str, str], body: Any, seconds: float
    ) -> Any:
        with self._response(method, route, query, body, seconds) as response:
            try:
                return json.loads(response.read() or b"null")
            except (OSError, http.client.HTTPException, ValueError) as error:
                raise ServerGone(f"{self._place()} gave an unreadable answer.") from error

    @contextlib.contextmanager
    def _response(
        self, method: str, route: str, query: dict[str, str], body: Any, seconds: float
    ) -> Iterator[http.client.HTTPResponse]:
        connection = self._connection(seconds)
        headers = {"Accept": "*/*", "X-Datalayer-Agent-Client": self._client}
        if self._token:
            headers["Authorization"] = f"token {self._token}"
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        asked = f"?{urlencode(query)}" if query else ""
        path = f"{urlsplit(self.url).path}{route}{asked}"
        try:
            try:
                connection.request(method, path, data, headers)
                response = connection.getresponse()
            except ssl.SSLCertVerificationError as error:
                raise UnknownCertificate(
                    f"{self._place()} has an untrusted certificate. Set "
                    "DATALAYER_AGENT_CERTIFICATE to the file of that certificate before the "
                    "magic is loaded."
                ) from error
            except (OSError, http.client.HTTPException) as error:
                raise ServerGone(
                    f"{self._place()} does not answer ({_reason(error)}). Is it still running? "
                    "Start the kernel anew from a running server."
                ) from error
            if not 200 <= response.status < 300:
                raise self._refusal(response)
            yield response
        finally:
            connection.close()

    def _connection(self, seconds: float) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        if parts.scheme == "http+unix":
            return _UnixConnection(unquote(parts.netloc), seconds)
        host, port = parts.hostname or "localhost", parts.port
        if parts.scheme != "https":
            return http.client.HTTPConnection(host, port, timeout=seconds)
        context = ssl.create_default_context()
        if self._certificate is not None:
            # It is the server of this machine, by the certificate that it itself gave: what name
            # stands in that does not matter. No other certificate counts then.
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            # It need not be its own authority: one that another signed is trusted as well.
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            with contextlib.suppress(OSError):
                context.load_verify_locations(self._certificate)
        return http.client.HTTPSConnection(host, port, timeout=seconds, context=context)

    def _refusal(self, response: http.client.HTTPResponse) -> Refused:
        try:
            reply = json.loads(response.read())
            error = reply.get("error") if isinstance(reply, dict) else None
            message = error["message"] if isinstance(error, dict) else reply["message"]
            code = str(error["code"]) if isinstance(error, dict) else ""
        except (OSError, ValueError, KeyError, TypeError):
            message, code = f"{self._place()} answered {response.status}.", ""
        unknown = not code or code == "unauthorized" or message == "Forbidden"
        # A request without a token that counts is asked for what browsers send.
        if response.status in (401, 403) and (unknown or "_xsrf" in str(message)):
            message = (
                f"{self._place()} does not accept this kernel's token. Tokens end with their "
                "server: shut the kernel down and start it anew from JupyterLab."
            )
        elif response.status in (404, 405) and not code:
            message = (
                f"{self._place()} has no agent: jupyter-datalayer-agent is not installed or not "
                "enabled there."
            )
        return Refused(str(message), response.status, code)

    def _place(self) -> str:
        parts = urlsplit(self.url)
        return f"The Jupyter server at {parts.scheme}://{unquote(parts.netloc).split('@')[-1]}"


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a socket in the file system."""

    def __init__(self, path: str, seconds: float) -> None:
        super().__init__("localhost", timeout=seconds)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).strip()


# Finds a kernel's server: the one that started it, else one that runs on this machine.


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
