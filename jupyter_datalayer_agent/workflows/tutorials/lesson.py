"""What a tutorial is: texts, data files, and a check for each lesson.

A tutorial is a package here: its ``__init__.py`` holds a ``TutorialContent``, its ``checks.py`` the
checks, which run in the learner's kernel (see ``kernel``). ``docs/tutorials.md`` is the guide.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...protocol.tutorials import Lesson


@dataclass(frozen=True)
class LessonContent:
    """One lesson. ``check`` is the name of a function in the tutorial's ``checks.py``;
    ``builds_on`` are names that earlier lessons' cells define and that this one uses."""

    title: str
    explanation: str
    starter_code: str
    task: str
    expected_output: str
    hint: str
    check: str
    builds_on: tuple[str, ...] = ()

    def lesson(self, number: int, done_at: int | None) -> Lesson:
        """The lesson as it goes over the wire."""
        return Lesson(
            number=number,
            title=self.title,
            explanation=self.explanation,
            starter_code=self.starter_code,
            task=self.task,
            expected_output=self.expected_output,
            hint=self.hint,
            done=done_at is not None,
            done_at=done_at,
        )


@dataclass(frozen=True)
class TutorialContent:
    """A tutorial. ``package`` is the folder of its checks, ``data`` the files that it needs, by
    their names in ``data/``; ``figures`` says that its checks look at figures.

    Notebooks and progress name a lesson by its number, so a released lesson keeps its place.
    """

    id: str
    package: str
    title: str
    description: str
    data: tuple[str, ...]
    lessons: tuple[LessonContent, ...]
    figures: bool = False

    @property
    def notebook(self) -> str:
        """The name of the tutorial's notebook."""
        return f"{self.id}.ipynb"
