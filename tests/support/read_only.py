"""An authorizer for servers in tests: the agent may be read, and nothing else; the rest of Jupyter
is open."""

from __future__ import annotations

from typing import Any

from jupyter_server.auth import Authorizer


class ReadOnlyAuthorizer(Authorizer):
    """``--ServerApp.authorizer_class=tests.support.read_only.ReadOnlyAuthorizer``."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        """Whether it is not the agent, or only a read of it."""
        return resource != "datalayer-agent" or action == "read"
