"""The kernel provisioner of scratch kernels: a local kernel with a hard bound on its memory.

It is found by its entry point ``datalayer-agent-limited``, of the group
``jupyter_client.kernel_provisioners``; ``LimitedSpecs`` gives a kernel's specification the stanza
that asks for it.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.metadata import EntryPoint
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from traitlets import Instance, Int

log = logging.getLogger(__name__)

NAME = "datalayer-agent-limited"
_wanted: ContextVar[int | None] = ContextVar("hard bound on memory of the kernel to start")
_NOT_WANTED = -1


class LimitedProvisioner(LocalProvisioner):
    """Starts a kernel that cannot have more private memory mapped than ``hard_memory`` bytes.

    The system knows such a bound on Linux only; elsewhere there is none.
    """

    hard_memory = Int(
        None, allow_none=True, help="Bytes of private memory that one process may have mapped."
    )
    returncode: int | None = None
    """How the last process ended, kept when nobody can ask the process any more."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Launch the kernel, and bound it before it has begun to work."""
        self.returncode = None
        connection_info = await super().launch_kernel(cmd, **kwargs)
        if self.hard_memory is not None and self.pid is not None:
            _bound(self.pid, self.hard_memory)
        return connection_info

    async def poll(self) -> int | None:
        """See ``LocalProvisioner``."""
        result = await super().poll()
        if self.process is not None and result is not None:
            self.returncode = result
        return result


def _bound(pid: int, memory: int) -> None:
    try:
        from resource import RLIMIT_DATA, prlimit
    except ImportError:
        return  # not Linux
    try:
        # Unlike a bound on the address space this one leaves room for what is only reserved.
        prlimit(pid, RLIMIT_DATA, (memory, memory))
    except (OSError, ValueError):
        log.warning("The memory of kernel process %s could not be bounded", pid, exc_info=True)


class LimitedSpecs(KernelSpecManager):
    """The server's kernel specifications, each asking for our provisioner."""

    of = Instance(KernelSpecManager)
    hard_memory = Int(None, allow_none=True)

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """The specification with our stanza; one that has its own provisioner keeps that."""
        spec = self.of.get_kernel_spec(kernel_name)
        if "kernel_provisioner" in spec.metadata:
            return spec
        stanza = {"provisioner_name": NAME, "config": {"hard_memory": self.hard_memory}}
        limited = copy.copy(spec)  # the other one may be kept and given to others
        limited.metadata = {**spec.metadata, "kernel_provisioner": stanza}
        return limited


@contextmanager
def limited_kernels(manager: Any, hard_memory: int | None) -> Iterator[None]:
    """Kernels that this task starts here have our provisioner, and are not restarted on their own.

    ``manager`` is Jupyter's kernel manager; with one that has kernels elsewhere nothing happens.
    """
    factory = getattr(manager, "kernel_manager_factory", None)
    if factory is not None and not isinstance(factory, _Factory):
        manager.kernel_manager_factory = _Factory(factory)
    _register()
    token = _wanted.set(_NOT_WANTED if hard_memory is None else hard_memory)
    try:
        yield
    finally:
        _wanted.reset(token)


class _Factory:
    """Makes kernel managers as Jupyter's own factory does, but for the task that wants a limit."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make = make

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        wanted = _wanted.get(None)
        specs = kwargs.get("kernel_spec_manager")
        if wanted is not None and isinstance(specs, KernelSpecManager):
            hard_memory = None if wanted == _NOT_WANTED else wanted
            kwargs["kernel_spec_manager"] = LimitedSpecs(of=specs, hard_memory=hard_memory)
        manager = self._make(*args, **kwargs)
        if wanted is not None and manager.has_trait("autorestart"):
            # What ended must be told of; a kernel that comes back on its own looks as if its
            # variables were still there.
            manager.autorestart = False
        return manager


def _register() -> None:
    """Make the entry point known also where the package runs without being installed."""
    KernelProvisionerFactory.provisioners.setdefault(
        NAME,
        EntryPoint(
            NAME, f"{__name__}:{LimitedProvisioner.__name__}", KernelProvisionerFactory.GROUP_NAME
        ),
    )
