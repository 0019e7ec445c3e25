"""The server extension: its traits, and the one place where the parts are wired together.

Nothing but traitlets and Jupyter Server is imported here until the first request comes for one of
our routes, so that a server start costs next to nothing.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from jupyter_server.extension.application import ExtensionApp
from jupyter_server.utils import url_path_join
from tornado import web
from traitlets import Bool, Dict, Enum, Float, Int, TraitError, TraitType, Unicode, Union

from . import __version__
from .lazy_routes import LazyRoutes

if TYPE_CHECKING:
    from .protocol.requests import ConfigReply, ModelsReply
    from .protocol.workflows import FixInfo
    from .server.parts import Parts
    from .workflows.catalogue import TemplateCatalogue
    from .workflows.fix import CellFailure, FixProbe

ENVIRONMENT_PREFIX = "DATALAYER_AGENT_"


class DatalayerAgentApp(ExtensionApp):
    """Jupyter Datalayer Agent: an AI agent in JupyterLab."""

    name = "jupyter_datalayer_agent"
    app_name = "Jupyter Datalayer Agent"
    load_other_extensions = True

    model = Unicode(
        None,
        allow_none=True,
        config=True,
        help="""The model, in litellm's form provider/name, for example anthropic/claude-sonnet-5-5
        or ollama/qwen3. When not set: the first provider whose key is in the environment.""",
    )
    mode_models = Dict(
        key_trait=Enum(["ask", "edit", "agent"]),
        value_trait=Unicode(),
        config=True,
        help="A model for a mode (ask, edit, agent), for example a stronger one for agent.",
    )
    api_base = Unicode(
        None, allow_none=True, config=True, help="Address of an OpenAI-compatible server."
    )
    model_api = Enum(
        ["auto", "responses", "chat"],
        "auto",
        config=True,
        help="Speak the provider's Responses API, or chat completions; auto decides.",
    )
    temperature = Float(None, allow_none=True, config=True, help="Sampling temperature, 0 to 2.")
    top_p = Float(None, allow_none=True, config=True, help="Nucleus sampling, 0 to 1.")
    max_output_tokens = Int(
        None, allow_none=True, config=True, help="Tokens that one model answer may have."
    )
    token_limit = Int(None, allow_none=True, config=True, help="Tokens that a session may use.")
    parallel_tool_calls = Bool(
        True, config=True, help="Whether the model may call several tools at once."
    )
    tool_choice = Union(
        [Unicode(), Dict()],
        default_value=None,
        allow_none=True,
        config=True,
        help="auto, none or required, as the provider takes it.",
    )
    streaming = Bool(True, config=True, help="Show an answer while it is written.")
    max_tool_calls = Int(50, config=True, help="Tool calls that one turn may make.")
    max_history_turns = Int(15, config=True, help="Turns of the conversation that are sent.")
    approval_policy = Enum(
        ["never", "destructive", "always"],
        "destructive",
        config=True,
        help="What in Agent mode waits for the person's approval.",
    )
    database_url = Unicode(
        None,
        allow_none=True,
        config=True,
        help="Where conversations are kept. Default: SQLite in Jupyter's data directory.",
    )
    kernel_timeout_seconds = Float(
        900.0, config=True, help="Seconds that one cell may run before it is interrupted."
    )

    _parts: Parts | None = None

    def initialize_settings(self) -> None:
        """Read the environment's layer, which every other one overrides."""
        self.from_environment: set[str] = set()
        configured = self.config.get(type(self).__name__, {})
        for name, trait in self.setting_traits().items():
            text = os.environ.get(f"{ENVIRONMENT_PREFIX}{name.upper()}")
            if text is None or name in configured:
                continue
            try:
                setattr(self, name, trait.from_string(text))
            except (TraitError, ValueError, SyntaxError) as error:
                self.log.error(
                    "%s%s=%r is not valid and is not used: %s",
                    ENVIRONMENT_PREFIX, name.upper(), text, error,
                )  # fmt: skip
            else:
                self.from_environment.add(name)

    def initialize_handlers(self) -> None:
        """Take all routes under ``datalayer-agent/``; their handlers are imported at first use."""
        assert self.serverapp is not None
        application = self.serverapp.web_app
        base = url_path_join(self.serverapp.base_url, "datalayer-agent/")
        routes = LazyRoutes(application, self._load_routes)
        # Jupyter's own add_handlers looks into handler classes, which are not imported yet.
        web.Application.add_handlers(application, ".*$", [(f"{base}.*", routes)])

    async def stop_extension(self) -> None:
        """End the running turns and close the database."""
        if self._parts is not None:
            await self._parts.sessions.close()
            await self._parts.services.notebooks.close()
            await self._parts.services.store.close()
            from .models.shutdown import shutdown

            await shutdown()

    def setting_traits(self) -> dict[str, TraitType[Any, Any]]:
        """The traits that are settings of the agent, by name."""
        return dict(self.class_own_traits(config=True))

    def _load_routes(self) -> list[tuple[str, type[Any]]]:
        from .imports import importing

        with importing():
            from .server.base import PARTS_KEY
            from .server.routes import handlers

            assert self.serverapp is not None
            self._parts = self._wire()
            self.serverapp.web_app.settings[PARTS_KEY] = self._parts
            return handlers(self.serverapp.base_url)

    def _wire(self) -> Parts:
        """Make the parts of this server."""
        from .agent.services import Services
        from .agent.sessions import Sessions
        from .agent.settings import Settings
        from .models.catalogue import find_model
        from .models.litellm_model import LitellmModel
        from .notebook.pages import PageHub
        from .notebook.service import NotebookService
        from .server.parts import Parts
        from .store.store import Store
        from .tools.builtin import builtin_registry

        server = self.serverapp
        assert server is not None
        registry = builtin_registry()
        for problem in registry.add_entry_points():
            self.log.error("A tool could not be added: %s", problem)
        pages = PageHub()
        notebooks = NotebookService(
            contents_manager=server.contents_manager,
            session_manager=server.session_manager,
            kernel_manager=server.kernel_manager,
            kernel_spec_manager=server.kernel_spec_manager,
            pages=pages,
            root_dir=getattr(server.contents_manager, "root_dir", None),
            kernel_timeout_seconds=self.kernel_timeout_seconds,
        )

        def settings() -> Settings:
            names = Settings.model_fields.keys() & self.setting_traits().keys()
            return Settings(**{name: getattr(self, name) for name in names})

        def sees(model: str) -> bool:
            known = find_model(model)
            return known is None or known.vision

        services = Services(
            store=Store(self.database_url),
            model=LitellmModel(),
            registry=registry,
            pages=pages,
            notebooks=notebooks,
            settings=settings,
            resolve_model=resolve_model,
            sees=sees,
            templates=self._templates,
            find_fixes=find_fixes,
        )
        return Parts(
            services=services,
            sessions=Sessions(services),
            models=self._models,
            config=self._config,
            version=__version__,
        )

    @cached_property
    def _catalogue(self) -> TemplateCatalogue:
        from .workflows.catalogue import builtin_catalogue

        catalogue = builtin_catalogue()
        for problem in catalogue.add_entry_points():
            self.log.error("A workflow could not be added: %s", problem)
        return catalogue

    def _templates(self) -> TemplateCatalogue:
        """The workflows that need no model, imported when they are first asked for."""
        return self._catalogue

    def _models(self) -> ModelsReply:
        from .models.catalogue import models_reply

        return models_reply(self.model, self.api_base)

    def _config(self) -> ConfigReply:
        from .protocol.requests import ConfigReply, ConfigValue

        configured = self.config.get(type(self).__name__, {})

        def source(name: str) -> str:
            if name in self.from_environment:
                return "environment"
            return "config" if name in configured else "default"

        return ConfigReply(
            values=[
                ConfigValue(
                    name=name,
                    value=None if name == "database_url" else getattr(self, name),
                    source=cast(Any, source(name)),
                )
                for name in self.setting_traits()
            ]
        )


async def find_fixes(failure: CellFailure, probe: FixProbe) -> list[FixInfo]:
    """The repairs of a failed cell, the likeliest first; imported when a cell first fails."""
    from .workflows.repair import find_fixes as find

    return await find(failure, probe)


def resolve_model(settings: Any) -> str:
    """The model of a turn: the one set, else what the environment's keys suggest.

    Raises ``AgentError`` ``no_model`` that says what was looked for and what to do.
    """
    from .models.catalogue import default_model, readiness
    from .protocol.errors import AgentError

    model = settings.model or default_model()
    state = readiness(model, settings.api_base)
    if model is None or not state.ready:
        raise AgentError("no_model", f"{state.reason} {state.what_to_do}".strip())
    return cast(str, model)


main = launch_new_instance = DatalayerAgentApp.launch_instance
