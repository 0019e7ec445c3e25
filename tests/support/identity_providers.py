"""Identity providers other than Jupyter's default, for servers in tests."""

from __future__ import annotations

from typing import Any

from jupyter_server.auth import IdentityProvider, PasswordIdentityProvider, User
from jupyter_server.auth.security import passwd
from jupyter_server.base.handlers import JupyterHandler
from tornado import web

PASSWORD = "correct horse"
USER_HEADER = "X-Forwarded-User"


class PasswordOnly(PasswordIdentityProvider):
    """A password, and no token."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.token = ""
        self.hashed_password = passwd(PASSWORD)


class SignOnProxy(IdentityProvider):
    """Believes a proxy in front of the server, and no token. As JupyterHub's does, it puts a check
    of its own in place of Jupyter's check of XSRF."""

    async def get_user(self, handler: web.RequestHandler) -> User | None:  # type: ignore[override]
        """The user that the proxy names."""
        JupyterHandler.check_xsrf_cookie = check_proxy  # type: ignore[method-assign]
        name = handler.request.headers.get(USER_HEADER)
        return User(name) if name else None


def check_proxy(handler: JupyterHandler) -> None:
    """Raise 403 for what did not come through the proxy."""
    if USER_HEADER not in handler.request.headers:
        raise web.HTTPError(403, "'_xsrf' argument missing from POST")
