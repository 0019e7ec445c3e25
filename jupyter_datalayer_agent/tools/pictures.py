"""Prepares pictures for models: unchanged if small, else scaled, else replaced by a sentence.

A picture's header limits what is decoded, and a process of its own decodes it
(``scaled_picture.py``), so that no picture can use up the server's memory, block it or crash it.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .registry import Image
from .scaled_picture import NO_PILLOW

log = logging.getLogger(__name__)

LONGEST_SIDE = 1_568
"""Pixels. Anthropic scales larger ones itself, and the others count them in such parts."""
MOST_CHARACTERS = 5_000_000
"""Of base64, for one picture (Anthropic refuses more), and for all pictures of a request before
further ones are made smaller."""
SCALED_CHARACTERS = 1_000_000
"""Of base64, for a scaled picture."""
FURTHER_CHARACTERS = 300_000
"""Of base64, for each further picture once a request has ``MOST_CHARACTERS``."""
MOST_AT_ONCE = 20
"""Pictures in one result."""
LONGEST_UNSCALED = 8_000
"""Pixels. Providers refuse longer sides; used only if pictures cannot be scaled here."""
MOST_PIXELS = 50_000_000
"""Decoding this many takes 200 MB."""
MOST_BYTES = 100_000_000
SECONDS = 60.0
BEGINNING = 100_000
"""Characters that contain the size in pixels, except in a few JPEGs."""

_SCALER = Path(__file__).with_name("scaled_picture.py")
# One at a time for all sessions, to bound the memory.
_one = threading.Lock()


@dataclass(frozen=True)
class Header:
    """What a picture's file says about itself. ``is_whole``: its end is there;
    ``has_plain_colours``: it is not CMYK, which models do not take."""

    mime: str
    width: int
    height: int
    is_whole: bool
    has_plain_colours: bool = True


class NotShown(Exception):
    """A picture cannot be sent; the message completes a sentence that begins with its name."""


async def fitted(images: Sequence[Image], shown: Iterable[str] = ()) -> list[Image]:
    """The pictures as they are sent, in order; ``shown`` are the addresses of those already sent.
    One that cannot be sent has no ``data``, and a ``note`` that says why."""
    return await asyncio.to_thread(_fit_all, images, set(shown)) if images else []


def _fit_all(images: Sequence[Image], shown: set[str]) -> list[Image]:
    done: list[Image] = []
    room = MOST_CHARACTERS - sum(map(len, shown))
    for image in images:
        try:
            if len(done) >= MOST_AT_ONCE:
                raise NotShown(f"is not shown: a result shows at most {MOST_AT_ONCE} pictures.")
            # With the full room first, so that a picture that was sent before is recognised.
            fit = _fit(image, MOST_CHARACTERS)
            if fit.address not in shown and len(fit.data) > room:
                fit = _fit(image, FURTHER_CHARACTERS)
        except NotShown as reason:
            fit = replace(image, data="", note=str(reason))
        if fit.data and fit.address not in shown:
            room -= len(fit.data)
            shown.add(fit.address)
        done.append(fit)
    return done


def _fit(image: Image, room: int) -> Image:
    """Fit the picture into ``room`` characters. Raises ``NotShown``."""
    size = f"{len(image.data) * 3 / 4 / 1e6:.1f} MB"
    if len(image.data) * 3 // 4 > MOST_BYTES:
        raise NotShown(f"is not shown: it is too large ({size}).")
    encoded = "".join(image.data.split())
    try:
        data = base64.b64decode(encoded, validate=True)
    except ValueError:
        raise NotShown("is not shown: its data is not base64.") from None
    header = read_header(data)
    if header is None or not header.is_whole or not header.width * header.height:
        raise NotShown("is not shown: its file is damaged or of a type that models do not take.")
    pixels = f"{header.width}x{header.height}"
    known = replace(image, mime=header.mime, width=header.width, height=header.height)
    longest = max(header.width, header.height)
    if longest <= LONGEST_SIDE and len(encoded) <= room and header.has_plain_colours:
        return replace(known, data=encoded)
    if header.width * header.height > MOST_PIXELS:
        raise NotShown(
            f"is not shown: with {pixels} pixels ({size}) it is too large to be scaled. Draw it "
            "smaller, with a lower dpi or figure size."
        )
    try:
        scaled = _scale(data, min(room, SCALED_CHARACTERS) * 3 // 4)
    except NoScaler:
        if longest <= LONGEST_UNSCALED and len(encoded) <= room:
            return replace(known, data=encoded)
        raise NotShown(
            f"is not shown: it is too large ({pixels} pixels, {size}), and Pillow, which would "
            "scale it, is not installed in the server's environment."
        ) from None
    again = read_header(scaled)
    if again is None:
        raise NotShown(f"is not shown: it could not be scaled ({pixels} pixels, {size}).")
    return replace(
        image,
        mime=again.mime,
        data=base64.b64encode(scaled).decode(),
        width=again.width,
        height=again.height,
        note=f"scaled from {pixels}" if longest > LONGEST_SIDE else "",
    )


class NoScaler(Exception):
    """Pillow is not installed."""


def _scale(data: bytes, most: int) -> bytes:
    """Scale a picture's file to at most ``most`` bytes; empty if it could not be decoded. Raises
    ``NoScaler``."""
    command = [sys.executable, str(_SCALER), str(LONGEST_SIDE), str(most), str(MOST_PIXELS)]
    with _one:
        try:
            # Not with asyncio: Jupyter's event loop on Windows has no subprocesses.
            done = subprocess.run(
                command,
                input=data,
                capture_output=True,
                timeout=SECONDS,
                cwd=tempfile.gettempdir(),
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            log.warning("A picture was not scaled: %s", error)
            return b""
    if done.returncode == NO_PILLOW:
        raise NoScaler
    if done.returncode != 0:
        log.warning("A picture was not scaled: %s", done.stderr.decode(errors="replace")[-500:])
        return b""
    return done.stdout


def size_of(data: str) -> tuple[int | None, int | None]:
    """Width and height in pixels from the beginning of a picture's base64, or (None, None)."""
    beginning = "".join(data[:BEGINNING].split())
    try:
        header = read_header(base64.b64decode(beginning[: len(beginning) // 4 * 4]))
    except ValueError:
        return None, None
    return (None, None) if header is None else (header.width, header.height)


def read_header(data: bytes) -> Header | None:
    """Read the header of a PNG, JPEG, GIF or WebP file; None for other formats. The file's name
    does not matter."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n"):
            width, height = struct.unpack(">II", data[16:24])
            return Header("image/png", width, height, b"IEND" in data[-4096:])
        if data[:6] in (b"GIF87a", b"GIF89a"):
            width, height = struct.unpack("<HH", data[6:10])
            return Header("image/gif", width, height, b";" in data[-16:])
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return _webp(data)
        if data.startswith(b"\xff\xd8"):
            return _jpeg(data)
    except (struct.error, IndexError):
        pass
    return None


def _webp(data: bytes) -> Header | None:
    """RFC 9649: the kind of the first chunk decides where the size is."""
    kind = data[12:16]
    if kind == b"VP8X":
        width = int.from_bytes(data[24:27], "little") + 1
        height = int.from_bytes(data[27:30], "little") + 1
    elif kind == b"VP8L":
        (bits,) = struct.unpack("<I", data[21:25])
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    elif kind == b"VP8 ":
        width, height = (side & 0x3FFF for side in struct.unpack("<HH", data[26:30]))
    else:
        return None
    (length,) = struct.unpack("<I", data[4:8])
    return Header("image/webp", width, height, len(data) >= length + 8)


def _jpeg(data: bytes) -> Header | None:
    """ITU T.81, B.1 and B.2: segments, up to the one that begins the frame."""
    place = 2
    while data[place] == 0xFF:
        marker = data[place + 1]
        if marker == 0xFF:  # a filler
            place += 1
            continue
        (length,) = struct.unpack(">H", data[place + 2 : place + 4])
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width, components = struct.unpack(">HHB", data[place + 5 : place + 10])
            is_whole = b"\xff\xd9" in data[-4096:]
            return Header("image/jpeg", width, height, is_whole, components != 4)
        place += 2 + length
    return None
