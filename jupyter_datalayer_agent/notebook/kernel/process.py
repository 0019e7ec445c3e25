"""The processes behind kernel ids: when one was replaced or ended, and why, as the system says.

A kernel keeps its id when Jupyter restarts it; what ran in it is gone with its process.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path("/")
OUT_OF_MEMORY = "The kernel died: it ran out of memory, and the system killed it."
RESTARTED = "The kernel was restarted."
SHUT_DOWN = "The kernel was shut down."
REPLACED = "The notebook's kernel was replaced."


@dataclass(eq=False)
class KernelProcess:
    """One process of a kernel. ``is_new``: nothing ran in it before it was first seen.

    ``ended`` is a sentence that says how it ended; ``died``: by itself, not by a restart;
    ``given_up``: Jupyter restarts it no more, since it died time after time.
    """

    kernel_id: str
    pid: int | None
    is_new: bool
    oom_kills: int | None = None
    ended: str | None = None
    died: bool = False
    given_up: bool = False


class KernelProcesses:
    """The current process of each kernel that anyone asked about."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager
        self._current: dict[str, KernelProcess] = {}
        self._kernels: dict[str, Any] = {}
        self._started: set[str] = set()

    def started(self, kernel_id: str) -> None:
        """This server has just started the kernel: nothing has run in it."""
        self._started.add(kernel_id)

    def of(self, kernel_id: str) -> KernelProcess | None:
        """The kernel's process, ended or not; None for a kernel that never ran here."""
        current = self._current.get(kernel_id)
        if kernel_id not in self._manager:
            self._end(current, SHUT_DOWN)
            return current
        kernel = self._manager.get_kernel(kernel_id)
        pid = _pid(kernel)
        if current is not None and current.pid == pid and self._kernels.get(kernel_id) is kernel:
            self._look(current, kernel)
            return current
        self._end(current, RESTARTED)
        is_new = current is not None or kernel_id in self._started
        self._started.discard(kernel_id)
        if self._kernels.get(kernel_id) is not kernel:
            self._follow(kernel_id, kernel)
        new = self._current[kernel_id] = KernelProcess(kernel_id, pid, is_new)
        self.about_to_run(kernel_id)
        self._look(new, kernel)
        return new

    def about_to_run(self, kernel_id: str) -> None:
        """Code is sent to the kernel: what the system kills from now on may be its process."""
        process = self._current.get(kernel_id)
        if process is not None and process.pid is not None and process.ended is None:
            process.oom_kills = _oom_kills(process.pid)

    def _follow(self, kernel_id: str, kernel: Any) -> None:
        for gone in [each for each in self._kernels if each not in self._manager]:
            del self._kernels[gone]
        self._kernels[kernel_id] = kernel
        add_callback = getattr(kernel, "add_restart_callback", None)
        if add_callback is not None:
            # Called while the dead process can still be asked how it ended.
            add_callback(lambda: self._died(kernel_id), "restart")
            add_callback(lambda: self._gave_up(kernel_id), "dead")

    def _died(self, kernel_id: str) -> None:
        current, kernel = self._current.get(kernel_id), self._kernels.get(kernel_id)
        if current is not None and current.ended is None and current.pid == _pid(kernel):
            current.ended, current.died = _why(current, _exit_code(kernel)), True

    def _gave_up(self, kernel_id: str) -> None:
        self._died(kernel_id)
        if (current := self._current.get(kernel_id)) is not None:
            current.given_up = True

    def _look(self, current: KernelProcess, kernel: Any) -> None:
        # Of one that is being shut down it shows afterwards whether it is started again.
        ending = getattr(kernel, "shutting_down", False) is True
        if current.ended is None and not ending and _exit_code(kernel) is not None:
            self._died(current.kernel_id)

    def _end(self, current: KernelProcess | None, how: str) -> None:
        if current is not None and current.ended is None:
            current.ended = how


def _pid(kernel: Any) -> int | None:
    pid = getattr(getattr(kernel, "provisioner", None), "pid", None)
    return pid if isinstance(pid, int) else None


def _exit_code(kernel: Any) -> int | None:
    """How the process ended; None while it runs, and where it is not on this machine."""
    process = getattr(getattr(kernel, "provisioner", None), "process", None)
    poll = getattr(process, "poll", None)
    code = poll() if poll is not None else None
    return code if isinstance(code, int) else None


def _why(process: KernelProcess, code: int | None) -> str:
    if code is None:
        return "The kernel died."
    if code >= 0:
        return f"The kernel died: its process ended with exit code {code}."
    if -code == getattr(signal, "SIGKILL", None) and _ran_out_of_memory(process):
        return OUT_OF_MEMORY
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"The kernel died: its process was ended by {name}."


def _ran_out_of_memory(process: KernelProcess) -> bool:
    if process.oom_kills is None or process.pid is None:
        return False
    now = _oom_kills(process.pid)
    return now is not None and now > process.oom_kills


_counters: dict[int, Path] = {}


def _oom_kills(pid: int) -> int | None:
    """How many processes the system has killed for want of memory: in the process's own control
    group where that is counted, else on this machine. None where nothing says so."""
    counter = _counters.get(pid)
    if counter is None:
        counter = next((each for each in _counter_files(pid) if _count(each) is not None), None)
        if counter is None:
            return None
        _counters[pid] = counter  # an ended process has no control group to be asked for
        while len(_counters) > 1000:
            del _counters[next(iter(_counters))]
    return _count(counter)


def _counter_files(pid: int) -> list[Path]:
    files = []
    try:
        groups = (ROOT / "proc" / str(pid) / "cgroup").read_text().splitlines()
    except OSError:
        groups = []
    mounted = ROOT / "sys/fs/cgroup"
    for line in groups:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            files += [mounted / path.lstrip("/") / "memory.events"]
        elif "memory" in controllers.split(","):
            files += [mounted / "memory" / path.lstrip("/") / "memory.oom_control"]
    return [*files, ROOT / "proc/vmstat"]


def _count(file: Path) -> int | None:
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, value = line.partition(" ")
        if name == "oom_kill" and value.isdigit():
            return int(value)
    return None
