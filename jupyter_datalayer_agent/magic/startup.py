"""Run by IPython at a kernel's start, as its PYTHONSTARTUP, where ``autoload_magic`` is on.

The kernel's Python may be another one than the server's, without the package: then the magic is
loaded from where this file lies. It needs nothing but IPython.
"""


def _load():
    import importlib.util
    import os
    import sys

    own = os.environ.pop("DATALAYER_AGENT_PYTHONSTARTUP", None)
    if own is None:
        os.environ.pop("PYTHONSTARTUP", None)
    else:
        os.environ["PYTHONSTARTUP"] = own
    try:
        shell = get_ipython()
    except NameError:
        shell = None
    if shell is not None:
        name = "jupyter_datalayer_agent"
        if importlib.util.find_spec(name) is None:
            folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
            spec = importlib.util.spec_from_file_location(
                name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
            )
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
