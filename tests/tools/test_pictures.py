"""Pictures as models take them: what is sent as it is, what is scaled, and what is only named."""

from __future__ import annotations

import base64
import io
import os
import struct
from typing import Any

import pytest
from PIL import Image as Pictures

from jupyter_datalayer_agent.tools import pictures
from jupyter_datalayer_agent.tools.pictures import (
    FURTHER_CHARACTERS,
    LONGEST_SIDE,
    MOST_CHARACTERS,
    SCALED_CHARACTERS,
    fitted,
    read_header,
)
from jupyter_datalayer_agent.tools.registry import Image
from tests.tools.test_outputs import png


def image(data: bytes, mime: str = "image/png") -> Image:
    return Image(mime, base64.b64encode(data).decode(), name="Picture of cell 1's output")


def drawn(mode: str, size: tuple[int, int], colour: Any, kind: str, **options: Any) -> bytes:
    file = io.BytesIO()
    Pictures.new(mode, size, colour).save(file, kind, **options)
    return file.getvalue()


def noise(width: int, height: int, kind: str = "PNG") -> bytes:
    """A picture that does not compress."""
    file = io.BytesIO()
    Pictures.frombytes("RGB", (width, height), os.urandom(width * height * 3)).save(
        file, kind, **({"compress_level": 1} if kind == "PNG" else {})
    )
    return file.getvalue()


def opened(sent: Image) -> Any:
    return Pictures.open(io.BytesIO(base64.b64decode(sent.data)))


async def fit(data: bytes, mime: str = "image/png") -> Image:
    [sent] = await fitted([image(data, mime)])
    return sent


SMALL = {
    "png": drawn("RGB", (LONGEST_SIDE, 900), "navy", "PNG"),
    "palette": drawn("P", (640, 480), 0, "PNG", transparency=0),
    "jpeg": drawn("RGB", (640, 480), "navy", "JPEG"),
    "progressive": drawn("RGB", (640, 480), "navy", "JPEG", progressive=True),
    "gif": drawn("P", (640, 480), 3, "GIF"),
    "webp": drawn("RGB", (640, 480), "navy", "WEBP"),
    "lossless": drawn("RGBA", (640, 480), "navy", "WEBP", lossless=True),
    "exif": drawn("RGB", (640, 480), "navy", "WEBP", exif=Pictures.Exif()),
}


@pytest.mark.parametrize("kind", SMALL)
async def test_a_small_picture_is_sent_byte_for_byte(kind: str) -> None:
    data = SMALL[kind]
    header = read_header(data)
    assert header is not None
    known = opened(image(data))
    assert (header.width, header.height) == known.size
    assert header.mime == known.get_format_mimetype()
    sent = await fit(data, header.mime)
    assert base64.b64decode(sent.data) == data
    assert sent.note == ""


async def test_the_type_is_that_of_the_file_and_lines_of_base64_are_joined() -> None:
    data = SMALL["jpeg"]
    [sent] = await fitted([Image("image/png", base64.encodebytes(data).decode())])
    assert (sent.mime, base64.b64decode(sent.data)) == ("image/jpeg", data)


@pytest.mark.parametrize(
    ("data", "mode"),
    [
        (drawn("RGB", (4000, 2000), "navy", "PNG"), "RGB"),
        (drawn("L", (2000, 4000), 90, "PNG"), "L"),
        (drawn("1", (4000, 2000), 1, "PNG"), "L"),
        (drawn("I;16", (4000, 2000), 40_000, "PNG"), "L"),
        (drawn("P", (4000, 2000), 3, "PNG"), "RGB"),
        (drawn("P", (4000, 2000), 0, "PNG", transparency=0), "RGBA"),
        (drawn("RGBA", (4000, 2000), (9, 9, 9, 0), "PNG"), "RGBA"),
        (drawn("LA", (4000, 2000), (9, 0), "PNG"), "RGBA"),
        (drawn("P", (4000, 2000), 3, "GIF"), "RGB"),
        (drawn("RGBA", (4000, 2000), (9, 9, 9, 0), "WEBP"), "RGBA"),
        (drawn("RGB", (4000, 2000), "navy", "JPEG"), "RGB"),
        (drawn("L", (4000, 2000), 90, "JPEG"), "L"),
        (drawn("CMYK", (4000, 2000), (255, 0, 0, 0), "JPEG"), "RGB"),
    ],
)
async def test_a_large_picture_is_scaled_with_its_colours_and_transparency(
    data: bytes, mode: str
) -> None:
    sent = await fit(data)
    shown = opened(sent)
    assert max(shown.size) == LONGEST_SIDE
    assert min(shown.size) == LONGEST_SIDE // 2
    assert (sent.width, sent.height) == shown.size
    assert shown.mode == mode
    if mode == "RGBA":
        assert shown.getextrema()[3] == (0, 0)
    assert sent.note == ("scaled from 2000x4000" if shown.size[1] > shown.size[0] else
                         "scaled from 4000x2000")  # fmt: skip
    assert sent.name == "Picture of cell 1's output"


async def test_grey_of_16_bits_keeps_its_brightness_and_print_colours_become_screen_colours() -> (
    None
):
    grey = opened(await fit(drawn("I;16", (4000, 10), 128 * 256, "PNG")))
    assert grey.getpixel((5, 1)) == 128
    small = await fit(drawn("CMYK", (300, 200), (0, 0, 0, 0), "JPEG"))
    assert (opened(small).mode, opened(small).size, small.note) == ("RGB", (300, 200), "")
    assert min(opened(small).getpixel((5, 5))) > 250


async def test_a_photo_is_turned_as_its_file_says() -> None:
    exif = Pictures.Exif()
    exif[0x0112] = 6  # turned by a quarter
    sent = await fit(drawn("RGB", (4000, 2000), "navy", "JPEG", exif=exif))
    assert (sent.width, sent.height) == (LONGEST_SIDE // 2, LONGEST_SIDE)


async def test_a_picture_that_does_not_compress_is_sent_as_a_jpeg_of_at_most_a_megabyte() -> None:
    sent = await fit(noise(2000, 1500))
    assert 100_000 < len(sent.data) <= SCALED_CHARACTERS
    assert sent.mime == "image/jpeg"


async def test_a_file_that_is_large_and_not_its_picture_becomes_smaller() -> None:
    data = noise(1400, 1200)
    assert len(data) * 4 / 3 > MOST_CHARACTERS
    sent = await fit(data)
    assert len(sent.data) <= SCALED_CHARACTERS
    assert sent.note == ""


async def test_pictures_are_made_smaller_when_a_request_has_enough_of_them() -> None:
    data, others = noise(1000, 900), [image(noise(1000, 900)) for _ in range(4)]
    assert 3_000_000 < len(data) * 4 / 3 < MOST_CHARACTERS
    first, *rest = await fitted([image(data), *others])
    assert base64.b64decode(first.data) == data
    assert all(10_000 < len(each.data) <= FURTHER_CHARACTERS for each in rest)
    # One that is shown already takes nothing, and is the same as before.
    before = [each.address for each in (first, *rest)]
    again = await fitted([image(data), *others], before)
    assert [each.address for each in again] == before


async def test_a_result_shows_at_most_twenty_pictures() -> None:
    sent = await fitted([image(drawn("L", (20, number + 1), 9, "PNG")) for number in range(22)])
    assert [bool(each.data) for each in sent] == [True] * 20 + [False] * 2
    assert sent[-1].note == "is not shown: a result shows at most 20 pictures."


async def test_a_line_of_a_pixel_is_scaled() -> None:
    sent = await fit(drawn("RGB", (10_000, 1), "navy", "PNG"))
    assert (sent.width, sent.height) == (LONGEST_SIDE, 1)


def bomb(width: int, height: int) -> bytes:
    """A PNG of some bytes whose header promises so many pixels."""
    data = bytearray(base64.b64decode(png(4, 4)))
    data[16:24] = struct.pack(">II", width, height)
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (base64.b64decode(png(10_000, 10_000)), "with 10000x10000 pixels"),
        (bomb(2**31 - 1, 2**31 - 1), "too large to be scaled"),
        (bomb(7000, 7000), "could not be scaled"),
        (bomb(0, 7000), "damaged"),
        (b"GIF89a" + struct.pack("<HH", 60_000, 60_000) + b";", "with 60000x60000 pixels"),
        (noise(3000, 1000)[:-5000], "damaged"),
        (SMALL["png"][:-300], "damaged"),
        (SMALL["jpeg"][:-300], "damaged"),
        (SMALL["webp"][:-30], "damaged"),
        (noise(3000, 1000)[:60_000] + b"IEND", "could not be scaled"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "damaged or of a type"),
        (b"", "damaged"),
        (b"\xff\xd8" + b"\xff" * 70_000, "damaged"),
    ],
)
async def test_what_cannot_be_sent_is_named_with_the_reason(data: bytes, reason: str) -> None:
    sent = await fit(data)
    assert sent.data == ""
    assert sent.note.startswith("is not shown: ")
    assert reason in sent.note


async def test_data_that_is_not_base64_is_named() -> None:
    [sent] = await fitted([Image("image/png", "no base64!")])
    assert (sent.data, sent.note) == ("", "is not shown: its data is not base64.")


async def test_a_picture_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "SECONDS", 0.001)
    sent = await fit(drawn("RGB", (4000, 2000), "navy", "PNG"))
    assert sent.note == "is not shown: it could not be scaled (4000x2000 pixels, 0.0 MB)."


async def test_without_pillow_what_providers_scale_is_sent_and_the_rest_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    (tmp_path / "PIL.py").write_text("raise ImportError('not installed')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    data = drawn("RGB", (4000, 2000), "navy", "PNG")
    assert base64.b64decode((await fit(data)).data) == data
    for large in (noise(2000, 2000), drawn("RGB", (9000, 20), "navy", "PNG")):
        sent = await fit(large)
        assert sent.data == ""
        assert "Pillow, which would scale it, is not installed in the server's" in sent.note
