"""``tutorials``: tutorials, progress, and the check of a lesson."""

from __future__ import annotations

from ...protocol.errors import AgentError
from ...protocol.tutorials import (
    LessonCheck,
    LessonChecked,
    Tutorial,
    TutorialsReply,
    TutorialStart,
    TutorialStarted,
)
from ...store.records import TutorialProgress
from ...workflows.tutorials.catalogue import TUTORIALS, find_tutorial
from ...workflows.tutorials.checking import check_lesson
from ...workflows.tutorials.lesson import TutorialContent
from ...workflows.tutorials.starting import start_tutorial
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route


class TutorialBase(Handler):
    """Common to the handlers."""

    def find(self, tutorial_id: str) -> TutorialContent:
        """The tutorial. Raises ``AgentError`` ``not_found``."""
        found = find_tutorial(tutorial_id)
        if found is None:
            names = ", ".join(each.id for each in TUTORIALS)
            raise AgentError(
                "not_found", f"There is no tutorial {tutorial_id!r}. There are: {names}."
            )
        return found

    async def with_progress(self, tutorial: TutorialContent) -> Tutorial:
        """The tutorial as it goes over the wire."""
        progress = (await self.parts.runtime.store.tutorials.progress()).get(tutorial.id)
        return await self.described(tutorial, progress)

    async def described(
        self, tutorial: TutorialContent, progress: TutorialProgress | None
    ) -> Tutorial:
        """The tutorial with this progress; its notebook only while it exists."""
        progress = progress or TutorialProgress()
        notebook = progress.notebook
        if notebook is not None and not await self.parts.runtime.notebooks.exists(notebook):
            notebook = None
        return Tutorial(
            id=tutorial.id,
            title=tutorial.title,
            description=tutorial.description,
            lessons=[
                lesson.lesson(number, progress.passed.get(number))
                for number, lesson in enumerate(tutorial.lessons, 1)
            ],
            notebook=notebook,
        )


class TutorialsHandler(TutorialBase):
    """All tutorials."""

    @route("read")
    async def get(self) -> TutorialsReply:
        progress = await self.parts.runtime.store.tutorials.progress()
        return TutorialsReply(
            tutorials=[await self.described(each, progress.get(each.id)) for each in TUTORIALS]
        )


class TutorialHandler(TutorialBase):
    """One tutorial."""

    @route("read")
    async def get(self, tutorial_id: str) -> Tutorial:
        return await self.with_progress(self.find(tutorial_id))

    @route("write")
    async def post(self, tutorial_id: str) -> TutorialStarted:
        tutorial = self.find(tutorial_id)
        request = self.body(TutorialStart)
        runtime = self.parts.runtime
        path, created = await start_tutorial(
            runtime.notebooks, tutorial, request.folder, request.client_id
        )
        await runtime.store.tutorials.start(tutorial.id, path)
        return TutorialStarted(path=path, created=created)


class LessonCheckHandler(TutorialBase):
    """The check of a lesson."""

    @route("execute")
    async def post(self, tutorial_id: str, number: str) -> LessonChecked:
        tutorial = self.find(tutorial_id)
        lesson = self._lesson(tutorial, number)
        request = self.body(LessonCheck)
        runtime = self.parts.runtime
        verdict = await check_lesson(
            runtime.notebooks,
            tutorial,
            lesson,
            request.path or await self._notebook(tutorial),
            request.cell_id,
            request.client_id,
        )
        if verdict.passed:
            await runtime.store.tutorials.passed(tutorial.id, lesson)
        return LessonChecked(
            passed=verdict.passed,
            feedback=verdict.feedback,
            hint=None if verdict.passed else tutorial.lessons[lesson - 1].hint,
            tutorial=await self.with_progress(tutorial),
        )

    def _lesson(self, tutorial: TutorialContent, number: str) -> int:
        count = len(tutorial.lessons)
        if not number.isascii() or not number.isdigit() or not 1 <= int(number[:9]) <= count:
            raise AgentError(
                "not_found",
                f"{tutorial.id} has the lessons 1 to {count}; there is no lesson {number}.",
            )
        return int(number)

    async def _notebook(self, tutorial: TutorialContent) -> str:
        progress = (await self.parts.runtime.store.tutorials.progress()).get(tutorial.id)
        notebook = progress.notebook if progress is not None else None
        if notebook is None or not await self.parts.runtime.notebooks.exists(notebook):
            raise AgentError(
                "not_found",
                f"The tutorial {tutorial.id} has no notebook here. Start it: "
                f"POST tutorials/{tutorial.id}.",
            )
        return notebook


ROUTES = [
    Route(
        "tutorials",
        TutorialsHandler,
        {"get": Operation("The tutorials, with progress", response=TutorialsReply)},
    ),
    Route(
        "tutorials/{tutorial_id}",
        TutorialHandler,
        {
            "get": Operation("One tutorial, with progress", response=Tutorial),
            "post": Operation(
                "Make its notebook and data where they are missing", TutorialStart, TutorialStarted
            ),
        },
    ),
    Route(
        "tutorials/{tutorial_id}/lessons/{number}/check",
        LessonCheckHandler,
        {
            "post": Operation(
                "Run the learner's cell and say what is right and missing in it",
                LessonCheck,
                LessonChecked,
            )
        },
    ),
]
