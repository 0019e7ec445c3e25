"""What an MCP server asks the user during calls of its tools (elicitation).

Requests are taken out of the stream of messages and answered there: version 1 of the SDK reads
nothing else, neither results nor the server's end, until a request is answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import anyio

from ...protocol.mcp import FormAnswer, InputForm
from ..context import AskForm
from .definition import plain, visible
from .sdk import Incoming, Sdk
from .server_log import ServerLog

# The form of an elicitation: another program's flat JSON schema, rebuilt from its known parts.
#
# Only what is named here is passed on: no patterns, which could take for ever to match, no
# references, no nested objects. See "Requested Schema" of MCP's elicitation.


MOST_FIELDS, MOST_CHOICES = 50, 500
LONGEST_NAME, LONGEST_TITLE, LONGEST_HELP = 100, 200, 1_000
LONGEST_TEXT = 100_000
"""Characters that can be entered."""
FORMATS = ("email", "uri", "date", "date-time")
_NOT_NAMES = ("__proto__", "constructor", "prototype")
"""Names with a special meaning in JavaScript, which shows the form."""

Schema = dict[str, Any]


class BadForm(Exception):
    """A requested schema that cannot be shown as a form: says why, for the server's author."""


def form_of(server: str, requested: Any) -> InputForm:
    """The form for a requested schema. Raises ``BadForm``."""
    if not isinstance(requested, dict) or requested.get("type") != "object":
        raise BadForm("requestedSchema is not an object schema.")
    properties, required = requested.get("properties", {}), requested.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        raise BadForm("requestedSchema has no valid properties.")
    if len(properties) > MOST_FIELDS:
        raise BadForm(f"requestedSchema has more than {MOST_FIELDS} properties.")
    fields = {}
    for name, schema in properties.items():
        if not 0 < len(name) <= LONGEST_NAME or name in _NOT_NAMES:
            raise BadForm(f"A property cannot be named {name[:LONGEST_NAME]!r}.")
        fields[name] = _field(name, schema)
    needed = [name for name in fields if name in required]
    return InputForm(
        server=server, schema={"type": "object", "properties": fields, "required": needed}
    )


def problem_of(form: InputForm, values: dict[str, Any]) -> str | None:
    """What is wrong with the values that the user gave, None if nothing is."""
    fields = form.fields["properties"]
    for name in values:
        if name not in fields:
            return f"The form has no field {name[:LONGEST_NAME]!r}."
    for name in form.fields["required"]:
        if name not in values:
            return f"{fields[name]['title']} is required."
    for name, value in values.items():
        if not _is_valid(fields[name], value):
            return f"{fields[name]['title']}: {str(value)[:100]!r} is not a valid value."
    return None


def _field(name: str, schema: Any) -> Schema:
    if not isinstance(schema, dict):
        raise BadForm(f"The property {name!r} has no schema.")
    kind = schema.get("type")
    if kind == "array":
        field = _choices(name, schema)
    elif kind == "string":
        field = _choice(name, schema) or _text(schema)
    elif kind in ("number", "integer"):
        field = {"type": kind, **_numbers(schema, "minimum", "maximum")}
    elif kind == "boolean":
        field = {"type": kind}
    else:
        raise BadForm(f"The property {name!r} has a type that forms do not support.")
    title, help_text = schema.get("title"), schema.get("description")
    if not isinstance(title, str) or not title.strip():
        title = name
    field["title"] = visible(title, LONGEST_TITLE)
    if isinstance(help_text, str) and help_text.strip():
        field["description"] = plain(help_text, LONGEST_HELP)
    if "default" in schema and _is_valid(field, schema["default"]):
        field["default"] = schema["default"]
    return field


def _text(schema: Schema) -> Schema:
    field = {"type": "string", **_numbers(schema, "minLength", "maxLength")}
    return {**field, "format": schema["format"]} if schema.get("format") in FORMATS else field


def _choice(name: str, schema: Schema) -> Schema | None:
    options = _options(name, schema)
    return None if options is None else {"type": "string", "oneOf": options}


def _choices(name: str, schema: Schema) -> Schema:
    items = schema.get("items")
    options = _options(name, items) if isinstance(items, dict) else None
    if options is None:
        raise BadForm(f"The property {name!r} is a list, but not of choices.")
    field = {"type": "array", "uniqueItems": True, **_numbers(schema, "minItems", "maxItems")}
    return {**field, "items": {"type": "string", "oneOf": options}}


def _options(name: str, schema: Schema) -> list[Schema] | None:
    """The choices: of ``enum``, with titles in ``enumNames``, or of ``oneOf`` or ``anyOf``."""
    if (enum := schema.get("enum")) is not None:
        titles = schema.get("enumNames")
        if not isinstance(enum, list):
            raise BadForm(f"The choices of {name!r} are not a list.")
        if not isinstance(titles, list) or len(titles) != len(enum):
            titles = enum
        pairs = list(zip(enum, titles, strict=True))
    elif isinstance(found := schema.get("oneOf", schema.get("anyOf")), list):
        known = [each for each in found if isinstance(each, dict)]
        pairs = [(each.get("const"), each.get("title", each.get("const"))) for each in known]
    else:
        return None
    if not 0 < len(pairs) <= MOST_CHOICES:
        raise BadForm(f"{name!r} has no choices, or more than {MOST_CHOICES}.")
    if not all(isinstance(value, str) for value, _ in pairs):
        raise BadForm(f"The choices of {name!r} are not texts.")
    return [
        {"const": value, "title": visible(str(title), LONGEST_TITLE) or value}
        for value, title in dict(pairs).items()
    ]


def _numbers(schema: Schema, *names: str) -> Schema:
    return {name: schema[name] for name in names if _is_number(schema.get(name))}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_valid(field: Schema, value: Any) -> bool:
    kind = field["type"]
    if kind == "boolean":
        return isinstance(value, bool)
    if kind in ("number", "integer"):
        if not _is_number(value) or (kind == "integer" and value != int(value)):
            return False
        return _is_between(value, field, "minimum", "maximum")
    if kind == "array":
        known = [each["const"] for each in field["items"]["oneOf"]]
        if not isinstance(value, list) or not all(each in known for each in value):
            return False
        is_unique = len({*value}) == len(value)
        return is_unique and _is_between(len(value), field, "minItems", "maxItems")
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        return False
    if "oneOf" in field:
        return any(value == each["const"] for each in field["oneOf"])
    return _is_between(len(value), field, "minLength", "maxLength")


def _is_between(value: float, field: Schema, least: str, most: str) -> bool:
    return bool(field.get(least, -math.inf) <= value <= field.get(most, math.inf))


MOST_OPEN = 3
"""Requests of one server that may wait for the user. Further ones are cancelled."""
LONGEST_MESSAGE = 4_000
SEND_SECONDS = 5.0
"""For sending an answer."""
INVALID_PARAMS = -32602


@dataclass(eq=False)
class RunningCall:
    """A call of a tool: who asks its user, and its time limit, which stops while the user is
    asked."""

    ask: AskForm
    limit: anyio.CancelScope
    _left: float | None = None

    def pause(self) -> None:
        """Stop the clock."""
        if self._left is None:
            self._left = self.limit.deadline - anyio.current_time()
            self.limit.deadline = math.inf

    def go_on(self) -> None:
        """Restart the clock."""
        if self._left is not None:
            self.limit.deadline = anyio.current_time() + self._left
            self._left = None


@dataclass(eq=False)
class _Request:
    """A request that waits for the user, and who asks it."""

    ask: AskForm
    task: asyncio.Task[None] = field(init=False)


class Elicitations:
    """The requests of one server. ``name`` is the server's, for the user.

    MCP does not say which call a request belongs to. The user of the call that began last is asked,
    and the request is cancelled once no call from there is running.
    """

    def __init__(self, name: str, sdk: Sdk, log: ServerLog) -> None:
        self._name = visible(name, 40)
        self._sdk = sdk
        self._log = log
        self._calls: list[RunningCall] = []
        self._open: dict[Any, _Request] = {}

    @contextlib.asynccontextmanager
    async def during(self, call: RunningCall | None) -> AsyncIterator[None]:
        """Allow requests while a call runs, and cancel them when it ends."""
        if call is None:
            yield
            return
        self._calls.append(call)
        if self._open:
            call.pause()
        try:
            yield
        finally:
            self._calls.remove(call)
            asked_by = [each.ask for each in self._calls]
            # If the time limit ended the call, it would end this, too.
            with anyio.CancelScope(shield=True):
                await _cancel([each for each in self._open.values() if each.ask not in asked_by])

    def take(self, message: Incoming, write: Any) -> bool:
        """Whether a message is such a request, which is then answered to ``write``."""
        if message.method == "notifications/cancelled":
            request = self._open.get(message.params.get("requestId"))
            if request is not None:
                request.task.cancel()
            return request is not None
        if message.method != "elicitation/create":
            return False
        if message.id in self._open:
            self._log.add("It asked for input twice by the same id.")
            return True
        ask = self._calls[-1].ask if self._calls else None
        if ask is None or len(self._open) >= MOST_OPEN:
            self._log.add("It asked for input outside of a call, or too often; cancelled.")
            ask = _cancelled
        request = _Request(ask)
        self._open[message.id] = request
        for call in self._calls:
            call.pause()
        request.task = asyncio.create_task(self._answer(request, message, write))
        return True

    async def close(self) -> None:
        """Cancel open requests."""
        await _cancel(list(self._open.values()))

    async def _answer(self, request: _Request, message: Incoming, write: Any) -> None:
        reply: Any
        try:
            reply = self._sdk.response(message.id, await self._asked(request.ask, message.params))
        except BadForm as error:
            self._log.add(f"It asked for input in a form that is not supported: {error}")
            reply = self._sdk.error(message.id, INVALID_PARAMS, str(error))
        except asyncio.CancelledError:
            reply = self._sdk.response(message.id, {"action": "cancel"})
        except Exception as error:  # noqa: BLE001 - the task's boundary: a database may be gone
            self._log.add(f"Its request for input could not be shown: {error!r}")
            reply = self._sdk.response(message.id, {"action": "cancel"})
        finally:
            self._open.pop(message.id, None)
            if not self._open:
                for call in self._calls:
                    call.go_on()
        # The server may be gone, or read nothing.
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            with anyio.move_on_after(SEND_SECONDS):
                await write.send(reply)

    async def _asked(self, ask: AskForm, params: dict[str, Any]) -> dict[str, Any]:
        if params.get("mode", "form") != "form":
            raise BadForm(f"The mode {str(params['mode'])[:40]!r} is not supported.")
        form = form_of(self._name, params.get("requestedSchema"))
        text = plain(str(params.get("message", "")), LONGEST_MESSAGE)
        answer = await ask(text, form, lambda values: problem_of(form, values))
        given = {"action": answer.action}
        return {**given, "content": answer.values} if answer.action == "accept" else given


async def _cancelled(*_: object) -> FormAnswer:
    return FormAnswer(action="cancel")


async def _cancel(requests: list[_Request]) -> None:
    for each in requests:
        each.task.cancel()
    if requests:
        await asyncio.wait([each.task for each in requests])
