"""A tutorial's notebook: its cells, and the marks by which a lesson's cells are found again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from ...protocol.cells import CellPosition, InsertCell, PageCell
from .lesson import LessonContent, TutorialContent

MARK = "datalayer_agent"


def notebook_cells(tutorial: TutorialContent) -> list[InsertCell]:
    """The edits that fill an empty notebook: for each lesson its text, and its cell."""
    cells = [_cell(tutorial, 0, "markdown", _introduction(tutorial))]
    for number, lesson in enumerate(tutorial.lessons, 1):
        cells.append(_cell(tutorial, number, "markdown", _text(number, lesson)))
        cells.append(_cell(tutorial, number, "code", lesson.starter_code.rstrip("\n")))
    return cells


def lesson_cells(tutorial: TutorialContent, number: int, cells: Sequence[PageCell]) -> list[str]:
    """The ids of the lesson's code cells, in order; more than one where it was split or copied.

    ``cells`` are whole ones.
    """
    wanted = {"tutorial": tutorial.id, "lesson": number}
    return [cell.id for cell in cells if cell.type == "code" and _mark_of(cell) == wanted]


def _mark_of(cell: PageCell) -> Any:
    return ((cell.cell or {}).get("metadata") or {}).get(MARK)


def _introduction(tutorial: TutorialContent) -> str:
    lessons = "\n".join(f"{n}. {each.title}" for n, each in enumerate(tutorial.lessons, 1))
    return (
        f"# {tutorial.title}\n\n{tutorial.description}\n\n{lessons}\n\n"
        "Each lesson has a task and a code cell for your answer. Write it there and check it from "
        "the panel: the check runs the cell and says what is right and what is missing."
    )


def _text(number: int, lesson: LessonContent) -> str:
    return (
        f"## {number}. {lesson.title}\n\n{lesson.explanation}\n\n**Task.** {lesson.task}\n\n"
        f"**Expected.** {lesson.expected_output}"
    )


def _cell(tutorial: TutorialContent, number: int, kind: Any, source: str) -> InsertCell:
    cell_id = hashlib.sha256(f"{tutorial.id} {number} {kind}".encode()).hexdigest()[:12]
    mark = {MARK: {"tutorial": tutorial.id, "lesson": number}}
    cell: dict[str, Any] = {"cell_type": kind, "id": cell_id, "metadata": mark, "source": source}
    if kind == "code":
        cell |= {"outputs": [], "execution_count": None}
    end = CellPosition(at="end")
    return InsertCell(cell_id=cell_id, type=kind, source=source, position=end, cell=cell)
