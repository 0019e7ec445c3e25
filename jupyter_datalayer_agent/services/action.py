"""What an action is: something that the agent does for the user, with parameters they confirmed.

An action has a schema form, where all its parameters are known beforehand (``Parameters``, a
pydantic model), or a wizard, whose later questions depend on earlier answers. Either only collects
parameters; ``execute`` alone acts, and is called for nothing but the user's own click.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Protocol

from pydantic import BaseModel

from ..protocol.cells import CellEdit
from ..protocol.page import PageCommand
from ..protocol.workflows import QualityReport
from .questions import NO_SKIP, Option, Question, QuestionType, Validate, options_of, parameter

# What a wizard asks its questions by.


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


__all__ = [
    "NO_SKIP",
    "Action",
    "ActionContext",
    "ActionFailed",
    "ActionInput",
    "ActionResult",
    "ActionStopped",
    "Option",
    "Progress",
    "Validate",
    "parameter",
]

_ID = re.compile(r"[a-z][a-z0-9-]{0,39}")
RESERVED = frozenset({"learn", "brainstorm"})


class ActionFailed(Exception):
    """The action could not be done. The message is for the user and says what to do."""


class ActionStopped(asyncio.CancelledError):
    """Raised in place of a cancellation by an action that says how things are now: ``said``, in
    Markdown, for the user."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.said = said


@dataclass(frozen=True)
class ActionResult:
    """What came out: ``output`` in Markdown; ``paths`` of the files that were written."""

    output: str
    paths: Sequence[str] = ()


class Progress(Protocol):
    """Reports how far an action is."""

    async def __call__(self, message: str, fraction: float | None = None) -> None:
        """``message`` says what is being done; ``fraction`` of the whole is done, 0 to 1."""
        ...


class ActionContext(Protocol):
    """What an action knows and may use. All paths are relative to the server root.

    In a dry run ``edit``, ``page``, ``call``, ``compute`` and ``add_dataset`` raise: nothing is
    executed there.
    """

    @property
    def notebook(self) -> str | None:
        """The notebook that is active, or None."""
        ...

    async def files(self) -> list[str]:
        """The files under the root, without hidden ones, nearest to the root first."""
        ...

    async def path(self, relative: str) -> Path:
        """The absolute path of one under the root. Raises ``ActionFailed`` for one outside."""
        ...

    async def content(self, relative: str, most: int) -> bytes:
        """The bytes of a file under the root as it is saved. Raises ``ActionFailed``, also where
        it has more than ``most``."""
        ...

    async def text(self, relative: str) -> str:
        """The text of a file under the root, with what is not saved yet; lines end in a line feed.
        Raises ``ActionFailed`` for what is not text, is outside, or holds secrets."""
        ...

    async def columns(self, data: str, choices: Mapping[str, str] | None = None) -> list[str]:
        """The columns of a data file; empty where they cannot be read. ``choices`` are how a text
        file is written (``ReadingChoices``), where that should not be detected."""
        ...

    async def tables(self) -> list[Option]:
        """The tables in the active notebook's running kernel: data frames of pandas and polars,
        Arrow tables. They are read without disturbing the kernel, also in a dry run. Raises
        ``ActionFailed`` where they cannot be known."""
        ...

    async def sources(self) -> list[tuple[str, str]]:
        """The cells of the active notebook: type and source. Empty without one."""
        ...

    async def kernels(self) -> list[Option]:
        """The kernels that are installed."""
        ...

    async def python(self) -> str:
        """The interpreter of the active notebook's kernel, an absolute path. Raises
        ``ActionFailed`` without a notebook, and for a kernel that is not Python's."""
        ...

    async def read(self, notebook: str) -> dict[str, Any]:
        """A notebook as nbformat has it, with what is not saved yet. Raises ``ActionFailed``."""
        ...

    async def edit(self, notebook: str, edits: Sequence[CellEdit]) -> None:
        """Change cells of a notebook, wherever it is open: whole or not at all, and so that it can
        be undone. Raises ``ActionFailed``."""
        ...

    async def quality(self, notebook: str) -> QualityReport:
        """What could be better in a notebook. Raises ``ActionFailed``."""
        ...

    async def page(self, command: PageCommand, arguments: Mapping[str, Any]) -> None:
        """Have the user's page carry out a command of JupyterLab. Raises ``ActionFailed``."""
        ...

    async def add_dataset(
        self,
        file: Path,
        source: str,
        name: str | None = None,
        choices: Mapping[str, str] | None = None,
    ) -> str:
        """Make a data set of a CSV, TSV, Parquet, JSON lines or Excel file, wherever that is, and
        make it known to the conversation; the path of its Parquet file. ``source`` is what the
        file is called, ``choices`` are how a text file is written (``ReadingChoices``), where that
        should not be detected. Raises ``ActionFailed``."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool of the agent; its changes can be undone. Raises ``ActionFailed``."""
        ...

    async def compute(self, code: str) -> str:
        """Run code in the active notebook's kernel that leaves no cell; what it printed.

        Raises ``ActionFailed``."""
        ...


class Action:
    """An action of a service: subclass it, and name the class in its ``Service``.

    ``Parameters`` is the pydantic model of what ``execute`` takes. What a field is beside its type
    is said by ``parameter(...)``. ``destructive``: what it does cannot be had back; ``destroys``
    then says what. An object is made for each dry run and each run; ``context`` is what it may use.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    description: ClassVar[str]
    examples: ClassVar[Sequence[str]] = ()
    destructive: ClassVar[bool] = False

    class Parameters(BaseModel):
        """No parameters."""

    def __init__(self, context: ActionContext) -> None:
        self.context = context

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """What the parameter ``name`` can be, by what is ``known`` of the others; None for
        anything of its type."""
        return None

    async def check_parameters(self, parameters: Any) -> Mapping[str, str]:
        """What is wrong with parameters that are valid each by itself: a sentence by name."""
        return {}

    def destroys(self, known: Mapping[str, Any]) -> str | None:
        """What would be destroyed, for a ``destructive`` action."""
        return None

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """Do it. Raises ``ActionFailed`` where that is not possible."""
        raise NotImplementedError

    @classmethod
    def has_wizard(cls) -> bool:
        """Whether its parameters come from a wizard."""
        return hasattr(cls, "wizard")

    @classmethod
    def check(cls) -> None:
        """Raises ``ValueError`` that says what of the declaration is wrong."""
        for what in ("id", "title", "description"):
            if not isinstance(getattr(cls, what, None), str) or not getattr(cls, what).strip():
                raise ValueError(f"The action {cls.__name__} has no {what}.")
        if not _ID.fullmatch(cls.id) or cls.id in RESERVED:
            raise ValueError(f"An action cannot have the id {cls.id!r}.")
        if cls.execute is Action.execute:
            raise ValueError(f"The action {cls.id!r} has no execute.")
        if not (isinstance(cls.Parameters, type) and issubclass(cls.Parameters, BaseModel)):
            raise ValueError(f"The Parameters of the action {cls.id!r} are no pydantic model.")
        cls.Parameters.model_json_schema()


# Files that an action writes: whole or not at all, and never in place of another.


def beside(source: str, name: str | None, suffix: str) -> str:
    """The path under the root of what is made of ``source``: ``name``, a path, or a mere name for a
    file beside it; without one, the name of the source. The suffix is added where it is not
    there."""
    path = PurePosixPath(source)
    if name is None or not name.strip():
        return str(path.with_suffix(suffix))
    target = PurePosixPath(name.strip())
    if not target.name.lower().endswith(suffix.lower()):
        target = target.with_name(target.name + suffix)
    return str(target if len(target.parts) > 1 else path.parent / target)


async def new_file(context: ActionContext, relative: str) -> Path:
    """Where a new file is to be. Raises ``ActionFailed`` where it cannot."""
    path = await context.path(relative)
    if path.exists():
        raise ActionFailed(
            f"{relative} already exists. Choose another name, or delete the file first."
        )
    if not path.parent.is_dir():
        raise ActionFailed(f"There is no folder {PurePosixPath(relative).parent}. Make it first.")
    return path


def write_new(path: Path, content: bytes | str) -> None:
    """Write the file. Raises ``ActionFailed`` where there is one by now or that is impossible."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        part.write_bytes(data)
        _name(part, path)
    except FileExistsError as error:
        raise ActionFailed(f"{path.name} already exists. Choose another name.") from error
    except OSError as error:
        raise ActionFailed(f"{path.name} could not be written: {error.strerror}.") from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _name(part: Path, path: Path) -> None:
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise FileExistsError from None
        part.rename(path)
