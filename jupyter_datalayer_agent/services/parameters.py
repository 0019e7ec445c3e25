"""What is said of an action's parameters: their fields, what may answer them, what they refuse."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field
from pydantic.fields import FieldInfo

Validate = Callable[[Any], "str | Awaitable[str | None] | None"]
"""Says what is wrong with an answer, in a sentence for the user; None where nothing is."""

NO_SKIP: Any = object()
"""The ``skip_value`` of a question that has none."""


@dataclass(frozen=True)
class Option:
    """An answer that can be picked. ``label`` is what the user reads, the value itself without;
    ``aliases`` are what else a message may call it."""

    value: Any
    label: str | None = None
    aliases: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What the user reads."""
        return self.label if self.label is not None else str(self.value)


def parameter(
    default: Any = ...,
    *,
    title: str,
    description: str | None = None,
    kind: str | None = None,
    secret: bool = False,
    also_called: Sequence[str] = (),
    **constraints: Any,
) -> Any:
    """A field of ``Parameters``. ``kind`` says what a text is, so that it can be found without a
    model: ``data`` (a data file), ``notebook``, ``path`` (any file), ``new-path`` (of a file that
    is to be written), ``remote-path`` (of a file that is elsewhere), ``packages`` (names of Python
    packages), ``column`` or ``columns`` (of the data file), ``date-column`` (one that is called a
    date or so), ``name`` (something that the message puts in quotes or calls so). Any text is found
    beside its ``title``, its name or what else it is ``also_called``: "the container reports"."""
    extra: dict[str, Any] = {}
    if kind is not None:
        extra["kind"] = kind
    if secret:
        extra["secret"] = True
    if also_called:
        extra["alsoCalled"] = list(also_called)
    return Field(
        default,
        title=title,
        description=description,
        json_schema_extra=extra or None,
        **constraints,
    )


def kind_of(info: FieldInfo) -> str | None:
    """See ``parameter``."""
    extra = info.json_schema_extra
    kind = extra.get("kind") if isinstance(extra, dict) else None
    return kind if isinstance(kind, str) else None


def also_called(info: FieldInfo) -> tuple[str, ...]:
    """See ``parameter``."""
    extra = info.json_schema_extra
    words = extra.get("alsoCalled") if isinstance(extra, dict) else None
    return tuple(map(str, words)) if isinstance(words, list) else ()


def is_secret(info: FieldInfo) -> bool:
    """See ``parameter``."""
    extra = info.json_schema_extra
    return isinstance(extra, dict) and extra.get("secret") is True
