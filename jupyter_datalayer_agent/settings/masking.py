"""Values of settings as they may be shown: without what an address may hold of secrets."""

from __future__ import annotations

import re
from typing import Any

MASK = "***"
_USER = re.compile(r"(?<=://)[^/@\s]+@")
_QUERY = re.compile(r"(?<=[?&])([^=?&#\s]+)=[^&#\s]+")
_KEY = re.compile(r"(?i)\b(?:sk|pk|rk|gsk|xai|ghp|hf)[-_][A-Za-z0-9_\-.]{6,}|\bAIza[\w\-]{10,}")


def masked(value: Any) -> Any:
    """The value; in texts, user names, passwords and query values of URLs, and keys, as ``***``."""
    if isinstance(value, str):
        if "://" in value:
            value = _QUERY.sub(rf"\1={MASK}", _USER.sub(f"{MASK}@", value))
        return _KEY.sub(MASK, value)
    if isinstance(value, dict):
        return {key: masked(each) for key, each in value.items()}
    if isinstance(value, list):
        return [masked(each) for each in value]
    return value
