"""Twins: the files that a contents manager writes together as one notebook."""

from __future__ import annotations

from typing import Any

from .document import DocumentError


def twins_of(contents_manager: Any, path: str) -> list[str]:
    """The other files of a notebook that jupytext pairs, as far as that has read or saved one of
    them; none without jupytext."""
    pairs = getattr(contents_manager, "paired_notebooks", None)
    if not pairs or path not in pairs:
        return []
    from jupytext.paired_paths import paired_paths  # type: ignore[import-not-found]

    return [other for other, _ in paired_paths(path, *pairs[path]) if other != path]


def twin_is_open(path: str, twin: str) -> DocumentError:
    """A page shows the twin, and would overwrite what is written to both."""
    return DocumentError(
        "not_allowed",
        f"{path} is paired with {twin}, which is open as a notebook: neither file is written "
        "meanwhile.",
        f"Use the notebook tools on {twin}, attached and active. Or ask the user to close it.",
    )
