"""The encoding of a text file by its beginning, before the whole of it is read."""

from __future__ import annotations

from pathlib import Path

from ...opening import opened
from .encodings import Candidate, candidates, certain
from .file import EncodingScan, wide_encoding

HEAD_BYTES = 256 * 1024


def head_of(file: Path, encoding: str | None = None, root: str | None = None) -> str | None:
    """The text at the beginning, in whole lines; None if its encoding is neither given nor
    certain. With a ``root``, the file has to be in that directory."""
    head = _head(file, root)
    known = wide_encoding(head)
    if known is None:
        scan = _scanned(head)
        known = "utf-8" if scan.is_utf8 and not (encoding and head.isascii()) else encoding
        if known is None:
            found = candidates(b"\n".join(scan.words))
            if not certain(found):
                return None
            known = found[0].encoding
    return head.decode(known, errors="replace").lstrip("\ufeff")


def encoding_problem(file: Path, shown: str) -> str | None:
    """Why the encoding has to be given, with the choices; None if it does not."""
    head = _head(file)
    if wide_encoding(head) is not None or (scan := _scanned(head)).is_utf8:
        return None
    found = candidates(b"\n".join(scan.words))
    return None if certain(found) else uncertain(shown, found)


def uncertain(shown: str, found: list[Candidate]) -> str:
    """That none of the encodings is certain."""
    choices = "; ".join(each.label for each in found)
    return (
        f"The encoding of {shown} is not certain. Choose the one in which its words are right, "
        f"and give it as encoding: {choices}."
    )


def _scanned(head: bytes) -> EncodingScan:
    scan = EncodingScan()
    scan.feed(head)
    scan.feed(b"", final=True)
    return scan


def _head(file: Path, root: str | None = None) -> bytes:
    with opened(file, root) as found:
        head = found.read(HEAD_BYTES)
        whole = not found.read(1)
    return head if whole or b"\n" not in head else head[: head.rfind(b"\n") + 1]
