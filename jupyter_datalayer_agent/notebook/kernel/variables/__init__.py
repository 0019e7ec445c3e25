"""The variables of a notebook's kernel, read without disturbing it.

Nothing is run as a cell: an expression is evaluated silently beside an empty snippet, so that no
prompt number, history, hook or name changes. A busy kernel is not waited for.
"""

from __future__ import annotations

import ast
import asyncio
import json
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from ....protocol.variables import Variable, VariablesReply, VariablesStatus
from ...document import DocumentError
from ..connection import KernelConnection, KernelDied, Message
from ..kernels import Kernels

FREE_SECONDS = 0.7
"""So long the kernel may take to answer that it is free; then it counts as busy."""
ANSWER_SECONDS = 5.0


@dataclass
class Contents:
    """A variable with what is in it. ``rows``: those are data; ``open``: nothing of the user's
    data is in it."""

    variable: Variable
    detail: str = ""
    rows: bool = False
    open: bool = False


@dataclass
class Found:
    """What was read; ``variables`` in the kernel's order, the newest first, or as asked for."""

    status: VariablesStatus
    reason: str | None = None
    variables: list[Contents] = field(default_factory=list)
    left_out: int = 0

    def reply(self) -> VariablesReply:
        """For the page: without contents."""
        return VariablesReply(
            status=self.status,
            reason=self.reason,
            variables=[each.variable for each in self.variables],
            left_out=self.left_out,
        )


async def variables_of(kernels: Kernels, path: str, names: list[str] | None = None) -> Found:
    """The variables of the notebook's kernel; with ``names`` those, with their contents.

    No kernel is started. Raises nothing: what hinders is in ``status`` and ``reason``.
    """
    kernel = await kernels.of(path)
    if kernel is None:
        return Found("no_kernel", "The notebook has no running kernel.")
    language = str(kernel["language"])
    if language and language.lower() != "python":
        return Found("not_known", f"Variables are known for Python kernels, not for {language}.")
    try:
        async with kernels.connected(kernel["id"]) as connection:
            return await _ask(connection, names)
    except (DocumentError, KernelDied):
        return Found("failed", "The kernel ended while its variables were read.")


async def _ask(connection: KernelConnection, names: list[str] | None) -> Found:
    busy = Found("busy", "The kernel is busy: its variables cannot be read now.")
    try:
        # What waits in the kernel's queue cannot be withdrawn: first ask whether it is free.
        await asyncio.wait_for(connection.wait_until_free(), FREE_SECONDS)
    except asyncio.TimeoutError:
        return busy
    replied = asyncio.Event()
    answers: list[dict[str, Any]] = []

    def heard(channel: str, message: Message) -> None:
        if message["header"]["msg_type"] == "execute_reply":
            answers.append(message["content"])
            replied.set()

    msg_id = connection.send_silent({"found": _expression(names)}, heard)
    try:
        if not await connection.wait(replied, ANSWER_SECONDS):
            return busy
    finally:
        connection.forget(msg_id)
    return _found(answers[0])


def _found(content: dict[str, Any]) -> Found:
    answer = (content.get("user_expressions") or {}).get("found") or {}
    written = (answer.get("data") or {}).get("text/plain")
    try:
        listed = json.loads(ast.literal_eval(str(written)))
    except (TypeError, ValueError, SyntaxError):
        return Found("failed", "The kernel did not list its variables.")
    return Found(
        "ok",
        variables=[_contents(each) for each in listed["variables"]],
        left_out=listed.get("left_out", 0),
    )


def _contents(listed: dict[str, Any]) -> Contents:
    detail = {name: listed.pop(name) for name in ("detail", "rows", "open") if name in listed}
    return Contents(Variable.model_validate(listed), **detail)


def _expression(names: list[str] | None) -> str:
    """Python that gives ``listing`` as JSON; it uses no name that the user may have bound."""
    code = (
        "import json, warnings\n"
        "from IPython import get_ipython\n"
        "shell = get_ipython()\n"
        "with warnings.catch_warnings():\n"
        "    warnings.simplefilter('ignore')\n"
        f"    listed = listing(shell.user_ns, shell.user_ns_hidden, {names!r})\n"
        "answer = json.dumps(listed, default=str)\n"
    )
    source = f"{_source()}\n{code}"
    return (
        "(lambda space: (__import__('builtins').exec("
        f"{source!r}, space), space['answer'])[1])({{'__name__': 'datalayer_agent_variables'}})"
    )


@cache
def _source() -> str:
    return (files(__package__) / "in_kernel.py").read_text(encoding="utf-8")
