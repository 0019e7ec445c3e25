"""One event of each kind, made from the models themselves: a new kind is there by itself."""

from __future__ import annotations

import types
import typing
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from jupyter_datalayer_agent.protocol import events

KINDS: dict[str, type[events.BaseEvent]] = {
    kind.model_fields["type"].default: kind for kind in get_args(get_args(events.Event)[0])
}
PLAIN: dict[type, Any] = {str: "text", int: 1, float: 1.5, bool: True}


def sample(kind: str) -> events.BaseEvent:
    """An event of this kind; what may be left out is left out."""
    return typing.cast(events.BaseEvent, _model(KINDS[kind]))


def _model(model: type[BaseModel]) -> BaseModel:
    required = {n: f for n, f in model.model_fields.items() if f.is_required()}
    return model(**{name: _value(field) for name, field in required.items()})


def _value(field: FieldInfo) -> Any:
    return _of(field.annotation)


def _of(annotation: Any) -> Any:
    origin = get_origin(annotation)
    if annotation in PLAIN:
        return PLAIN[annotation]
    if origin is Literal:
        return get_args(annotation)[0]
    if origin in (list, dict):
        return origin()
    if origin in (typing.Union, types.UnionType):
        return _of(get_args(annotation)[0])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _model(annotation)
    return {"any": ["thing", None, 1]}
