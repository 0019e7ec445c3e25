"""An AI agent that lives in JupyterLab: the extension points of the package, and nothing else."""

from typing import Any

__version__ = "0.1.0"


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    """Tell Jupyter Server which application to load; it is imported only when the server asks."""
    from jupyter_datalayer_agent.app import DatalayerAgentApp

    return [{"module": "jupyter_datalayer_agent", "app": DatalayerAgentApp}]


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Tell `jupyter-builder develop` where the built labextension lies."""
    return [{"src": "labextension", "dest": "jupyter-datalayer-agent"}]


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext jupyter_datalayer_agent``: the ``%agent`` magic; imports IPython only."""
    from jupyter_datalayer_agent.magic.magics import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext jupyter_datalayer_agent``."""
    from jupyter_datalayer_agent.magic.magics import unload

    unload(shell)
