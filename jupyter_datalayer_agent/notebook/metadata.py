"""What a notebook's metadata says of its kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal


def of_kernel(
    metadata: Mapping[str, Any], part: Literal["kernelspec", "language_info"]
) -> dict[str, str]:
    """The texts in this part of the metadata, which may be of any form; empty without it."""
    value = metadata.get(part)
    if not isinstance(value, Mapping):
        return {}
    return {key: text for key, text in value.items() if isinstance(text, str)}
