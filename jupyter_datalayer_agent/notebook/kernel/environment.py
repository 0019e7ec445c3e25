"""What a kernel's environment must not have: the tokens by which programs speak for the user."""

from __future__ import annotations

from collections.abc import Mapping

TOKENS = ("JUPYTER_TOKEN", "JUPYTERHUB_API_TOKEN", "JPY_API_TOKEN")
"""Variables with which Jupyter and JupyterHub start a server; its kernels would inherit them."""


def without_tokens(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without the server's tokens, whatever variables have them."""
    tokens = {environment[name] for name in TOKENS if environment.get(name)}
    return {
        name: value
        for name, value in environment.items()
        if name not in TOKENS and not any(token in value for token in tokens)
    }
