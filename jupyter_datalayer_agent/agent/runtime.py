"""What the sessions of a server share; ``app.py`` puts it together."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..datasets.service import Datasets, no_datasets
from ..models.types import Model
from ..notebook.page import PageHub
from ..notebook.service import NotebookService
from ..protocol.cells import CellRun
from ..protocol.workflows import QualityReport
from ..services.registry import ServiceRegistry
from ..services.routing import Router
from ..settings.turn_settings import Settings
from ..store.store import Store
from ..tools.context import ToolContext
from ..tools.gate import Gate
from ..tools.registry import ToolRegistry
from ..workflows.fix import FindFixes
from .events import Sink, ignore_event
from .instructions import Instructions

if TYPE_CHECKING:
    from ..tools.mcp.turn_tools import TurnTools
    from ..workflows.templates.catalogue import TemplateCatalogue

log = logging.getLogger(__name__)

Forget = Callable[[str], Awaitable[None]]


@dataclass(frozen=True)
class Runtime:
    """What the sessions of one server share. ``settings`` returns the server's current settings;
    ``resolve_model`` raises ``AgentError`` ``no_model`` if a model cannot be called at present;
    ``supports_vision`` returns whether a model takes images; ``templates`` and ``find_fixes`` work
    without a model; ``service_registry`` and ``router`` know what a message may ask for;
    ``on_forgotten`` is called with the id of a session that is emptied or deleted, so that its
    kernel and data sets can be removed."""

    store: Store
    model: Model
    registry: ToolRegistry
    pages: PageHub
    notebooks: NotebookService
    settings: Callable[[], Settings]
    resolve_model: Callable[[Settings], str]
    supports_vision: Callable[[str], bool]
    templates: Callable[[], TemplateCatalogue]
    find_fixes: FindFixes
    service_registry: Callable[[], ServiceRegistry]
    router: Callable[[], Router]
    turn_tools: TurnTools | None = None
    instructions: Instructions | None = None
    datasets: Datasets = field(default_factory=no_datasets)
    telemetry: Sink = ignore_event
    on_forgotten: list[Forget] = field(default_factory=list)

    def tools(self) -> ToolRegistry:
        """The tools of a message that is sent now: ``registry`` plus those of MCP servers."""
        return self.registry if self.turn_tools is None else self.turn_tools.now()

    def tool_context(self, gate: Gate, settings: Settings) -> ToolContext:
        """What calls of tools are given of this server. Whoever makes them adds for whom, and who
        is asked and told."""
        return ToolContext(
            gate=gate,
            notebooks=self.notebooks,
            kernel_timeout_seconds=settings.kernel_timeout_seconds,
            past=self.store.past,
            datasets=self.datasets,
            quality_of=self.quality_of,
            repair_of=self.repair_of,
        )

    async def quality_of(self, path: str, client_id: str | None = None) -> QualityReport:
        """The quality report of a notebook. Raises ``DocumentError`` if there is none."""
        from ..workflows.quality.of_document import quality_of

        return await quality_of(self.notebooks, path, client_id)

    async def repair_of(
        self, path: str, run: CellRun, code: str | None, client_id: str | None
    ) -> str | None:
        """The known repair of a failed run, as a hint for the model; see ``repair_hint``."""
        from ..workflows.fixes.probe import repair_hint

        return await repair_hint(self.notebooks, self.find_fixes, path, run, code, client_id)

    async def forget(self, session_id: str) -> None:
        """Remove what other parts stored for a session that was emptied or deleted."""
        for each in self.on_forgotten:
            try:
                await each(session_id)
            except Exception:
                # A failure of another part must not keep the session.
                log.exception("Some data of session %s could not be removed", session_id)
