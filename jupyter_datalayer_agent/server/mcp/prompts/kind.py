"""What a prompt is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Message = dict[str, Any]


@dataclass(frozen=True)
class Argument:
    """A prompt's argument; programs give it as text."""

    name: str
    description: str
    required: bool = False


@dataclass(frozen=True)
class Prompt:
    """A message that a user of the program can send, made of arguments."""

    name: str
    title: str
    description: str
    arguments: Sequence[Argument]
    messages: Callable[[dict[str, str]], list[Message]]

    def listed(self) -> dict[str, Any]:
        """As the protocol has it."""
        arguments = [
            {"name": each.name, "description": each.description, "required": each.required}
            for each in self.arguments
        ]
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "arguments": arguments,
        }


def from_user(text: str) -> list[Message]:
    """One message of the user's."""
    return [{"role": "user", "content": {"type": "text", "text": text}}]
