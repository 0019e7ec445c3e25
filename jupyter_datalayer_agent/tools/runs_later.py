"""Asks about what a tool writes and nobody is asked about later: text of a file or a web page may
make a model write instructions for itself, or code that something else runs."""

from __future__ import annotations

import asyncio

from ..notebook.kernel.acts_in_kernel import runs_later, shadowed_module
from .context import ToolContext
from .risky_code import Reason

INSTRUCTIONS = "AGENTS.md"
"""In the root: what the user wants of the agent, sent with every request."""
_KIND = "changes what runs later"


async def reason_of_write(path: str, context: ToolContext) -> Reason | None:
    """Why the user is asked about a write to this path, whichever tool makes it; None for an
    ordinary file. Raises ``DocumentError`` for one
    outside the root."""
    files = context.notebooks.text_files
    path = await context.notebooks.confine(path)
    if files.leads_to(path, INSTRUCTIONS):
        said = f"Changes {INSTRUCTIONS}: the agent follows what it says in every conversation"
        return Reason(said, ("changes the agent's instructions",))
    exists = await files.exists(path)
    why = runs_later(path) or runs_later(files.where(path))
    module = None if exists or why else await _shadowed(path, context)
    if module is not None:
        why = f"Python imports it in the place of the module {module}"
    if why is None:
        return None
    return Reason(f"{'Changes' if exists else 'Creates'} {path}: {why}", (_KIND,))


async def _shadowed(path: str, context: ToolContext) -> str | None:
    """The module that code beside the file no longer gets; in a package it has another name."""
    beside = f"{path.rpartition('/')[0]}/__init__.py".lstrip("/")
    if await context.notebooks.text_files.exists(beside):
        return None
    return await asyncio.to_thread(shadowed_module, path)
