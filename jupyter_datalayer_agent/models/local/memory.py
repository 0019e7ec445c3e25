"""The memory that a model needs, beside what is available."""

from __future__ import annotations

from pathlib import Path

from .added_models import LocalModel

CACHE_MIB = 512
"""MiB of memory in which llama.cpp keeps what it has read of other conversations, so that going
back to one does not read it again."""

_CGROUP = Path("/sys/fs/cgroup")


def needed(model: LocalModel) -> int:
    """About how many bytes the model needs: its weights, what it keeps of each token in its window,
    and of other conversations. The room for calculations, some 10%, is not known beforehand."""
    of_tokens = model.window * model.kv_bytes
    return int(1.1 * model.size) + of_tokens + min(CACHE_MIB * 1024 * 1024, of_tokens)


def available(cgroup: Path = _CGROUP) -> int:
    """Bytes that can be had now: of the machine, or of the container if that is less."""
    import psutil

    free: int = psutil.virtual_memory().available
    most, used = _number(cgroup / "memory.max"), _number(cgroup / "memory.current")
    if most is not None and used is not None:
        # Of what a container uses, the kernel takes cached files back when memory is wanted.
        free = min(free, max(0, most - used + _cached(cgroup / "memory.stat")))
    return free


def installed(cgroup: Path = _CGROUP) -> int:
    """Bytes of memory that the machine has, or that its container may use."""
    import psutil

    total: int = psutil.virtual_memory().total
    most = _number(cgroup / "memory.max")
    return total if most is None else min(total, most)


def size_text(count: int) -> str:
    """``1.1 GB``, ``540 MB`` or ``0.4 MB``."""
    if count >= 1e9:
        return f"{count / 1e9:.1f} GB"
    return f"{count / 1e6:.0f} MB" if count >= 1e7 else f"{count / 1e6:.1f} MB"


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):  # no such file, or "max"
        return None


def _cached(file: Path) -> int:
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("inactive_file "))
