"""Hooks of a contents manager, which may change what is saved."""

from __future__ import annotations

from typing import Any


def may_change_models(contents_manager: Any) -> bool:
    """Whether a hook is called with each model before it is saved. It changes that model, so that
    what it made is known."""
    return _has(contents_manager, "pre")


def may_change_files(contents_manager: Any) -> bool:
    """Whether a hook is called with each file after it was saved. What it makes of the file only
    the file says."""
    return _has(contents_manager, "post")


def may_format(contents_manager: Any) -> bool:
    """Whether what is saved may become another text than it was given."""
    return may_change_models(contents_manager) or may_change_files(contents_manager)


def _has(manager: Any, when: str) -> bool:
    return bool(
        getattr(manager, f"{when}_save_hook", None) or getattr(manager, f"_{when}_save_hooks", None)
    )
