"""The limits of a scratch kernel, and the messages when one of them is exceeded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MIB = 1024 * 1024
GIB = 1024 * MIB

Limit = Literal["memory", "processes", "time", "death"]

GONE = "The kernel has ended and its variables are gone; the next call starts a new one."
STILL = "The kernel and its variables are still there."
LESS_MEMORY = (
    "Load less at a time (fewer columns, chunks) or use a lazy engine (duckdb, polars.scan_*, "
    "pyarrow.dataset). The kernel of a notebook has no such limit: open one and run the code there."
)
FEWER_PROCESSES = (
    "Use fewer workers (n_jobs, processes, max_workers), threads, or one process after the other. "
    "The kernel of a notebook has no such limit: open one and run the code there."
)
LESS_TIME = (
    "Try it on less data first, or do it in parts over several calls. The kernel of a notebook may "
    "run for longer: open one and run the code in a cell."
)


@dataclass(frozen=True)
class Limits:
    """``memory`` in bytes for the kernel with its child processes, ``processes`` the children that
    it may have, None for no limit; ``seconds`` that one call may run."""

    memory: int | None = GIB
    processes: int | None = 5
    seconds: float = 900.0

    @classmethod
    def of(cls, memory_mb: int, processes: int, seconds: float) -> Limits:
        """The limits as settings have them: 0 MiB and -1 processes are no limit."""
        return cls(
            memory=memory_mb * MIB if memory_mb > 0 else None,
            processes=processes if processes >= 0 else None,
            seconds=seconds,
        )

    @property
    def hard_memory(self) -> int | None:
        """Bytes of private memory that a process cannot have mapped at all.

        Far above ``memory``, since what is reserved need not be used: pyarrow's allocator reserves
        1 GiB at once and each thread 8 MiB for its stack. It keeps one enormous allocation from
        taking the machine down before anybody looks.
        """
        return None if self.memory is None else 2 * self.memory + 4 * GIB


@dataclass(frozen=True)
class LimitPassed:
    """A limit that a call exceeded, as a message for the model.

    ``what`` happened, and what was ``done`` if the kernel keeps running; ``died``: it does not.
    """

    limit: Limit
    what: str
    hint: str
    died: bool = False
    done: str = ""

    @property
    def message(self) -> str:
        """What happened, and what is left."""
        return " ".join(filter(None, [self.what, GONE if self.died else f"{self.done} {STILL}"]))


def size(count: float) -> str:
    """Bytes formatted: ``1 GiB``, ``512 MiB``."""
    return f"{count / GIB:.3g} GiB" if count >= GIB else f"{count / MIB:.3g} MiB"


def too_much_memory(used: int, limit: int, *, died: bool) -> LimitPassed:
    """The kernel with its children used ``used`` bytes."""
    return LimitPassed(
        "memory",
        f"The code used {size(used)} of memory; the limit of a scratch kernel, with its child "
        f"processes, is {size(limit)}.",
        LESS_MEMORY,
        died,
        "The child processes were ended and the code was interrupted.",
    )


def allocation_refused(limit: int) -> LimitPassed:
    """One allocation was so large that the kernel did not get it."""
    return LimitPassed(
        "memory",
        "The code asked for far more memory at once than a scratch kernel may have; its limit is "
        f"{size(limit)}.",
        LESS_MEMORY,
        done="It did not get it.",
    )


def too_many_processes(count: int, limit: int, *, died: bool) -> LimitPassed:
    """The kernel had ``count`` child processes at once."""
    return LimitPassed(
        "processes",
        f"The code had {count} child processes at once; the limit of a scratch kernel is {limit}.",
        FEWER_PROCESSES,
        died,
        "They were ended and the code was interrupted.",
    )


def too_long(seconds: float, *, died: bool) -> LimitPassed:
    """A call ran for longer than ``seconds``."""
    return LimitPassed(
        "time",
        f"The code ran for longer than {seconds:g} s, the limit of a call in a scratch kernel, and "
        f"was interrupted.{' It did not stop.' if died else ''}",
        LESS_TIME,
        died,
    )


def died_by_itself(what: str) -> LimitPassed:
    """The kernel's process ended in the middle of a call, and it was not us: ``what`` is known."""
    return LimitPassed("death", what, "Do without what ends the process, or use less data.", True)
