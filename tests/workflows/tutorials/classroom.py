"""A learner at a tutorial's notebook, with a real kernel, who tries answer after answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_datalayer_agent.protocol.cells import CellRun, PageCell, UpdateCell
from jupyter_datalayer_agent.workflows.tutorials.catalogue import find_tutorial
from jupyter_datalayer_agent.workflows.tutorials.checking import Verdict, check_lesson
from jupyter_datalayer_agent.workflows.tutorials.in_kernel import answer_in, check_code
from jupyter_datalayer_agent.workflows.tutorials.lesson import lesson_cells
from jupyter_datalayer_agent.workflows.tutorials.starting import start_tutorial
from tests.notebook.support import World, text_of, world

# What the learner has in the kernel, as one text; our own names would be among them.
FINGERPRINT = """\
import pickle as _p
print({k: hash(_p.dumps(v)) for k, v in sorted(globals().items())
       if not k.startswith(("_", "fig", "ax"))
       and k not in ("In", "Out", "get_ipython", "exit", "quit", "open")
       and type(v).__name__ != "module" and "matplotlib" not in type(v).__module__},
      sorted(k for k in globals() if "datalayer" in k),
      __import__("matplotlib").rcParams.get("figure.hooks"))
"""


@dataclass(frozen=True)
class Try:
    """An answer to a lesson; ``says`` is a part of the feedback, None where it must pass."""

    lesson: int
    source: str
    says: str | None = None


class Classroom:
    """A started tutorial."""

    def __init__(self, w: World, tutorial: str, path: str) -> None:
        found = find_tutorial(tutorial)
        assert found is not None
        self.world = w
        self.tutorial = found
        self.path = path

    async def cell(self, lesson: int) -> PageCell:
        document = await self.world.service.open(self.path)
        cells = (await document.read(whole=True)).cells
        [cell_id] = lesson_cells(self.tutorial, lesson, cells)
        return next(cell for cell in cells if cell.id == cell_id)

    async def write(self, lesson: int, source: str) -> None:
        cell = await self.cell(lesson)
        if cell.source == source:
            return
        document = await self.world.service.open(self.path)
        await document.edit([UpdateCell(cell_id=cell.id, base_hash=cell.hash, source=source)])

    async def check(self, lesson: int) -> Verdict:
        return await check_lesson(self.world.service, self.tutorial, lesson, self.path)

    async def answer(self, lesson: int, source: str) -> Verdict:
        """Write the answer over what the starter code leaves open, and check it."""
        await self.write(lesson, source)
        return await self.check(lesson)

    async def code(self, source: str) -> CellRun:
        return await self.world.service.execute_code(source, path=self.path, timeout=60)

    async def try_all(self, tries: Sequence[Try]) -> list[str]:
        """What went otherwise than expected."""
        wrong = []
        for each in tries:
            verdict = await self.answer(each.lesson, each.source)
            if each.says is None:
                good = verdict.passed and verdict.feedback.startswith("Right.")
            else:
                good = not verdict.passed and each.says in verdict.feedback
            if not good:
                wrong.append(
                    f"lesson {each.lesson}\n{each.source}\n-> {verdict}\n(not: {each.says})"
                )
        return wrong

    async def changed_by_checks(self, solutions: Sequence[Try]) -> list[int]:
        """The lessons whose check leaves something in the kernel or changes it."""
        changed = []
        for each in solutions:
            assert (await self.answer(each.lesson, each.source)).passed
            before = await self.code(FINGERPRINT)
            check = self.tutorial.lessons[each.lesson - 1].check
            request: dict[str, Any] = {"source": each.source, "count": None, "error": None}
            code = check_code(self.tutorial.package, check, request)
            assert answer_in(text_of(await self.code(code))) is not None
            after = await self.code(FINGERPRINT)
            assert before.status == after.status == "ok", before
            if text_of(before) != text_of(after) or "[] []" not in text_of(after):
                changed.append(each.lesson)
        return changed


@asynccontextmanager
async def classroom(tmp_path: Path, tutorial: str) -> AsyncIterator[Classroom]:
    async with world(tmp_path) as w:
        found = find_tutorial(tutorial)
        assert found is not None
        path, _ = await start_tutorial(w.service, found)
        yield Classroom(w, tutorial, path)


async def untouched(room: Classroom) -> dict[int, Verdict]:
    """What the checks say of the notebook as it was made."""
    numbers = range(1, len(room.tutorial.lessons) + 1)
    return {number: await room.check(number) for number in numbers}
