"""Kernels by notebook, from the server's sessions, and the connections that we hold to them."""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from ...protocol.renames import Rename
from ..document import DocumentError
from ..metadata import of_kernel
from ..paths import without_drive
from .acts import GuardedRun, KernelActs
from .confinement import Confinement
from .connection import KernelConnection, KernelDied
from .environment import without_tokens
from .process import KernelProcesses

log = logging.getLogger(__name__)

LINGER_SECONDS = 30.0
# Jupyter looks every three seconds whether a kernel died, and gives up after five restarts.
RESTART_SECONDS = 60.0
RESTART_LOOK = 0.1
KernelInfo = dict[str, Any]
T = TypeVar("T")


class KernelLost(DocumentError):
    """The kernel died by itself before anything was sent to it."""


class Kernels:
    """The server's kernels, as sessions know them; none is started unless something is to run."""

    def __init__(self, session_manager: Any, kernel_manager: Any, kernel_spec_manager: Any) -> None:
        self.sessions = session_manager
        self.manager = kernel_manager
        self.spec_manager = kernel_spec_manager
        self.processes = KernelProcesses(kernel_manager)
        self.acts = KernelActs(getattr(kernel_manager, "root_dir", None))
        self._connections: dict[str, KernelConnection] = {}
        self._opening: dict[str, asyncio.Lock] = {}
        self._sweeper: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self.is_scratch: Callable[[str], bool] = lambda kernel_id: False

    async def specs(self) -> dict[str, dict[str, Any]]:
        """The kernels that can be started, by name: ``display_name`` and ``language``."""
        found = await ensure_async(self.spec_manager.get_all_specs())
        return {
            name: {
                "display_name": entry["spec"].get("display_name", name),
                "language": entry["spec"].get("language", ""),
            }
            for name, entry in found.items()
        }

    async def interpreter(self, metadata: dict[str, Any]) -> str:
        """The Python interpreter with which the kernel of a notebook with this metadata is started.

        Raises ``DocumentError`` where there is no such kernel, or it is not Python's.
        """
        name = self._name_in(metadata, await self.specs())
        spec = await ensure_async(self.spec_manager.get_kernel_spec(name))
        program = str(spec.argv[0]) if spec.argv else ""
        if spec.language.lower() != "python" or "python" not in Path(program).name.lower():
            raise DocumentError(
                "invalid_arguments",
                f"The kernel {name} is not started by a Python interpreter.",
                "Choose a Python kernel for the notebook.",
            )
        # As jupyter_client does: a mere name is the interpreter of the server.
        return program if Path(program).is_absolute() else sys.executable

    async def session_of(self, path: str) -> dict[str, Any] | None:
        """The notebook's session, if it has one with a kernel that runs."""
        for session in await ensure_async(self.sessions.list_sessions()):
            if without_drive(session.get("path", "")) == path and session.get("kernel"):
                return dict(session)
        return None

    async def kernel_for(self, path: str, metadata: dict[str, Any]) -> str:
        """The id of the notebook's kernel, started if it has none, in the notebook's directory.

        Raises ``DocumentError`` ``kernel_error``, naming the kernels that there are, when the one
        that the notebook asks for is not installed.
        """
        session = await self.session_of(path)
        if session is not None and await self._comes_back(str(session["kernel"]["id"])):
            return str(session["kernel"]["id"])
        return await self.start(path, await self.name_for(metadata))

    async def name_for(self, metadata: dict[str, Any]) -> str:
        """The name of the kernel that a notebook with this metadata asks for.

        Raises ``DocumentError`` where it is not installed.
        """
        return self._name_in(metadata, await self.specs())

    async def _comes_back(self, kernel_id: str) -> bool:
        """Whether the kernel runs, once Jupyter has restarted one that died; false for one that is
        given up. Raises ``DocumentError`` where it stays dead."""
        deadline = time.monotonic() + RESTART_SECONDS
        while kernel_id in self.manager:
            kernel = self.manager.get_kernel(kernel_id)
            if await ensure_async(kernel.is_alive()):
                return True
            restarts = getattr(kernel, "autorestart", False)
            if not restarts or time.monotonic() > deadline:
                process = self.processes.of(kernel_id)
                ended = (process and process.ended) or "The kernel died."
                raise DocumentError(
                    "kernel_error",
                    f"{ended} It was not restarted{' in time' if restarts else ''}.",
                    "Start a new kernel: selectKernel with kernelName.",
                )
            await asyncio.sleep(RESTART_LOOK)
        return False

    def _name_in(self, metadata: dict[str, Any], specs: dict[str, dict[str, Any]]) -> str:
        if name := of_kernel(metadata, "kernelspec").get("name"):
            return self._check_name(name, specs)
        default = str(getattr(self.manager, "default_kernel_name", "python3"))
        language = of_kernel(metadata, "language_info").get("name", "").lower()
        if language and specs.get(default, {}).get("language", "").lower() != language:
            for other, spec in specs.items():
                if spec["language"].lower() == language:
                    return other
            raise _no_kernel(f"No kernel for the notebook's language, {language},", specs)
        return self._check_name(default, specs)

    async def describe(self, kernel_name: str | None) -> dict[str, Any]:
        """A notebook's ``kernelspec`` metadata for a kernel's name (None: the default one)."""
        specs = await self.specs()
        default = str(getattr(self.manager, "default_kernel_name", "python3"))
        name = self._check_name(kernel_name or default, specs)
        spec = specs[name]
        described = {"name": name, "display_name": spec["display_name"]}
        return {**described, "language": spec["language"]} if spec["language"] else described

    async def check(self, kernel_id: str | None, kernel_name: str | None) -> None:
        """Raise ``DocumentError`` unless the kernel runs, or a kernel of that name can start."""
        if kernel_id is not None and kernel_id not in self.manager:
            raise DocumentError(
                "not_found", f"There is no running kernel {kernel_id}.", "listKernels shows them."
            )
        if kernel_name is not None:
            self._check_name(kernel_name, await self.specs())

    def _check_name(self, name: str, specs: dict[str, dict[str, Any]]) -> str:
        if name not in specs:
            raise _no_kernel(f"The kernel {name}", specs)
        return name

    async def start(self, path: str, kernel_name: str) -> str:
        """Start a kernel and a session for the notebook; the kernel's id."""
        self._check_name(kernel_name, await self.specs())
        name = path.rsplit("/", 1)[-1]
        session = await self._try_start(
            kernel_name,
            self.sessions.create_session(
                path=path, name=name, type="notebook", kernel_name=kernel_name
            ),
        )
        self.processes.started(str(session["kernel"]["id"]))
        return str(session["kernel"]["id"])

    async def _try_start(self, kernel_name: str, starting: Any) -> Any:
        try:
            return await ensure_async(starting)
        except (HTTPError, RuntimeError, OSError) as error:
            log.warning("kernel %s did not start", kernel_name, exc_info=True)
            reason = getattr(error, "log_message", None) or str(error)
            raise DocumentError(
                "kernel_error", f"The kernel {kernel_name} did not start: {reason}"
            ) from error

    async def start_scratch(self, confinement: Confinement | None) -> str:
        """Start a kernel without a notebook, in the server root, that is not restarted
        automatically; its id. It is confined where its process is to be started here."""
        default = str(getattr(self.manager, "default_kernel_name", "python3"))
        self._check_name(default, await self.specs())
        options: dict[str, Any] = {}
        if confinement is not None:
            options = await self._confined(default, confinement)
        options["env"] = without_tokens(options.get("env", os.environ))
        kernel_id = await self._try_start(
            default, self.manager.start_kernel(kernel_name=default, path="", **options)
        )
        kernel = self.manager.get_kernel(kernel_id)
        if hasattr(kernel, "stop_restarter"):  # not one that is elsewhere
            # What ended must be reported; a kernel that comes back on its own looks as if its
            # variables were still there.
            kernel.stop_restarter()
            kernel.autorestart = False
        return str(kernel_id)

    async def _confined(self, name: str, confinement: Confinement) -> dict[str, Any]:
        """With what a kernel's process is started so that it is confined from its beginning."""
        from jupyter_client.provisioning.factory import KernelProvisionerFactory
        from jupyter_client.provisioning.local_provisioner import LocalProvisioner

        spec = await ensure_async(self.spec_manager.get_kernel_spec(name))
        factory = KernelProvisionerFactory.instance()
        chosen = spec.metadata.get("kernel_provisioner", {}).get("provisioner_name")
        chosen = chosen or factory.default_provisioner_name
        entry = factory.provisioners.get(chosen)
        if entry is None or entry.load() is not LocalProvisioner:
            return {}
        options: dict[str, Any] = {"preexec_fn": confinement.apply}
        if "ipykernel_launcher" in spec.argv:
            # IPython cannot write its history, nor make the folder that it has its settings in.
            options["extra_arguments"] = ["--HistoryManager.hist_file=:memory:"]
            if not _has_profile():
                made = _folder_for_ipython(confinement.writable[0])
                options["env"] = {**os.environ, "IPYTHONDIR": made}
        return options

    async def running(self) -> list[KernelInfo]:
        """Running kernels: ``{id, name, language, status, path?}``."""
        specs = await self.specs()
        paths = {
            session["kernel"]["id"]: without_drive(session["path"])
            for session in await ensure_async(self.sessions.list_sessions())
            if session.get("kernel")
        }
        kernels = []
        for model in await ensure_async(self.manager.list_kernels()):
            info = self._info(model, specs)
            if model["id"] in paths:
                info["path"] = paths[model["id"]]
            kernels.append(info)
        return kernels

    async def of(self, path: str) -> KernelInfo | None:
        """The notebook's running kernel: ``{id, name, language, status, path}``."""
        session = await self.session_of(path)
        if session is None:
            return None
        return {**self._info(session["kernel"], await self.specs()), "path": path}

    def _info(self, model: dict[str, Any], specs: dict[str, dict[str, Any]]) -> KernelInfo:
        return {
            "id": model["id"],
            "name": model["name"],
            "language": specs.get(model["name"], {}).get("language", ""),
            "status": model.get("execution_state", "unknown"),
        }

    async def renamed(self, rename: Rename) -> None:
        """Let the sessions of what was renamed have the new paths, as a page does for its own."""
        for session in await ensure_async(self.sessions.list_sessions()):
            path = str(session.get("path", ""))
            local = without_drive(path)
            if rename.affects(local):
                newer = rename.path(local)
                drive = path[: len(path) - len(local)]
                await ensure_async(
                    self.sessions.update_session(
                        session["id"], path=drive + newer, name=newer.rsplit("/", 1)[-1]
                    )
                )

    async def select(self, path: str, kernel_id: str | None, kernel_name: str | None) -> KernelInfo:
        """Connect the notebook's session to a running kernel, or to a new one of that name."""
        session = await self.session_of(path)
        await self.check(kernel_id, kernel_name)
        if session is None and kernel_name is not None:
            await self.start(path, kernel_name)
        elif session is None:
            await self._first_session(path, str(kernel_id))
        else:
            await self._replace(session, kernel_id, kernel_name)
        kernel = await self.of(path)
        if kernel is None:
            raise DocumentError("kernel_error", f"The kernel of {path} ended as it was selected.")
        return kernel

    async def _first_session(self, path: str, kernel_id: str) -> None:
        name = path.rsplit("/", 1)[-1]
        await self._try_start(
            kernel_id,
            self.sessions.create_session(
                path=path, name=name, type="notebook", kernel_id=kernel_id
            ),
        )

    async def _replace(
        self, session: dict[str, Any], kernel_id: str | None, kernel_name: str | None
    ) -> None:
        old = session["kernel"]["id"]
        if kernel_id is None:
            kernel_id = await self._try_start(
                str(kernel_name),
                self.sessions.start_kernel_for_session(
                    session["id"],
                    path=session["path"],
                    name=session["name"],
                    type=session["type"],
                    kernel_name=kernel_name,
                ),
            )
            self.processes.started(str(kernel_id))
        if kernel_id == old:
            return
        await ensure_async(self.sessions.update_session(session["id"], kernel_id=kernel_id))
        used = {each["kernel"]["id"] for each in await ensure_async(self.sessions.list_sessions())}
        if old in self.manager and old not in used and not self.is_scratch(old):
            await ensure_async(self.manager.shutdown_kernel(old))

    @asynccontextmanager
    async def connected(self, kernel_id: str) -> AsyncIterator[KernelConnection]:
        """A connection to the kernel, shared and kept for 30 s, so that a next call is quick.

        Raises ``DocumentError`` ``kernel_error`` when there is no such kernel or it ends.
        """
        connection = await self._connect(kernel_id)
        connection.users += 1
        try:
            yield connection
        finally:
            connection.users -= 1
            connection.last_used = time.monotonic()
            self._sweep_later()

    @asynccontextmanager
    async def own(self, kernel_id: str) -> AsyncIterator[KernelConnection]:
        """The kernel for one request after the other, connected; a kernel that died is waited for
        until Jupyter has restarted it, also by what waited behind the request that it died of.

        Raises ``DocumentError`` ``kernel_error`` when there is no such kernel.
        """
        while True:
            await self._comes_back(kernel_id)
            async with AsyncExitStack() as stack:
                try:
                    connection = await stack.enter_async_context(self.connected(kernel_id))
                except KernelLost:
                    continue
                await stack.enter_async_context(connection.lock)
                if connection.usable:
                    self.processes.of(kernel_id)
                    self.processes.about_to_run(kernel_id)
                    yield connection
                    return

    async def use(self, kernel_id: str, work: Callable[[KernelConnection], Awaitable[T]]) -> T:
        """What ``work`` returns, which has the kernel as by ``own``.

        A kernel that was killed counts as alive for a moment. Where it died by itself before the
        work sent it any code, the work is done anew once Jupyter has restarted it.
        """
        while True:
            async with self.own(kernel_id) as connection:
                sent_before = connection.sent
                result = await work(connection)
                if connection.sent > sent_before or not connection.died_by_itself:
                    return result

    @asynccontextmanager
    async def guarded(self, kernel_id: str | None) -> AsyncIterator[GuardedRun]:
        """A run of somebody else's, a page's, that asks as ours do: see ``KernelActs``."""
        if kernel_id is None or not self.acts.are_asked_about:
            yield GuardedRun(None)
            return
        async with self.connected(kernel_id) as connection, self.acts.guarded(connection) as run:
            yield run

    def may_be_watched(self, kernel_id: str | None) -> bool:
        """Whether the guard works in this kernel, as far as is known; so it is for a new one."""
        return kernel_id is None or self.acts.may_be_watched(self.processes.of(kernel_id))

    def _gone(self, kernel_id: str) -> DocumentError:
        process = self.processes.of(kernel_id)
        if process is None or not process.given_up:
            message = f"There is no running kernel {kernel_id}."
            return DocumentError("kernel_error", message, "See listKernels.")
        return DocumentError(
            "kernel_error",
            f"{process.ended} It died several times in a row, so Jupyter has stopped restarting it,"
            " and its variables are lost.",
            "Start a new kernel: selectKernel with kernelName. What ran last may kill it, too.",
        )

    async def _connect(self, kernel_id: str) -> KernelConnection:
        async with self._opening.setdefault(kernel_id, asyncio.Lock()):
            connection = self._connections.get(kernel_id)
            if connection is not None and connection.usable:
                return connection
            if connection is not None:
                del self._connections[kernel_id]
                await connection.close()
            if kernel_id not in self.manager:
                raise self._gone(kernel_id)
            connection = KernelConnection(
                self.manager, self.processes, kernel_id, self.acts.guarded
            )
            try:
                await connection.open()
            except KernelDied as died:
                await connection.close()
                kind = KernelLost if died.by_itself else DocumentError
                raise kind("kernel_error", f"{died} It could not be used.") from died
            except BaseException:
                await connection.close()
                raise
            self._connections[kernel_id] = connection
            return connection

    def _sweep_later(self) -> None:
        if self._sweeper is None:
            loop = asyncio.get_running_loop()
            self._sweeper = loop.call_later(LINGER_SECONDS, self._sweep)

    def _sweep(self) -> None:
        self._sweeper = None
        now = time.monotonic()
        for kernel_id, connection in list(self._connections.items()):
            stuck = connection.stuck is not None and connection.stuck.unfinished
            unused = (
                not connection.users
                and not stuck
                and now - connection.last_used >= LINGER_SECONDS * 0.9
            )
            if unused or not connection.usable:
                del self._connections[kernel_id]
                self._opening.pop(kernel_id, None)
                task = asyncio.ensure_future(connection.close())
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)
        if self._connections:
            self._sweep_later()

    async def close(self) -> None:
        """Close every connection; kernels keep running, since they belong to the server."""
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        connections, self._connections = list(self._connections.values()), {}
        for connection in connections:
            await connection.close()
        await asyncio.gather(*self._closing, return_exceptions=True)


def _has_profile() -> bool:
    """Whether the user has run IPython before."""
    folder = os.environ.get("IPYTHONDIR") or os.path.join(os.path.expanduser("~"), ".ipython")
    return os.path.isdir(os.path.join(folder, "profile_default"))


@functools.cache
def _folder_for_ipython(above: str) -> str:
    """One that confined kernels of this server can write, in place of one that does not exist."""
    return tempfile.mkdtemp(prefix="ipython-", dir=above)


def _no_kernel(what: str, specs: dict[str, dict[str, Any]]) -> DocumentError:
    names = ", ".join(sorted(specs)) or "none"
    return DocumentError(
        "kernel_error",
        f"{what} is not installed. Installed kernels: {names}.",
        "Choose one of them with selectKernel.",
    )
