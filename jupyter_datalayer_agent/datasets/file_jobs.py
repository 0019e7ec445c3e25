"""New data files made of others: whole or not at all, and never in place of another."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..protocol.errors import AgentError
from .conversion_process import run_process
from .files.formats import SUFFIXES
from .folder import claim

OnStage = Callable[[str, float], Awaitable[None]]
"""Called with the stage (``reading``, ``writing``, ``comparing``) and the fraction of the whole."""


async def make_file(
    operation: str,
    sources: Sequence[tuple[Path, str]],
    target: Path,
    format: str,
    on_stage: OnStage,
    options: Mapping[str, Any] | None = None,
    choices: Sequence[Mapping[str, str]] = (),
) -> dict[str, Any]:
    """Make ``target`` of data files, each with its name for the user; see ``files/operations.py``
    for the operations, their options and the result. ``choices`` says of each file, in order, how
    it is written, where that should not be detected.

    Raises ``AgentError`` that says what is wrong; then, and when it is cancelled, nothing is left.
    """
    if await asyncio.to_thread(target.exists):
        raise _taken(target)
    try:
        work = Path(await asyncio.to_thread(tempfile.mkdtemp, "", ".making-", target.parent))
    except OSError as error:
        raise AgentError(
            "forbidden", f"Nothing can be written beside {target.name}: {error.strerror}."
        ) from error
    try:
        output = work / f"output{SUFFIXES[format]}"
        job = {
            **(options or {}),
            "operation": operation,
            "name": sources[0][1],
            "sources": [
                {"source": str(path), "name": name, **how}
                for (path, name), how in zip(sources, [*choices, {}, {}], strict=False)
            ],
            "work": str(work),
            "output": str(output),
            "format": format,
        }

        async def report(message: dict[str, Any]) -> None:
            await on_stage(message["stage"], message["fraction"] or 0.0)

        result = await run_process("files", job, report)
        if not await asyncio.to_thread(claim, output, target):
            raise _taken(target)
        return result
    finally:
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, work, True))


def _taken(target: Path) -> AgentError:
    return AgentError(
        "invalid_request",
        f"{target.name} already exists. Choose another name, or delete the file first.",
    )
