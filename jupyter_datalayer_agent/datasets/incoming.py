"""One upload on its way to disk: streamed, and complete or removed."""

from __future__ import annotations

import asyncio
import errno
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import BinaryIO

from ..protocol.errors import AgentError
from .folder import DatasetFolder

# ``multipart/form-data`` as a stream: only the latest chunk of a file is in memory.


LONGEST_HEADERS = 16_384
LONGEST_FIELD = 65_536
# How browsers write quotes and line ends in a file's name.
_ESCAPED = re.compile(r"%(22|0D|0A)", re.IGNORECASE)
_BOUNDARY = re.compile(r'boundary=(?:"([^"]{1,200})"|([^;\s]{1,200}))', re.IGNORECASE)


@dataclass(frozen=True)
class Field:
    """A field that is no file."""

    name: str
    value: str


@dataclass(frozen=True)
class FileStart:
    """The beginning of a file; its data follows."""

    name: str
    filename: str


@dataclass(frozen=True)
class FileData:
    """A chunk of the file."""

    data: bytes


@dataclass(frozen=True)
class FileEnd:
    """The end of the file."""


Part = Field | FileStart | FileData | FileEnd


class MultipartReader:
    """Fed with the body in chunks of any size; yields its parts. Errors are ``AgentError``
    ``invalid_request``. ``ended`` is True once the closing boundary was read."""

    def __init__(self, content_type: str) -> None:
        found = _BOUNDARY.search(content_type)
        if not content_type.lower().startswith("multipart/form-data") or found is None:
            raise AgentError(
                "invalid_request",
                "Send the file as multipart/form-data, in the field named file.",
            )
        self._delimiter = b"\r\n--" + (found[1] or found[2]).encode()
        # The first boundary is at the beginning, without a line end before it.
        self._buffer = b"\r\n"
        self._state = "preamble"
        self._field: tuple[str, bytearray] | None = None
        self.ended = False

    def feed(self, chunk: bytes) -> Iterator[Part]:
        """The parts that this chunk completes."""
        self._buffer += chunk
        while not self.ended:
            if self._state == "headers":
                end = self._buffer.find(b"\r\n\r\n")
                if end < 0:
                    if len(self._buffer) > LONGEST_HEADERS:
                        raise _invalid("the headers of a part are too long")
                    return
                yield from self._begin(self._buffer[:end])
                self._buffer = self._buffer[end + 4 :]
                self._state = "body"
                continue
            at = self._buffer.find(self._delimiter)
            if at < 0:
                keep = len(self._delimiter) - 1
                if len(self._buffer) > keep:
                    yield from self._data(self._buffer[:-keep])
                    self._buffer = self._buffer[-keep:]
                return
            after = at + len(self._delimiter)
            if len(self._buffer) < after + 2:
                return
            yield from self._data(self._buffer[:at])
            yield from self._end()
            mark, self._buffer = self._buffer[after : after + 2], self._buffer[after + 2 :]
            if mark == b"--":
                self.ended = True
            elif mark == b"\r\n":
                self._state = "headers"
            else:
                raise _invalid("a boundary is not followed by a line end")

    def _begin(self, headers: bytes) -> Iterator[Part]:
        name, filename = _disposition(headers)
        if filename is None:
            self._field = (name, bytearray())
        else:
            yield FileStart(name, filename)

    def _data(self, data: bytes) -> Iterator[Part]:
        if self._state == "preamble" or not data:
            return
        if self._field is None:
            yield FileData(data)
            return
        self._field[1].extend(data)
        if len(self._field[1]) > LONGEST_FIELD:
            raise _invalid(f"the field {self._field[0]} is too long")

    def _end(self) -> Iterator[Part]:
        if self._state == "preamble":
            return
        if self._field is None:
            yield FileEnd()
            return
        name, value = self._field
        self._field = None
        yield Field(name, value.decode("utf-8", "replace"))


def _disposition(headers: bytes) -> tuple[str, str | None]:
    for line in headers.decode("utf-8", "replace").split("\r\n"):
        key, _, value = line.partition(":")
        if key.strip().lower() != "content-disposition":
            continue
        message = Message()
        message["Content-Disposition"] = value.strip()
        name = message.get_param("name", header="Content-Disposition")
        filename = message.get_filename()
        if isinstance(name, str):
            return name, None if filename is None else _ESCAPED.sub(_unescape, filename)
    raise _invalid("a part has no name")


def _unescape(match: re.Match[str]) -> str:
    return bytes.fromhex(match[1]).decode()


def _invalid(what: str) -> AgentError:
    return AgentError("invalid_request", f"The body is not valid multipart/form-data: {what}.")


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
