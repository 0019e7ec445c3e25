"""What a tutorial is: texts, data files, and a check for each lesson.

A tutorial is a package here: ``lessons.md`` holds the texts, and ``checks.py`` the checks, which
run in the kernel of the learner (see ``in_kernel``). ``docs/tutorials.md`` is the guide.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...protocol.cells import CellPosition, InsertCell, PageCell
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


# A tutorial's file, ``lessons.md``: front matter, and for each lesson a heading, a comment with its
# check, the explanation, and four parts under headings of their own.


_FRONT = re.compile(r"---\n(.*?)\n---\n(.*)", re.DOTALL)
_COMMENT = re.compile(r"<!-- (\{.*\}) -->\n\n(.*)", re.DOTALL)
_CODE = re.compile(r"```python\n(.*)```", re.DOTALL)


def read_tutorial(package: str) -> TutorialContent:
    """The tutorial of a folder here. Raises ``ValueError`` with what is wrong in its file."""
    import yaml

    file = Path(__file__).parent / package / "lessons.md"
    front = _FRONT.fullmatch(file.read_text(encoding="utf-8"))
    if front is None:
        raise ValueError(f"{file}: must begin with YAML front matter between two --- lines.")
    known = yaml.safe_load(front[1]) | {"id": package.replace("_", "-"), "package": package}
    try:
        lessons = tuple(_lesson(title, text) for title, text in _sections(front[2], "# "))
        return TutorialContent(**known | {"data": tuple(known["data"]), "lessons": lessons})
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{file}: {error}") from error


def _lesson(title: str, text: str) -> LessonContent:
    import yaml

    begin, *parts = _sections(f"## \n{text}", "## ")
    comment, by_title = _COMMENT.fullmatch(begin[1]), dict(parts)
    code = _CODE.fullmatch(by_title["Starter code"])
    if comment is None or code is None:
        raise ValueError(f"{title}: needs a comment with its check, and starter code in a fence.")
    known = yaml.safe_load(comment[1])
    return LessonContent(
        title=title,
        explanation=comment[2],
        starter_code=code[1],
        task=by_title["Task"],
        expected_output=by_title["Expected output"],
        hint=by_title["Hint"],
        check=known["check"],
        builds_on=tuple(known.get("builds_on", ())),
    )


def _sections(text: str, mark: str) -> list[tuple[str, str]]:
    """The parts of a text, each with its heading; a line of code is no heading."""
    sections: list[tuple[str, list[str]]] = []
    in_code = False
    for line in text.strip().splitlines():
        in_code ^= line.startswith("```")
        if line.startswith(mark) and not in_code:
            sections.append((line.removeprefix(mark), []))
        else:
            sections[-1][1].append(line)
    return [(title, "\n".join(lines).strip()) for title, lines in sections]


# A tutorial's notebook: its cells, and the marks by which a lesson's cells are found again.


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
