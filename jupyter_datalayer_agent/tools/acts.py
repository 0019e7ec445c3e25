"""Which code reaches past the kernel: what the policy ``destructive`` asks about (DESIGN 5).

This recognises what notebook users commonly write. It is no sandbox: code that hides such an act
is not recognised, and the documentation says so.
"""

from __future__ import annotations

import re

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


def act_of(code: str) -> str | None:
    """What the code does beyond the kernel, with the line that does it, or None."""
    for line in code.splitlines():
        if line.lstrip().startswith("#"):
            continue
        for pattern, what in _LINE_ACTS:
            if pattern.search(line):
                return f"{what}: {line.strip()[:100]}"
    return None
