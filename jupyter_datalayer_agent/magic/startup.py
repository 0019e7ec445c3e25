"""Run by IPython at a kernel's start, as its PYTHONSTARTUP, where ``autoload_magic`` is on.

The kernel's Python may be another one than the server's, without the package: then the magic is
loaded from where this file lies. It needs nothing but IPython.
"""

from __future__ import annotations


def _load() -> None:
    import importlib.util
    import os
    import sys

    own = os.environ.pop("DATALAYER_AGENT_PYTHONSTARTUP", None)
    if own is None:
        os.environ.pop("PYTHONSTARTUP", None)
    else:
        os.environ["PYTHONSTARTUP"] = own
    shell = globals()["get_ipython"]() if "get_ipython" in globals() else None
    if shell is not None:
        name = "jupyter_datalayer_agent"
        if importlib.util.find_spec(name) is None:
            folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
            spec = importlib.util.spec_from_file_location(
                name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
            )
            assert spec is not None
            assert spec.loader is not None
            sys.modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules[name])
        shell.extension_manager.load_extension(name)
    if own and os.path.isfile(own):
        with open(own, encoding="utf-8") as file:
            exec(compile(file.read(), own, "exec"), globals())


try:
    _load()
finally:
    del _load
