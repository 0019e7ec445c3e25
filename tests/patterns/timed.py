"""How long a pattern reads a hostile text: in CPU time, and never longer than a limit."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from typing import Any

from .hostile import Shape, shapes

SIZE = 1_000_000
LIMIT = 0.05
"""Seconds in which a text of ``SIZE`` characters is read, besides the engine's own time for handing
over matches, on a machine where ``A_MILLION`` is the time for a million of them."""
A_MILLION = 0.04
_SMALL, _WORST = 10_000, 3
_SUSPICIOUS = 0.7 * LIMIT / SIZE * _SMALL
"""A small text that takes longer is tried at full size. What takes time in the square of a text's
length takes 10,000 times as long there, and is seen in the small one."""


class TooLong(Exception):
    pass


def _interrupt(*_: object) -> None:
    raise TooLong


def _read(pattern: re.Pattern[Any], method: str, text: Any) -> int:
    """Read a text; how many matches were handed over."""
    if method == "finditer":
        return sum(1 for _ in pattern.finditer(text))
    if method == "sub":
        return pattern.subn(text[:0], text)[1]
    if method == "split":
        return len(pattern.split(text))
    getattr(pattern, method)(text)
    return 1


_A, _AS = re.compile("a"), "a" * 100_000
_MEASURED_AGAIN = 0.5
_TRIES_NEAR_THE_LIMIT = 20
_slowness = (0.0, 1.0)


def _how_slow(anew: bool = False) -> float:
    """How many times slower than the one of ``A_MILLION`` this machine is: others use it, too."""
    global _slowness
    when, factor = _slowness
    if anew or time.process_time() - when > _MEASURED_AGAIN or not when:
        began = time.process_time()
        _read(_A, "finditer", _AS)
        ended = time.process_time()
        factor = max(1.0, (ended - began) * SIZE / len(_AS) / A_MILLION)
        _slowness = (ended, factor)
    return factor


def seconds(pattern: re.Pattern[Any], method: str, text: Any) -> float:
    """The best of two tries, on a machine that is not slow; infinite where both were ended. Near
    the limit it is the best of many: what else runs on the cores slows a try by half."""
    best = float("inf")
    previous = signal.signal(signal.SIGVTALRM, _interrupt)
    try:
        for number in range(_TRIES_NEAR_THE_LIMIT):
            if number >= 2 and not LIMIT < best < 2 * LIMIT:
                break
            slowness = _how_slow(anew=number >= 2)
            began = time.process_time()
            signal.setitimer(signal.ITIMER_VIRTUAL, slowness * (LIMIT + 2 * A_MILLION))
            try:
                matches = _read(pattern, method, text)
                taken = (time.process_time() - began) / slowness
                best = min(best, taken - matches * A_MILLION / SIZE)
            except TooLong:
                pass
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            if best <= LIMIT / 2:
                break
    finally:
        signal.signal(signal.SIGVTALRM, previous)
    return best


def slow(
    pattern: re.Pattern[Any], methods: tuple[str, ...], size: int = SIZE
) -> Iterator[tuple[str, Shape, float]]:
    """The first text for each method that takes longer than the limit, and how long."""
    small = min(size, _SMALL)
    texts = shapes(pattern)
    for method in methods:
        worst: list[tuple[float, Shape]] = []
        for shape in texts:
            taken = seconds(pattern, method, _as(pattern, shape.text(small)))
            worst.append((taken, shape))
            if taken > LIMIT:
                break
        worst.sort(key=lambda each: -each[0])
        for taken, shape in worst[:_WORST]:
            if size > small and _SUSPICIOUS < taken <= LIMIT:
                taken = seconds(pattern, method, _as(pattern, shape.text(size)))
            if taken > LIMIT:
                yield method, shape, taken
                break


def _as(pattern: re.Pattern[Any], text: str) -> Any:
    return text if isinstance(pattern.pattern, str) else text.encode("latin-1", "replace")
