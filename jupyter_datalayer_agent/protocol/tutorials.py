"""Tutorials: lessons with a task each, checked in the learner's kernel."""

from __future__ import annotations

from .base import Wire


class Lesson(Wire):
    """One lesson. ``done`` when its check has passed once; ``done_at`` in ms since 1970."""

    number: int
    title: str
    explanation: str
    starter_code: str
    task: str
    expected_output: str
    hint: str
    done: bool = False
    done_at: int | None = None


class Tutorial(Wire):
    """A tutorial with its progress; ``notebook`` is where it was started, if it was."""

    id: str
    title: str
    description: str
    lessons: list[Lesson]
    notebook: str | None = None


class TutorialsReply(Wire):
    """Answer of ``GET tutorials``."""

    tutorials: list[Tutorial]


class TutorialStart(Wire):
    """Body of ``POST tutorials/{id}``: makes the tutorial's notebook beside its data.

    ``folder`` is under the root ("tutorials" by default); a notebook that exists is kept.
    """

    folder: str | None = None
    client_id: str | None = None


class TutorialStarted(Wire):
    """The tutorial's notebook; ``created`` is false where it was there already."""

    path: str
    created: bool


class LessonCheck(Wire):
    """Body of ``POST tutorials/{id}/lessons/{n}/check``.

    ``cell_id`` is the learner's cell in ``path`` (the tutorial's own notebook and the lesson's own
    cell by default).
    """

    path: str | None = None
    cell_id: str | None = None
    client_id: str | None = None


class LessonChecked(Wire):
    """Whether the learner's answer is right, and if not, what is missing in it."""

    passed: bool
    feedback: str
    hint: str | None = None
    tutorial: Tutorial
