"""The variables of a notebook's kernel, read without disturbing it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from ....protocol.context import Variable, VariablesReply, VariablesStatus
from ...document import DocumentError
from ..connection import KernelConnection, KernelDied
from ..expressions import KernelBusy, evaluated
from ..kernels import Kernels


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
    call = f"listing(shell.user_ns, shell.user_ns_hidden, {names!r})"
    try:
        listed = await evaluated(connection, _source(), call)
    except KernelBusy:
        return Found("busy", "The kernel is busy: its variables cannot be read now.")
    if listed is None:
        return Found("failed", "The kernel did not list its variables.")
    return Found(
        "ok",
        variables=[_contents(each) for each in listed["variables"]],
        left_out=listed.get("left_out", 0),
    )


def _contents(listed: dict[str, Any]) -> Contents:
    detail = {name: listed.pop(name) for name in ("detail", "rows", "open") if name in listed}
    return Contents(Variable.model_validate(listed), **detail)


@cache
def _source() -> str:
    return (files(__package__) / "in_kernel.py").read_text(encoding="utf-8")
