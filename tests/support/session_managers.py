"""Session managers of other kinds, for servers in tests: kernels must start with each."""

from __future__ import annotations

import os
from typing import Any

from jupyter_server.services.sessions.sessionmanager import SessionManager


class OtherEnvironment(SessionManager):
    """Makes the environment of kernels from something else, as a later version may."""

    def get_kernel_env(self, path: str | None, **options: Any) -> dict[str, str]:  # type: ignore[override]
        """Takes no name beside the path."""
        return {**os.environ, "JPY_SESSION_NAME": str(path)}

    async def start_kernel_for_session(self, *args: Any, **options: Any) -> str:
        """Starts a kernel with that environment."""
        env = self.get_kernel_env(options.get("path"))
        name = options.get("kernel_name")
        return str(await self.kernel_manager.start_kernel(kernel_name=name, env=env))


class OwnEnvironment(SessionManager):
    """One that follows Jupyter's, and adds something."""

    def get_kernel_env(self, path: str | None, name: Any = None) -> dict[str, str]:
        """With a variable of its own."""
        return {**super().get_kernel_env(path, name), "OF_ITS_OWN": "yes"}
