"""Keys, tokens and passwords in texts: what they look like, and texts without them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple


class KeyFormat(NamedTuple):
    """A format that its issuer documents: how a key begins, and then at least ``length`` of the
    characters in ``rest``, as expressions."""

    kind: str
    start: str
    rest: str
    length: int


FORMATS = (
    KeyFormat("an AWS access key", "(?:AKIA|ASIA)", "0-9A-Z", 16),
    KeyFormat("a GitHub token", "gh[pousr]_", "A-Za-z0-9", 36),
    KeyFormat("a GitHub token", "github_pat_", r"\w", 50),
    KeyFormat("a Google API key", "AIza", r"\w-", 35),
    KeyFormat("a Hugging Face token", "hf_", "A-Za-z0-9", 30),
    KeyFormat("a Slack token", "xox[abeprs]-", "A-Za-z0-9-", 10),
    KeyFormat("a Stripe key", "[rs]k_live_", "A-Za-z0-9", 20),
    KeyFormat("an API key", "(?:sk-|xai-|gsk_)", r"\w-", 20),
)
PRIVATE_KEY = "-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY"
"""The first line of a private key, as an expression."""

# A message may repeat a part of a key, or a key with asterisks in the middle. What is masked is
# therefore shorter than a key, and anything after a usual prefix, unless it reads like a word:
# `key_columns`, `key=itemgetter` and "basic statistics" stay.
_PART = 10


def _no_word(rest: str) -> str:
    """An expression for six characters of ``rest`` or more that read like no word."""
    return rf"(?=[{rest}]{{16}}|[{rest}]{{0,15}}(?:[\d*]|[a-z][A-Z]))[{rest}]{{6,}}"


_MASKED = re.compile(
    r"\b(?:(?i:sk|pk|rk|gsk|xai|key|ghp|gho|hf)[-_]"
    + _no_word(r"*\w.-")
    + r"|(?<=key=)"
    + _no_word(r"\w.-")
    + r"|(?i:Bearer|Basic)\s+"
    + _no_word(r"\w.=+/-")
    + r"|eyJ[\w.-]{20,}"
    + "".join(rf"|{each.start}[*{each.rest}]{{{min(each.length, _PART)},}}" for each in FORMATS)
    + ")",
    re.ASCII,
)
_USER_INFO = re.compile(r"(?<=://)[^/@\s]+@")
_QUERY = re.compile(r"(?<=[?&])([^=?&#\s]+)=[^&#\s]+")

_WHOLE = (
    ("a private key", re.compile(PRIVATE_KEY + "-----")),
    *(
        (each.kind, re.compile(rf"\b{each.start}[{each.rest}]{{{each.length},}}", re.ASCII))
        for each in FORMATS
    ),
    ("a token (JWT)", re.compile(r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}")),
    (
        "a password in an address",
        re.compile(r"\b[a-z][a-z0-9+.-]{0,15}://[^\s:/@'\"]+:(?P<value>[^\s:/@'\"]+)@"),
    ),
    (
        "what looks like a password or key",
        re.compile(
            r"""(?ix) (?:password|passwd|pwd|secret|api_?key|access_?key|auth_?token
            |access_?token|private_?key) \w{0,40} ['"]? \]? \s* [=:] \s* f? (['"])
            (?P<value>[^'"\s]{8,}) \1"""
        ),
    ),
)
_PLACEHOLDER = re.compile(
    r"(?i)^(?:<.*>|\{.*\}|\$.*|\*+|x{3,}.*|\.+)$|your|example|changeme|placeholder|insert|dummy|"
    r"here\b|password|secret"
)

_VARIABLE = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)$", re.IGNORECASE)
_SHORTEST, _LONG = 6, 16
_SHORTEST_REFUSED = 4
"""Characters of a secret; see ``redact``."""


def without_keys(text: str, mask: str) -> str:
    """The text with a mask for each part that looks like a key or a part of one."""
    return _MASKED.sub(lambda _: mask, text)


def without_user_info(text: str, mask: str = "") -> str:
    """The text with a mask for the user name and password in each address, and for their ``@``."""
    return _USER_INFO.sub(lambda _: mask, text)


def without_query_values(text: str, mask: str) -> str:
    """The text with a mask for each value in the query of an address."""
    return _QUERY.sub(lambda found: f"{found[1]}={mask}", text)


def redact(
    text: str,
    environ: Mapping[str, str] = os.environ,
    secrets: Iterable[str] = (),
    *,
    is_refusal: bool = False,
) -> str:
    """``text`` without the secrets of ``environ``, ``secrets``, and anything that looks like a key.

    A key that reads like a word, such as the ``EMPTY`` of servers that need none, cannot be told
    from the word itself and stays, except in the refusal of a key (``is_refusal``), which is where
    servers repeat it."""
    named = (value for name, value in environ.items() if _VARIABLE.search(name))
    for each in sorted({value.strip() for value in (*named, *secrets)}, key=len, reverse=True):
        if _is_distinct(each):
            text = text.replace(each, "[key]")
        elif is_refusal and len(each) >= _SHORTEST_REFUSED:
            text = re.sub(rf"(?<!\w){re.escape(each)}(?!\w)", "[key]", text)
    return without_keys(text, "[key]")


def _is_distinct(secret: str) -> bool:
    """Whether no ordinary text contains it: it is long, or mixes letters and digits."""
    if len(secret) >= _LONG:
        return True
    return (
        len(secret) >= _SHORTEST and any(map(str.isdigit, secret)) and any(map(str.isalpha, secret))
    )


def kinds_of_secrets(text: str) -> Iterator[str]:
    """The first kind of secret that the text holds, in words, without any of it."""
    for kind, pattern in _WHOLE:
        if any(_is_real(match) for match in pattern.finditer(text)):
            yield kind
            return


def _is_real(match: re.Match[str]) -> bool:
    value = match.groupdict().get("value")
    return value is None or not _PLACEHOLDER.search(value)
