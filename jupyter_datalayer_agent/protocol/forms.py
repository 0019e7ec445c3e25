"""Forms that an MCP server asks the user to fill in during a call (elicitation)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from .base import Wire

FormAction = Literal["accept", "decline", "cancel"]
"""What the user does with it: answers, refuses to answer, or decides nothing."""


class InputForm(Wire):
    """What the MCP server ``server`` asks, as a flat JSON schema: ``properties`` that are texts,
    numbers, yes or no, one or several choices (each a ``oneOf`` of ``const`` and ``title``), and
    the names of those that are ``required``. All texts in it are the server's: untrusted."""

    server: str
    fields: dict[str, Any] = Field(alias="schema")


class FormAnswer(Wire):
    """The user's answer; ``values`` by the names of the fields, without those left empty."""

    action: FormAction
    values: dict[str, Any] = {}
