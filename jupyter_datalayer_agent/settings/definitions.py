"""All settings as traits: names, defaults, what is valid, and what each one does.

A trait that is tagged ``server=True`` is for the administrator: it is set in the environment or in
Jupyter's configuration, and not by a user in JupyterLab.
"""

from __future__ import annotations

import ast
from typing import Any

from traitlets import (
    Bool,
    Dict,
    Enum,
    Float,
    Int,
    List,
    TraitType,
    Unicode,
    Union,
)
from traitlets.config import Configurable

MODES = ["ask", "edit", "agent"]
SHARING = ["always", "ask", "never"]
EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class NamesOrNumbers(List[Any]):
    """A list that may also be written with commas, as on the command line: ``a,b``."""

    def from_string(self, s: str) -> list[Any]:
        """``a,b`` beside what every list takes: ``['a', 'b']``."""
        if s.lstrip().startswith(("[", "(")):
            return list(ast.literal_eval(s.strip()))
        parts = [each.strip() for each in s.split(",") if each.strip()]
        return list(self.from_string_list(parts) or [])


class AgentTraits(Configurable):
    """The settings of the agent. ``DatalayerAgentApp`` is one of these."""

    model = Unicode(
        None,
        allow_none=True,
        help="""The model, in litellm's form provider/name, for example anthropic/claude-sonnet-5-5
        or ollama/qwen3. When not set: the first provider that has a key, saved in
        the panel or in the environment.""",
    ).tag(config=True)
    mode_models = Dict(
        key_trait=Enum([*MODES, "strategist"]),
        value_trait=Unicode(),
        help="""A model for a mode (ask, edit, agent) or for the Strategist (strategist), for
        example a stronger one for agent.""",
    ).tag(config=True)
    api_base = Unicode(None, allow_none=True, help="Address of an OpenAI-compatible server.").tag(
        config=True
    )
    api_headers = Dict(
        key_trait=Unicode(),
        value_trait=Unicode(),
        help="""Extra headers for the server at api_base, as a gateway may want them: for each
        header's name the environment variable that has its value.""",
    ).tag(config=True, server=True)
    api_certificate = Unicode(
        None,
        allow_none=True,
        help="""A file in PEM with the client certificate for the server at api_base, and with its
        key, unless api_certificate_key names that.""",
    ).tag(config=True, server=True)
    api_certificate_key = Unicode(
        None, allow_none=True, help="A file in PEM with the key of api_certificate, unencrypted."
    ).tag(config=True, server=True)
    connect_models = Bool(
        True,
        help="""Whether users may connect models and save keys in the panel. When off, what was
        connected there is not used: keys come from the environment only.""",
    ).tag(config=True, server=True)
    mcp_servers = Bool(
        True,
        help="""Whether the agent may use the tools of MCP servers. When off, none is read from
        mcp.json or started, and users can add none.""",
    ).tag(config=True, server=True)
    mcp_call_timeout_seconds = Float(
        120.0,
        min=1,
        help="""Seconds that a call of an MCP server's tool may take.""",
    ).tag(config=True, server=True)
    mcp_idle_seconds = Float(
        900.0,
        min=1,
        help="""Seconds after the last call until an MCP server is ended. It is started again when
        needed.""",
    ).tag(config=True, server=True)
    local_model_ports = NamesOrNumbers(
        Int(min=1, max=65535),
        [11434, 1234, 8080, 8000],
        help="""Ports of 127.0.0.1 at which the panel looks for model servers (Ollama, LM Studio,
        llama.cpp, vLLM) while no model is connected, or when it is asked to. Empty: it does not
        look.""",
    ).tag(config=True, server=True)
    model_api = Enum(
        ["auto", "responses", "chat"],
        "auto",
        help="Use the provider's Responses API or chat completions; auto decides.",
    ).tag(config=True)
    temperature = Float(
        None, allow_none=True, min=0, max=2, help="Sampling temperature, 0 to 2."
    ).tag(config=True)
    top_p = Float(
        None, allow_none=True, min=0.001, max=1, help="Nucleus sampling, above 0 and up to 1."
    ).tag(config=True)
    max_output_tokens = Int(
        None, allow_none=True, min=1, help="Maximum tokens in one model answer."
    ).tag(config=True)
    reasoning_effort = Enum(
        EFFORTS,
        None,
        allow_none=True,
        help="How much a model reasons. Sent only to models that take this effort.",
    ).tag(config=True)
    token_limit = Int(
        None, allow_none=True, min=1, help="Maximum tokens that a session may use."
    ).tag(config=True)
    parallel_tool_calls = Bool(True, help="Whether the model may call several tools at once.").tag(
        config=True
    )
    tool_choice = Union(
        [Unicode(), Dict()],
        default_value=None,
        allow_none=True,
        help="auto, none or required, passed to the provider.",
    ).tag(config=True)
    streaming = Bool(True, help="Show answers as they are generated.").tag(config=True)
    intent_detection = Enum(
        ["off", "commands", "auto"],
        "auto",
        help="""Which messages are offered a service's action or knowledge: none; those with a slash
        command (commands); also others, by the model's tools findActions and proposeAction
        (auto).""",
    ).tag(config=True)
    max_tool_calls = Int(50, min=1, help="Maximum tool calls in one turn.").tag(config=True)
    mcp_mode = Enum(
        ["off", *MODES],
        "agent",
        help="""What other programs may do over MCP: nothing (off), read (ask, edit), or also change
        and run (agent).""",
    ).tag(config=True)
    max_history_turns = Int(
        15, min=1, help="Turns of the conversation that are sent verbatim."
    ).tag(config=True)
    context_window = Int(
        None,
        allow_none=True,
        min=1000,
        help="Size of the model's context window in tokens, if unknown or to limit it.",
    ).tag(config=True)
    approval_policy = Enum(
        ["never", "destructive", "always"],
        "destructive",
        help="When to ask for approval in Agent mode.",
    ).tag(config=True)
    answer_timeout_seconds = Float(
        3600.0,
        min=0.1,
        help="""Seconds to wait for the next part of an answer while the model's server only keeps
        the connection alive.""",
    ).tag(config=True)
    kernel_timeout_seconds = Float(
        900.0,
        min=0.1,
        help="Seconds a cell may run before it is interrupted.",
    ).tag(config=True)
    session_idle_seconds = Float(
        1800.0,
        min=0.05,
        help="""Seconds until an idle conversation is unloaded from memory. Nothing is lost: it is
        loaded again when needed.""",
    ).tag(config=True, server=True)
    outputs = Enum(
        SHARING,
        "always",
        help="Whether outputs of cells and of code may go to the model: always, ask or never.",
    ).tag(config=True)
    row_data = Enum(
        SHARING,
        "always",
        help="Whether sample rows of data sets may go to the model: always, ask or never.",
    ).tag(config=True)
    scratch_memory_mb = Int(
        1024,
        min=0,
        help="""MiB of memory that a scratch kernel may use, with its child processes; 0 for no
        limit.""",
    ).tag(config=True, server=True)
    scratch_max_processes = Int(
        5, min=-1, help="Child processes that a scratch kernel may have; -1 for no limit."
    ).tag(config=True, server=True)
    scratch_timeout_seconds = Float(
        900.0, min=0.1, help="Seconds that one call in a scratch kernel may run."
    ).tag(config=True, server=True)
    scratch_network = Bool(
        False,
        help="""Whether code in a scratch kernel may connect to other machines and programs. It may
        where the system cannot prevent it (docs/scratch-kernel.md).""",
    ).tag(config=True, server=True)
    local_model_idle_seconds = Float(
        900.0,
        min=1,
        help="""Seconds after the last answer until a model on this computer is unloaded from
        memory. It is loaded again when needed.""",
    ).tag(config=True, server=True)
    local_model_threads = Int(
        None,
        allow_none=True,
        min=1,
        help="""Processor threads of a model on this computer; when not set, one for each core but
        one. Its process has a low priority.""",
    ).tag(config=True, server=True)
    database_url = Unicode(
        None,
        allow_none=True,
        help="""The SQLite file in which conversations are kept, sqlite:////absolute/path/agent.db,
        or sqlite:// to keep them in memory only. Default: datalayer-agent/agent.db in Jupyter's
        data directory.""",
    ).tag(config=True, server=True)
    retention_days = Int(
        0,
        min=0,
        help="""Days without activity after which a conversation is deleted, with its undo data and
        its share of the usage report; 0 keeps all. Those in which something waits are kept.""",
    ).tag(config=True, server=True)
    database_vacuum = Enum(
        ["incremental", "off"],
        "incremental",
        help="""Whether the database returns unused space to the disk, a few pages at a time after
        each turn.""",
    ).tag(config=True, server=True)
    max_upload_bytes = Int(
        5_000_000_000, min=1, help="Maximum size of an uploaded data set in bytes."
    ).tag(config=True, server=True)
    metrics = Bool(
        False, help="Count turns, model calls, tool calls and tokens on the server's own /metrics."
    ).tag(config=True, server=True)
    log_format = Unicode(
        "text",
        help="""How log lines look: text, json (one object a line), or a format of Python's
        logging.""",
    ).tag(config=True, server=True)
    log_content = Bool(
        False,
        help="""Log what users and models write: messages, answers, arguments and outputs of
        tools. Keys are redacted.""",
    ).tag(config=True, server=True)
    autoload_magic = Bool(
        False,
        help="Load the %agent magic in every Python kernel that is started in JupyterLab.",
    ).tag(config=True, server=True)
    locked = NamesOrNumbers(
        Unicode(),
        help="""Names of settings that users cannot change in JupyterLab, a session or a request.
        Their value comes from the configuration, the environment or the default.""",
    ).tag(config=True, server=True)


OF_THE_APPLICATION = ("log_level",)
"""Traits of every Jupyter application that are settings of ours, too."""


def setting_traits(owner: Configurable) -> dict[str, TraitType[Any, Any]]:
    """The traits that are settings, by name; also those that a subclass adds itself."""
    own = {**AgentTraits.class_own_traits(config=True), **type(owner).class_own_traits(config=True)}
    every = owner.traits()
    own |= {name: every[name] for name in OF_THE_APPLICATION if name in every}
    return dict(own)


def is_for_server(name: str, trait: TraitType[Any, Any]) -> bool:
    """Whether only an administrator may set it."""
    return name in OF_THE_APPLICATION or bool(trait.metadata.get("server"))
