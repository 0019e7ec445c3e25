"""What the user of a client may choose for a session: its mode and its model."""

from __future__ import annotations

from typing import Any

from acp.schema import (
    AvailableCommand,
    AvailableCommandInput,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
    UnstructuredCommandInput,
)

DEFAULT_MODE = "agent"
MODE, MODEL = "mode", "model"
MODES = [
    SessionMode(id="ask", name="Ask", description="Answers; reads, and changes nothing"),
    SessionMode(
        id="edit", name="Edit", description="Answers with code to copy; changes nothing by itself"
    ),
    SessionMode(
        id="agent", name="Agent", description="Changes and runs notebooks and files of the project"
    ),
]


def mode_state(mode: str) -> SessionModeState:
    """The modes, and the one that is chosen."""
    return SessionModeState(current_mode_id=mode, available_modes=MODES)


def config_options(
    mode: str, model: str | None, models: dict[str, Any]
) -> list[SessionConfigOptionSelect]:
    """Mode and model as options, which newer clients show in place of modes. ``models`` is the
    answer of ``GET models``; without a model that is ready there is no choice of one."""
    options = [
        SessionConfigOptionSelect(
            id=MODE,
            name="Mode",
            category="mode",
            type="select",
            current_value=mode,
            options=[
                SessionConfigSelectOption(
                    value=each.id, name=each.name, description=each.description
                )
                for each in MODES
            ],
        )
    ]
    current = model or models.get("default")
    if not models["ready"] or not current:
        return options
    ready = {each["id"]: each["label"] for each in models["models"] if each["ready"]}
    ready.setdefault(current, current)
    options.append(
        SessionConfigOptionSelect(
            id=MODEL,
            name="Model",
            category="model",
            type="select",
            current_value=current,
            options=[
                SessionConfigSelectOption(value=each, name=label) for each, label in ready.items()
            ],
        )
    )
    return options


def context_window_of(model: str | None, models: dict[str, Any]) -> int | None:
    """How many tokens the model can read, None where that is not known."""
    current = model or models.get("default")
    windows = {each["id"]: each.get("contextWindow") for each in models["models"]}
    return windows.get(current)


def commands(services: dict[str, Any]) -> list[AvailableCommand]:
    """The services as slash commands, from the answer of ``GET services``."""
    found = [
        AvailableCommand(
            name=each["id"],
            description=each["description"],
            input=AvailableCommandInput(
                root=UnstructuredCommandInput(hint=next(iter(each["examples"]), "what to do"))
            ),
        )
        for each in services["services"]
    ]
    return [*found, AvailableCommand(name="help", description="All commands, with examples")]
