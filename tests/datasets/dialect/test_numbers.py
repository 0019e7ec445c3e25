"""Which texts are numbers, and what is done to tell."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.datasets.dialect import numbers
from jupyter_datalayer_agent.datasets.dialect.layout import is_value
from jupyter_datalayer_agent.datasets.dialect.numbers import is_number

PLAIN = ["1", "-2.5", "+3", ".5", "7.", "1e5", "2.5E-3", "\u0662\u0663"]
OTHERS = ["1,5", "1.234,56", "1,234.5", "12 345", "5%", "$ 3", "(4)", "1'000", "-\u20ac5"]
NONE = ["", "a", "12a", "x1", "1_000", "1-2", "1e", "%", "2026-11-28", "\u00b2", "port 8888"]


@pytest.mark.parametrize("text", [*PLAIN, *OTHERS])
def test_numbers_are_recognised_in_every_way_of_writing_them(text: str) -> None:
    assert is_number(text)
    assert is_number(f" {text}\u00a0")


@pytest.mark.parametrize("text", NONE)
def test_other_texts_are_no_numbers(text: str) -> None:
    assert not is_number(text)


def test_a_pattern_is_made_once_for_a_way_of_writing_numbers() -> None:
    """A pattern takes as long as thousands of comparisons."""
    numbers._way.cache_clear()
    texts = [*PLAIN, "Paris 2", "1_000", *(f"{n},5" for n in range(100))]
    assert [text for text in texts if not is_number(text)] == ["Paris 2", "1_000"]
    assert numbers._way.cache_info().misses == 2
    assert is_value("2026-11-28 12:30")
