"""What code of ours finds in a kernel, without disturbing it.

Nothing is run as a cell: an expression is evaluated silently beside an empty snippet, so that no
prompt number, history, hook or name changes. A busy kernel is not waited for.
"""

from __future__ import annotations

import ast
import asyncio
import base64
import json
import marshal
import zlib
from functools import lru_cache
from importlib.util import MAGIC_NUMBER
from typing import Any

from .connection import KernelConnection, Message

FREE_SECONDS = 0.7
"""So long the kernel may take to answer that it is free; then it counts as busy."""
ANSWER_SECONDS = 5.0


class KernelBusy(Exception):
    """The kernel does something else."""


async def evaluated(connection: KernelConnection, source: str, call: str) -> Any:
    """What ``call`` returns, an expression over the names of ``source`` and ``shell``, as JSON has
    it; None if it failed.

    Raises ``KernelBusy``, and ``KernelDied`` if the kernel ends first.
    """
    try:
        # What waits in the kernel's queue cannot be withdrawn: first ask whether it is free.
        await asyncio.wait_for(connection.wait_until_free(), FREE_SECONDS)
    except asyncio.TimeoutError:
        raise KernelBusy from None
    replied = asyncio.Event()
    answers: list[dict[str, Any]] = []

    def heard(channel: str, message: Message) -> None:
        if message["header"]["msg_type"] == "execute_reply":
            answers.append(message["content"])
            replied.set()

    msg_id = connection.send_silent({"found": expression(source, call)}, heard)
    try:
        if not await connection.wait(replied, ANSWER_SECONDS):
            raise KernelBusy
    finally:
        connection.forget(msg_id)
    return found_in(answers[0])


def found_in(content: dict[str, Any]) -> Any:
    """The value of ``found`` in a kernel's reply to an ``expression``; None if it failed."""
    answer = (content.get("user_expressions") or {}).get("found") or {}
    written = (answer.get("data") or {}).get("text/plain")
    try:
        return json.loads(ast.literal_eval(str(written)))
    except (TypeError, ValueError, SyntaxError):
        return None


def expression(source: str, call: str) -> str:
    """Python that gives the value as JSON; it uses no name that the user may have bound. The source
    finds its own text in ``__source__``, compressed by zlib and in Base64."""
    rest = (
        "import json, warnings\n"
        "from IPython import get_ipython\n"
        "shell = get_ipython()\n"
        "with warnings.catch_warnings():\n"
        "    warnings.simplefilter('ignore')\n"
        f"    found = {call}\n"
        "answer = json.dumps(found, default=str)\n"
    )
    return (
        "(lambda run, given, space: (run(given['unpack'], given), "
        "space.update(__source__=given['source']), run(given['code'], space), "
        "run(given['rest'], space), space['answer'])[4])("
        f"__import__('builtins').exec, {{'rest': {rest!r}, {_packed(source)}}}, "
        "{'__name__': 'datalayer_agent_found'})"
    )


# To compile the longer of our sources takes 10 ms and more, to load what was compiled 1 ms. Packed,
# since a kernel takes 2 ms to read 90 kB of text with escapes out of an expression.
_UNPACK = """
import base64, importlib.util, marshal, zlib
is_mine = importlib.util.MAGIC_NUMBER == magic
code = zlib.decompress(base64.b64decode(compiled if is_mine else source))
if is_mine:
    code = marshal.loads(code)
"""


@lru_cache(maxsize=16)
def _packed(source: str) -> str:
    """What a kernel unpacks, as entries of a dictionary."""
    return (
        f"'unpack': {_UNPACK!r}, 'magic': {MAGIC_NUMBER!r}, "
        f"'source': {_text(source.encode('utf-8'))!r}, 'compiled': {_compiled(source)!r}"
    )


def _compiled(source: str) -> str:
    """The source's bytecode, for kernels of the server's own version of Python."""
    code = compile(source, "<string>", "exec", dont_inherit=True, optimize=2)
    return _text(marshal.dumps(code))


def _text(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 6)).decode("ascii")
