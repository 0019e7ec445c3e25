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

# HTML that only shows something, as that of tables: nothing in it runs, is loaded, leads anywhere,
# takes input, or reaches out of its place. ``simpleHtml.ts`` of the page knows the same.


_TAGS = frozenset(
    """b blockquote br caption code col colgroup dd del div dl dt em h1 h2 h3 h4 h5 h6 hr i kbd li
    mark ol p pre s small span strong style sub sup table tbody td tfoot th thead tr u ul
    var""".split()  # noqa: SIM905
)
_ATTRIBUTES = frozenset(
    "align border class colspan halign rowspan scope scoped style valign".split()  # noqa: SIM905
)
_PROPERTIES = frozenset(
    """background-color color font-style font-weight max-width min-width padding text-align
    vertical-align white-space width""".split()  # noqa: SIM905
)
_VALUE = re.compile(r"[\w\s#%.-]*", re.ASCII)
# Of tables alone, and of nothing that follows them.
_SELECTOR = re.compile(r"\.dataframe[\w\s:.>-]*", re.ASCII)


_SPACE = r"[ \t\n\r\f]"
_TAG_BEGIN = re.compile(r"</?([a-zA-Z][a-zA-Z0-9]*)")
_ATTRIBUTE = re.compile(
    rf"""{_SPACE}+([a-zA-Z]+)
    (?:{_SPACE}*={_SPACE}*(?:"([^"]*)"|'([^']*)'|([^\ \t\n\r\f"'`=<>]+)))?""",
    re.VERBOSE,
)
_TAG_END = re.compile(rf"{_SPACE}*/?>")
_MAY_BE_TAG = re.compile(r"<[a-zA-Z/!?]")
"""Any other ``<`` is text to a browser."""
MOST_HTML_CHARACTERS = 300_000
"""Longer HTML is not read: a megabyte of tags takes most of a second."""


def is_simple_html(html: str) -> bool:
    """Whether HTML only shows something; what is written unlike HTML usually is counts as more.

    Reading ends at the first such part, so that no part is read twice: Python's own parser needs
    10 s for 24,000 characters of tags without an end, and four times as long for twice as many.
    """
    if len(html) > MOST_HTML_CHARACTERS:
        return False
    at = 0
    while (begin := _MAY_BE_TAG.search(html, at)) is not None:
        tag = _TAG_BEGIN.match(html, begin.start())
        if tag is None:
            return False
        at, name, is_end = tag.end(), tag[1].lower(), tag[0].startswith("</")
        while (attribute := _ATTRIBUTE.match(html, at)) is not None:
            value = attribute[2] or attribute[3] or attribute[4] or ""
            if is_end or not _is_simple_attribute(attribute[1].lower(), value):
                return False
            at = attribute.end()
        end = _TAG_END.match(html, at)
        if end is None or not (is_end or name in _TAGS):
            return False
        at = end.end()
        if name == "style" and not is_end:
            begin_of_sheet, at = at, html.find("</style>", at)
            if at < 0 or not _is_of_tables(html[begin_of_sheet:at]):
                return False
    return True


def _is_simple_attribute(name: str, value: str) -> bool:
    return name in _ATTRIBUTES and (name != "style" or _are_simple(value))


def _are_simple(declarations: str) -> bool:
    for declaration in declarations.split(";"):
        name, colon, value = declaration.partition(":")
        name = name.strip().lower()
        if not name and not colon:
            continue
        if name not in _PROPERTIES or _VALUE.fullmatch(value) is None:
            return False
    return True


def _is_of_tables(sheet: str) -> bool:
    """The style sheet that pandas and polars send with each table."""
    *rules, rest = sheet.split("}")
    for rule in rules:
        selectors, brace, declarations = rule.partition("{")
        parts = [each.strip() for each in selectors.split(",")]
        if not brace or not all(_SELECTOR.fullmatch(each) for each in parts):
            return False
        if not _are_simple(declarations):
            return False
    return not rest.strip()


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
