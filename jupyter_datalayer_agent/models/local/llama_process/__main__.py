"""The process that serves one model with llama.cpp, for as long as the Jupyter server lives.

It reads its job, a line of JSON, from standard input and writes ``{"address"}`` or ``{"error"}`` to
standard output. It ends when standard input does, since that means that the server is gone. It
imports nothing from the package.
"""

import contextlib
import ctypes
import json
import os
import signal
import sys
import threading
from typing import Any

NICENESS = 10
PR_SET_PDEATHSIG = 1


def main() -> None:
    job = json.loads(sys.stdin.readline())
    _end_with(job["parent"])
    _give_way()
    # llama.cpp may write to standard output, too.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        server = _serve(job)
        answer = {"address": server.listening_address}
    except (ImportError, OSError, RuntimeError, TypeError, ValueError) as error:
        server, answer = None, {"error": f"{type(error).__name__}: {error}"}
    with contextlib.suppress(BrokenPipeError):
        print(json.dumps(answer), file=out, flush=True)
    if server is not None:
        threading.Event().wait()


def _serve(job: dict[str, Any]) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = job["path"]
    params.n_ctx = job["window"]
    # One conversation at a time, since each further one would need a window of its own.
    params.n_parallel = 1
    params.cache_ram_mib = job["cache_mib"]
    params.use_jinja = True
    # Fitting would load the model an extra time, to find out what fits.
    params.fit_params = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = job["threads"]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [job["key"]]
    params.cors_origins = ""
    params.ui = False
    params.offline = True
    params.verbosity = 2  # errors and warnings
    return xllamacpp.Server(params)


def _end_with(parent: int) -> None:
    """End this process when the server ends."""
    threading.Thread(target=_wait_for_end, daemon=True).start()
    if sys.platform == "linux":
        # No Python thread runs while a model is loaded, which may take a minute.
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(0)


def _wait_for_end() -> None:
    while sys.stdin.buffer.read(1024):
        pass
    os._exit(0)


def _give_way() -> None:
    """Let JupyterLab and kernels go first."""
    import psutil

    with contextlib.suppress(OSError, psutil.Error):
        windows = sys.platform == "win32"
        psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS if windows else NICENESS)


if __name__ == "__main__":
    main()
