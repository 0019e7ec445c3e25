"""Runs inside a Python kernel that may not connect to TCP ports: forked processes send their output
to the kernel by a socket in the temporary folder instead.

The source of this module is sent to the kernel as text.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any


def listen(shell: Any) -> bool:
    """Open the socket; false where ipykernel is another one than this knows."""
    thread = shell.kernel.iopub_thread
    open_before = getattr(thread, "_setup_pipe_out", None)
    if open_before is None or not hasattr(thread, "_pipe_in"):
        return False
    import zmq

    address = f"ipc://{os.path.join(tempfile.mkdtemp(prefix='kernel-'), 'output')}"
    thread.io_loop.add_callback(thread._pipe_in.socket.bind, address)

    def open_pipe() -> Any:
        context = zmq.Context()
        pipe = context.socket(zmq.PUSH)
        pipe.linger = 3000
        pipe.connect(address)
        return context, pipe

    thread._setup_pipe_out = open_pipe
    return True
