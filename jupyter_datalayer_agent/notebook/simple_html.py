"""HTML that only shows something, as that of tables: nothing in it runs, is loaded, leads anywhere,
takes input, or reaches out of its place. ``simpleHtml.ts`` of the page knows the same.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

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


def is_simple_html(html: str) -> bool:
    """Whether HTML only shows something; what is written unlike HTML usually is counts as more."""
    parser = _Parser()
    parser.feed(html)
    parser.close()
    return parser.simple and not parser.rawdata


class _Parser(HTMLParser):
    """Reads HTML as a browser does where it is well formed; all else is not simple."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.simple = True
        self._sheet: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.simple &= tag in _TAGS and all(
            name in _ATTRIBUTES and (name != "style" or _are_simple(value or ""))
            for name, value in attrs
        )
        self._sheet = [] if tag == "style" else None

    def handle_endtag(self, tag: str) -> None:
        if tag == "style" and self._sheet is not None:
            self.simple &= _is_of_tables("".join(self._sheet))
        self._sheet = None

    def handle_data(self, data: str) -> None:
        if self._sheet is not None:
            self._sheet.append(data)

    def handle_comment(self, data: str) -> None:
        self.simple = False

    def handle_decl(self, decl: str) -> None:
        self.simple = False

    def handle_pi(self, data: str) -> None:
        self.simple = False

    def unknown_decl(self, data: str) -> None:
        self.simple = False


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
