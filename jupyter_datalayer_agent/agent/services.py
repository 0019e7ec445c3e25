"""The parts that the agent works with, wired together in ``app.py``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..models.types import Model
from ..notebook.pages import PageHub
from ..notebook.service import NotebookService
from ..store.store import Store
from ..tools.registry import ToolRegistry
from .settings import Settings


@dataclass(frozen=True)
class Services:
    """One server's parts. ``settings`` gives the server's layer, current at each call;
    ``ready`` raises ``AgentError`` ``no_model`` where a model cannot be called as things are;
    ``sees`` tells whether a model takes images."""

    store: Store
    model: Model
    registry: ToolRegistry
    pages: PageHub
    notebooks: NotebookService
    settings: Callable[[], Settings]
    resolve_model: Callable[[Settings], str]
    sees: Callable[[str], bool]
