"""Makes the kernel managers of this process ask for their kernels.

Where nobody listens at ``PRELOADED_KERNELS``, or the kernel is another than ipykernel with this
interpreter or has a provisioner of its own, it starts as always.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from typing import Any

from .client import Child, Program, ask

PATH = "PRELOADED_KERNELS"


def use(path: Callable[[], str | None] = lambda: os.environ.get(PATH)) -> None:
    """Fork kernels from now on; ``path`` is the socket of the preloaded process."""
    from jupyter_client.provisioning.local_provisioner import LocalProvisioner

    started = LocalProvisioner.launch_kernel

    async def launch_kernel(self: LocalProvisioner, cmd: list[str], **options: Any) -> Any:
        child = _child(path(), cmd, options) if type(self) is LocalProvisioner else None
        if child is None:
            return await started(self, cmd, **options)
        self.process = child
        # What it makes of itself: the leader of its group.
        self.pid = self.pgid = child.pid
        self.cwd = options.get("cwd")
        return self.connection_info

    LocalProvisioner.launch_kernel = launch_kernel  # type: ignore[method-assign]


def _child(path: str | None, command: list[str], options: dict[str, Any]) -> Child | None:
    module = command.index("-m") + 1 if "-m" in command else len(command)
    is_ours = command[0] == sys.executable and command[module : module + 1] == [
        "ipykernel_launcher"
    ]
    if path is None or not is_ours:
        return None
    environment = dict(options.get("env") or os.environ)
    environment["JPY_PARENT_PID"] = str(os.getpid())
    program = Program(
        "ipykernel_launcher",
        command[module + 1 :],
        environment,
        str(options.get("cwd") or os.getcwd()),
        own_session=True,
    )
    with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
        return ask(path, program)
    return None
