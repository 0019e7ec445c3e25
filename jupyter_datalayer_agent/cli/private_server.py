"""``python -m`` this is ``jupyter server``, which ends when its standard input does.

So a private server ends with the command that started it, also where that is killed.
"""

from __future__ import annotations

import os
import signal
import sys
import threading


def main() -> None:
    """Run the server. What it starts has no standard input."""
    # Not inherited by other programs, which might read it, or hold it open.
    watched = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    threading.Thread(target=_end_with, args=(watched,), daemon=True).start()
    from jupyter_server.serverapp import main as serve

    serve(sys.argv[1:])


def _end_with(descriptor: int) -> None:
    while os.read(descriptor, 1024):
        pass
    # The server ends its kernels first.
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
