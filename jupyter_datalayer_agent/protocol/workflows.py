"""Workflows that need no model: how they are listed and asked for; and fixes of errors."""

from __future__ import annotations

from typing import Any, Literal

from .base import Wire

# The quality report of a notebook.


Severity = Literal["error", "warning", "info"]


class QualityIssue(Wire):
    """Something to improve. ``rule`` is a stable name; ``index`` is the cell's place, from 0."""

    severity: Severity
    rule: str
    message: str
    cell_id: str | None = None
    index: int | None = None


class QualityReport(Wire):
    """``score`` from 0 to 100. An analysis that failed is a score of 0 with the reason as an
    error."""

    score: int
    issues: list[QualityIssue]
    suggestions: list[str]


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
    """What would make a failed cell run; it needs no model.

    ``title`` says what it would do, ``label`` also that cells are run for it, and ``done`` what was
    done ("replaced `carz` with `cars`"). A plan applies ``safe`` ones without a question. ``calls``
    are carried out in order, the last one runs the failed cell again.
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


class FixChange(Wire):
    """A source that a fix writes: that of the cell ``cell_id``, or of a new cell ``before`` or
    ``after`` it."""

    kind: Literal["cell", "before", "after"]
    cell_id: str
    source: str


class CellFix(Wire):
    """A fix as a page shows it: the ``changes`` that it makes, and the existing cells that it runs,
    in the order ``runs``; new cells run before them. ``key`` is the same for the same calls."""

    key: str
    fix: FixInfo
    changes: list[FixChange]
    runs: list[str]


class TriedFix(Wire):
    """An attempt at a failed cell: its ``key``, None where a model proposed it, and what it did."""

    key: str | None = None
    done: str


class FixAttemptRequest(Wire):
    """Body of ``POST fixes``: ``tried`` are the attempts so far, none of which helped."""

    path: str
    cell_id: str
    client_id: str | None = None
    tried: list[TriedFix] = []


class FixAttempt(Wire):
    """Answer of ``POST fixes``: what to try next at a failed cell.

    Either ``fixes`` that were not tried yet, the likeliest first; or the ``prompt`` for a model;
    or, where nothing is left to try, the ``message`` that says so. ``attempt`` counts from 1.
    """

    attempt: int
    max_attempts: int
    fixes: list[CellFix] = []
    prompt: str | None = None
    message: str | None = None
