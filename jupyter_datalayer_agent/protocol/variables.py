"""The variables of a notebook's kernel, as a user may attach them."""

from __future__ import annotations

from typing import Literal

from .base import Wire

VariablesStatus = Literal["ok", "busy", "no_kernel", "not_known", "failed"]
"""``not_known``: variables of the kernel's language cannot be read."""


class Variable(Wire):
    """One variable: its name, type (``pandas.DataFrame``) and short form.

    ``shape`` is given for arrays and tables, ``columns`` of tables (name and type of each, the
    first 100). ``short`` is the value in at most 80 characters; it is empty for tables, and where
    to ask for it would run code of others.
    """

    name: str
    type: str
    short: str = ""
    shape: list[int] | None = None
    columns: list[str] | None = None


class VariablesReply(Wire):
    """Answer of ``GET variables``. ``reason`` says why they are not known now;
    ``left_out`` is how many there are beyond the listed ones."""

    status: VariablesStatus
    reason: str | None = None
    variables: list[Variable] = []
    left_out: int = 0
