"""The process that converts an upload to Parquet: one at a time, and stopped with its task."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from ..protocol.datasets import UploadProgress
from ..protocol.errors import AgentError
from .files.formats import SUFFIXES
from .folder import claim

log = logging.getLogger(__name__)

_PACKAGE = Path(__file__).resolve().parent.parent

OnProgress = Callable[[UploadProgress], Awaitable[None]]
OnMessage = Callable[[dict[str, Any]], Awaitable[None]]


class Converter:
    """Converts one file at a time, to bound the memory."""

    def __init__(self) -> None:
        self._one = asyncio.Lock()

    async def convert(
        self,
        source: Path,
        target: Path,
        work: Path,
        name: str,
        on_progress: OnProgress,
        choices: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Write the Parquet file ``target``; returns the report of ``convert/__main__.py``.

        ``choices`` are the user's: ``encoding``, ``delimiter``, ``decimal``.

        Raises ``AgentError`` ``invalid_request`` with what is wrong with the file. A cancellation
        kills the process.
        """
        if self._one.locked():
            await on_progress(UploadProgress(stage="waiting"))
        async with self._one:
            job: dict[str, Any] = {"source": source, "target": target, "work": work, "name": name}
            job |= choices or {}

            async def report(message: dict[str, Any]) -> None:
                await on_progress(UploadProgress.model_validate(message))

            values = {key: str(value) for key, value in job.items()}
            return await run_process("convert", values, report)


async def run_process(
    package: str, job: Mapping[str, Any], on_message: OnMessage
) -> dict[str, Any]:
    """Do a job of ``datasets/<package>`` in a process of its own; its result. The job has at least
    ``name`` and ``work``, an empty folder.

    Raises ``AgentError`` ``invalid_request`` with what is wrong. A cancellation kills the process.
    """
    errors = Path(job["work"]) / "errors"
    with errors.open("wb") as stderr:
        process = await asyncio.to_thread(_start, package, job["work"], stderr)
    try:
        answer = await _listen(process, job, on_message)
        await asyncio.to_thread(process.wait)
    finally:
        process.kill()  # no effect if it has ended
        await asyncio.to_thread(_close, process)
    if "result" in answer:
        result: dict[str, Any] = answer["result"]
        return result
    if "error" in answer:
        raise AgentError("invalid_request", str(answer["error"]), answer.get("detail"))
    output = errors.read_text("utf-8", "replace")[-4000:]
    log.error("A conversion ended with %s: %s", process.returncode, output)
    raise AgentError(
        "internal",
        f"The conversion of {job['name']} ended before its time (exit {process.returncode}). It "
        "may have been short of memory; the server's log has the details.",
    )


def _start(package: str, work: str, stderr: BinaryIO) -> subprocess.Popen[bytes]:
    # Not by asyncio: on Windows, Jupyter's event loop has no subprocesses.
    return subprocess.Popen(
        [sys.executable, "-m", f"{_PACKAGE.name}.datasets.{package}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        # Python looks for modules in its working folder, which must not be the user's.
        cwd=work,
        env=_environment(),
    )


def _close(process: subprocess.Popen[bytes]) -> None:
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


async def _listen(
    process: subprocess.Popen[bytes], job: Mapping[str, Any], on_message: OnMessage
) -> dict[str, Any]:
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None
    assert stdout is not None
    with contextlib.suppress(BrokenPipeError):
        # It stays open: its end tells the process that the server is gone.
        stdin.write(json.dumps(job).encode() + b"\n")
        stdin.flush()
    while line := await asyncio.to_thread(stdout.readline):
        message: dict[str, Any] = json.loads(line)
        if "stage" not in message:
            return message
        await on_message(message)
    return {}


def _environment() -> dict[str, str]:
    paths = [str(_PACKAGE.parent), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(os.path.abspath(p) for p in paths if p)}


# New data files made of others: whole or not at all, and never in place of another.


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
