"""The agent's descriptor, made of what this server has."""

from __future__ import annotations

from typing import get_args

from jupyter_server.utils import url_path_join

from ...agent.context.system_prompt import system_prompt
from ...protocol.base import Mode
from ...protocol.descriptor import (
    AgentCapabilities,
    AgentDescriptor,
    DescribedMode,
    DescribedService,
    DescribedTool,
)
from ..base.parts import Parts

AGENT_ID = "datalayer-autonomous"
ENDPOINTS = {
    "health": "health",
    "chat": "chat",
    "stream": "chat/stream",
    "sessions": "sessions",
    "events": "sessions/{id}/events",
    "ops": "sessions/{id}/ops",
    "tools": "tools",
    "services": "services",
    "openapi": "openapi.json",
}
"""Routes that a program begins with; ``openapi.json`` describes them all."""


def descriptor(parts: Parts, base_url: str) -> AgentDescriptor:
    """The descriptor of the agent on the server with this base URL (``/`` or ``/user/ada/``)."""
    return AgentDescriptor(
        id=AGENT_ID,
        display_name="Datalayer Data Science Agent",
        description=(
            "Reads, writes and runs Jupyter notebooks: it plans a task, carries it out step by "
            "step, repairs what fails, and reports only what it has read back."
        ),
        version=parts.version,
        capabilities=AgentCapabilities(
            multi_turn=True,
            autonomous=True,
            file_operations=True,
            terminal_access=False,
            workspace_access=True,
        ),
        modes=[
            DescribedMode(id=mode, system_prompt=system_prompt(mode, "off"))
            for mode in get_args(Mode)
        ],
        services=[
            DescribedService(id=each.id, name=each.name, description=each.description)
            for each in parts.runtime.service_registry()
        ],
        tools=[
            DescribedTool(name=each.name, description=each.description, changes=each.changes)
            for each in parts.runtime.registry
        ],
        base_url=base_url,
        endpoints={
            name: url_path_join(base_url, "datalayer-agent", path)
            for name, path in ENDPOINTS.items()
        },
    )
