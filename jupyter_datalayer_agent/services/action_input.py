"""What a wizard asks its questions by."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from .parameters import NO_SKIP, Validate
from .questions import Question, QuestionType, options_of

Ask = Callable[[Question, "Validate | None", Any], Awaitable[Any]]
"""Answers a question, by its check and the ``skip_value``."""


class ActionInput:
    """Asks the questions of a wizard: of the user, or of what is known in a dry run.

    ``name`` is the parameter that the answer is. An answer that ``options`` or ``validate`` refuse
    is none. With ``skip_value`` the question may stay open, and that is its answer. A ``secret`` is
    asked of the user alone, and kept nowhere.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    async def pick(
        self,
        name: str,
        prompt: str,
        options: Sequence[Any],
        *,
        validate: Validate | None = None,
        skip_value: Any = NO_SKIP,
    ) -> Any:
        """One of the options: its value."""
        return await self._choose("one", name, prompt, options, validate, skip_value)

    async def pick_many(
        self,
        name: str,
        prompt: str,
        options: Sequence[Any],
        *,
        validate: Validate | None = None,
        skip_value: Any = NO_SKIP,
    ) -> list[Any]:
        """Some of the options: their values."""
        found: list[Any] = await self._choose("many", name, prompt, options, validate, skip_value)
        return found

    async def text(
        self,
        name: str,
        prompt: str,
        *,
        validate: Validate | None = None,
        skip_value: Any = NO_SKIP,
        secret: bool = False,
    ) -> str:
        """A text."""
        question = Question(
            name, prompt, kind="name", required=skip_value is NO_SKIP, secret=secret
        )
        text: str = await self._ask(question, validate, skip_value)
        return text

    async def confirm(self, name: str, prompt: str, *, skip_value: Any = NO_SKIP) -> bool:
        """Yes or no."""
        question = Question(name, prompt, "boolean", required=skip_value is NO_SKIP)
        is_so: bool = await self._ask(question, None, skip_value)
        return is_so

    async def path(
        self,
        name: str,
        prompt: str,
        *,
        suffixes: Sequence[str] = (),
        exists: bool = True,
        validate: Validate | None = None,
        skip_value: Any = NO_SKIP,
    ) -> str:
        """A path under the server root; one of a file that is there, unless ``exists`` is False."""
        question = Question(
            name,
            prompt,
            kind="path" if exists else "new-path",
            suffixes=tuple(suffixes),
            required=skip_value is NO_SKIP,
        )
        path: str = await self._ask(question, validate, skip_value)
        return path

    async def _choose(
        self,
        type: QuestionType,
        name: str,
        prompt: str,
        options: Sequence[Any],
        validate: Validate | None,
        skip_value: Any,
    ) -> Any:
        required = skip_value is NO_SKIP
        question = Question(name, prompt, type, options_of(options), required=required)
        return await self._ask(question, validate, skip_value)
