"""The parts that the agent works with, wired together in ``app.py``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..models.types import Model
from ..notebook.pages import PageHub
from ..notebook.service import NotebookService
from ..store.store import Store
from ..tools.registry import ToolRegistry
from ..workflows.fix import FindFixes
from .settings import Settings

if TYPE_CHECKING:
    from ..workflows.catalogue import TemplateCatalogue


@dataclass(frozen=True)
class Services:
    """One server's parts. ``settings`` gives the server's layer, current at each call;
    ``ready`` raises ``AgentError`` ``no_model`` where a model cannot be called as things are;
    ``sees`` tells whether a model takes images; ``templates`` and ``find_fixes`` are what works
    without a model."""

    store: Store
    model: Model
    registry: ToolRegistry
    pages: PageHub
    notebooks: NotebookService
    settings: Callable[[], Settings]
    resolve_model: Callable[[Settings], str]
    sees: Callable[[str], bool]
    templates: Callable[[], TemplateCatalogue]
    find_fixes: FindFixes
