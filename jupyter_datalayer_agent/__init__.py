"""An AI agent that lives in JupyterLab: the extension points of the package, and nothing else."""

from typing import Any

from ._version import __version__ as __version__


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    """The application that Jupyter Server loads; imported only when the server asks."""
    from jupyter_datalayer_agent.app import DatalayerAgentApp

    return [{"module": "jupyter_datalayer_agent", "app": DatalayerAgentApp}]


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Where `jupyter-builder develop` finds the built labextension."""
    return [{"src": "labextension", "dest": "jupyter-datalayer-agent"}]


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext jupyter_datalayer_agent``: the ``%agent`` magic; imports IPython only."""
    from jupyter_datalayer_agent.magic.magics import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext jupyter_datalayer_agent``."""
    from jupyter_datalayer_agent.magic.magics import unload

    unload(shell)
