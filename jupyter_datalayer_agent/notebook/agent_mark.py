"""The mark in the metadata of what the agent made: outputs of its runs, and text of cells.

A page holds back what carries it and would act there by being shown, or load something, until the
user has it shown; `labextension/src/notebook/agentMark.ts` is the same for what a page makes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .simple_html import is_simple_html

KEY = "datalayer_agent"
MADE_BY_AGENT = {"madeBy": "agent"}

_INERT = frozenset(
    {
        "text/plain",
        "text/latex",
        "application/json",
        "image/png",
        "image/jpeg",
        "image/gif",
        "image/webp",
        "image/bmp",
    }
)
# What extensions draw and that runs nothing of its author's: see `agentMark.ts`.
_DRAWN = frozenset(
    {
        "application/vnd.plotly.v1+json",
        "application/vnd.vega.v5+json",
        "application/vnd.vegalite.v3+json",
        "application/vnd.vegalite.v4+json",
        "application/vnd.vegalite.v5+json",
        "application/vnd.jupyter.widget-view+json",
    }
)
# Without any of these, Markdown has no picture, no link and no HTML.
_MAY_LOAD = re.compile(r"[<\[\\]|://|www\.")


_by_user: ContextVar[bool] = ContextVar("datalayer_agent_by_user", default=False)


@contextmanager
def run_by_user() -> Iterator[None]:
    """Within it, what is run is the user's own act, and so are its outputs."""
    token = _by_user.set(True)
    try:
        yield
    finally:
        _by_user.reset(token)


def is_run_by_user() -> bool:
    """Whether what is run now is the user's own act. All else is the agent's."""
    return _by_user.get()


def is_active(data: Any) -> bool:
    """Whether a page may act, load something, or lead elsewhere, when it shows this data."""
    return isinstance(data, Mapping) and not all(_shows(kind, data[kind]) for kind in data)


def _shows(kind: str, value: Any) -> bool:
    if kind in ("text/html", "text/markdown"):
        text = "".join(value) if isinstance(value, list) else str(value)
        return is_simple_html(text) if kind == "text/html" else not may_load(text)
    return kind in _INERT


def made_by_agent(metadata: Any) -> dict[str, Any]:
    """The metadata that also says that the agent made it."""
    known = dict(metadata) if isinstance(metadata, Mapping) else {}
    about = known.get(KEY)
    return {**known, KEY: {**(about if isinstance(about, Mapping) else {}), **MADE_BY_AGENT}}


def is_made_by_agent(metadata: Any) -> bool:
    """Whether the metadata of an output or a cell says that the agent made it."""
    about = metadata.get(KEY) if isinstance(metadata, Mapping) else None
    return isinstance(about, Mapping) and about.get("madeBy") == "agent"


def is_held_back(output: Mapping[str, Any]) -> bool:
    """Whether an output is the agent's, and a page may act by showing it where it is trusted."""
    data = output.get("data")
    return (
        is_made_by_agent(output.get("metadata"))
        and isinstance(data, Mapping)
        and not all(kind in _DRAWN or _shows(kind, data[kind]) for kind in data)
    )


def may_load(markdown: str) -> bool:
    """Whether a text may have a picture or a link in it, or HTML."""
    return _MAY_LOAD.search(markdown) is not None
