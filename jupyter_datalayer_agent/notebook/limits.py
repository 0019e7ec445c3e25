"""The limits of a scratch kernel, and what is said when one of them is passed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MIB = 1024 * 1024

Limit = Literal["memory", "processes", "time"]


@dataclass(frozen=True)
class Limits:
    """``memory`` in bytes for the kernel with its child processes, ``processes`` the children that
    it may have, None for no limit; ``seconds`` that one call may run."""

    memory: int | None = 1024 * MIB
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
