"""The tutorials, in one explicit list."""

from __future__ import annotations

from .lesson import TutorialContent, read_tutorial

TUTORIALS = [
    read_tutorial(package)
    for package in ("pandas_basics", "matplotlib_visualization", "scikit_learn_first_model")
]


def find_tutorial(tutorial_id: str) -> TutorialContent | None:
    """The tutorial of that id (case and ``_`` for ``-`` do not matter), or None."""
    wanted = tutorial_id.strip().lower().replace("_", "-")
    return next((each for each in TUTORIALS if each.id == wanted), None)
