"""Which code reaches past the kernel: what the policy ``destructive`` asks about (DESIGN 5).

This recognises what notebook users commonly write. It is no sandbox: code that hides such an act
is not recognised, and the documentation says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_LINE_ACTS = (
    (re.compile(r"^\s*!"), "runs a shell command"),
    (re.compile(r"^\s*[\w.,\s\[\]'\"]+=\s*!"), "runs a shell command"),
    (re.compile(r"^\s*[\w.,\s]+=\s*%(sx|system)\b"), "runs a shell command"),
    (re.compile(r"^\s*%%?(sx|system|bash|sh|script|cmd|powershell|perl|ruby)\b"),
     "runs a shell command"),
    (re.compile(r"^\s*%%!"), "runs a shell command"),
    (re.compile(r"^\s*%(pip|conda|mamba|micromamba|uv)\b"), "installs or removes packages"),
    (re.compile(r"^\s*(pip|pip3|conda|mamba)\s+(install|uninstall|remove|update)\b"),
     "installs or removes packages"),
    (re.compile(r"^\s*%(rm|rmdir|mv|cp)\b|^\s*rm\s+-"), "removes or moves files"),
    (re.compile(r"^\s*%%(writefile|file)\b"), "writes a file"),
    (re.compile(r"\bos\.(system|popen)\s*\(|\bsubprocess\.\w+\s*\("), "runs a shell command"),
    (re.compile(r"\bget_ipython\(\)\.(system|getoutput)\s*\("), "runs a shell command"),
    (re.compile(r"\bos\.(remove|unlink|rmdir)\s*\(|\bshutil\.(rmtree|move)\s*\("),
     "removes or moves files"),
)  # fmt: skip


@dataclass(frozen=True)
class Reason:
    """Why a call waits for the person: in words, and of which kinds of act it is.

    ``kinds`` ("runs a shell command") are what an approval for the session covers.
    """

    words: str
    kinds: tuple[str, ...]


def act_of(code: str) -> str | None:
    """What the code does beyond the kernel, with the line that does it, or None."""
    return next((f"{what}: {line}" for what, line in _acts(code)), None)


def reason_of(codes: Iterable[tuple[str, str]]) -> Reason | None:
    """The acts of all these (subject, code): one of each kind is told; None where there is none."""
    said: dict[str, str] = {}
    for subject, code in codes:
        for what, line in _acts(code):
            said.setdefault(what, f"{subject} {what}: {line}")
    return Reason("; ".join(said.values()), tuple(said)) if said else None


def _acts(code: str) -> Iterator[tuple[str, str]]:
    for line in code.splitlines():
        if line.lstrip().startswith("#"):
            continue
        for pattern, what in _LINE_ACTS:
            if pattern.search(line):
                yield what, line.strip()[:100]
