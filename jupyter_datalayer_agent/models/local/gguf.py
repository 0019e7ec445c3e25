"""The header of a GGUF file: what the model is, and whether the file is complete.

https://github.com/ggml-org/ggml/blob/master/docs/gguf.md describes the format. The package ``gguf``
reads it too, but needs numpy and takes seconds for a large vocabulary (decision 0052).
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

MAGIC = b"GGUF"
MOST_STRING = 32 * 1024 * 1024
"""A file with a longer string, in bytes, counts as damaged; chat templates have up to 100 KB."""
MOST_DIMENSIONS = 8

_ALIGNMENT = 32
_STRING, _ARRAY = 8, 9
_SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
_KEPT_ARRAY = 4096
"""The most items of an array that is kept: enough for a value per layer, not for a vocabulary."""

BLOCKS: Mapping[int, tuple[int, int]] = {
    **{0: (1, 4), 1: (1, 2), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8)},
    **{2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34)},
    **{10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210)},
    **{15: (256, 292), 16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50)},
    **{20: (32, 18), 21: (256, 110), 22: (256, 82), 23: (256, 136), 29: (256, 56)},
    **{30: (1, 2), 34: (256, 54), 35: (256, 66), 39: (32, 17)},
}
"""By type of tensor, the number of values in a block and the block's bytes (``ggml.h``)."""

_NO_ANSWERS = frozenset(["bert", "clip", "jina-bert-v2", "modern-bert", "nomic-bert", "t5encoder"])
"""Architectures that generate no text: embeddings, and the image encoder of a model."""


class UnusableFile(Exception):
    """The file cannot be used as a model; the message says why and what to do."""


@dataclass(frozen=True)
class GgufModel:
    """The header of a language model. ``context_length`` is the number of tokens that it was
    trained to read, ``kv_bytes`` the memory that one token takes besides the weights."""

    architecture: str
    title: str
    size: int
    context_length: int
    kv_bytes: int


def read_model(file: Path) -> GgufModel:
    """Read the header. Raises ``UnusableFile``."""
    try:
        if file.is_dir():
            raise UnusableFile(f"{file} is a folder. Name the .gguf file in it.")
        with file.open("rb") as stream:
            return _read(file, stream, os.fstat(stream.fileno()).st_size)
    except FileNotFoundError as error:
        raise UnusableFile(f"{file} does not exist.") from error
    except PermissionError as error:
        message = f"{file} cannot be read: permission denied. Make it readable for your account."
        raise UnusableFile(message) from error
    except OSError as error:
        raise UnusableFile(f"{file} cannot be read: {error.strerror or error}.") from error


def _read(file: Path, stream: BinaryIO, size: int) -> GgufModel:
    if stream.read(len(MAGIC)) != MAGIC:
        what = "is empty" if size == 0 else "is not a GGUF file"
        raise UnusableFile(f"{file} {what}. Local models must be GGUF files, as llama.cpp reads.")
    try:
        header = _Header(stream, size)
    except _Damaged as error:
        raise UnusableFile(
            f"{file} is incomplete or damaged: {error}. Download it again, and compare its size."
        ) from error
    metadata = header.metadata
    parts = metadata.get("split.count", 0)
    if isinstance(parts, int) and parts > 1:
        raise UnusableFile(
            f"{file} is one of {parts} parts of a model. Join them first, with "
            "llama-gguf-split --merge."
        )
    architecture = str(metadata.get("general.architecture", ""))
    kind = metadata.get("general.type", "model")
    if not architecture or kind != "model" or architecture in _NO_ANSWERS:
        raise UnusableFile(
            f"{file} contains no language model ({architecture or kind}). Name the file of a model "
            "that can chat."
        )
    if header.tensors == 0:
        raise UnusableFile(f"{file} contains a vocabulary but no model.")
    return GgufModel(
        architecture=architecture,
        title=str(metadata.get("general.name", "")),
        size=size,
        context_length=_number(metadata.get(f"{architecture}.context_length")),
        kv_bytes=_kv_bytes(metadata, architecture),
    )


def _kv_bytes(metadata: Mapping[str, Any], architecture: str) -> int:
    """Bytes of a token's keys and values in all layers, as 16-bit numbers."""

    def value(name: str) -> Any:
        return metadata.get(f"{architecture}.{name}")

    layers, heads = _number(value("block_count")), _number(value("attention.head_count"))
    length = _number(value("embedding_length")) // heads if heads else 0
    keys = _number(value("attention.key_length")) or length
    values = _number(value("attention.value_length")) or length
    of_layers = value("attention.head_count_kv")
    if not isinstance(of_layers, list):
        of_layers = [_number(of_layers) or heads] * layers
    return int(2 * sum(of_layers) * (keys + values))


def _number(value: Any) -> int:
    """A number of the header; the largest one where each layer has its own."""
    if isinstance(value, list):
        return max(value, default=0) if all(isinstance(each, int) for each in value) else 0
    return value if isinstance(value, int) and value > 0 else 0


class _Damaged(Exception):
    """What is wrong with the file, to follow a colon."""


class _Header:
    """The header of a file that begins with the magic number."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._size = size
        version = self._number("I")
        if version not in (2, 3):
            raise _Damaged(f"version {version} of the format is not supported")
        self.tensors = self._number("Q")
        self.metadata: dict[str, Any] = {}
        for _ in range(self._number("Q")):
            name = self._text()
            self.metadata[name] = self._value(self._number("I"))
        end = max((self._tensor() for _ in range(self.tensors)), default=0)
        alignment = _number(self.metadata.get("general.alignment")) or _ALIGNMENT
        expected = math.ceil(stream.tell() / alignment) * alignment + end
        if expected > size:
            raise _Damaged(f"it has {size:,} bytes of {expected:,}")

    def _tensor(self) -> int:
        """Where the tensor ends, counted from the first one's start."""
        self._text()
        dimensions = self._number("I")
        if dimensions > MOST_DIMENSIONS:
            raise _Damaged(f"a tensor has {dimensions} dimensions")
        values = math.prod(self._number("Q") for _ in range(dimensions))
        kind, offset = self._number("I"), self._number("Q")
        in_block, bytes_of_block = BLOCKS.get(kind, (1, 0))
        return int(offset + values // in_block * bytes_of_block)

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._text()
        if kind == _ARRAY:
            return self._array()
        if kind not in _SCALARS:
            raise _Damaged(f"a value has the unknown type {kind}")
        return self._number(_SCALARS[kind])

    def _array(self) -> list[Any] | None:
        kind, count = self._number("I"), self._number("Q")
        if count > self._size:
            raise _Damaged("a list is longer than the file")
        if kind in _SCALARS and count > _KEPT_ARRAY:
            self._skip(count * struct.calcsize(f"<{_SCALARS[kind]}"))
            return None
        if kind == _STRING and count > _KEPT_ARRAY:
            for _ in range(count):
                self._skip(self._number("Q"))
            return None
        return [self._value(kind) for _ in range(count)]

    def _text(self) -> str:
        length = self._number("Q")
        if length > MOST_STRING:
            raise _Damaged("a string in it is too long")
        return self._bytes(length).decode("utf-8", "replace")

    def _number(self, code: str) -> Any:
        return struct.unpack(f"<{code}", self._bytes(struct.calcsize(f"<{code}")))[0]

    def _skip(self, count: int) -> None:
        if count > self._size:
            raise _Damaged("a string in it is too long")
        # A relative seek would empty the stream's buffer each time.
        if len(self._stream.read(count)) < count:
            raise _Damaged("it ends within its header")

    def _bytes(self, count: int) -> bytes:
        content = self._stream.read(count)
        if len(content) < count:
            raise _Damaged("it ends within its header")
        return content
