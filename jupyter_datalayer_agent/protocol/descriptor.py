"""What an agent SDK or a directory of agents is given about this agent (DESIGN 13)."""

from __future__ import annotations

from .base import Mode, Wire


class AgentCapabilities(Wire):
    """What the agent can do, as far as other programs ask."""

    multi_turn: bool
    autonomous: bool
    file_operations: bool
    terminal_access: bool
    workspace_access: bool


class DescribedMode(Wire):
    """A mode, with the system prompt that it has without a notebook and without ``AGENTS.md``."""

    id: Mode
    system_prompt: str


class DescribedService(Wire):
    """A service, which a message names as ``/id``."""

    id: str
    name: str
    description: str


class DescribedTool(Wire):
    """A tool that the model may call, as its mode and the gate allow."""

    name: str
    description: str
    changes: bool


class AgentDescriptor(Wire):
    """The agent. ``endpoints`` are names of routes with their paths below ``base_url``, the
    server's; every route but ``health`` needs Jupyter's token."""

    id: str
    display_name: str
    description: str
    version: str
    capabilities: AgentCapabilities
    modes: list[DescribedMode]
    services: list[DescribedService]
    tools: list[DescribedTool]
    base_url: str
    endpoints: dict[str, str]
