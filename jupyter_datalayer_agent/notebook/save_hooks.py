"""Hooks of a contents manager, which may change what is saved."""

from __future__ import annotations

from typing import Any


def has_save_hooks(contents_manager: Any) -> bool:
    """Whether a hook is called with each model before it is saved."""
    return bool(
        getattr(contents_manager, "pre_save_hook", None)
        or getattr(contents_manager, "_pre_save_hooks", None)
    )
