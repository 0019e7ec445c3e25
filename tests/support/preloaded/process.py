"""The process with the imports: ``python -m tests.support.preloaded.process KIND PATH [OWNER]``.

It listens at ``PATH``. A message asks for one program, with the descriptors of its standard output
and error, and is answered with the number of the new process and a descriptor that shows when it
ended. It ends, and not its children, with the process ``OWNER``, or else when its standard input is
closed.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import json
import os
import runpy
import select
import signal
import socket
import struct
import sys
import threading
import traceback
from typing import NoReturn

from .client import LONGEST_MESSAGE, Program
from .modules import import_all


def serve(listener: socket.socket, end: int) -> Program | None:
    """Make a child for each message. Returns its program in a child, and ``None`` when there is
    something to be read from ``end``."""
    asking: list[socket.socket] = []
    while True:
        for source in select.select([end, listener, *asking], [], [])[0]:
            if source == end:
                return None
            if source is listener:
                asking.append(listener.accept()[0])
                continue
            message, descriptors, _, _ = socket.recv_fds(source, LONGEST_MESSAGE, 2)
            if not message:
                asking.remove(source)
                source.close()
                continue
            program = Program(**json.loads(message))
            peer = source.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            if _fork(source):
                for each in (listener, *asking):
                    each.close()
                if end != sys.stdin.fileno():
                    os.close(end)
                _stand_alone(program, descriptors, struct.unpack("3i", peer)[0])
                return program
            for descriptor in descriptors:
                os.close(descriptor)


def _fork(asked: socket.socket) -> bool:
    """Fork a child and report it; whether this is the child."""
    pid = os.fork()
    if pid == 0:
        return True
    descriptor = os.pidfd_open(pid)
    with contextlib.suppress(BrokenPipeError):
        socket.send_fds(asked, [str(pid).encode()], [descriptor])
    os.close(descriptor)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    return False


def _stand_alone(program: Program, descriptors: list[int], asker: int) -> None:
    """Be a process as ``subprocess`` makes them."""
    for number, descriptor in enumerate(descriptors, start=1):
        os.dup2(descriptor, number)
        os.close(descriptor)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    if program.own_session:
        os.setsid()
        _end_with(asker)
    os.chdir(program.folder)
    os.environ.clear()
    os.environ.update(program.environment)
    # As `python -m` does; it is this process's folder until here.
    sys.path[0] = program.folder
    added = program.environment.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[1:1] = [entry for entry in added if entry and entry not in sys.path]
    sys.argv = [program.module, *program.arguments]
    if "PYTHONFAULTHANDLER" in program.environment:
        faulthandler.enable()


def _run(module: str) -> NoReturn:
    """Run it and end as Python does: its threads, then what it left for the end. But the modules
    are not taken apart one by one, which for all that is imported takes a third of a second."""
    status = 0
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else end.code is not None
    except BaseException:  # noqa: BLE001 - shown as Python shows it
        traceback.print_exc()
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


def _end_with(asker: int) -> None:
    """A kernel ends when its server is gone. It looks for its parent's end, which here is another
    process."""
    try:
        descriptor = os.pidfd_open(asker)
    except ProcessLookupError:
        os._exit(1)

    def watch() -> None:
        ended = select.poll()
        ended.register(descriptor, select.POLLIN)
        ended.poll()
        os._exit(1)

    threading.Thread(target=watch, name="end-with-server", daemon=True).start()


def main(kind: str, path: str, owner: str | None = None) -> None:
    end = sys.stdin.fileno() if owner is None else os.pidfd_open(int(owner))
    import_all(kind)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # Whoever finds the path can connect: it is there when all is ready.
    listener.bind(f"{path}.new")
    listener.listen(64)
    os.rename(f"{path}.new", path)
    print("ready", flush=True)
    program = serve(listener, end)
    if program is not None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _run(program.module)


if __name__ == "__main__":
    main(*sys.argv[1:])
