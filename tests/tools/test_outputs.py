"""What of a tool's output reaches the model."""

from __future__ import annotations

import base64
import struct
import zlib

import pytest

from jupyter_datalayer_agent.tools.limits import CHARACTERS_PER_TOKEN, MAX_OUTPUT_TOKENS, cut
from jupyter_datalayer_agent.tools.outputs import render_outputs
from jupyter_datalayer_agent.tools.risky_code import first_action_of


def png(width: int, height: int) -> str:
    """A valid, black PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = (b"\0" + b"\0" * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
    data += chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return base64.b64encode(data).decode()


def test_peers_11_a_long_output_is_cut_in_the_middle_and_not_dropped() -> None:
    text = "".join(f"{number:>9}\n" for number in range(20_000))
    shown, truncated = cut(text, "read the rest with getCellOutputs")
    limit = MAX_OUTPUT_TOKENS * CHARACTERS_PER_TOKEN
    assert truncated
    assert shown.startswith(text[: int(limit * 0.4)])
    assert shown.endswith(text[-int(limit * 0.6) :])
    assert "160000 characters left out; read the rest with getCellOutputs" in shown


def test_a_short_output_is_not_cut() -> None:
    assert cut("short") == ("short", False)


def test_pictures_come_apart_with_their_size() -> None:
    output = {
        "output_type": "display_data",
        "data": {"image/png": png(12, 7), "text/plain": "<Figure>"},
        "metadata": {},
    }
    text, images = render_outputs([output])
    assert text == "[picture 1: image/png 12x7 <Figure>]"
    assert (images[0].width, images[0].height) == (12, 7)


def test_errors_and_streams_lose_their_colours() -> None:
    text, _ = render_outputs(
        [
            {"output_type": "stream", "name": "stderr", "text": ["\x1b[31mred\x1b[0m\n"]},
            {
                "output_type": "error",
                "ename": "KeyError",
                "evalue": "'Horsepowr'",
                "traceback": ["\x1b[0;31mKeyError\x1b[0m: 'Horsepowr'"],
            },
        ]
    )
    assert text == "KeyError: 'Horsepowr'\n[stderr] red"


@pytest.mark.parametrize(
    "code",
    [
        "!rm -rf data",
        "files = !ls",
        "%pip install x",
        "  %conda install y",
        "%%bash\necho",
        "pip install x",
        "import os\nos.remove('a.csv')",
        "%%writefile a.py\nx",
        "subprocess.run(['ls'])",
    ],
)
def test_code_that_reaches_past_the_kernel_is_recognised(code: str) -> None:
    assert first_action_of(code)


@pytest.mark.parametrize(
    "code",
    ["x != y", "# !rm -rf", "df['a'] % pip", "%matplotlib inline", "print('!')", "a = b if not c"],
)
def test_ordinary_code_is_not_taken_for_it(code: str) -> None:
    assert first_action_of(code) is None
