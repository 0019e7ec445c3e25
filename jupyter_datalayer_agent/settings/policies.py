"""The settings that protect the user, and whether a change loosens one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LOOSENING: dict[str, tuple[str, ...]] = {
    "approval_policy": ("always", "destructive", "never"),
    "outputs": ("never", "ask", "always"),
    "row_data": ("never", "ask", "always"),
    "mcp_mode": ("off", "ask", "edit", "agent"),
}
"""The values of each, the strictest first."""
ADDRESSES = ("api_base",)
"""Where conversations are sent: every change counts."""


PROTECTED = (*LOOSENING, *ADDRESSES)


def loosened(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The values of ``after`` that are looser than those of ``before``, by the settings' names."""
    return {
        name: value
        for name, value in after.items()
        if name in before and is_looser(name, before[name], value)
    }


def is_looser(name: str, before: Any, after: Any) -> bool:
    """Whether this value protects the user less than that before."""
    if name in ADDRESSES:
        return bool(before != after)
    order = LOOSENING.get(name, ())
    if before not in order or after not in order:
        return False
    return order.index(after) > order.index(before)
