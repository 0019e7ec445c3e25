"""Braces in a prompt."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.magic.question import filled


@pytest.mark.parametrize(
    ("prompt", "sent", "unknown"),
    [
        ("Add {x} and {x}", "Add 5 and 5", []),
        ("Add {nosuch}, {x}, {nosuch}", "Add {nosuch}, 5, {nosuch}", ["nosuch"]),
        ("{{x}} is {x}", "{x} is 5", []),
        ('{"a": {"x": 1}} {x: y} {x, y} {} {1}', '{"a": {"x": 1}} {x: y} {x, y} {} {1}', []),
        (r"$\frac{a}{b} x_{n} 2^{n}$ and ${HOME}", r"$\frac{a}{b} x_{n} 2^{n}$ and ${HOME}", []),
    ],
)
def test_a_name_in_braces_is_filled_or_reported_and_all_else_passes(
    prompt: str, sent: str, unknown: list[str]
) -> None:
    assert filled(prompt, {"x": 5}) == (sent, unknown)
