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
import functools
import gc
import importlib
import importlib.machinery
import ipaddress
import os
import re
import signal
import socket
import stat
import sys
import tempfile
import threading
import types
import weakref
from typing import Any, Literal

ASK = "datalayer_agent_act"
DECISION = "datalayer_agent_decision"
METADATA = "datalayer_agent"
# A server that hears the question says so at once. One that does not is not there any more.
HEARD_SECONDS = 10.0

# The text of this module, where it runs in a kernel, as it came there: compressed, in Base64.
__source__: str | None = globals().get("__source__")

_READS = frozenset(["r", "rb", "rt", "br", "tr"])
# What a file has in its name that is not to be read, however the path to it is written.
_PRIVATE_NAMES = re.compile("environ|/mem|jpserver-|kernel-|cookie_secret|datalayer-agent")
_WRITE = os.O_WRONLY | os.O_RDWR | os.O_TRUNC | os.O_APPEND | os.O_CREAT
# These start and end processes that run the cell's own functions.
_WORKERS = (
    "multiprocessing.popen_",
    "multiprocessing.util",
    "multiprocessing.forkserver",
    "multiprocessing.resource_tracker",
    "joblib.externals.loky.",
    "loky.",
)
# They pickle what a new process is to know before it runs anything.
_SPAWNING = ("multiprocessing.spawn", "joblib.externals.loky.backend.spawn", "loky.backend.spawn")
# These run a program to learn something of the system, and change nothing by it.
_LOOKS = ("platform", "ctypes.util", "uuid", "matplotlib.font_manager")
# So many acts of one sort are asked about one by one in a run; from then on, all like them at once.
_SINGLY = 3
_LONGEST = 4000
_OTHERS = {
    "runs a shell command": "other commands",
    "ends processes": "other processes",
    "connects to another machine": "other machines",
    "connects to another program": "other programs",
    "opens a port": "other ports",
    "changes a database": "other changes of databases",
    "loads native code": "other libraries",
}
# What is allowed with an act on the same file.
_INCLUDED = {
    "overwrite": ("change", "truncate", "change the permissions of"),
    "truncate": ("change",),
}


# Files that something runs, or follows, by itself later: what does, and their names.
_LATER = {
    "Python runs it when it starts": "sitecustomize.py usercustomize.py .pythonrc .pythonrc.py",
    "pytest runs it": "conftest.py",
    "Jupyter follows it when it starts": """jupyter_server_config.py jupyter_server_config.json
        jupyter_notebook_config.py jupyter_notebook_config.json jupyter_lab_config.py
        jupyter_lab_config.json jupyter_config.py jupyter_config.json kernel.json""",
    "IPython runs it when it starts": "ipython_config.py ipython_kernel_config.py",
    "agents follow it as instructions": """agents.md claude.md claude.local.md gemini.md
        copilot-instructions.md .cursorrules .windsurfrules""",
    "agents run the programs that it names": "mcp.json .mcp.json",
    "a shell runs it": """.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile
        .zshrc .zshenv .zprofile .zlogin config.fish .envrc""",
    "the system runs what it lists": "crontab",
    "git runs the programs that it names": ".gitconfig",
    "it gives access to this account, or to others": "authorized_keys .netrc",
}
_LATER_BY_NAME = {name: why for why, names in _LATER.items() for name in names.split()}
# The same by the folder: the ends of its path, the ends of the names, and what runs them.
_LATER_BY_FOLDER = (
    ("/.git/hooks", "", "git runs it"),
    ("/.git", "config", "git runs the programs that it names"),
    ("/.github/workflows", "", "the repository's host runs it"),
    ("/.cursor/rules", "", "agents follow it as instructions"),
    ("/autostart", "", "the system runs it when you log in"),
    ("/launchagents", "", "the system runs it when you log in"),
    ("/systemd/user", "", "the system runs it when you log in"),
    ("/cron.d", "", "the system runs it"),
    ("/jupyter_server_config.d", "", "Jupyter follows it when it starts"),
    ("-packages", ".pth", "Python runs it when it starts"),
)


def runs_later(path: str) -> str | None:
    """What runs a file, or follows it, by itself later; None of an ordinary file. The server asks
    the same about files that a tool writes."""
    folder, name = os.path.split(path.replace(os.sep, "/").lower())
    if name in _LATER_BY_NAME:
        return _LATER_BY_NAME[name]
    place = "/" + folder.strip("/")
    profile, startup = os.path.split(place)
    if startup == "startup" and os.path.basename(profile).startswith("profile_"):
        return "IPython runs it when it starts"
    for end, extension, why in _LATER_BY_FOLDER:
        if place.endswith(end) and name.endswith(extension):
            return why
    return None


def shadowed_module(path: str) -> str | None:
    """The module, of Python or installed here, that has the name of a file of Python code."""
    stem, extension = os.path.splitext(os.path.basename(path))
    if extension != ".py":
        return None
    if stem in getattr(sys, "stdlib_module_names", ()):
        return stem
    installed = [each for each in sys.path if _is_of_packages(each)]
    return stem if importlib.machinery.PathFinder.find_spec(stem, installed) is not None else None


class Run:
    """One run of the agent's code, by the id that the request to the kernel carries.

    ``allowed`` are the acts that were allowed, (verb, target), and ``denied`` those that were not,
    for the length of the run: a library that tries again does not ask again. ``decided`` is the
    same for all acts of a sort on what begins with a text, with what denies them, and ``asked``
    the targets of each sort so far. One question is asked at a time. ``unheard`` is set once
    nobody heard one: nobody will hear the next.

    ``own`` are names, as the code has them, of files that it may write without another look, and
    ``folders`` the real paths of folders; both until a name may mean another file.
    """

    def __init__(self, run_id: str, header: Any) -> None:
        self.id = run_id
        self.header = header
        self.allowed: set[tuple[str, str]] = set()
        self.denied: dict[tuple[str, str], Exception] = {}
        self.decided: list[tuple[str, str, Exception | None]] = []
        self.asked: dict[str, list[str]] = {}
        self.asking = threading.Lock()
        self.unheard = False
        self.threads_before = set(sys._current_frames())
        self.own: set[str] = set()
        self.folders: dict[str, str] = {}

    def forget_names(self) -> None:
        """From now on a name may mean another file."""
        self.own.clear()
        self.folders.clear()

    def place(self, name: str) -> str:
        """The real path of a name, whose own link is not followed."""
        name = name.replace(os.altsep, os.sep) if os.altsep else name
        cut = name.rfind(os.sep) + 1
        head, tail = name[:cut], name[cut:]
        if tail in ("", ".", "..") or (os.altsep and ":" in tail):
            return os.path.realpath(name)
        folder = self.folders.get(head)
        if folder is None:
            folder = self.folders[head] = _folder(head)
        return folder + tail

    def place_and_file(self, name: str) -> tuple[str, os.stat_result | None]:
        """The real path of a name, and what is there, None for nothing."""
        path = self.place(name)
        try:
            found = os.lstat(path)
        except OSError:
            return path, None
        if not stat.S_ISLNK(found.st_mode):
            return path, found
        path = os.path.realpath(path)
        return path, _stat(path)


class Guard:
    """The hook of one kernel. ``protected`` are folders whose files count although they lie in the
    temporary folder, ``private`` files and folders that are not to be read, and ``natives`` the
    functions of native code that raise an event of ours (``NativeCalls``)."""

    def __init__(
        self,
        kernel: Any,
        shell: Any,
        protected: list[str],
        private: list[str],
        harmless: list[str],
        natives: Any,
    ) -> None:
        self.kernel = kernel
        self.natives = natives
        self.shell = shell
        self.pid = self.family = os.getpid()
        # False where nothing is known, as in a new context.
        self.run: contextvars.ContextVar[Run | Literal[False] | None] = contextvars.ContextVar(
            "datalayer_agent_run", default=False
        )
        # What gives worker processes their guard, so by the module that prepares them.
        self.prepares: dict[str, Any] = {}
        self.executors: weakref.WeakSet[Any] = weakref.WeakSet()
        # The agent's requests that run, by thread; a kernel may have one more in each subshell.
        self.active: dict[int, Run] = {}
        self.shells: dict[int, Any] = {}
        self.threads: dict[int, tuple[Any, Run]] = {}
        self.inside = threading.local()
        self.created: set[str] = set()
        self.addresses: dict[str, str] = {}
        self.waiting: dict[str, tuple[threading.Event, dict[str, Any]]] = {}
        self.asked = 0
        self.protected = tuple(_folder(each) for each in protected)
        places = (os.path.abspath, os.path.realpath)
        self.private = tuple(place(each) for each in private for place in places)
        self.harmless = frozenset(harmless)
        # Whether the user's code may have opened databases. Those that the agent's code opened, by
        # number, and the user's while a run lasts.
        self.has_databases = True
        self.databases: set[int] = set()
        self.theirs: list[Any] = []
        self.bound: list[Any] = []
        self.ports: dict[int, Any] = {}
        self.free = tuple(_folder(each) for each in _free_folders())
        self.events = {
            "open": self.on_open,
            "os.remove": self.on_remove,
            "os.rmdir": self.on_remove,
            "shutil.rmtree": self.on_rmtree,
            "os.rename": self.on_rename,
            "os.truncate": self.on_change,
            "os.chdir": self.on_chdir,
            "os.fork": self.on_chdir,
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
            "socket.gethostbyaddr": self.on_lookup,
            "socket.getnameinfo": self.on_name_lookup,
            "socket.connect": self.on_connect,
            "socket.sendto": self.on_connect,
            "socket.sendmsg": self.on_connect,
            "socket.bind": self.on_bind,
            "urllib.Request": self.on_url,
            "sqlite3.connect": self.on_sqlite,
            "sqlite3.connect/handle": self.on_sqlite_handle,
            "sqlite3.enable_load_extension": self.on_sqlite_extension,
            "ctypes.dlopen": self.on_dlopen,
            "ctypes.dlsym": self.on_dlsym,
            "webbrowser.open": self.on_url,
            "import": self.on_import,
            "cpython.PyInterpreterState_New": self.on_interpreter,
            "datalayer_agent.native": self.on_native,
        }

    # -- arming --------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to watch; the events of a run without our mark are left alone from then on."""
        self.shell.events.register("pre_execute", self.before)
        self.shell.events.register("post_execute", self.after)
        self.shell.events.register("post_run_cell", self.ended)
        self.kernel.control_handlers[DECISION] = self.decided
        self.watch()

    def watch(self) -> None:
        """Add the hook to this process."""
        events, run_of, of_thread, inside = self.events, self.run.get, self.of_thread, self.inside
        reads, writes, may_be_private = _READS, _WRITE, _PRIVATE_NAMES.search

        def hook(event: str, args: tuple[Any, ...]) -> None:
            handler = events.get(event)
            if handler is None:
                return
            if event == "open" and len(args) == 3:
                # What code does most, by far.
                name, mode, flags = args
                if type(name) is str and type(flags) is int:
                    if mode in reads or (mode is None and not flags & writes):
                        if not may_be_private(name):
                            return
                    else:
                        own = run_of()
                        if own and name in own.own and mode is not None:
                            return
            run = run_of() or of_thread()
            if run is None or getattr(inside, "hook", False):
                if event == "sqlite3.connect/handle":
                    self.has_databases = True
                return
            inside.hook = True
            try:
                handler(run, args)
            finally:
                inside.hook = False

        sys.addaudithook(hook)

    def before(self) -> None:
        """A request begins to run: it is the agent's if its message says so."""
        if _in_cell():
            return  # a cell that runs another one is still the same request
        parent = self.kernel.get_parent() or {}
        mark = (parent.get("metadata") or {}).get(METADATA) or {}
        run_id = mark.get("run") if isinstance(mark, dict) else None
        ident = threading.get_ident()
        self.shells[ident] = _thread(ident)
        self.active.pop(ident, None)
        run = Run(run_id, parent) if isinstance(run_id, str) else None
        if run is not None:
            self.active[ident] = run
        self.run.set(run)
        self.separate_workers(run is not None)
        if run is not None:
            self.watch_databases()
            self.natives.begin(self.shell.user_ns)
            for name in _SPAWNING:
                self.watch_workers(name)

    def after(self) -> None:
        """The code has run; what it registered for its end, which runs next, is the agent's too."""
        if _in_cell():
            return
        content = (self.kernel.get_parent() or {}).get("content") or {}
        if content.get("silent"):
            # IPython calls nothing more.
            self.ended()
            return
        # The last of the callbacks, whatever the code has registered.
        self.shell.events.unregister("post_run_cell", self.ended)
        self.shell.events.register("post_run_cell", self.ended)

    def ended(self, _: Any = None) -> None:
        """The request has ended; threads that it started go on as the agent's."""
        if _in_cell():
            return
        run = self.active.pop(threading.get_ident(), None)
        self.run.set(None)
        if run is not None:
            self.executors.update(_reusable_executors())
            self.leave_databases()
            if not self.active:
                self.natives.end(self.shell.user_ns)
        alive = set(sys._current_frames())
        self.threads = {key: each for key, each in self.threads.items() if key in alive}
        if run is not None:
            for ident in alive - run.threads_before - set(self.shells):
                self.threads[ident] = (_thread(ident), run)

    def of_thread(self) -> Run | None:
        """The run of the agent's that started the calling thread, or runs in it, if one does."""
        if not self.active and not self.threads:
            return None
        ident = threading.get_ident()
        thread = _thread(ident)
        if thread is not None and self.shells.get(ident) is thread:
            # The cell may act in a context of its own (``contextvars.Context().run``).
            is_unknown = self.run.get() is False
            return self.active.get(ident) if is_unknown and _in_cell() else None
        for run in tuple(self.active.values()):
            if ident not in run.threads_before:
                return run
        known, started_by = self.threads.get(ident, (None, None))
        return started_by if known is thread else None

    # -- worker processes that are started anew ------------------------------------------------

    def on_import(self, run: Run, args: tuple[Any, ...]) -> None:
        package, _, name = str(args[0]).rpartition(".")
        if name.startswith("popen_") and f"{package}.spawn" in _SPAWNING:
            importlib.import_module(f"{package}.spawn")
            self.watch_workers(f"{package}.spawn")

    def watch_workers(self, name: str) -> None:
        """Have the processes that the agent's code starts by way of this module watched, too."""
        module = sys.modules.get(name)
        if module is None or module is self.prepares.get(name) or __source__ is None:
            return
        self.prepares[name] = module
        prepared = module.get_preparation_data

        @functools.wraps(prepared)
        def get_preparation_data(*args: Any, **options: Any) -> Any:
            data = prepared(*args, **options)
            run = self.run.get() or self.of_thread()
            if run is not None:
                # The first that a new process unpickles.
                data["datalayer_agent"] = _Watched(self.state(run))
            return data

        module.get_preparation_data = get_preparation_data  # type: ignore[attr-defined]

    def state(self, run: Run) -> dict[str, Any]:
        """What a worker process has to know."""
        return {
            "run": run.id,
            "folders": (list(self.protected), list(self.private), list(self.harmless)),
            "created": list(self.created),
            "allowed": list(run.allowed),
            "decided": [each for each in run.decided if each[2] is None],
            "family": self.family,
        }

    def separate_workers(self, is_agents: bool) -> None:
        """joblib keeps its workers for the next call: the user's code and the agent's get others,
        since these are watched and those are not."""
        for executor in _reusable_executors():
            if (executor in self.executors) != is_agents:
                executor.shutdown(wait=False)

    # -- files ---------------------------------------------------------------------------------

    def on_open(self, run: Run, args: tuple[Any, ...]) -> None:
        if len(args) != 3 or isinstance(args[0], int) or not isinstance(args[2], int):
            return  # by a descriptor, or no event of Python's own
        path, mode, flags = args
        name = os.fsdecode(path)
        # It may be relative to an open folder, which the event does not name.
        by_descriptor = mode is None and not os.path.isabs(name)
        elsewhere = _in_open_folders(name) if by_descriptor else []
        writes = flags & _WRITE if mode is None else mode[:1] != "r" or "+" in mode
        if not writes:
            for each in [name, *elsewhere]:
                self.check_private(run, each)
            return
        for each in elsewhere:
            self.check_write(run, each, mode, flags)
        self.check_write(run, name, mode, flags)

    def check_write(self, run: Run, name: str, mode: str | None, flags: int) -> None:
        """A file is about to be opened for writing."""
        path, found = run.place_and_file(name)
        if found is None:
            if flags & os.O_CREAT:
                self.create(run, path)
                run.own.add(name)
            return
        if flags & os.O_EXCL and flags & os.O_CREAT:
            return  # fails, since the file exists
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISBLK(found.st_mode)):
            return
        # Under another name it may be a file that is not free.
        if self.is_free(path) and found.st_nlink == 1:
            run.own.add(name)
            return
        if _writes_bytecode(path):
            return
        keeps = not flags & os.O_TRUNC and (mode or "")[:1] != "w"
        self.ask(run, "overwrites files", "change" if keeps else "overwrite", path)

    def create(self, run: Run, path: str) -> None:
        """A new file is the agent's own. One that the system, the shell or Python runs by itself
        later is asked about."""
        if (
            path.startswith(self.private)  # what trusts servers and keeps keys is there
            or runs_later(path) is not None
            or (path[-3:] == ".py" and self.shadows(path))
        ):
            self.ask(run, "changes what runs later", "create", path)
        self.created.add(path)

    def shadows(self, path: str) -> bool:
        """Whether Python would import the file in the place of a module of that name."""
        if os.path.dirname(path) not in {_real(each) for each in sys.path}:
            return False
        return shadowed_module(path) is not None

    def check_private(self, run: Run, path: Any) -> None:
        for name in dict.fromkeys([os.path.abspath(path), os.path.realpath(path)]):
            is_process = name.startswith("/proc/") and name.endswith(("/environ", "/mem"))
            if is_process or name.startswith(self.private):
                self.ask(run, "reads secrets", "read", name)
                return

    def on_chdir(self, run: Run, args: tuple[Any, ...]) -> None:
        run.forget_names()

    def on_remove(self, run: Run, args: tuple[Any, ...]) -> None:
        path = _in_folder(run, *args[:2])
        # What is removed is no longer its own; folders stay what they are until another is made.
        run.own.clear()
        if self.is_free(path) or not os.path.lexists(path):
            self.created.discard(path)
            return
        self.ask(run, "removes or moves files", "delete", path)

    def on_rmtree(self, run: Run, args: tuple[Any, ...]) -> None:
        path = _real(args[0])
        if self.is_free(path) or not os.path.lexists(path):
            return
        self.ask(run, "removes or moves files", "delete the folder", path)
        run.allowed.add(("delete", path))
        run.decided.append(("delete", _folder(path), None))

    def on_rename(self, run: Run, args: tuple[Any, ...]) -> None:
        source = _in_folder(run, args[0], args[2] if len(args) > 2 else -1)
        target = _in_folder(run, args[1], args[3] if len(args) > 3 else -1)
        run.forget_names()
        new = not os.path.lexists(target)
        if self.is_free(source) or _writes_bytecode(source):
            if not new and not self.is_free(target) and not _writes_bytecode(target):
                self.ask(run, "overwrites files", "overwrite", target)
            self.create(run, target)
            return
        more = f"to {self.shown(target)}" + ("" if new else ", which it replaces")
        self.ask(run, "removes or moves files", "move", source, more)

    def on_change(self, run: Run, args: tuple[Any, ...]) -> None:
        if isinstance(args[0], int):
            return  # opened for writing before, which was asked about
        path = _real(args[0])
        found = _stat(path)
        if found is not None and not (self.is_free(path) and found.st_nlink == 1):
            self.ask(run, "overwrites files", "truncate", path)

    def on_permissions(self, run: Run, args: tuple[Any, ...]) -> None:
        if isinstance(args[0], int):
            return
        # The last is a folder, but for extended attributes, which have flags there.
        folder = args[-1] if len(args) in (3, 4) and not isinstance(args[1], (str, bytes)) else -1
        path = os.path.realpath(_in_folder(run, args[0], folder))
        if not self.is_free(path):
            self.ask(run, "changes permissions", "change the permissions of", path)

    def on_mkdir(self, run: Run, args: tuple[Any, ...]) -> None:
        path = _in_folder(run, args[0], args[2] if len(args) > 2 else -1)
        run.forget_names()
        if not os.path.lexists(path):
            self.created.add(path)

    def on_link(self, run: Run, args: tuple[Any, ...]) -> None:
        # A hard link has a folder for each name, a symbolic one for its own.
        source = _in_folder(run, args[0], args[2] if len(args) > 3 else -1)
        target = _in_folder(run, args[1], args[-1] if len(args) > 2 else -1)
        run.forget_names()
        self.check_private(run, source)
        if not os.path.lexists(target):
            self.create(run, target)
            # What is written through the link is the linked file, by its real path.
            self.created.discard(os.path.realpath(source))

    def is_free(self, path: str) -> bool:
        """Whether nobody would miss the file: this kernel's run created it, or it is temporary."""
        if path in self.created:
            return True
        # A temporary folder or a cache counts within the server's folder, which may be the user's
        # home, as well as the server's folder does within the temporary one.
        if _longest(self.free, path) > _longest(self.protected, path):
            return True
        return self.below_created(path)

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
        # Who asks counts, not who is among the callers: a pool of threads calls what it is given.
        if command in self.harmless or _is_asked_by((*_WORKERS, *_LOOKS), "subprocess", "os"):
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
        pid, number = args
        if number == 0 or pid in (0, os.getpid()) or _is_child(pid):
            if pid == self.pid and number and signal.getsignal(number) == signal.SIG_DFL:
                self.ask(run, "ends processes", "end", "the kernel")
            return
        if _is_asked_by((*_WORKERS, "subprocess")):
            return  # it ends what it started
        self.ask(run, "ends processes", "send a signal to", f"process {pid}")

    # -- network -------------------------------------------------------------------------------

    def on_lookup(self, run: Run, args: tuple[Any, ...]) -> None:
        host = args[0].decode("ascii", "replace") if isinstance(args[0], bytes) else args[0]
        if isinstance(host, str) and host and host != "localhost" and not _is_address(host):
            # A name alone can carry data, to whoever answers for it.
            if host == socket.gethostname():
                return
            self.ask_host(run, host)
            self.learn_addresses(host)

    def on_name_lookup(self, run: Run, args: tuple[Any, ...]) -> None:
        address = args[0]
        if isinstance(address, tuple) and not _is_loopback(str(address[0])):
            self.ask_host(run, str(address[0]))

    def ask_host(self, run: Run, host: str, more: str = "") -> None:
        """Ask about a machine by its name."""
        self.ask(run, "connects to another machine", "connect to", host, more)

    def learn_addresses(self, host: str) -> None:
        """Remember which addresses this look-up of an allowed name gives. A look-up of our own may
        give others, as many names change theirs with each."""

        def note(found: Any) -> None:
            self.addresses.update({str(each[4][0]): host for each in found or ()})

        frame: Any = sys._getframe(1)
        looks_up = getattr(socket.getaddrinfo, "__code__", None)
        while frame is not None and frame.f_code is not looks_up:
            frame = frame.f_back
        if frame is None or not _once_returned(frame, note):
            with contextlib.suppress(OSError):
                note(socket.getaddrinfo(host, None))

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
            if not (self.is_own_port(port) or _is_opened_below(self.family, port)):
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
        opened = self.ports.get(port)
        if opened is not None and _port_of(opened()) == port:
            return True
        sockets = [each for each in (ref() for ref in self.bound) if each is not None]
        self.bound = [weakref.ref(each) for each in sockets]
        for each in sockets:
            if _port_of(each) == port:
                self.ports[port] = weakref.ref(each)
                return True
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
        is_free = path in ("", ":memory:") or self.is_free_database(_real(path))
        # One in memory can attach a file.
        self.databases.add(id(args[0]))
        is_watched = _once_connected(args[0], self.authorizer(None if is_free else _real(path)))
        if not (is_watched or is_free):
            self.ask(run, "changes a database", "open and change", _real(path))

    def watch_databases(self) -> None:
        """Ask about changes by way of connections that the user's code opened, while a run of the
        agent's lasts."""
        sqlite3 = sys.modules.get("sqlite3")
        if sqlite3 is None or not self.has_databases:
            return
        connection = sqlite3.Connection
        hidden = getattr(self.shell, "user_ns_hidden", {})
        variables = [each for name, each in self.shell.user_ns.items() if name not in hidden]
        self.theirs = _reachable(variables, _with_subclasses(connection))
        self.has_databases = bool(self.theirs)
        for each in self.theirs:
            with contextlib.suppress(sqlite3.Error):  # it is closed, or another thread's
                cursor = connection.cursor(each)
                cursor.row_factory = None
                rows = cursor.execute("PRAGMA database_list").fetchall()
                files = {str(name): os.fsdecode(file or "") for _, name, file in rows}
                paths = {name: file or None for name, file in files.items()}
                free = [name for name, file in paths.items() if file and self.is_free(_real(file))]
                paths.update(dict.fromkeys(free))
                connection.set_authorizer(each, self.authorizer(paths.get("main"), paths))

    def leave_databases(self) -> None:
        """The user's connections are as they were."""
        theirs, self.theirs = self.theirs, []
        if tuple(sys.version_info) < (3, 11):
            return  # it cannot be taken back; it permits all that the user's code does
        for each in theirs:
            if id(each) not in self.databases:
                with contextlib.suppress(sys.modules["sqlite3"].Error):
                    sys.modules["sqlite3"].Connection.set_authorizer(each, None)

    def is_free_database(self, path: str) -> bool:
        """Whether nobody would miss the database; one that is new is the agent's own."""
        if not os.path.exists(path) or os.path.getsize(path) == 0:
            self.created.add(path)
        return self.is_free(path)

    def on_sqlite_extension(self, run: Run, args: tuple[Any, ...]) -> None:
        self.ask(run, "loads native code", "load", "an SQLite extension")

    def authorizer(self, main: str | None, others: dict[str, str | None] | None = None) -> Any:
        """What SQLite asks before each part of a statement; only the agent's runs are asked. Of a
        database that nobody would miss, None, only what it attaches counts. ``others`` are the
        files of databases that are attached already, by their names."""
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

        def authorize(action: int, first: Any, second: Any, database: Any, _: Any) -> int:
            path = (others or {}).get(database, main)
            run = self.run.get() or self.of_thread()
            if run is None or getattr(self.inside, "hook", False):
                return sqlite3.SQLITE_OK
            verb = words.get(action)
            if action != 24 and (verb is None or path is None):
                return sqlite3.SQLITE_OK
            table = second if action == 26 else first
            if action != 24 and str(table).startswith("sqlite_"):
                return sqlite3.SQLITE_OK
            self.inside.hook = True
            try:
                if action == 24:  # ATTACH
                    if first in (None, "", ":memory:"):
                        return sqlite3.SQLITE_OK
                    named = first[5:].split("?")[0] if first.startswith("file:") else first
                    other = _real(named)
                    if not self.is_free_database(other):
                        self.ask(run, "changes a database", "attach", other)
                elif path is not None:
                    self.ask(run, "changes a database", f"{verb} {table} in", path)
                    if action == 11:
                        # SQLite asks of the rows of a table that it drops, too.
                        run.allowed.add((f"{words[9]} {table} in", path))
            except PermissionError as error:
                # SQLite says no more than "not authorized".
                print(error, file=sys.stderr)
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

    def on_dlsym(self, run: Run, args: tuple[Any, ...]) -> None:
        """A function is looked up, maybe in what the process has loaded anyway: the system's."""
        library, name = args[:2]
        if getattr(library, "_name", None) is not None or str(name).startswith(("Py", "_Py")):
            return
        if not _from_installed_code():
            self.ask(run, "loads native code", "call", str(name))

    def on_native(self, run: Run, args: tuple[Any, ...]) -> None:
        self.natives.on_call(self, run, args)

    def on_interpreter(self, run: Run, args: tuple[Any, ...]) -> None:
        """Another interpreter in this process has hooks of its own, so none."""
        self.ask(run, "loads native code", "use", "another Python interpreter")

    # -- asking --------------------------------------------------------------------------------

    def shown(self, path: str) -> str:
        """A path as people write it: relative to the folder that the kernel works in."""
        here = _here()
        return path.removeprefix(_folder(here)) if here else path

    def ask(self, run: Run, kind: str, verb: str, target: str, more: str = "") -> None:
        """Return once this is allowed. Raises ``PermissionError``, also where nobody answers."""
        is_file = kind not in _OTHERS
        sort = verb if is_file else kind
        if self.is_settled(run, sort, verb, target):
            return
        if os.getpid() != self.pid:
            raise PermissionError(
                f"A worker process may not {verb} {self.shown(target)}: do it in the cell itself, "
                "where the user can be asked."
            )
        content = {
            "run": run.id,
            "kind": kind,
            "verb": verb,
            "target": _short(self.shown(target)),
            "path": _short(target),
            "folder": _here(),
            "line": _line(),
            "cell_id": (run.header.get("metadata") or {}).get("cellId"),
            "by_shell_line": _is_shell_line(),
        }
        with run.asking:
            # Another thread may have asked meanwhile.
            if self.is_settled(run, sort, verb, target):
                return
            before = run.asked.setdefault(sort, [])
            covers = None
            if len(before) >= _SINGLY:
                covers = _folder_of([*before, target]) if is_file else ""
                others = _OTHERS.get(kind)
                if others is None:
                    others = f"other files in {self.shown(covers) or 'the working folder'}"
                more = f"{more} and {others}".strip()
            answer = self.answer(run, {**content, "more": _short(more), "covers": covers})
            error = None
            if not answer.get("approved"):
                reason = answer.get("reason") or "the user declined"
                message = f"Not allowed to {verb} {_short(self.shown(target))}: {reason}."
                # Who opens a terminal takes an OSError for a reason to try it another way.
                error = RuntimeError(message) if verb == "run" else PermissionError(message)
                if isinstance(error, OSError):
                    error.strerror = message  # some libraries pass on this only
            self.settle(run, sort, verb, target, error, None if answer.get("only") else covers)
            if not answer.get("only"):
                before.append(target)
        if error is not None:
            raise error

    def is_settled(self, run: Run, sort: str, verb: str, target: str) -> bool:
        """Whether it is allowed already; raises if it is denied, false if it is to be asked."""
        if (verb, target) in run.allowed:
            return True
        error = run.denied.get((verb, target))
        if error is None:
            for each, begins, denial in run.decided:
                if each == sort and target.startswith(begins):
                    if denial is None:
                        return True
                    error = denial
        if error is not None:
            raise error.with_traceback(None)
        return False

    def settle(
        self, run: Run, sort: str, verb: str, target: str, error: Exception | None, covers: Any
    ) -> None:
        """Keep a decision for the rest of the run; ``covers`` is what else begins with it."""
        if covers is not None:
            run.decided.append((sort, covers, error))
        elif error is not None:
            run.denied[verb, target] = error
        if error is not None and verb == "overwrite":
            # Some writers remove the file that they could not write.
            run.denied["delete", target] = error
        if error is None:
            run.allowed.update((each, target) for each in (verb, *_INCLUDED.get(verb, ())))

    def answer(self, run: Run, content: dict[str, Any]) -> dict[str, Any]:
        """The server's answer: whether it is ``approved``, or the ``reason`` why not."""
        if run.unheard:
            return {"reason": _NOBODY}
        self.asked += 1
        ask_id = f"{run.id}-{self.asked}"
        event = threading.Event()
        answer: dict[str, Any] = {}
        self.waiting[ask_id] = (event, answer)
        content = {**content, "ask_id": ask_id}
        try:
            while True:
                # Sent again and again: a server that has ended does not hear it any more.
                answer["heard"] = False
                self.publish(run, content)
                if event.wait(HEARD_SECONDS):
                    break
                if not answer["heard"]:
                    run.unheard = True
                    answer["reason"] = _NOBODY
                    break
        finally:
            self.waiting.pop(ask_id, None)
            self.publish(run, {**content, "done": True})
        return answer

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
        answer["only"] = content.get("only") is True
        answer["reason"] = content.get("reason")
        event.set()


# -- what the events mean ----------------------------------------------------------------------


def _thread(ident: int) -> Any:
    """The thread with this number, which the system gives again when one has ended."""
    return threading._active.get(ident)  # type: ignore[attr-defined]


def _real(path: Any) -> str:
    return os.path.realpath(os.fsdecode(path))


def _here() -> str | None:
    """The folder that the kernel works in; None if it is not there any more."""
    try:
        return os.getcwd()
    except OSError:
        return None


def _in_folder(run: Run, path: Any, folder_fd: Any = -1) -> str:
    """The place of a name that may be relative to an open folder, its own link not followed."""
    name = os.fsdecode(path)
    if isinstance(folder_fd, int) and folder_fd >= 0 and not os.path.isabs(name):
        name = os.path.join(_path_of(folder_fd), name)
    return run.place(name.rstrip(os.sep) or name)


def _in_open_folders(name: str) -> list[str]:
    """What a relative name would mean in each folder that this process has open, where there is
    such a thing."""
    descriptors = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"
    found = []
    for each in _names(descriptors):
        with contextlib.suppress(OSError, ValueError):
            if stat.S_ISDIR(os.fstat(int(each)).st_mode):
                found.append(os.path.join(_path_of(int(each)), name))
    return [each for each in found if os.path.lexists(each)]


def _path_of(folder_fd: int) -> str:
    """The path of an open folder; empty where the system does not tell."""
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/self/fd/{folder_fd}")
    if sys.platform == "darwin":
        import fcntl

        with contextlib.suppress(OSError):
            return os.fsdecode(fcntl.fcntl(folder_fd, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
    return ""


def _longest(folders: tuple[str, ...], path: str) -> int:
    """The length of the innermost of these folders that the path is in; 0 for none."""
    return max((len(each) for each in folders if path.startswith(each)), default=0)


def _folder_of(paths: list[str]) -> str:
    """The folder that all of these files are in, or one of its own above it."""
    try:
        common = os.path.commonpath([os.path.dirname(each) for each in paths])
    except ValueError:
        common = os.path.dirname(paths[-1])  # on several drives
    return common.rstrip(os.sep) + os.sep


def _short(text: str) -> str:
    """A text that a message can carry; one that is longer says so and keeps what tells it apart."""
    if len(text) <= _LONGEST:
        return text
    import hashlib

    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{text[:_LONGEST]}… ({len(text):,} characters, {mark})"


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


def _once_connected(connection: Any, authorizer: Any) -> bool:
    """Give a connection its authorizer as soon as it takes one: the event comes a moment before,
    and the next call of this thread comes after. False where a profiler already listens to them."""
    import sqlite3

    def set_it(frame: Any, event: str, arg: Any) -> None:
        sys.setprofile(None)
        try:
            connection.set_authorizer(authorizer)
        except sqlite3.ProgrammingError:
            sys.setprofile(set_it)  # not yet

    if sys.getprofile() is not None:
        return False
    sys.setprofile(set_it)
    return True


def _once_returned(of: Any, note: Any) -> bool:
    """Call ``note`` with what a frame of this thread returns, None where it raises. False where a
    profiler already listens."""

    def returned(frame: Any, event: str, arg: Any) -> None:
        if frame is of and event == "return":
            sys.setprofile(None)
            note(arg)

    if sys.getprofile() is not None:
        return False
    sys.setprofile(returned)
    return True


def _with_subclasses(kind: type) -> set[type]:
    below: list[type] = kind.__subclasses__()
    return {kind}.union(*[_with_subclasses(each) for each in below])


def _reachable(variables: list[Any], kinds: set[type]) -> list[Any]:
    """Objects of these types that variables lead to, the nearest first; a part of what there is
    where that is very much."""
    found: list[Any] = []
    seen: set[int] = set()
    level = variables
    while level and len(seen) < _MOST_OBJECTS:
        above, level = level, []
        for each in above:
            kind = type(each)
            if id(each) in seen or issubclass(kind, _LEADS_AWAY) or not gc.is_tracked(each):
                continue
            seen.add(id(each))
            if kind in kinds:
                found.append(each)
            elif kind not in _CONTAINERS or len(each) < _MOST_ELEMENTS:
                level += gc.get_referents(each)
    return found


_MOST_OBJECTS, _MOST_ELEMENTS = 3_000, 1_000
_CONTAINERS = (list, tuple, dict, set, frozenset)
_LEADS_AWAY = (type, types.ModuleType, types.FunctionType, types.FrameType)


def _command(executable: Any, arguments: Any) -> str:
    import shlex

    if isinstance(arguments, (str, bytes, os.PathLike)):
        return os.fsdecode(arguments)
    parts = [os.fsdecode(each) for each in arguments or [executable]]
    if len(parts) == 3 and parts[1] == "-c" and os.path.basename(parts[0]) in ("sh", "bash"):
        return parts[2]
    return shlex.join(parts)


def _is_asked_by(modules: tuple[str, ...], *by_way_of: str) -> bool:
    """Whether an installed module whose name begins so asks for this, or by way of these."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = _module_of(frame)
        if frame.f_globals is not _OWN and name not in by_way_of:
            return name.startswith(modules) and _is_installed(name)
        frame = frame.f_back
    return False


def _from_installed_code() -> bool:
    """Whether an installed module, not the cell, called what raised the event."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = _module_of(frame)
        if frame.f_globals is not _OWN and name != "ctypes":
            return _is_installed(name)
        frame = frame.f_back
    return False


def _module_of(frame: Any) -> str:
    """The name of the module that the frame's code belongs to; empty where it only says so."""
    name = frame.f_globals.get("__name__")
    module = sys.modules.get(name) if isinstance(name, str) else None
    return str(name) if getattr(module, "__dict__", None) is frame.f_globals else ""


def _reusable_executors() -> list[Any]:
    """The pools that joblib keeps."""
    modules = [
        sys.modules.get(f"{each}reusable_executor") for each in ("joblib.externals.loky.", "loky.")
    ]
    executors = [getattr(each, "_executor", None) for each in modules]
    return [each for each in executors if each is not None]


class _Watched:
    """Installs the guard in the process that unpickles it."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state

    def __reduce__(self) -> Any:
        return exec, (_IN_WORKER, {"source": __source__, "state": self.state})


def watch_worker(state: dict[str, Any], natives: Any) -> None:
    """Install the guard in a worker process of the agent's, which asks nobody."""
    protected, private, harmless = state["folders"]
    guard = Guard(None, None, protected, private, harmless, natives)
    guard.pid, guard.family = 0, state["family"]
    guard.created.update(state["created"])
    run = Run(state["run"], {})
    run.allowed.update(tuple(each) for each in state["allowed"])
    run.decided.extend(state["decided"])
    guard.run = contextvars.ContextVar("datalayer_agent_run", default=run)
    guard.watch()
    natives.begin({})


_IN_WORKER = """
import base64, zlib
space = {"__name__": "datalayer_agent_found", "__source__": source}
exec(compile(zlib.decompress(base64.b64decode(source)), "<datalayer agent>", "exec"), space)
space["watch_worker"](state, space["NativeCalls"]())
"""


def _is_installed(name: str) -> bool:
    """Whether the module was installed, with Python or into it."""
    return _is_of_packages(str(getattr(sys.modules.get(name), "__file__", "")))


def _is_of_packages(file: str) -> bool:
    return "site-packages" in file or "dist-packages" in file or file.startswith(_STDLIB)


_NOBODY = "nobody is there who could be asked"
_OWN = globals()
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


def _in_cell() -> bool:
    """Whether the code of a cell is among the callers."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "run_code" and _module_of(frame).startswith("IPython.core."):
            return True
        frame = frame.f_back
    return False


def _is_shell_line() -> bool:
    """Whether a line that begins with "!" or a magic of IPython's own runs a program."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        # The shell's module alone says nothing: each cell is run by it.
        if name == "IPython.core.magics.script" or (
            name in ("ipykernel.zmqshell", "IPython.core.interactiveshell")
            and frame.f_code.co_name in ("system_piped", "system_raw", "getoutput")
        ):
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


def _port_of(opened: Any) -> int | None:
    """The port that a socket is bound to, None for one that is closed."""
    try:
        return int(opened.getsockname()[1])
    except (AttributeError, OSError, IndexError, ValueError):
        return None


def _is_opened_below(pid: int, port: int) -> bool:
    """Whether a process that this one started listens at a port of this machine; Linux tells."""
    inodes: set[str] = set()
    for table in ("/proc/self/net/tcp", "/proc/self/net/tcp6"):
        with contextlib.suppress(OSError), open(table) as file:
            for line in file:
                local, _, state, *_, inode = line.split()[1:10]
                if state == "0A" and local.endswith(f":{port:04X}"):
                    inodes.add(f"socket:[{inode}]")
    # A fork has its parent's, too.
    inodes -= _links(f"/proc/{pid}/fd")
    below = [pid]
    while inodes and below:
        above = below.pop()
        for task in _names(f"/proc/{above}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{above}/task/{task}/children") as file:
                children = file.read().split()
                below += [int(each) for each in children]
                if any(inodes & _links(f"/proc/{each}/fd") for each in children):
                    return True
    return False


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _links(folder: str) -> set[str]:
    """Where the links in a folder point to."""
    links = set()
    for each in _names(folder):
        with contextlib.suppress(OSError):
            links.add(os.readlink(f"{folder}/{each}"))
    return links


def _is_loopback(host: str) -> bool:
    if host in ("127.0.0.1", "::1", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host.split("%")[0]).is_loopback
    except ValueError:
        return False


def install(
    protected: list[str], private: list[str], harmless: list[str], natives: type[Any]
) -> str:
    """Install the guard once in this kernel; says ``installed``, or why it cannot be."""
    if "_datalayer_agent_acts" in sys.modules:
        return "installed"
    shell = getattr(builtins, "get_ipython", lambda: None)() or _shell()
    kernel = getattr(shell, "kernel", None)
    if kernel is None or getattr(kernel, "control_thread", None) is None:
        return "not possible: the kernel answers nothing while code runs"
    module = types.ModuleType("_datalayer_agent_acts")
    module.guard = Guard(  # type: ignore[attr-defined]
        kernel, shell, protected, private, harmless, natives()
    )
    sys.modules[module.__name__] = module
    module.guard.start()
    return "installed"


def _shell() -> Any:
    from IPython.core.getipython import get_ipython

    return get_ipython()
