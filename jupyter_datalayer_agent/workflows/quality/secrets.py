"""Rules about what should not be shared: secrets, and paths of one machine.

A secret is never repeated in a message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .notebook import AnalysedCell, AnalysedNotebook
from .types import Finding, QualityRule

MOST_CHARACTERS = 100_000
"""Of a source or an output, as far as it is looked at."""

# Formats that their issuers document.
_KNOWN = {
    "a private key": re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"),
    "an AWS access key": re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "a GitHub token": re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{50,})"),
    "a Google API key": re.compile(r"\bAIza[0-9A-Za-z_-]{35}"),
    "a Hugging Face token": re.compile(r"\bhf_[A-Za-z0-9]{30,}\b"),
    "a Slack token": re.compile(r"\bxox[abeprs]-[A-Za-z0-9-]{10,}"),
    "a Stripe key": re.compile(r"\b[rs]k_live_[A-Za-z0-9]{20,}"),
    "an API key": re.compile(r"\bsk-[A-Za-z0-9_-]{20,}"),
    "a token (JWT)": re.compile(r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
    "a password in an address": re.compile(r"\b[a-z][a-z0-9+.-]{0,15}://[^\s:/@'\"]+:(?P<value>[^\s:/@'\"]+)@"),
}  # fmt: skip
_ASSIGNED = re.compile(
    r"""(?ix) (?:password|passwd|pwd|secret|api_?key|access_?key|auth_?token
    |access_?token|private_?key) \w{0,40} ['"]? \]? \s* [=:] \s* f? (['"])
    (?P<value>[^'"\s]{8,}) \1"""
)
_PLACEHOLDER = re.compile(
    r"(?i)^(?:<.*>|\{.*\}|\$.*|\*+|x{3,}.*|\.+)$|your|example|changeme|placeholder|insert|dummy|"
    r"here\b|password|secret"
)
_ABSOLUTE = re.compile(
    r"""(['"])(?P<path>(?:/(?:home|Users|root|mnt|media|Volumes|data|content|tmp|var|opt|srv|workspace)
    /|[A-Za-z]:[\\/]{1,2}(?!/)|\\\\\\\\\w|~/)[^'"\n]*)\1""",
    re.VERBOSE,
)


def _texts(cell: AnalysedCell) -> Iterator[tuple[str, str]]:
    """The places and texts of a cell: the source, and its outputs as text."""
    yield "source", _as_text(cell.source)
    for output in cell.outputs:
        yield "output", _as_text(output.get("text"))
        yield "output", _as_text(output.get("traceback"))
        yield "output", _as_text(output.get("evalue"))
        for mime, value in (output.get("data") or {}).items():
            if not str(mime).startswith("image/"):
                yield "output", _as_text(value)


def _as_text(value: Any) -> str:
    if isinstance(value, list):
        value = "\n".join(str(line) for line in value)
    return "" if value is None else str(value)[:MOST_CHARACTERS]


def _secrets(notebook: AnalysedNotebook) -> Iterator[Finding]:
    for cell in notebook.cells:
        seen = set()
        for place, text in _texts(cell):
            for kind in kinds_of_secrets(text):
                if (place, kind) not in seen:
                    seen.add((place, kind))
                    yield Finding(f"The {place} of the cell holds {kind}.", cell)


def kinds_of_secrets(text: str) -> Iterator[str]:
    """What the text holds that is secret, in words, none of it itself."""
    for kind, pattern in _KNOWN.items():
        if any(_is_real(match) for match in pattern.finditer(text)):
            yield kind
            return
    if any(_is_real(match) for match in _ASSIGNED.finditer(text)):
        yield "what looks like a password or key"


def _is_real(match: re.Match[str]) -> bool:
    value = match.groupdict().get("value")
    return value is None or not _PLACEHOLDER.search(value)


def _absolute_paths(notebook: AnalysedNotebook) -> Iterator[Finding]:
    for cell in notebook.code:
        seen = set()
        for match in _ABSOLUTE.finditer(_as_text(cell.source)):
            path = match["path"]
            if path not in seen:
                seen.add(path)
                yield Finding(f"The path {path[:80]!r} is specific to this machine.", cell)


RULES = [
    QualityRule("secret", "error", 25, 50, "a key, token or password in a source or an output",
         "Remove secrets from the notebook and revoke them. "
         "Read them from the environment.", _secrets),
    QualityRule("absolute-path", "warning", 5, 15, "an absolute path",
         "Use paths relative to the notebook.", _absolute_paths),
]  # fmt: skip
