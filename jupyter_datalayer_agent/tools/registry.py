"""Defines what a tool is, and registers tools by name.

A tool is an async function of its arguments (a pydantic model) and a ``ToolContext``. Its
docstring is what the model reads. ``@tool(...)`` turns it into a ``Tool``. Built-in tools are in
``builtin/``, and third parties declare theirs in the entry point group
``jupyter_datalayer_agent.tools``; all are added with ``ToolRegistry.add``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from pydantic import Field

from ..entry_points import entry_points_of, load
from ..protocol.base import Wire
from ..protocol.events import ToolCallStarted
from ..protocol.tools import Change, ToolLabel
from .code_to_run import CodeToRun
from .context import ToolContext
from .risky_code import Reason
from .schema import compact_schema

Group: TypeAlias = str
"""What a tool is listed under. A call of the groups ``notebook``, ``document``, ``kernel``,
``lexical``, ``file`` and ``dataset`` counts as work on documents, and if one fails, later calls on
its document are held back. Tools of other packages may name a group of their own."""
Arguments = TypeVar("Arguments", bound=Wire)


@dataclass(frozen=True)
class Image:
    """A picture among the outputs: base64 data, and its size in pixels if known.

    ``name`` says what it belongs to ("Picture of cell 4's output"); ``note`` how it was changed or,
    without ``data``, why it is not shown.
    """

    mime: str
    data: str
    width: int | None = None
    height: int | None = None
    name: str = ""
    note: str = ""

    @property
    def address(self) -> str:
        """The picture as a ``data:`` URL."""
        return f"data:{self.mime};base64,{self.data}"


@dataclass
class ToolOutcome:
    """The result of a successful tool call.

    ``output`` is JSON for the model; ``summary`` one line for a user; ``more`` says how to read the
    rest of a cut output; ``images`` go to models with vision. ``blocks`` are the changes of a
    Lexical document block by block, each with its id as ``cell_id``: verified, and not shown.
    ``mime_bundle`` is data by MIME type, as an output of a notebook has it: a page shows the user
    the richest type that runs nothing; no model reads it.
    """

    output: Any
    summary: str
    changes: list[Change] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)
    more: str | None = None
    blocks: list[Change] = field(default_factory=list)
    mime_bundle: dict[str, Any] | None = None


DestructiveRule = Callable[[Any, ToolContext], Awaitable[str | Reason | None]]
WriteRule = Callable[[Any, ToolContext], Awaitable[str]]
"""The path of the file that a call writes."""
CodeRule = Callable[[Any, ToolContext], Awaitable[CodeToRun | None]]
Preview = Callable[[Any, ToolContext], Awaitable[list[Change]]]
ApprovalRule = Callable[[], str | None]
"""Why every call currently needs the user's approval; None if it needs none."""


@dataclass(frozen=True)
class Tool:
    """A tool and what the gate, the approvals, the scheduler and the page need to know about it.

    ``label`` is its name on the page. ``changes``: changes or runs something, so Agent mode only.
    ``needs_notebook``: works on the attached, active notebook; ``needs_lexical``: on the attached,
    active Lexical document. ``destructive`` returns what would be lost, or None; ``writes`` the
    file that a call writes; ``code`` is what the call would run. ``parallel``: a read that may run
    concurrently with others. ``runs``: its purpose is to run code. ``basic``: sent also to models
    with a small context window. ``preview`` is what a call would change, for approvals. ``asks``:
    asks the user a question.

    For a tool of another program: ``parameters`` is the JSON schema of its arguments, which that
    program checks itself; ``needs_approval`` is evaluated for each call; a new ``version`` ends
    approvals given for the session; ``is_found_by_search`` tools are called by name and not sent to
    the model; one that ``searches`` finds or calls them.
    """

    name: str
    description: str
    arguments: type[Wire]
    run: Callable[[Any, ToolContext], Awaitable[ToolOutcome]]
    group: Group
    label: ToolLabel | None = None
    changes: bool = False
    needs_notebook: bool = False
    needs_lexical: bool = False
    parallel: bool = False
    runs: bool = False
    basic: bool = False
    destructive: DestructiveRule | None = None
    writes: WriteRule | None = None
    code: CodeRule | None = None
    preview: Preview | None = None
    parameters: dict[str, Any] | None = None
    needs_approval: ApprovalRule | None = None
    version: str | None = None
    is_found_by_search: bool = False
    searches: bool = False
    asks: bool = False

    @property
    def may_lose(self) -> bool:
        """Whether a call may lose or do something that cannot be undone."""
        return any((self.destructive, self.writes, self.code))

    def schema(self) -> dict[str, Any]:
        """The tool as a function of the Responses API."""
        return {
            "type": "function",
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters or compact_schema(self.arguments),
            "strict": False,
        }


class CallOfAnother(Wire):
    """The arguments of a tool that calls another one: the dispatcher calls that one instead."""

    name: str = Field(description="As it was found")
    arguments: dict[str, Any] = Field(default={}, description="As its schema has them")


@dataclass(frozen=True)
class Alias:
    """Another name and arguments for a tool: callable, but not sent to the model."""

    name: str
    tool: str
    arguments: type[Wire]
    translate: Callable[[Any, ToolContext], Awaitable[dict[str, Any]]]


def tool(
    arguments: type[Arguments],
    *,
    group: Group,
    name: str | None = None,
    label: tuple[str, str] | None = None,
    changes: bool = False,
    needs_notebook: bool = False,
    needs_lexical: bool = False,
    parallel: bool = False,
    runs: bool = False,
    basic: bool = False,
    asks: bool = False,
    destructive: DestructiveRule | None = None,
    writes: WriteRule | None = None,
    code: CodeRule | None = None,
    preview: Preview | None = None,
) -> Callable[[Callable[[Arguments, ToolContext], Awaitable[ToolOutcome]]], Tool]:
    """Make a ``Tool`` of a function ``snake_case`` (offered as ``snakeCase``), described by its
    docstring.

    ``label`` is its action and its activity (see ``ToolLabel``). Without one, the page shows its
    name.
    """

    def make(run: Callable[[Arguments, ToolContext], Awaitable[ToolOutcome]]) -> Tool:
        first, *rest = run.__name__.split("_")
        return Tool(
            name=name or first + "".join(part.capitalize() for part in rest),
            description=" ".join(inspect.cleandoc(run.__doc__ or "").split()),
            arguments=arguments,
            run=run,
            group=group,
            label=ToolLabel(action=label[0], activity=label[1]) if label else None,
            changes=changes,
            needs_notebook=needs_notebook,
            needs_lexical=needs_lexical,
            parallel=parallel,
            runs=runs,
            basic=basic,
            asks=asks,
            destructive=destructive,
            writes=writes,
            code=code,
            preview=preview,
        )

    return make


NAMESPACES = ("functions.", "default_api.", "tools.", "tool.")
"""Prefixes that models add to a tool's name."""
_AROUND_NAME = re.compile(
    rf"(?:{'|'.join(map(re.escape, NAMESPACES))})?(?P<name>[\w-]+)(?::\d+)?(?:<\|.*)?", re.DOTALL
)


# https://platform.openai.com/docs/api-reference/chat/create: the name of a function.
_LONGEST_NAME = 64
_TAKEN = re.compile(rf"[a-zA-Z0-9_-]{{1,{_LONGEST_NAME}}}")
_NOT_TAKEN = re.compile(r"[^a-zA-Z0-9_-]")


def plain_name(name: str) -> str:
    """A tool's name without what models add: a namespace (``functions.``, Gemini's
    ``default_api.``), a number (Kimi's ``:0``), a channel (gpt-oss's ``<|channel|>commentary``)."""
    around = _AROUND_NAME.fullmatch(name.strip())
    return name if around is None else around["name"]


def normalise(name: str) -> str:
    """Names match without regard to case, underscores or a ``datalayer_`` prefix."""
    plain = name.strip().lower()
    plain = plain.removeprefix("datalayer_").removeprefix("datalayer-")
    return plain.replace("_", "")


class ToolRegistry:
    """Tools and aliases by name, in the order in which they were added."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}
        self._aliases: dict[str, Alias] = {}

    def copy(self) -> ToolRegistry:
        """Return a copy with the same tools and aliases."""
        other = ToolRegistry()
        other._tools, other._aliases = dict(self._tools), dict(self._aliases)
        return other

    def add(self, entry: Tool | Alias) -> Callable[[], None]:
        """Add a tool or an alias; returns a function that removes it.

        Raises ``ValueError`` when the name is taken, or an alias names no tool.
        """
        key = normalise(entry.name)
        if key in self._tools or key in self._aliases:
            raise ValueError(f"A tool named {entry.name!r} already exists.")
        if isinstance(entry, Tool):
            self._tools[key] = entry
            return lambda: self._drop(self._tools, key)
        if normalise(entry.tool) not in self._tools:
            raise ValueError(f"Alias {entry.name!r} is for an unknown tool {entry.tool!r}.")
        self._aliases[key] = entry
        return lambda: self._drop(self._aliases, key)

    @staticmethod
    def _drop(entries: dict[str, Any], key: str) -> None:
        entries.pop(key, None)

    def add_entry_points(self) -> list[str]:
        """Add what third parties declare; returns a message for each that could not be added.

        An entry point is a ``Tool``, an ``Alias``, or a list of them.
        """
        problems = []
        for point in entry_points_of("tools"):
            try:
                loaded = load(point)
                for entry in loaded if isinstance(loaded, list | tuple) else [loaded]:
                    self.add(entry)
            except Exception as error:  # noqa: BLE001 - third-party code may raise anything
                problems.append(f"{point.name} ({point.value}): {error!r}")
        return problems

    def find(self, name: str) -> Tool | Alias | None:
        """The tool or alias of that name, or None."""
        for each in (name, plain_name(name)):
            key = normalise(each)
            if (entry := self._tools.get(key) or self._aliases.get(key)) is not None:
                return entry
        return None

    def own_name(self, name: str) -> str:
        """The name without what a model added, if that is the name of a tool; otherwise a name that
        model servers accept in a conversation."""
        key, is_taken = normalise(name), _TAKEN.fullmatch(name) is not None
        if (entry := self.find(name)) is None:
            return name if is_taken else self._taken(name)
        is_named = is_taken and (key in self._tools or key in self._aliases)
        return name if is_named else entry.name

    def _taken(self, name: str) -> str:
        cleaned = _NOT_TAKEN.sub("-", name)[:_LONGEST_NAME]
        # It named no tool, and must not name one now.
        return cleaned if cleaned and self.find(cleaned) is None else "unknown-tool"

    def behind(self, name: str) -> Tool | None:
        """The tool of this name or alias; None if there is none."""
        entry = self.find(name)
        return self.tool(entry.tool) if isinstance(entry, Alias) else entry

    def call_started(self, call_id: str, name: str) -> ToolCallStarted:
        """The event that begins a call, with what its tool declares for the page."""
        tool = self.behind(name)
        if tool is None:
            return ToolCallStarted(call_id=call_id, name=name)
        return ToolCallStarted(
            call_id=call_id, name=name, label=tool.label, reads=tool.parallel, runs=tool.runs
        )

    def tool(self, name: str) -> Tool:
        """The tool of that name; ``KeyError`` where there is none."""
        return self._tools[normalise(name)]

    def aliases_of(self, name: str) -> list[str]:
        """The other names under which a tool can be called."""
        return [a.name for a in self._aliases.values() if normalise(a.tool) == normalise(name)]

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def names(self) -> list[str]:
        """The names of all tools, in order."""
        return [each.name for each in self]
