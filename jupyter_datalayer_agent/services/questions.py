"""One question about a parameter: what may answer it, and what an answer was taken from."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

# What is said of an action's parameters: their fields, what may answer them, what they refuse.


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
    packages), ``column`` or ``columns`` (of the data file), ``date-column``, ``name`` (what the
    message has in quotes). Any value is found by its ``title``, its name or what else it is
    ``also_called``: "container: reports"."""
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


_OURS = ("kind", "secret", "alsoCalled")
QuestionType = Literal["text", "number", "boolean", "one", "many"]


@dataclass(frozen=True)
class Question:
    """A parameter that is asked for. ``kind`` and ``also_called`` as in ``action.parameter``;
    ``schema`` is the JSON schema of its values; ``suffixes`` are those of a path."""

    name: str
    prompt: str
    type: QuestionType = "text"
    options: tuple[Option, ...] | None = None
    kind: str | None = None
    suffixes: tuple[str, ...] = ()
    required: bool = True
    secret: bool = False
    description: str | None = None
    schema: Mapping[str, Any] = field(default_factory=dict)
    also_called: tuple[str, ...] = ()

    def form(self) -> dict[str, Any]:
        """The JSON schema with which a form asks for it."""
        form = {key: value for key, value in self.schema.items() if key not in _OURS}
        if self.secret:
            form.pop("default", None)
        form |= {"title": self.prompt}
        if self.description is not None:
            form["description"] = self.description
        kinds = [each for each in form.get("anyOf", ()) if each.get("type") != "null"]
        if len(kinds) == 1:
            # What may be left open is no choice between a value and none.
            form = {key: value for key, value in form.items() if key != "anyOf"} | kinds[0]
            if form.get("default", "") is None:
                del form["default"]
        if self.options is None:
            form.setdefault("type", self.type if self.type in ("boolean", "number") else "string")
            return form
        for key in ("enum", "anyOf", "$ref", "items", "type"):
            form.pop(key, None)
        choices = [{"const": each.value, "title": each.text} for each in self.options]
        if self.type == "many":
            form |= {"type": "array", "uniqueItems": True, "items": {"oneOf": choices}}
        else:
            form |= {"oneOf": choices}
        return form


@dataclass(frozen=True)
class Answer:
    """A value, and the text that it was taken from, in the user's words where it is their text."""

    value: Any
    source: str | None = None


class Filler(Protocol):
    """Answers questions for the user, from what they wrote."""

    async def fill(
        self, questions: Sequence[Question], message: str, known: Mapping[str, Any]
    ) -> dict[str, Answer]:
        """The answers that the message has, by the questions' names. Others are left out."""
        ...


def options_of(options: Sequence[Any]) -> tuple[Option, ...]:
    """Plain values as options, too."""
    return tuple(each if isinstance(each, Option) else Option(each) for each in options)


def questions_of(parameters: type[BaseModel]) -> list[Question]:
    """The fields of a pydantic model as questions."""
    schema = parameters.model_json_schema()
    definitions = schema.get("$defs", {})
    found = []
    for name, info in parameters.model_fields.items():
        own = dict(schema["properties"].get(info.alias or name, {}))
        values = _values(own, definitions)
        found.append(
            Question(
                name=name,
                prompt=info.title or name.replace("_", " ").capitalize(),
                type=_type(own, values),
                options=options_of(values) if values is not None else None,
                kind=kind_of(info),
                required=info.is_required(),
                secret=is_secret(info),
                description=info.description,
                schema=own if "$ref" not in own else {},
                also_called=also_called(info),
            )
        )
    return found


async def refusal(question: Question, value: Any, validate: Validate | None = None) -> str | None:
    """Why this is no answer to the question; None where it is one."""
    if question.options is not None:
        values = [each.value for each in question.options]
        given = value if question.type == "many" else [value]
        if not isinstance(given, list) or (question.type == "many" and not given):
            return f"{question.prompt}: choose at least one."
        for each in given:
            # To Python, True is 1.
            if not any(each == v and isinstance(each, bool) == isinstance(v, bool) for v in values):
                return f"{question.prompt}: {each!r} is not one of the choices."
    elif question.type == "boolean" and not isinstance(value, bool):
        return f"{question.prompt}: say yes or no."
    elif question.type == "text" and not isinstance(value, str):
        return f"{question.prompt}: give a text."
    if validate is None:
        return None
    problem = validate(value)
    return await problem if inspect.isawaitable(problem) else problem


def field_check(parameters: type[BaseModel], name: str) -> Callable[[Any], str | None]:
    """A check of a value by the field's own type and constraints."""
    info = parameters.model_fields[name]
    annotation: Any = Annotated[info.annotation, info]
    adapter: TypeAdapter[Any] = TypeAdapter(annotation)

    def check(value: Any) -> str | None:
        try:
            adapter.validate_python(value)
        except ValidationError as error:
            return f"{info.title or name}: {error.errors()[0]['msg']}."
        return None

    return check


def _values(own: Mapping[str, Any], definitions: Mapping[str, Any]) -> list[Any] | None:
    """The values of an enum, or of a list of them; None where any is possible."""
    if "$ref" in own:
        return _values(definitions[own["$ref"].rpartition("/")[2]], definitions)
    if "items" in own and isinstance(own["items"], dict):
        return _values(own["items"], definitions)
    if "const" in own:
        return [own["const"]]
    for each in own.get("anyOf", ()):
        if (values := _values(each, definitions)) is not None:
            return values
    return list(own["enum"]) if "enum" in own else None


def _type(own: Mapping[str, Any], values: list[Any] | None) -> QuestionType:
    kinds = {own.get("type"), *(each.get("type") for each in own.get("anyOf", ()))}
    if "array" in kinds:
        return "many"
    if values is not None:
        return "one"
    if "boolean" in kinds:
        return "boolean"
    return "number" if kinds & {"integer", "number"} else "text"
