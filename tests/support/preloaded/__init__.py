"""Servers and kernels as children of processes that have everything imported and did everything
once, so that a start costs no imports and no first time: more than four seconds of a core for a
server, three for a kernel that draws or fails.

They are real processes of their own all the same: a server runs ``python -m jupyter_server`` from
its first line, in its own folder and environment, and a kernel ``python -m ipykernel_launcher``.
Only what importing gives is there before, and what a library keeps of its first call, figure or
error. Servers of benchmarks start as a user's do, and so do that of ``test_start.py`` and those
with ``own_interpreter``; the kernels of ``test_scratch.py``, and those of other languages, do too.

- ``process.py`` is the process with the imports; ``modules.py`` says which
- ``client.py`` asks it for children
- ``kernels.py`` makes Jupyter's kernel managers ask, and ``cli.py`` the command
"""

from .client import Child, Preloaded, Program
from .modules import bare_environment

__all__ = ["Child", "Preloaded", "Program", "bare_environment"]
