"""Workflows that need no model: how they are listed and asked for; and fixes of errors."""

from __future__ import annotations

from typing import Any

from .base import Wire


class WorkflowInfo(Wire):
    """A workflow that runs without a model. ``parameters`` is the JSON schema of its arguments."""

    id: str
    name: str
    description: str
    parameters: dict[str, Any]
    required_tools: list[str]
    steps: list[str] = []


class WorkflowsReply(Wire):
    """Answer of ``GET workflows``."""

    workflows: list[WorkflowInfo]


class WorkflowRun(Wire):
    """Body of ``POST workflows/{id}``; answered with a ``ChatReply``.

    ``notebook`` is the file to write or work on; without ``session_id`` a session is made.
    """

    notebook: str | None = None
    parameters: dict[str, Any] = {}
    session_id: str | None = None
    client_id: str | None = None


class WorkflowOffer(Wire):
    """A workflow that is close to a message, with the ``parameters`` that are known; ``missing``
    are the names of those that it still needs. It runs only when it is asked for: by
    ``ChatRequest.workflow`` or by the message ``say``, None where no message would."""

    id: str
    name: str
    description: str
    parameters: dict[str, Any] = {}
    missing: list[str] = []
    say: str | None = None


class FixCall(Wire):
    """One tool call of a fix; ``label`` says what it does."""

    name: str
    arguments: dict[str, Any]
    label: str | None = None


class FixInfo(Wire):
    """A repair of a failed cell that needs no model.

    ``title`` says what it would do, ``label`` also that cells are run for it, and ``done`` what was
    done ("replaced `carz` with `cars`"). ``safe`` ones are applied in Agent mode without a
    question. ``calls`` are carried out in order, the last one runs the failed cell again.
    """

    id: str
    title: str
    explanation: str
    safe: bool
    calls: list[FixCall]
    label: str | None = None
    done: str | None = None


class FixesReply(Wire):
    """Answer of ``GET fixes``: what could be done about a failed cell, the likeliest first."""

    path: str
    cell_id: str
    fixes: list[FixInfo]
