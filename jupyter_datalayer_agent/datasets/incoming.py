"""One upload on its way to disk: streamed, and complete or removed."""

from __future__ import annotations

import asyncio
import errno
from pathlib import Path
from typing import BinaryIO

from ..protocol.errors import AgentError
from .folder import DatasetFolder

BLOCK = 1 << 20
"""Bytes that are buffered before they are written in a thread."""


class Incoming:
    """The bytes of one upload in a separate folder, which ``discard`` removes."""

    def __init__(self, folder: DatasetFolder, limit: int) -> None:
        self.folder = folder
        self.work = folder.new_work()
        self.path = self.work / "upload"
        self.size = 0
        self._limit = limit
        self._file: BinaryIO | None = self.path.open("wb")
        self._held: list[bytes] = []
        self._held_size = 0
        self._writing = asyncio.Lock()

    async def write(self, data: bytes) -> None:
        """Write a chunk of the file. Raises ``AgentError`` ``too_large`` past the limit."""
        self.size += len(data)
        if self.size > self._limit:
            raise too_large(self._limit)
        self._held.append(data)
        self._held_size += len(data)
        if self._held_size >= BLOCK:
            await self._flush()

    async def finish(self) -> Path:
        """Finish writing; returns the path."""
        await self._flush()
        async with self._writing:
            if self._file is not None:
                self._file.close()
                self._file = None
        return self.path

    async def discard(self) -> None:
        """Remove the upload."""
        async with self._writing:
            self._held.clear()
            if self._file is not None:
                self._file.close()
                self._file = None
            await asyncio.to_thread(self.folder.drop_work, self.work)

    async def _flush(self) -> None:
        data, self._held, self._held_size = b"".join(self._held), [], 0
        async with self._writing:
            if self._file is None:
                return
            try:
                await asyncio.to_thread(self._file.write, data)
            except OSError as error:
                raise disk_error(error) from error


def too_large(limit: int) -> AgentError:
    """The error of an upload over the limit."""
    return AgentError(
        "too_large",
        f"The file is larger than {format_size(limit)}, the upload limit of this server. "
        "An administrator may raise the setting max_upload_bytes.",
        {"limit": limit},
    )


def disk_error(error: OSError) -> AgentError:
    """The error of a failed write."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return AgentError("internal", "The server's disk is full. Nothing of the file was kept.")
    return AgentError("internal", f"The file could not be written: {error.strerror or error}.")


def format_size(size: int) -> str:
    """A size for the user: 1.5 GB."""
    value = float(size)
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "bytes" or value >= 100 else f"{value:.3g} {unit}"
