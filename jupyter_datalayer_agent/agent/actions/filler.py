"""Answers an action's questions from a message, with a model."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from ...models.prices import cheapest, learn_prices
from ...models.types import Model, ModelError, ModelRequest
from ...protocol.json_text import to_json
from ...protocol.requests import Usage
from ...services.matcher import plain
from ...services.questions import Answer, Filler, Question
from ...settings.turn_settings import Settings
from ..context.system_prompt import prompt_text
from ..history import user_item
from ..model_calls.call import ask_once

Ask = Callable[[str, str, dict[str, Any]], Awaitable[Any]]
"""Asks a model once: the prompt's file, the text, the JSON schema. Returns the JSON of its answer,
or None if there is none."""


class ModelFiller:
    """Asks the model all questions in one request. A value counts only if its ``source`` is in the
    message, word for word. If the model fails, ``fallback`` answers."""

    def __init__(self, ask: Ask, fallback: Filler) -> None:
        self._ask = ask
        self._fallback = fallback

    async def fill(
        self, questions: Sequence[Question], message: str, known: Mapping[str, Any]
    ) -> dict[str, Answer]:
        """See ``Filler``."""
        if not questions:
            return {}
        matched = await self._fallback.fill(questions, message, known)
        answered = await self._ask(
            "parameters.md", _text(questions, message, known), _schema(questions)
        )
        if not isinstance(answered, dict):
            return matched
        found = {}
        for question in questions:
            answer = _answer(answered.get(question.name), message)
            if answer is not None:
                found[question.name] = answer
        return {**matched, **found}


def _answer(given: Any, message: str) -> Answer | None:
    if not isinstance(given, dict) or given.get("value") in (None, "", []):
        return None
    value, source = given["value"], given.get("source")
    for each in (source, value):
        if isinstance(each, str) and is_in(each, message):
            return Answer(value, each.strip())
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and str(value) in _spaced(message):
        return Answer(value, str(value))
    return None


def is_in(words: str, message: str) -> bool:
    """Whether a message has these words, whatever their case and spaces."""
    return bool(words.strip()) and _spaced(words) in _spaced(message)


def _spaced(text: str) -> str:
    return " ".join(plain(text).split())


def _text(questions: Sequence[Question], message: str, known: Mapping[str, Any]) -> str:
    lines = []
    for each in questions:
        line = f"- {each.name}: {each.prompt}"
        if each.description:
            line += f" ({each.description})"
        if each.options is not None:
            choices = [
                to_json(o.value) if o.label is None else f"{to_json(o.value)} ({o.label})"
                for o in each.options
            ]
            line += f"; choices: {', '.join(choices)}"
        lines.append(line)
    names = {each.name for each in questions}
    values = {name: value for name, value in known.items() if name in names}
    parts = ["# Parameters", *lines, ""]
    if values:
        parts += ["# Known values", to_json(values), ""]
    return "\n".join([*parts, "# Message", message])


def _schema(questions: Sequence[Question]) -> dict[str, Any]:
    properties = {each.name: _property(each) for each in questions}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _property(question: Question) -> dict[str, Any]:
    value: dict[str, Any] = {"type": "string"}
    if question.type in ("number", "boolean"):
        value = {"type": question.type}
    if question.schema.get("type") == "integer":
        value = {"type": "integer"}
    if question.options is not None:
        value = {"enum": [each.value for each in question.options]}
    if question.type == "many":
        value = {"type": "array", "items": value}
    found = {
        "type": "object",
        "properties": {"value": value, "source": {"type": "string"}},
        "required": ["value", "source"],
        "additionalProperties": False,
    }
    return {"anyOf": [found, {"type": "null"}]}


def json_in(text: str) -> Any:
    """The JSON object in a model's answer, fenced or not; None if there is none."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return None
    try:
        return json.loads(text[start : end + 1])
    except ValueError:
        return None


# Requests about a message that are not part of the conversation: JSON by a schema, or nothing.


log = logging.getLogger(__name__)

MAX_TOKENS = 1_000


def cheap_asker(
    model: Model, name: str, settings: Settings, count: Callable[[Usage, str], None]
) -> Ask:
    """Asks the cheapest of the turn's model ``name`` and those of ``mode_models``. Their prices are
    known once litellm is loaded, for which the first message of a server waits."""
    asks: Ask | None = None

    async def ask(prompt: str, text: str, schema: dict[str, Any]) -> Any:
        nonlocal asks
        if asks is None:
            names = [name, *settings.mode_models.values()]
            if len(names) > 1:
                try:
                    await learn_prices()
                except ModelError as error:
                    log.warning("A request about a message failed: %s", error.message)
                    return None
            cheap = cheapest(names)
            asks = asker(model, cheap, settings, lambda usage: count(usage, cheap))
        return await asks(prompt, text, schema)

    return ask


def asker(model: Model, name: str, settings: Settings, on_usage: Callable[[Usage], None]) -> Ask:
    """Asks the model ``name``. ``on_usage`` is called with the usage of each request, however it
    ended. The schema is also in the prompt, for servers that do not accept one."""
    takes_schema = True

    async def ask(prompt: str, text: str, schema: dict[str, Any]) -> Any:
        nonlocal takes_schema
        request = ModelRequest(
            model=name,
            instructions=prompt_text(prompt),
            input=[user_item(text)],
            temperature=settings.temperature,
            max_output_tokens=MAX_TOKENS,
            output_schema=schema if takes_schema else None,
            stream=settings.streaming,
            api_base=settings.api_base,
            model_api=settings.model_api,
        )
        spent: list[Usage] = []
        try:
            return json_in((await ask_once(model, request, spent)).text)
        except ModelError as error:
            if error.code == "bad_request" and takes_schema:
                takes_schema = False
                return await ask(prompt, text, schema)
            log.warning("A request about a message failed: %s", error.message)
            return None
        finally:
            for usage in spent:
                on_usage(usage)

    return ask
