"""Answers to an action's questions, read off a message by a model."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from ...protocol.json_text import to_json
from ...services.message_text import plain
from ...services.questions import Answer, Filler, Question

Ask = Callable[[str, str, dict[str, Any]], Awaitable[Any]]
"""Asks a model once: the prompt's file, the text, the JSON schema; the JSON of its answer, or None
where that is none."""


class ModelFiller:
    """Asks the model for all questions in one request. A value that is not in the message is no
    answer: ``source`` must be there, word for word. Where the model fails, ``fallback`` answers."""

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
    text = _spaced(message)
    for each in (source, value):
        if isinstance(each, str) and each.strip() and _spaced(each) in text:
            return Answer(value, each.strip())
    if isinstance(value, int | float) and not isinstance(value, bool) and str(value) in text:
        return Answer(value, str(value))
    return None


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
    """The JSON object of a model's answer, in a fence or not; None where there is none."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return None
    try:
        return json.loads(text[start : end + 1])
    except ValueError:
        return None
