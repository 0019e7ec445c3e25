"""The tutorials, in one explicit list."""

from __future__ import annotations

from .lesson import TutorialContent
from .matplotlib_visualization import MATPLOTLIB_VISUALIZATION
from .pandas_basics import PANDAS_BASICS
from .scikit_learn_first_model import SCIKIT_LEARN_FIRST_MODEL

TUTORIALS = [PANDAS_BASICS, MATPLOTLIB_VISUALIZATION, SCIKIT_LEARN_FIRST_MODEL]


def find_tutorial(tutorial_id: str) -> TutorialContent | None:
    """The tutorial of that id (case and ``_`` for ``-`` do not matter), or None."""
    wanted = tutorial_id.strip().lower().replace("_", "-")
    return next((each for each in TUTORIALS if each.id == wanted), None)
