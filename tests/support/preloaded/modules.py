"""What is imported beforehand, for servers and for kernels."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import io
import logging
import os
import pkgutil
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from types import ModuleType, SimpleNamespace

import jupyter_datalayer_agent as package

NOWHERE = "/no-home-of-preloaded-processes"
"""What was asked for the user's folders too early, by a module when it is imported, shows."""
FONTS = Path(__file__).parents[3] / "build" / "matplotlib"
"""Where matplotlib keeps what it finds out about the machine's fonts, which takes it seconds."""

# Beside all modules of this project and what the loader of litellm names: what a server with
# JupyterLab's extensions imports at its start, and litellm at its first call.
# `jupyterlab.labapp` is not among them: it asks for the user's folders when it is imported.
SERVER = (
    "anyio._backends._asyncio",
    "httpcore",
    "IPython",
    "jupyter_lsp.serverextension",
    "jupyter_lsp.virtual_documents_shadow",
    "jupyter_server.kernelspecs.handlers",
    "jupyter_server.nbconvert.handlers",
    "jupyter_server.serverapp",
    "jupyter_server.services.api.handlers",
    "jupyter_server.services.config.handlers",
    "jupyter_server.services.contents.handlers",
    "jupyter_server.services.events.handlers",
    "jupyter_server.services.kernels.handlers",
    "jupyter_server.services.kernelspecs.handlers",
    "jupyter_server.services.nbconvert.handlers",
    "jupyter_server.services.security.handlers",
    "jupyter_server.services.sessions.handlers",
    "jupyter_server.services.shutdown",
    "jupyter_server_terminals.app",
    "jupyterlab.commands",
    "jupyterlab.extensions",
    "jupyterlab_server",
    "notebook_shim.nbserver",
    "openai.resources",
    "sqlalchemy.dialects.sqlite.aiosqlite",
    "sqlalchemy.ext.asyncio",
    "tornado.platform.asyncio",
)
AT_A_CALL = (
    "litellm.integrations.prometheus_services",
    "litellm.litellm_core_utils.default_encoding",
    "litellm.llms.edenai.chat.transformation",
    "litellm.llms.fal_ai.cost_calculator",
    "litellm.llms.litellm_proxy.chat.transformation",
    "litellm.llms.openai.chat.gpt_audio_transformation",
    "litellm.llms.openai_like.dynamic_config",
    "litellm.llms.vertex_ai.vertex_ai_partner_models.anthropic.transformation",
    "litellm.proxy._types",
    "litellm.proxy.openai_files_endpoints.common_utils",
    "litellm.types.litellm_core_utils.streaming_chunk_builder_utils",
)
# `matplotlib.pyplot` is not among them: it looks for the kernel's shell when it is imported.
KERNEL = (
    "ipykernel.debugger",
    "ipykernel.inprocess",
    "ipykernel.kernelapp",
    "IPython.core.completer",
    "IPython.core.historyapp",
    "jedi",
    "matplotlib.backends.backend_agg",
    "matplotlib.figure",
    "matplotlib.font_manager",
    "pandas",
    "pandas.plotting",
    "pyarrow.parquet",
    "scipy.optimize",
    "scipy.stats",
    "sklearn.compose",
    "sklearn.ensemble",
    "sklearn.inspection",
    "sklearn.linear_model",
    "sklearn.model_selection",
    "sklearn.pipeline",
)


def bare_environment() -> dict[str, str]:
    """This process's, without a user's keys and what sets up Jupyter or the agent."""
    settings = ("_API_KEY", "JUPYTER_", "DATALAYER_AGENT_")
    return {
        name: value
        for name, value in os.environ.items()
        if not any(part in name for part in settings)
    }


def import_all(kind: str) -> None:
    """For ``servers`` or ``kernels``. No thread may be left by it, since a child has none of its
    parent's."""
    bare = bare_environment()
    os.environ.clear()
    os.environ.update(bare, HOME=NOWHERE, MPLCONFIGDIR=str(FONTS))
    sys.modules["rfc3987_syntax"] = None  # see tests/support/without
    gc.disable()
    if kind == "servers":
        _import_for_servers()
    else:
        _import_for_kernels()
    threads = len(os.listdir("/proc/self/task"))
    assert threads == 1, f"{threads} threads after the imports"
    gc.freeze()
    gc.enable()


def _import_for_servers() -> None:
    from jupyter_datalayer_agent.models import loader

    from .. import ports
    from . import kernels

    for name in (*SERVER, *_own_modules()):
        importlib.import_module(name)
    with loader._import_environment():
        for name in ("litellm", *loader.NEEDED_MODULES):
            importlib.import_module(name)
        for name in AT_A_CALL:
            # The oldest litellm does not have all of them.
            with contextlib.suppress(ModuleNotFoundError):
                importlib.import_module(name)
        _make_first_calls(sys.modules["litellm"])
    kernels.use()
    ports.use_for_kernels()
    _remember_exporters()
    _remember_language_servers()
    _remember_what_node_says()
    _remember_what_is_frozen()


def _remember_exporters() -> None:
    """At each load JupyterLab asks for nbconvert's exporters, and the metadata of all packages are
    read for each of them, half a second of a core in all; no package comes meanwhile."""
    from nbconvert.exporters import base

    base.entry_points = functools.cache(base.entry_points)
    base.entry_points(group="nbconvert.exporters")


def _make_first_calls(litellm: ModuleType) -> None:
    """What is built at the first call of a model and for the first notebook that is validated: a
    fifth of a second of a core in all."""
    import nbformat

    from jupyter_datalayer_agent.models.loader import warm_up, warm_up_rest

    warm_up(litellm)
    warm_up_rest(litellm)
    nbformat.validate(nbformat.v4.new_notebook())


def _remember_language_servers() -> None:
    """At each start jupyter-lsp looks for language servers, with the metadata of all packages read
    five times and npm asked for its folder; what it finds is the machine's."""
    from jupyter_lsp import manager
    from jupyter_lsp.types import LanguageServerManagerAPI

    npm = shutil.which("npm")
    prefix = npm and LanguageServerManagerAPI()._npm_prefix(npm)
    LanguageServerManagerAPI._npm_prefix = lambda self, npm: prefix
    manager.entry_points = functools.cache(manager.entry_points)
    manager.LanguageServerManager().initialize()


def _remember_what_node_says() -> None:
    """At each start JupyterLab asks yarn for its registry, a fifth of a second of a core; what it
    answers is the machine's."""
    from jupyterlab import commands

    settings = commands._yarn_config(logging.getLogger())
    commands._yarn_config = lambda logger: settings


def _remember_what_is_frozen() -> None:
    """Whether something is frozen is asked after an import, and Python counts all of it then: two
    tenths of a second for what is imported here."""
    from jupyter_datalayer_agent import imports

    imports.gc = SimpleNamespace(
        isenabled=gc.isenabled, disable=gc.disable, enable=gc.enable, get_freeze_count=lambda: 1
    )


def _import_for_kernels() -> None:
    # Libraries of numbers, and Arrow's allocator, start their threads when they are loaded.
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    os.environ["JE_ARROW_MALLOC_CONF"] = "background_thread:false"
    # Else the debugger warns here that it could miss breakpoints.
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    # As in a kernel, where it is set before anything is imported.
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    for name in KERNEL:
        importlib.import_module(name)
    _draw_a_figure()
    _show_an_error()


def _draw_a_figure() -> None:
    """What is kept of fonts, from the first text that is drawn: a fifth of a second of a core."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    figure.subplots().plot([1, 2, 3])
    FigureCanvasAgg(figure).print_png(io.BytesIO())


def _show_an_error() -> None:
    """What is kept of all modules' files, from the first traceback: a second of a core."""
    import pandas
    from IPython.core.ultratb import AutoFormattedTB

    try:
        pandas.DataFrame({"there": [1]})["missing"]
    except KeyError:
        AutoFormattedTB(mode="Context").text(*sys.exc_info())


APART = ("__main__", ".templates.builtin.in_kernel.", ".server.persona.persona")
"""What runs in kernels imports pandas, and the persona Jupyter AI, which is not there;
and one module is for the other ``mcp``."""


def _own_modules() -> Iterator[str]:
    other = ".mcp.sdk.v2" if version("mcp").startswith("1.") else ".mcp.sdk.v1"
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not any(part in module.name for part in (*APART, other)):
            yield module.name
