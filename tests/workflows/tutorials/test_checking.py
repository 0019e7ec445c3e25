"""Checks in situations that are nobody's lesson: broken names, restarts, pages, no kernel."""

# ruff: noqa: E501 - a table of answers, a line each

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.notebook.document import DocumentError
from jupyter_datalayer_agent.protocol.cells import CellPosition, CellRun, DeleteCell, InsertCell
from jupyter_datalayer_agent.protocol.page import PageRequest, RunParams
from jupyter_datalayer_agent.workflows.tutorials import checking
from jupyter_datalayer_agent.workflows.tutorials.catalogue import TUTORIALS, find_tutorial
from jupyter_datalayer_agent.workflows.tutorials.checking import check_lesson
from jupyter_datalayer_agent.workflows.tutorials.starting import start_tutorial
from tests.notebook.support import BASH_SPEC, ScriptedPage, install_spec, world

from . import test_pandas_basics as pandas_lessons
from . import test_scikit_learn_first_model as model_lessons
from .classroom import classroom

RIGHT = pandas_lessons.SOLUTIONS[0].source
STRANGE = [
    "print = exec = list = dict = json = str = len = 3\n" + RIGHT.replace("len(penguins)", "penguins.shape[0]"),
    RIGHT + "import sys, io\nclass Odd:\n    def __getattr__(self, name): raise OSError(name)\nodd = Odd()",
]  # fmt: skip
WRONG_AND_STRANGE = {
    "class Bad:\n    __len__ = __eq__ = __repr__ = __str__ = lambda *a: 1 / 0\n"
    "penguins = n_rows = n_columns = Bad()": "should be a table",
    "class DataFrame:\n    pass\npenguins = DataFrame()": "cannot make sense",
    "penguins = [0] * 10": "should be a table (DataFrame); it is a list",
    "import sys\nsys.exit()": "SystemExit",
    "raise ValueError()": "The cell stopped with ValueError",
    "%%time\npenguins = 3": "it is a whole number",
    "%%bash\necho hello": "There is no `penguins`",
    "%nosuchmagic": "UsageError",
    "penguins = (": "bracket",
    "    ": "The cell is empty",
    "# nothing": "There is no `penguins`",
    "1 / 0": "ZeroDivisionError",
    "import pandsa": "There is no module pandsa",
    "import pandas as pd\nclass E(Exception):\n    def __str__(self): raise KeyError\nraise E": "stopped",
}  # fmt: skip


@pytest.mark.timeout(240)
async def test_whatever_the_learner_writes_gets_an_answer(tmp_path: Path) -> None:
    async with classroom(tmp_path, "pandas-basics") as room:
        for source in STRANGE:
            verdict = await room.answer(1, source)
            assert verdict.passed, (source, verdict)
            await room.code("del print, exec, list, dict, json, str, len")
        for source, said in WRONG_AND_STRANGE.items():
            verdict = await room.answer(1, source)
            assert not verdict.passed
            assert said in verdict.feedback, (source, verdict)

        # A value of an earlier run does not count for a cell that no longer makes it.
        assert (await room.answer(1, RIGHT)).passed
        left = await room.answer(1, RIGHT.split("n_rows")[0])
        assert "There is no `n_rows`" in left.feedback

        # A cell that was split is taken as a whole.
        first, rest = RIGHT.split("n_rows", 1)
        await room.write(1, first)
        cell = await room.cell(1)
        document = await room.world.service.open(room.path)
        half = {**(cell.cell or {}), "id": "second-half", "source": "n_rows" + rest}
        await document.edit(
            [
                InsertCell(
                    cell_id="second-half", type="code", source="n_rows" + rest,
                    position=CellPosition(after=cell.id), cell=half,
                )
            ]
        )  # fmt: skip
        assert (await room.check(1)).passed

        # A cell elsewhere is checked by its id.
        tutorial, service = room.tutorial, room.world.service
        alone = await check_lesson(service, tutorial, 1, room.path, cell_id=cell.id)
        assert "There is no `n_rows`" in alone.feedback
        with pytest.raises(DocumentError, match="no code cell"):
            await check_lesson(service, tutorial, 1, room.path, cell_id="nobody")

        cell = await room.cell(5)
        await document.edit([DeleteCell(cell_id=cell.id, base_hash=cell.hash)])
        with pytest.raises(DocumentError, match="lesson 5 is not in") as raised:
            await room.check(5)
        assert raised.value.code == "not_found"
        assert "Undo its deletion" in (raised.value.hint or "")


async def test_data_that_was_deleted_is_reported(tmp_path: Path) -> None:
    async with classroom(tmp_path, "pandas-basics") as room:
        await room.write(2, pandas_lessons.SOLUTIONS[1].source.replace("penguins.csv", "../p.csv"))
        (room.world.root / "tutorials/penguins.csv").rename(room.world.root / "p.csv")
        assert "Start the tutorial again" in (await room.check(2)).feedback
        _, created = await start_tutorial(room.world.service, room.tutorial)
        assert not created
        assert (await room.check(2)).passed


@pytest.mark.timeout(240)
async def test_after_a_restart_the_lessons_before_are_run_first(tmp_path: Path) -> None:
    async with classroom(tmp_path, "scikit-learn-first-model") as room:
        for each in model_lessons.SOLUTIONS[:4]:
            await room.write(each.lesson, each.source)
        assert (await room.check(4)).passed

        kernel = await room.world.service.kernel_of(room.path)
        assert kernel is not None
        await room.world.kernels.restart_kernel(kernel["id"])
        await room.write(2, "X_train = nobody")
        feedback = (await room.check(4)).feedback
        assert "builds on lesson 2, whose cell fails (NameError" in feedback


async def test_a_cell_without_end_is_stopped_and_a_dead_kernel_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "RUN_SECONDS", 1.0)
    monkeypatch.setattr(checking, "CHECK_SECONDS", 10.0)
    async with classroom(tmp_path, "pandas-basics") as room:
        verdict = await room.answer(1, "while True:\n    pass")
        assert "ran for more than 1 second" in verdict.feedback
        monkeypatch.undo()
        assert "kernel died" in (await room.answer(1, "import os\nos._exit(1)")).feedback
        await room.write(1, RIGHT)
        while not (verdict := await room.check(1)).passed:
            assert "kernel died" in verdict.feedback
            await asyncio.sleep(0.1)


async def test_what_is_typed_in_the_page_and_not_saved_is_what_is_checked(tmp_path: Path) -> None:
    async with classroom(tmp_path, "pandas-basics") as room:
        cell = await room.cell(1)
        page = ScriptedPage(room.world.pages).connect()
        cells = room.world.on_disk(room.path)["cells"]
        typed = [c if c["id"] != cell.id else {**c, "source": RIGHT} for c in cells]
        page.open(room.path, typed)

        verdict = await room.check(1)
        assert not verdict.passed
        assert "The notebook has no kernel" in verdict.feedback
        assert page.methods() == ["notebook.read"]

        await room.code("pass")  # from here on the notebook has a kernel
        kernel = await room.world.service.kernel_of(room.path)
        assert kernel is not None

        async def run(request: PageRequest, params: RunParams) -> list[CellRun]:
            done = await room.world.service.execute_code(RIGHT, kernel_id=kernel["id"])
            return [done.model_copy(update={"cell_id": each}) for each in params.cell_ids]

        page.runner = run
        read = page._read

        def with_kernel(params: Any) -> dict[str, Any]:
            return {**read(params), "kernelId": kernel["id"], "kernelLanguage": "python"}

        page._read = with_kernel  # type: ignore[method-assign]
        verdict = await check_lesson(
            room.world.service, room.tutorial, 1, room.path, client_id=page.client_id
        )
        assert verdict.passed
        assert "notebook.run" in page.methods()
        assert (await room.cell(1)).source == RIGHT


async def test_another_language_is_reported(tmp_path: Path) -> None:
    specs = install_spec(tmp_path / "kernels", "bash", BASH_SPEC)
    async with world(tmp_path, kernel_dirs=[specs]) as w:
        tutorial = find_tutorial("pandas_basics")
        assert tutorial is not None
        path, _ = await start_tutorial(w.service, tutorial)
        await w.service.select_kernel(path, kernel_name="bash")
        verdict = await check_lesson(w.service, tutorial, 1, path)
        assert "speaks bash; the lesson is in Python" in verdict.feedback


def test_lessons_say_all_that_a_learner_needs() -> None:
    for tutorial in TUTORIALS:
        for lesson in tutorial.lessons:
            texts = [
                lesson.title, lesson.explanation, lesson.starter_code, lesson.task,
                lesson.expected_output, lesson.hint,
            ]  # fmt: skip
            assert all(text.strip() for text in texts)
            assert "!" not in " ".join(texts).replace("!=", "")
