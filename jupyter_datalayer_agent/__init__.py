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
