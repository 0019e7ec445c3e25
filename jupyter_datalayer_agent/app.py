"""The server extension, and the one place where the parts are wired together.

Until the first request for one of our routes, only traitlets and Jupyter Server are imported, so
that a server start costs next to nothing.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from jupyter_server.extension.application import ExtensionApp
from jupyter_server.utils import url_path_join
from tornado import web
from traitlets import default
from traitlets.config import Config

from ._version import __version__
from .entry_points import Plugins, entry_points_of
from .lazy_routes import LazyRoutes
from .notebook.renames import Renames
from .server.kernel_access.tokens import KernelTokens
from .settings.definitions import AgentTraits, setting_traits
from .settings.startup_layers import from_environment, valid_config
from .telemetry.log_lines import with_package

if TYPE_CHECKING:
    from .models.connections.registry import Connections
    from .protocol.renames import Rename
    from .protocol.workflows import FixInfo
    from .server.base.handler import Parts
    from .server.sdk import Registrations
    from .services.registry import ServiceRegistry
    from .services.routing import Router
    from .settings.layers import Layers
    from .telemetry.wiring import Telemetry
    from .tools.mcp.servers import McpServers
    from .tools.registry import ToolRegistry
    from .workflows.fix import CellFailure, FixProbe
    from .workflows.templates.catalogue import TemplateCatalogue


class DatalayerAgentApp(AgentTraits, ExtensionApp):
    """Jupyter Datalayer Agent: an AI agent in JupyterLab."""

    configured: set[str]
    from_environment: set[str]
    name = "jupyter_datalayer_agent"
    app_name = "Jupyter Datalayer Agent"
    load_other_extensions = True

    _parts: Parts | None = None
    _registrations: Registrations | None = None

    def __init__(self, **kwargs: Any) -> None:
        self._complaints: set[tuple[str, ...]] = set()
        super().__init__(**kwargs)

    def _load_config(
        self, cfg: Config, section_names: Any = None, traits: dict[str, Any] | None = None
    ) -> None:
        """Load the configuration without invalid values of our settings."""
        valid = valid_config(self, cfg, setting_traits(self), self._complain)
        super()._load_config(valid, section_names, traits)

    def get_default_logging_config(self) -> dict[str, Any]:
        """The modules of the package log as this application does."""
        return with_package(dict(super().get_default_logging_config()), self.log_format)

    @default("log_format")
    def _default_log_format(self) -> str:
        return "text"

    def initialize_settings(self) -> None:
        """Read the environment's layer, which every other layer overrides."""
        traits = setting_traits(self)
        valid = valid_config(self, self.config, traits, self._complain)
        self.configured = set(self._find_my_config(valid))
        self.from_environment = from_environment(self, traits, self.configured, self._complain)

    def _complain(self, *message: str) -> None:
        """Log an error once: the same configuration is loaded several times."""
        if message not in self._complaints:
            self._complaints.add(message)
            self.log.error(*message)

    def initialize_handlers(self) -> None:
        """Register all routes under ``datalayer-agent/``; their handlers are imported lazily."""
        assert self.serverapp is not None
        KernelTokens(self.serverapp, lambda: self.autoload_magic).install()
        self.serverapp.io_loop.add_callback(self._follow_renames)
        self._register_with_sdks()
        application = self.serverapp.web_app
        base = url_path_join(self.serverapp.base_url, "datalayer-agent/")
        routes = LazyRoutes(application, self._load_routes)
        # Jupyter's own add_handlers looks into handler classes, which are not imported yet.
        web.Application.add_handlers(application, ".*$", [(f"{base}.*", routes)])

    def _follow_renames(self) -> None:
        """Once the server serves: until then another extension, such as jupytext, may replace its
        contents manager."""
        assert self.serverapp is not None
        self._renames.install(self.serverapp.contents_manager)

    def _register_with_sdks(self) -> None:
        """Look for agent SDKs once the server serves; without one nothing of ours is loaded."""
        server = self.serverapp
        assert server is not None
        loop = server.io_loop

        async def register() -> None:
            points = await loop.run_in_executor(None, entry_points_of, "sdk")
            if not points:
                self.log.info("No agent SDK is installed: the agent is not registered with one")
                return
            parts = self.parts()
            await parts.plugins.ready()
            from .server.sdk import Registrations

            self._registrations = Registrations()
            await self._registrations.add(points, parts, server.base_url)

        loop.add_callback(register)

    async def stop_extension(self) -> None:
        """Leave the agent SDKs, end the running turns and close the database."""
        if self._registrations is not None:
            await self._registrations.remove()
        if self._parts is not None:
            for close in self._parts.on_close:
                await close()
            await self._parts.sessions.close()
            await self._parts.local_models.close()
            await self._parts.turn_tools.servers.close()
            await self._parts.notebooks.close()
            await self._parts.store.close()
            from .models.loader import shutdown

            await shutdown()

    @cached_property
    def _renames(self) -> Renames:
        """The documents that are renamed, whether or not the rest of us is loaded."""

        async def record(rename: Rename) -> None:
            if rename.is_deletion and self._parts is None:
                # Not worth what would be imported: see docs/decisions/0102-renames-are-kept.md.
                return
            from .agent.session.registry import RecordedRenames

            parts = self.parts()
            await RecordedRenames(parts, parts.sessions).record(rename)

        async def stored(time: int) -> list[Rename]:
            return await self.parts().store.renames.after(time)

        return Renames(record, stored)

    def _load_routes(self) -> list[tuple[str, type[Any]]]:
        from .imports import importing

        with importing():
            from .server.routes import handlers

            assert self.serverapp is not None
            self.parts()
            return handlers(self.serverapp.base_url)

    def parts(self) -> Parts:
        """The parts of this server, made when they are first needed."""
        if self._parts is None:
            from .imports import importing

            with importing():
                from .server.base.handler import PARTS_KEY

                assert self.serverapp is not None
                self._parts = self._wire()
                self.serverapp.web_app.settings[PARTS_KEY] = self._parts
        return self._parts

    def _wire(self) -> Parts:
        """Make the parts of this server."""
        from .agent.features.connect import ConnectService
        from .agent.instructions import Instructions
        from .datasets.service import Datasets
        from .models.catalogue import find_model
        from .models.litellm_model import LitellmModel
        from .models.local.added_models import added_models
        from .models.local.servers import LocalOptions, LocalServers
        from .models.with_local_models import with_local_models
        from .notebook.kernel.limits import Limits
        from .notebook.page import PageHub
        from .notebook.rooms import Rooms
        from .notebook.service import NotebookService
        from .server.base.handler import Parts
        from .settings.layers import ConfigService
        from .store.store import Store
        from .tools.builtin import builtin_registry
        from .tools.mcp.turn_tools import TurnTools

        server = self.serverapp
        assert server is not None
        registry = builtin_registry()

        def add_tools() -> None:
            for problem in registry.add_entry_points():
                self.log.error("A tool could not be added: %s", problem)

        pages = PageHub()
        notebooks = NotebookService(
            contents_manager=server.contents_manager,
            session_manager=server.session_manager,
            kernel_manager=server.kernel_manager,
            kernel_spec_manager=server.kernel_spec_manager,
            pages=pages,
            renames=self._renames,
            root_dir=getattr(server.contents_manager, "root_dir", None),
            kernel_timeout_seconds=self.kernel_timeout_seconds,
            scratch_limits=lambda: Limits.of(
                self.scratch_memory_mb, self.scratch_max_processes, self.scratch_timeout_seconds
            ),
            scratch_network=lambda: self.scratch_network,
            rooms=Rooms(server),
        )

        layers = self._layers

        def supports_vision(model: str) -> bool:
            known = find_model(model)
            return known is None or known.vision

        if self.database_url:
            notebooks.text_files.private_places += database_files(self.database_url)
        model = LitellmModel(connections=self._connections)
        store = Store(
            self.database_url, vacuum=self.database_vacuum != "off", root=notebooks.root_dir
        )
        datasets = Datasets(notebooks.root_dir, store.datasets, lambda: self.max_upload_bytes)
        turn_tools = TurnTools(registry, self._mcp_servers(notebooks.root_dir))
        notebooks.text_files.private_places.append(turn_tools.servers.files.user_file)
        instructions = Instructions(
            notebooks.root_dir, notebooks.text_files, turn_tools.servers.state
        )
        local_servers = LocalServers(
            added_models,
            lambda: LocalOptions(self.local_model_idle_seconds, self.local_model_threads),
        )
        return Parts(
            store=store,
            model=with_local_models(model, local_servers),
            registry=registry,
            pages=pages,
            notebooks=notebooks,
            settings=layers.for_turns,
            resolve_model=lambda settings: resolve_model(settings, self._connections),
            supports_vision=supports_vision,
            templates=lambda: self._catalogue,
            find_fixes=find_fixes,
            service_registry=lambda: self._service_registry,
            router=lambda: self._router,
            datasets=datasets,
            turn_tools=turn_tools,
            instructions=instructions,
            telemetry=self._telemetry(registry),
            on_forgotten=[datasets.forget, notebooks.scratch.end],
            session_idle_seconds=self.session_idle_seconds,
            retention_days=self.retention_days,
            connect=ConnectService(self._connections, model, layers, pages),
            config=ConfigService(layers),
            version=__version__,
            local_models=local_servers,
            plugins=Plugins(add_tools),
        )

    @cached_property
    def _catalogue(self) -> TemplateCatalogue:
        """The workflows that need no model, imported at their first use."""
        from .workflows.templates.catalogue import builtin_catalogue

        catalogue = builtin_catalogue()
        for problem in catalogue.add_entry_points():
            self.log.error("A workflow could not be added: %s", problem)
        return catalogue

    @cached_property
    def _service_registry(self) -> ServiceRegistry:
        """The services, imported when the first message comes."""
        from .services.builtin import builtin_services

        registry = builtin_services()
        registry.add_entry_points()
        return registry

    @cached_property
    def _router(self) -> Router:
        from .services.routing import Router

        return Router(self._service_registry)

    @cached_property
    def _layers(self) -> Layers:
        from .settings.layers import Layers, UserSettings, settings_file

        assert self.serverapp is not None
        lab = self.serverapp.extension_manager.extension_apps.get("jupyterlab", ())
        directory = next((each.user_settings_dir for each in lab), None)
        return Layers(
            self,
            UserSettings(settings_file(directory)),
            environment=self.from_environment,
            configured=self.configured,
        )

    @cached_property
    def _connections(self) -> Connections:
        """What the user connected in the panel, in Jupyter's data directory."""
        from jupyter_core.paths import jupyter_data_dir

        from .agent.features.connect import locked_reason
        from .models.connections.connection import ClientCertificate
        from .models.connections.registry import Connections, OwnServer

        def own_server() -> OwnServer:
            values = self._layers.values()
            file, key = values["api_certificate"], values["api_certificate_key"]
            return OwnServer(values["api_headers"], ClientCertificate(file, key) if file else None)

        return Connections(
            Path(jupyter_data_dir(), "datalayer-agent"),
            enabled=lambda: locked_reason(self._layers) is None,
            own_server=own_server,
        )

    def _mcp_servers(self, root_dir: str | None) -> McpServers:
        """The servers of Jupyter's configuration directory and of the server root."""
        from jupyter_core.paths import jupyter_config_dir, jupyter_data_dir

        from .tools.mcp.config_files import ConfigFiles
        from .tools.mcp.servers import McpOptions, McpServers
        from .tools.mcp.state_file import StateFile

        root = None if root_dir is None else Path(root_dir)
        state = StateFile(Path(jupyter_data_dir(), "datalayer-agent"))
        return McpServers(
            ConfigFiles(Path(jupyter_config_dir()), root, state),
            state,
            root,
            lambda: McpOptions(
                self.mcp_call_timeout_seconds,
                self.mcp_idle_seconds,
                is_allowed=bool(self._layers.values()["mcp_servers"]),
            ),
            self._connections.keys,
        )

    def _telemetry(self, registry: ToolRegistry) -> Telemetry:
        from .models.catalogue import find_model
        from .secrets_in_text import redact
        from .telemetry.wiring import telemetry

        def is_model(name: str) -> bool:
            values = self._layers.values()
            own = (values["model"], *values["mode_models"].values())
            return name in own or find_model(name) is not None

        return telemetry(
            getattr(self.serverapp, "event_logger", None),
            metrics=self.metrics,
            log_content=self.log_content,
            version=__version__,
            redact=redact,
            is_tool=lambda name: registry.find(name) is not None,
            is_model=is_model,
        )


async def find_fixes(failure: CellFailure, probe: FixProbe) -> list[FixInfo]:
    """The fixes of a failed cell, most likely first; imported when a cell first fails."""
    from .workflows.fixes.registry import find_fixes as find

    return await find(failure, probe)


def database_files(database_url: str) -> list[Path]:
    """Where an SQLite address keeps its files. The address is checked when it is opened."""
    path = Path(database_url.partition("?")[0].removeprefix("sqlite:///"))
    path = path.expanduser().resolve()
    return [path.with_name(f"{path.name}{end}") for end in ("", "-wal", "-shm", "-journal")]


def resolve_model(settings: Any, connections: Connections) -> str:
    """The model of a turn: the one set, else that of the first provider with a key.

    Raises ``AgentError`` ``no_model`` that says what to do.
    """
    from .models.catalogue import NOT_CONNECTED
    from .protocol.errors import AgentError

    model = settings.model or connections.default_model()
    if model is None:
        raise AgentError("no_model", NOT_CONNECTED)
    state = connections.readiness(model, settings.api_base)
    if not state.ready:
        raise AgentError("no_model", f"{state.reason} {state.what_to_do}".strip())
    return cast(str, model)


main = launch_new_instance = DatalayerAgentApp.launch_instance
