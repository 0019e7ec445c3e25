"""Bounds of arguments, checked when a tool is called and not part of its schema: each token of a
schema is sent with every request, and no model needs to read that a limit is positive."""

from __future__ import annotations

from typing import Any

from pydantic import AfterValidator


def at_least(least: int) -> AfterValidator:
    """A number below ``least`` is refused, saying so; None (not given) stays."""

    def check(value: Any) -> Any:
        if value is not None and value < least:
            raise ValueError(f"must be {least} or more")
        return value

    return AfterValidator(check)


def no_longer_than(most: int) -> AfterValidator:
    """A text of more than ``most`` characters is refused, saying so."""

    def check(value: str) -> str:
        if len(value) > most:
            raise ValueError(f"may have at most {most} characters")
        return value

    return AfterValidator(check)


def clamped(least: int, most: int) -> AfterValidator:
    """A number out of bounds counts as the bound: of too much, a model gets the most there is."""

    def clamp(value: int) -> int:
        return min(max(value, least), most)

    return AfterValidator(clamp)


def above_zero(most: float) -> AfterValidator:
    """Zero and less are refused, as they mean nothing; what is more than ``most`` counts as it."""

    def check(value: float | None) -> float | None:
        if value is not None and not value > 0:
            raise ValueError("must be more than 0")
        return value if value is None else min(value, most)

    return AfterValidator(check)
