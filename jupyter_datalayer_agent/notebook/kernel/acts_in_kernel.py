"""Runs inside a Python kernel: pauses code of the agent before it acts beyond the kernel, and asks.

The source of this module is sent to the kernel as text, so it uses the standard library only and
works where nothing of ours is installed. The interpreter's audit events (PEP 578) say what is about
to happen, with the real file, command or address, however the code expresses it. An audit hook
cannot be removed again; for the user's own code this one compares one string and returns.

It guards against mistakes and against instructions that a model was tricked into following. It is
no sandbox: code that sets out to defeat the interpreter it runs in can.
"""

from __future__ import annotations

import builtins
import contextlib
import contextvars
import ipaddress
import os
import re
import socket
import stat
import sys
import tempfile
import threading
import types
import weakref
from typing import Any

ASK = "datalayer_agent_act"
DECISION = "datalayer_agent_decision"
METADATA = "datalayer_agent"
# A server that hears the question says so at once. One that does not is not there any more.
HEARD_SECONDS = 10.0

_READS = frozenset(["r", "rb", "rt", "br", "tr"])
# What a file has in its name that is not to be read, however the path to it is written.
_PRIVATE_NAMES = re.compile("environ|/mem|jpserver-|kernel-|cookie_secret")
_WRITE = os.O_WRONLY | os.O_RDWR | os.O_TRUNC | os.O_APPEND | os.O_CREAT
# The library calls these for workers that run the cell's own functions.
_WORKERS = ("multiprocessing", "joblib", "loky", "concurrent")


class Run:
    """One run of the agent's code, by the id that the request to the kernel carries.

    ``allowed`` are the acts that were allowed, (kind, target), and ``denied`` those that were not,
    for the length of the run: a library that tries again does not ask again.
    """

    def __init__(self, run_id: str, header: Any) -> None:
        self.id = run_id
        self.header = header
        self.allowed: set[tuple[str, str]] = set()
        self.denied: dict[tuple[str, str], Exception] = {}
        self.trees: tuple[str, ...] = ()
        self.threads_before = set(sys._current_frames())


class Guard:
    """The hook of one kernel. ``protected`` are folders whose files count although they lie in the
    temporary folder, and ``private`` files and folders that are not to be read."""

    def __init__(
        self, kernel: Any, shell: Any, protected: list[str], private: list[str], harmless: list[str]
    ) -> None:
        self.kernel = kernel
        self.shell = shell
        self.pid = os.getpid()
        self.run: contextvars.ContextVar[Run | None] = contextvars.ContextVar(
            "datalayer_agent_run", default=None
        )
        self.current: Run | None = None
        self.threads: dict[int, tuple[Any, Run]] = {}
        self.inside = threading.local()
        self.created: set[str] = set()
        self.addresses: dict[str, str] = {}
        self.waiting: dict[str, tuple[threading.Event, dict[str, Any]]] = {}
        self.asked = 0
        self.protected = tuple(_folder(each) for each in protected)
        self.private = tuple(os.path.abspath(each) for each in private)
        self.harmless = frozenset(harmless)
        self.bound: list[Any] = []
        self.free = tuple(_folder(each) for each in _free_folders())
        self.events = {
            "open": self.on_open,
            "os.remove": self.on_remove,
            "os.rmdir": self.on_remove,
            "shutil.rmtree": self.on_rmtree,
            "os.rename": self.on_rename,
            "os.truncate": self.on_change,
            "os.chmod": self.on_permissions,
            "os.chown": self.on_permissions,
            "os.setxattr": self.on_permissions,
            "os.mkdir": self.on_mkdir,
            "os.link": self.on_link,
            "os.symlink": self.on_link,
            "subprocess.Popen": self.on_popen,
            "os.system": self.on_command,
            "os.exec": self.on_exec,
            "os.posix_spawn": self.on_exec,
            "os.spawn": self.on_spawn,
            "os.startfile": self.on_command,
            "os.forkpty": self.on_forkpty,
            "os.kill": self.on_kill,
            "os.killpg": self.on_kill,
            "socket.getaddrinfo": self.on_lookup,
            "socket.gethostbyname": self.on_lookup,
            "socket.connect": self.on_connect,
            "socket.sendto": self.on_connect,
            "socket.sendmsg": self.on_connect,
            "socket.bind": self.on_bind,
            "urllib.Request": self.on_url,
            "sqlite3.connect": self.on_sqlite,
            "sqlite3.connect/handle": self.on_sqlite_handle,
            "sqlite3.enable_load_extension": self.on_sqlite_extension,
            "ctypes.dlopen": self.on_dlopen,
        }

    # -- arming --------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to watch; the events of a run without our mark are left alone from then on."""
        self.shell.events.register("pre_execute", self.before)
        self.shell.events.register("post_execute", self.after)
        self.kernel.control_handlers[DECISION] = self.decided
        events, run_of, of_thread, inside = self.events, self.run.get, self.of_thread, self.inside
        reads, may_be_private = _READS, _PRIVATE_NAMES.search

        def hook(event: str, args: tuple[Any, ...]) -> None:
            handler = events.get(event)
            if handler is None:
                return
            if event == "open" and args[1] in reads:
                # What code does most, by far.
                name = args[0]
                if type(name) is str and not may_be_private(name):
                    return
            run = run_of() or of_thread()
            if run is None or getattr(inside, "hook", False):
                return
            inside.hook = True
            try:
                handler(run, args)
            finally:
                inside.hook = False

        sys.addaudithook(hook)

    def before(self) -> None:
        """A request begins to run: it is the agent's if its message says so."""
        parent = self.kernel.get_parent() or {}
        mark = (parent.get("metadata") or {}).get(METADATA) or {}
        run_id = mark.get("run") if isinstance(mark, dict) else None
        self.current = Run(run_id, parent) if isinstance(run_id, str) else None
        self.run.set(self.current)

    def after(self) -> None:
        """The request has ended; threads that it started go on as the agent's."""
        run, self.current = self.current, None
        self.run.set(None)
        alive = set(sys._current_frames())
        self.threads = {key: each for key, each in self.threads.items() if key in alive}
        if run is not None:
            for ident in alive - run.threads_before:
                self.threads[ident] = (threading._active.get(ident), run)  # type: ignore[attr-defined]

    def of_thread(self) -> Run | None:
        """The run of the agent's that started the calling thread, if one did."""
        current = self.current
        if current is None and not self.threads:
            return None
        ident = threading.get_ident()
        if current is not None and ident not in current.threads_before:
            return current
        thread, run = self.threads.get(ident, (None, None))
        same = run is not None and threading._active.get(ident) is thread  # type: ignore[attr-defined]
        return run if same else None

    # -- files ---------------------------------------------------------------------------------

    def on_open(self, run: Run, args: tuple[Any, ...]) -> None:
        path, mode, flags = args
        if isinstance(path, int):
            return
        if mode is None:
            writes = isinstance(flags, int) and bool(flags & _WRITE)
        else:
            writes = mode[:1] != "r" or "+" in mode
        if not writes:
            self.check_private(run, path)
            return
        path = _real(path)
        found = _stat(path)
        if found is None and isinstance(flags, int) and not flags & os.O_CREAT:
            # Relative to an open folder, which the event does not name.
            self.ask(run, "overwrites files", "change", path)
            return
        if found is None:
            self.create(run, path)
            return
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISBLK(found.st_mode)):
            return
        if self.is_free(path) or _writes_bytecode(path):
            return
        keeps = isinstance(flags, int) and not flags & os.O_TRUNC and (mode or "")[:1] != "w"
        self.ask(run, "overwrites files", "change" if keeps else "overwrite", path)

    def create(self, run: Run, path: str) -> None:
        """A new file is the agent's own. One that the system, the shell or Python runs by itself
        later is asked about."""
        name = os.path.basename(path)
        folder = os.path.basename(os.path.dirname(path))
        if name in self.startup_names or folder in self.startup_folders:
            self.ask(run, "changes what runs later", "create", path)
        self.created.add(path)

    startup_names = frozenset(
        """conftest.py sitecustomize.py usercustomize.py jupyter_server_config.py
        jupyter_server_config.json jupyter_notebook_config.py jupyter_lab_config.py
        ipython_config.py ipython_kernel_config.py AGENTS.md CLAUDE.md .bashrc .profile
        .bash_profile .zshrc .pythonrc authorized_keys crontab mcp.json .netrc""".split()  # noqa: SIM905
    )
    startup_folders = frozenset(("startup", "autostart", "cron.d", "hooks"))

    def check_private(self, run: Run, path: Any) -> None:
        name = os.fsdecode(path)
        if name.startswith("/proc/") and name.endswith(("/environ", "/mem")):
            self.ask(run, "reads secrets", "read", name)
            return
        name = os.path.abspath(name)
        if name.startswith(self.private):
            self.ask(run, "reads secrets", "read", name)

    def on_remove(self, run: Run, args: tuple[Any, ...]) -> None:
        path = _in_folder(*args[:2])
        if self.is_free(path) or path.startswith(run.trees) or not os.path.lexists(path):
            self.created.discard(path)
            return
        self.ask(run, "removes or moves files", "delete", path)

    def on_rmtree(self, run: Run, args: tuple[Any, ...]) -> None:
        path = _real(args[0])
        if self.is_free(path) or not os.path.lexists(path):
            return
        self.ask(run, "removes or moves files", "delete the folder", path)
        run.trees += (_folder(path),)

    def on_rename(self, run: Run, args: tuple[Any, ...]) -> None:
        source = _in_folder(args[0], args[2] if len(args) > 2 else -1)
        target = _in_folder(args[1], args[3] if len(args) > 3 else -1)
        new = not os.path.lexists(target)
        if self.is_free(source) or _writes_bytecode(source):
            if not new and not self.is_free(target) and not _writes_bytecode(target):
                self.ask(run, "overwrites files", "overwrite", target)
            self.create(run, target)
            return
        self.ask(run, "removes or moves files", "move", source, f"to {self.shown(target)}")

    def on_change(self, run: Run, args: tuple[Any, ...]) -> None:
        if isinstance(args[0], int):
            return  # opened for writing before, which was asked about
        path = _real(args[0])
        if not self.is_free(path):
            self.ask(run, "overwrites files", "truncate", path)

    def on_permissions(self, run: Run, args: tuple[Any, ...]) -> None:
        if isinstance(args[0], int):
            return
        path = _real(args[0])
        if not self.is_free(path):
            self.ask(run, "changes permissions", "change the permissions of", path)

    def on_mkdir(self, run: Run, args: tuple[Any, ...]) -> None:
        path = _in_folder(args[0], args[2] if len(args) > 2 else -1)
        if not os.path.lexists(path):
            self.created.add(path)

    def on_link(self, run: Run, args: tuple[Any, ...]) -> None:
        source, target = _in_folder(args[0], -1), _in_folder(args[1], -1)
        self.check_private(run, source)
        if not os.path.lexists(target):
            self.created.add(target)
            # What is written through the link is the linked file, by its real path.
            self.created.discard(os.path.realpath(source))

    def is_free(self, path: str) -> bool:
        """Whether nobody would miss the file: this kernel's run created it, or it is temporary."""
        if path in self.created:
            return True
        if path.startswith(self.protected):
            return self.below_created(path)
        return path.startswith(self.free) or self.below_created(path)

    def below_created(self, path: str) -> bool:
        """Whether the folder that it is in was created by the agent's code."""
        if not self.created:
            return False
        parent = os.path.dirname(path)
        while parent and parent != os.path.dirname(parent):
            if parent in self.created:
                return True
            parent = os.path.dirname(parent)
        return False

    # -- processes -----------------------------------------------------------------------------

    def on_popen(self, run: Run, args: tuple[Any, ...]) -> None:
        executable, arguments, *_ = args
        self.on_program(run, executable, arguments)

    def on_exec(self, run: Run, args: tuple[Any, ...]) -> None:
        self.on_program(run, args[0], args[1])

    def on_spawn(self, run: Run, args: tuple[Any, ...]) -> None:
        self.on_program(run, args[1], args[2])

    def on_program(self, run: Run, executable: Any, arguments: Any) -> None:
        command = _command(executable, arguments)
        if command in self.harmless or _is_library_worker():
            return
        self.ask(run, "runs a shell command", "run", command)

    def on_command(self, run: Run, args: tuple[Any, ...]) -> None:
        command = os.fsdecode(args[0]) if isinstance(args[0], (str, bytes)) else str(args[0])
        if command not in self.harmless:
            self.ask(run, "runs a shell command", "run", command)

    def on_forkpty(self, run: Run, args: tuple[Any, ...]) -> None:
        # IPython's "!" lines: the command is a local variable of the frame that runs it.
        frame: Any = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_name == "system" and "IPython" in frame.f_code.co_filename:
                command = frame.f_locals.get("cmd")
                if isinstance(command, str):
                    self.on_command(run, (command,))
                    return
            frame = frame.f_back
        self.ask(run, "runs a shell command", "run", "a program in a terminal of its own")

    def on_kill(self, run: Run, args: tuple[Any, ...]) -> None:
        pid, signal = args
        if signal == 0 or pid in (0, self.pid, os.getpid()) or _is_child(pid):
            return
        self.ask(run, "ends processes", "send a signal to", f"process {pid}")

    # -- network -------------------------------------------------------------------------------

    def on_lookup(self, run: Run, args: tuple[Any, ...]) -> None:
        host = args[0].decode("ascii", "replace") if isinstance(args[0], bytes) else args[0]
        if isinstance(host, str) and host and host != "localhost" and not _is_address(host):
            # A name alone can carry data, to whoever answers for it.
            self.ask_host(run, host)

    def ask_host(self, run: Run, host: str, more: str = "") -> None:
        """Ask about a machine by its name; its addresses are then known to be its."""
        self.ask(run, "connects to another machine", "connect to", host, more)
        if host not in self.addresses.values():
            try:
                found = socket.getaddrinfo(host, None)
            except OSError:
                return
            self.addresses.update({str(each[4][0]): host for each in found})

    def on_connect(self, run: Run, args: tuple[Any, ...]) -> None:
        address = args[1] if len(args) > 1 else None
        if address is None:
            return
        if isinstance(address, (str, bytes)):
            path = os.fsdecode(address)
            if path and not self.is_free(os.path.abspath(path)):
                self.ask(run, "connects to another program", "connect to", path)
            return
        if not isinstance(address, tuple) or len(address) < 2:
            return
        host, port = str(address[0]), address[1]
        if _is_loopback(host):
            if not self.is_own_port(port):
                self.ask(run, "connects to another program", "connect to", f"port {port}")
            return
        self.ask(run, "connects to another machine", "connect to", self.addresses.get(host, host))

    def on_bind(self, run: Run, args: tuple[Any, ...]) -> None:
        address = args[1]
        if not isinstance(address, tuple) or len(address) < 2:
            return
        host, port = str(address[0]), address[1]
        self.bound.append(weakref.ref(args[0]))
        if not _is_loopback(host) and args[0].type == socket.SOCK_STREAM and port:
            self.ask(run, "opens a port", "accept connections at", f"{host or '0.0.0.0'}:{port}")

    def is_own_port(self, port: int) -> bool:
        """Whether the agent's code opened the port itself."""
        sockets = [each for each in (ref() for ref in self.bound) if each is not None]
        self.bound = [weakref.ref(each) for each in sockets]
        for each in sockets:
            try:
                if each.getsockname()[1] == port:
                    return True
            except (OSError, IndexError):
                continue
        return False

    def on_url(self, run: Run, args: tuple[Any, ...]) -> None:
        from urllib.parse import urlsplit

        url = str(args[0])
        host = urlsplit(url).hostname
        if host and not _is_loopback(host):
            self.ask_host(run, host, url)

    # -- databases and native code -------------------------------------------------------------

    def on_sqlite(self, run: Run, args: tuple[Any, ...]) -> None:
        name = os.fsdecode(args[0]) if isinstance(args[0], (str, bytes, os.PathLike)) else ""
        self.inside.database = name

    def on_sqlite_handle(self, run: Run, args: tuple[Any, ...]) -> None:
        name = getattr(self.inside, "database", "")
        path = name[5:].split("?")[0] if name.startswith("file:") else name
        if path in ("", ":memory:"):
            return
        path = _real(path)
        if not os.path.exists(path) or os.path.getsize(path) == 0:
            self.created.add(path)
        if not self.is_free(path):
            _once_connected(args[0], self.authorizer(path))

    def on_sqlite_extension(self, run: Run, args: tuple[Any, ...]) -> None:
        self.ask(run, "loads native code", "load", "an SQLite extension")

    def authorizer(self, path: str) -> Any:
        """What SQLite asks before each part of a statement; only the agent's runs are asked."""
        import sqlite3

        words = {
            9: "delete rows of",  # SQLITE_DELETE
            23: "change rows of",  # SQLITE_UPDATE
            10: "drop an index of",
            11: "drop the table",
            16: "drop a trigger of",
            17: "drop the view",
            26: "alter the table",
        }

        def authorize(action: int, first: Any, second: Any, *_: Any) -> int:
            run = self.run.get() or self.of_thread()
            if run is None or getattr(self.inside, "hook", False):
                return sqlite3.SQLITE_OK
            verb = words.get(action)
            if verb is None and action != 24:
                return sqlite3.SQLITE_OK
            table = second if action == 26 else first
            if action != 24 and str(table).startswith("sqlite_"):
                return sqlite3.SQLITE_OK
            self.inside.hook = True
            try:
                if action == 24:  # ATTACH
                    if first not in ("", ":memory:"):
                        self.ask(run, "changes a database", "attach", _real(first))
                else:
                    self.ask(run, "changes a database", f"{verb} {table} in", path)
            except PermissionError:
                return sqlite3.SQLITE_DENY
            finally:
                self.inside.hook = False
            return sqlite3.SQLITE_OK

        return authorize

    def on_dlopen(self, run: Run, args: tuple[Any, ...]) -> None:
        name = args[0]
        if name is None or _from_installed_code():
            return
        self.ask(run, "loads native code", "load", str(name))

    # -- asking --------------------------------------------------------------------------------

    def shown(self, path: str) -> str:
        """A path as people write it: relative to the folder that the kernel works in."""
        here = _folder(os.getcwd())
        return path[len(here) :] if path.startswith(here) else path

    def ask(self, run: Run, kind: str, verb: str, target: str, more: str = "") -> None:
        """Return once this is allowed. Raises ``PermissionError``, also where nobody answers."""
        key = (kind, target)
        if key in run.allowed:
            return
        if key in run.denied:
            raise run.denied[key].with_traceback(None)
        if os.getpid() != self.pid:
            raise PermissionError(
                f"A worker process may not {verb} {self.shown(target)}: do it in the cell itself, "
                "where the user can be asked."
            )
        self.asked += 1
        ask_id = f"{run.id}-{self.asked}"
        event = threading.Event()
        answer: dict[str, Any] = {}
        self.waiting[ask_id] = (event, answer)
        content = {
            "ask_id": ask_id,
            "run": run.id,
            "kind": kind,
            "verb": verb,
            "target": self.shown(target),
            "path": target,
            "more": more,
            "line": _line(),
            "cell_id": (run.header.get("metadata") or {}).get("cellId"),
            "by_shell_line": _is_shell_line(),
        }
        try:
            while True:
                # Sent again and again: a server that has ended does not hear it any more.
                answer["heard"] = False
                self.publish(run, content)
                if event.wait(HEARD_SECONDS):
                    break
                if not answer["heard"]:
                    answer["reason"] = "nobody is there who could be asked"
                    break
        finally:
            self.waiting.pop(ask_id, None)
            self.publish(run, {**content, "done": True})
        if answer.get("approved"):
            run.allowed.add(key)
            return
        reason = answer.get("reason") or "the user declined"
        message = f"Not allowed to {verb} {self.shown(target)}: {reason}."
        # Who opens a terminal takes an OSError for a reason to try it another way.
        error = RuntimeError(message) if verb == "run" else PermissionError(message)
        run.denied[key] = error
        raise error

    def publish(self, run: Run, content: dict[str, Any]) -> None:
        """Tell whoever listens to the kernel."""
        self.kernel.session.send(self.kernel.iopub_socket, ASK, content, parent=run.header)

    def decided(self, stream: Any, ident: Any, message: Any) -> None:
        """The server's answer, which comes by the control channel, read by a thread of its own."""
        content = message.get("content") or {}
        event, answer = self.waiting.get(str(content.get("ask_id")), (None, None))
        if event is None or answer is None:
            return
        if content.get("heard"):
            answer["heard"] = True
            return
        answer["approved"] = content.get("approved") is True
        answer["reason"] = content.get("reason")
        event.set()


# -- what the events mean ----------------------------------------------------------------------


def _real(path: Any) -> str:
    return os.path.realpath(os.fsdecode(path))


def _in_folder(path: Any, folder_fd: Any = -1) -> str:
    """The place of a name that may be relative to an open folder, its own link not followed."""
    name = os.fsdecode(path)
    if isinstance(folder_fd, int) and folder_fd >= 0 and not os.path.isabs(name):
        with contextlib.suppress(OSError):
            name = os.path.join(os.readlink(f"/proc/self/fd/{folder_fd}"), name)
    head, tail = os.path.split(os.path.abspath(name))
    return os.path.join(os.path.realpath(head), tail)


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def _folder(path: str) -> str:
    return os.path.realpath(path).rstrip(os.sep) + os.sep


def _free_folders() -> list[str]:
    """Temporary folders and caches: what is in them is made again when it is missing."""
    environ = os.environ
    home = os.path.expanduser("~")
    names = ("XDG_CACHE_HOME", "MPLCONFIGDIR", "NUMBA_CACHE_DIR", "HF_HOME", "TORCH_HOME")
    folders = [environ[name] for name in names if environ.get(name)]
    folders += [os.path.join(home, each) for each in (".cache", "Library/Caches", ".keras")]
    return [*folders, tempfile.gettempdir(), "/dev/shm"]


def _writes_bytecode(path: str) -> bool:
    """Whether Python itself is keeping a module's compiled code."""
    if "__pycache__" not in path:
        return False
    frame: Any = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap_external>":
            return True
        frame = frame.f_back
    return False


def _once_connected(connection: Any, authorizer: Any) -> None:
    """Give a connection its authorizer as soon as it takes one: the event comes a moment before,
    and the next call of this thread comes after."""
    import sqlite3

    profiler = sys.getprofile()

    def set_it(frame: Any, event: str, arg: Any) -> None:
        sys.setprofile(profiler)
        try:
            connection.set_authorizer(authorizer)
        except sqlite3.ProgrammingError:
            sys.setprofile(set_it)  # not yet

    sys.setprofile(set_it)


def _command(executable: Any, arguments: Any) -> str:
    import shlex

    if isinstance(arguments, (str, bytes, os.PathLike)):
        return os.fsdecode(arguments)
    parts = [os.fsdecode(each) for each in arguments or [executable]]
    if len(parts) == 3 and parts[1] == "-c" and os.path.basename(parts[0]) in ("sh", "bash"):
        return parts[2]
    return shlex.join(parts)


def _is_library_worker() -> bool:
    """Whether the process is a worker of a library for parallel work, started by that library."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name.split(".")[0] in _WORKERS and "python" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def _from_installed_code() -> bool:
    """Whether an installed module, not the cell, called what raised the event."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        code = frame.f_code.co_filename
        if code != _OWN and not code.endswith(("ctypes/__init__.py", "ctypes\\__init__.py")):
            return "site-packages" in code or "dist-packages" in code or code.startswith(_STDLIB)
        frame = frame.f_back
    return False


_OWN = (lambda: None).__code__.co_filename
_STDLIB = os.path.dirname(os.__file__)


def _line() -> int | None:
    """The line of the cell that leads to the act, from 1."""
    frame: Any = sys._getframe(1)
    line = None
    while frame is not None:
        name = frame.f_code.co_filename
        if f"ipykernel_{os.getpid()}" in name or name.startswith("<ipython-input"):
            line = frame.f_lineno
        frame = frame.f_back
    return line


def _is_shell_line() -> bool:
    """Whether a line that begins with "!" or a magic of IPython's own runs a program."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name in ("ipykernel.zmqshell", "IPython.core.magics.script"):
            return True
        frame = frame.f_back
    return False


def _is_child(pid: Any) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rsplit(")", 1)[1].split()[1]) == os.getpid()
    except (OSError, ValueError, IndexError):
        return False


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.split("%")[0])
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.split("%")[0]).is_loopback
    except ValueError:
        return False


def install(protected: list[str], private: list[str], harmless: list[str]) -> str:
    """Install the guard once in this kernel; says ``installed``, or why it cannot be."""
    if "_datalayer_agent_acts" in sys.modules:
        return "installed"
    shell = getattr(builtins, "get_ipython", lambda: None)() or _shell()
    kernel = getattr(shell, "kernel", None)
    if kernel is None or getattr(kernel, "control_thread", None) is None:
        return "not possible: the kernel answers nothing while code runs"
    module = types.ModuleType("_datalayer_agent_acts")
    module.guard = Guard(kernel, shell, protected, private, harmless)  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module
    module.guard.start()
    return "installed"


def _shell() -> Any:
    from IPython.core.getipython import get_ipython

    return get_ipython()
