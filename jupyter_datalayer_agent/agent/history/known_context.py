"""What the model knows of attached and active documents from the contexts that it was sent.

It is derived from what each turn's context stated, as hashes, and from its tool calls, which may
have changed cells since.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ...notebook.context.known_notebook import KnownNotebook, updated
from ...tools.registry import ToolRegistry

Item = dict[str, Any]
Effect = Literal["none", "run", "change"]
"""What a call of a tool may do to cells."""

RUN = "runNotebookCells"
_WORD = re.compile(r"[\w-]+")
_OF_KERNEL = ("cells", "outputs", "variables")


@dataclass(frozen=True)
class KnownContext:
    """``pieces`` are the keys of what the newest context was made of; ``texts`` the hashes of
    their texts and ``lines`` those of the lines of files, by key; ``notebooks`` are by path."""

    pieces: tuple[str, ...] | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, Sequence[str]] = field(default_factory=dict)
    notebooks: Mapping[str, KnownNotebook] = field(default_factory=dict)

    def after(self, stated: Mapping[str, Any] | None) -> KnownContext:
        """What is known after a context that stated this; None: it stated nothing."""
        if stated is None:
            return self
        notebooks = dict(self.notebooks)
        for path, data in stated["notebooks"].items():
            known = updated(notebooks.get(path), data)
            if known is not None:
                notebooks[path] = known
        return KnownContext(
            pieces=tuple(stated["pieces"]),
            texts={**self.texts, **stated["texts"]},
            # Hashes of a file that was stated in another form in between are outdated.
            lines={
                **{key: at for key, at in self.lines.items() if key not in stated["texts"]},
                **stated["lines"],
            },
            notebooks=notebooks,
        )

    def after_calls(self, items: Sequence[Item], effect: Callable[[str], Effect]) -> KnownContext:
        """What is still known after a turn's calls: the outputs reported what they changed or ran,
        which may have been reverted since."""
        changed, ran = _named(items, effect, "change"), _named(items, effect, "run")
        if not changed and not ran:
            return self
        words = set(_WORD.findall(changed))
        either = words.union(_WORD.findall(ran))
        kept = {key for key in self.texts if not _may_differ(key, changed)}
        return replace(
            self,
            texts={key: text for key, text in self.texts.items() if key in kept},
            lines={key: lines for key, lines in self.lines.items() if key in kept},
            notebooks={
                path: known.without(either, words) for path, known in self.notebooks.items()
            },
        )


def effect_in(registry: ToolRegistry) -> Callable[[str], Effect]:
    """What a call of a tool by this name may do to cells."""

    def effect(name: str) -> Effect:
        tool = registry.behind(name)
        if tool is None or not tool.changes:
            return "none"
        return "run" if tool.name == RUN else "change"

    return effect


def _may_differ(key: str, changed: str) -> bool:
    """Whether calls that name all of ``changed`` may have changed what has this key."""
    kind, _, rest = key.partition(" ")
    return kind in _OF_KERNEL or (kind == "file" and rest in changed)


def _named(items: Sequence[Item], effect: Callable[[str], Effect], wanted: Effect) -> str:
    """The arguments and outputs of the calls that have this effect."""
    calls = {
        item["call_id"]: str(item.get("arguments", ""))
        for item in items
        if item.get("type") == "function_call" and effect(item["name"]) == wanted
    }
    outputs = [
        str(item["output"])
        for item in items
        if item.get("type") == "function_call_output" and item["call_id"] in calls
    ]
    return " ".join([*calls.values(), *outputs])
