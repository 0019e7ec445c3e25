"""Arguments of the tools that change blocks."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field, WithJsonSchema, model_validator

from ...protocol.base import Wire
from .notebook_change import Position
from .replacement import Replacement


class NewBlock(Wire):
    """A block to insert: ``content`` of a ``type``, or the JSON of a Lexical ``node``. The types
    are not in the schema but in the context, once."""

    type: str = "markdown"
    content: str | None = None
    level: int | None = None
    language: str | None = None
    node: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> NewBlock:
        if self.content is not None and self.node is not None:
            raise ValueError("give content or node, not both")
        if self.content is None and self.node is None and self.type != "horizontalrule":
            raise ValueError("give content (or the JSON of a node)")
        return self


def _without(*names: str) -> ConfigDict:
    """Arguments that are taken and not advertised: tokens are sent with each request. ``run`` and
    ``edits`` are those of the tools for cells, which models know."""

    def drop(schema: dict[str, Any]) -> None:
        for name in names:
            schema["properties"].pop(name)

    return ConfigDict(json_schema_extra=drop)


class InsertBlock(NewBlock):
    """Arguments of ``insertBlock``."""

    model_config = _without("run")

    path: str | None = None
    index: int | None = None
    position: Position = "end"
    run: bool = False


class InsertBlocksArguments(Wire):
    """Arguments of ``insertBlocks``. ``insertBlock`` is in the same request: what a block takes is
    not sent twice."""

    model_config = _without("position", "run")

    path: str | None = None
    index: int | None = None
    position: Position = "end"
    run: bool = False
    blocks: list[Annotated[NewBlock, WithJsonSchema({"type": "object"})]] = Field(min_length=1)


class UpdateBlockArguments(Wire):
    """Arguments of ``updateBlock``: what is left out stays."""

    model_config = _without("edits", "run")

    path: str | None = None
    block_id: str
    content: str | None = None
    edits: list[Replacement] | None = None
    type: str | None = None
    level: int | None = None
    language: str | None = None
    node: dict[str, Any] | None = None
    run: bool = False

    @model_validator(mode="after")
    def _something(self) -> UpdateBlockArguments:
        if sum(each is not None for each in (self.content, self.edits, self.node)) > 1:
            raise ValueError("give content, edits or node, one of them")
        given = (self.content, self.edits, self.node, self.type, self.level, self.language)
        if all(each is None for each in given):
            raise ValueError("give content, type or node: there is nothing to change")
        return self


class DeleteBlocks(Wire):
    """Arguments of ``deleteBlocks``."""

    path: str | None = None
    block_ids: list[str] = Field(min_length=1)
