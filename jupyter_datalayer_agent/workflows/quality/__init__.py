"""The quality of a notebook: a score, what to improve, and where."""

from .report import analyse_notebook

__all__ = ["analyse_notebook"]
