"""A program that scales the picture on its standard input. Only this uses Pillow.

    python scaled_picture.py SIDE BYTES PIXELS

Writes a PNG or, where that is larger than BYTES, a JPEG whose longer side has at most SIDE pixels.
A picture of more than PIXELS pixels is not decoded.
"""

from __future__ import annotations

import io
import sys
from typing import Any

NO_PILLOW = 3
MEMORY = 1_500_000_000
FORMATS = ("PNG", "JPEG", "GIF", "WEBP")


def main(side: int, most: int, pixels: int) -> None:
    """Read, scale, write."""
    try:
        from PIL import Image
    except ImportError:
        sys.exit(NO_PILLOW)
    _bound_memory()
    # Our own limit is stricter.
    Image.MAX_IMAGE_PIXELS = None
    picture = Image.open(io.BytesIO(sys.stdin.buffer.read()), formats=FORMATS)
    if picture.width * picture.height > pixels:
        sys.exit(f"{picture.width}x{picture.height} pixels are too many")
    sys.stdout.buffer.write(scaled(picture, side, most))


def _bound_memory() -> None:
    try:
        from resource import RLIMIT_DATA, setrlimit

        setrlimit(RLIMIT_DATA, (MEMORY, MEMORY))
    except (ImportError, OSError, ValueError):
        return  # Windows and macOS have no such limit; the number of pixels bounds it there, too.


def scaled(picture: Any, side: int, most: int) -> bytes:
    """The picture's first frame in at most ``most`` bytes, as PNG or JPEG; empty if that is not
    possible."""
    from PIL import Image, ImageOps

    is_photo = picture.format == "JPEG"
    # JPEGs can be decoded at a fraction of their size.
    picture.draft("RGB", (side, side))
    picture = _in_plain_colours(picture)
    picture.thumbnail((side, side), Image.Resampling.LANCZOS, reducing_gap=3.0)
    picture = ImageOps.exif_transpose(picture)
    while max(picture.size) > 1:
        if not is_photo and len(written := _written(picture, "PNG")) <= most:
            return written
        for quality in (85, 60):
            if len(written := _written(_opaque(picture), "JPEG", quality=quality)) <= most:
                return written
        picture = picture.resize(
            (max(1, picture.width // 2), max(1, picture.height // 2)), Image.Resampling.LANCZOS
        )
    return b""


def _in_plain_colours(picture: Any) -> Any:
    """Convert to grey or RGB, with transparency: palettes and other colour modes scale badly."""
    if picture.mode.startswith(("I", "F")):
        # 16-bit grey.
        picture = picture.convert("I").point(lambda value: value / 256)
        return picture.convert("L")
    if "A" in picture.mode.upper() or "transparency" in picture.info:
        return picture.convert("RGBA")
    return picture.convert("L" if picture.mode in ("1", "L") else "RGB")


def _opaque(picture: Any) -> Any:
    """Put the picture on white, since JPEG has no transparency."""
    from PIL import Image

    if picture.mode != "RGBA":
        return picture
    under = Image.new("RGB", picture.size, "white")
    under.paste(picture, mask=picture.getchannel("A"))
    return under


def _written(picture: Any, kind: str, **options: Any) -> bytes:
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


if __name__ == "__main__":
    # Python looks for modules beside a program; those here are not Pillow's.
    del sys.path[0]
    main(*map(int, sys.argv[1:4]))
