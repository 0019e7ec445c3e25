"""What our code finds in a kernel, with the interpreter's own version and another one."""

from __future__ import annotations

import ast
import base64
import json
import zlib
from importlib.util import MAGIC_NUMBER

import pytest

from jupyter_datalayer_agent.notebook.kernel import expressions

SOURCE = "def found(number):\n    return [number, __source__, __name__]\n"


@pytest.mark.parametrize("version", [MAGIC_NUMBER, b"\x00\x00\r\n"])
def test_a_source_is_loaded_or_compiled_where_the_version_differs(
    version: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expressions, "MAGIC_NUMBER", version)
    if version != MAGIC_NUMBER:
        # Of another version, it could not be loaded.
        monkeypatch.setattr(expressions, "_compiled", lambda source: "nothing that can be loaded")
    answer = eval(expressions.expression(SOURCE, "found(42)"))
    number, source, name = json.loads(answer)
    assert (number, name) == (42, "datalayer_agent_found")
    assert zlib.decompress(base64.b64decode(source)).decode("utf-8") == SOURCE
    content = {"user_expressions": {"found": {"data": {"text/plain": repr(answer)}}}}
    assert expressions.found_in(content) == ast.literal_eval(repr(json.loads(answer)))
