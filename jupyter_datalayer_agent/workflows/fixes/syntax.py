"""SyntaxError: a bracket, quote or colon that is missing, or Python 2's print.

Every fix is a small change near the place where parsing stops, and is offered only if the result
can be parsed. It is applied without a question if it is the only one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ...notebook.dataflow.ipython_source import NotPython, parse_cell
from ...notebook.files.kinds import noun
from ...protocol.workflows import FixInfo
from .. import editing
from ..fix import CellFailure, Fix, FixProbe

# Python 2's print statement as the function that it became.


_PRINT = re.compile(r"^(\s*)(?!\s)((?:[^#\"'\n]*[:;]\s*)?)print\b(?!\s*[(=.,)\]])[ \t]*(.*)$")
_TO_FILE = re.compile(r"^>>\s*([\w.]+)\s*,?\s*(.*)$")


def with_print_function(source: str) -> str:
    """The source with every print statement rewritten, also in multi-line strings, which parsing
    the result then detects."""
    return "\n".join(_line(line) for line in source.split("\n"))


def _line(line: str) -> str:
    match = _PRINT.match(line)
    if match is None:
        return line
    indent, before, rest = match.groups()
    rest, after = _statement_end(rest)
    arguments = rest.rstrip()
    extra = ""
    if to_file := _TO_FILE.match(arguments):
        arguments, extra = to_file[2], f", file={to_file[1]}"
    if arguments.endswith(","):
        arguments, extra = arguments[:-1].rstrip(), f'{extra}, end=" "'
    if not arguments:
        extra = extra.removeprefix(", ")
    return f"{indent}{before}print({arguments}{extra}){after}"


def _statement_end(rest: str) -> tuple[str, str]:
    """The statement, and what follows it in its line: a comment, or ``; x = 1``."""
    quote = ""
    at = 0
    while at < len(rest):
        char = rest[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "\"'":
            quote = char
        elif char in "#;":
            code = rest[:at].rstrip()
            return code, rest[len(code) :]
        at += 1
    return rest, ""


_CLOSES = {"(": ")", "[": "]", "{": "}"}
_OPENS = {close: open_ for open_, close in _CLOSES.items()}
_BLOCK = re.compile(
    r"^\s*(?:async\s+)?(if|elif|else|for|while|def|class|with|try|except|finally|match|case)\b"
)
_LINES = 200
_STEPS = 2


@dataclass(frozen=True)
class _SyntaxRepair:
    source: str
    what: str
    sure: bool = True


async def find(failure: CellFailure, probe: FixProbe) -> list[FixInfo]:
    """Fixes for a cell that cannot be parsed."""
    source = failure.cell.source
    if _stops_at(source) is None or source.count("\n") > _LINES:
        return []
    repairs = _repairs(source)
    return [
        FixInfo(
            id=f"syntax-{place + 1}",
            title=repair.what[0].upper() + repair.what[1:],
            explanation=f"The {noun(failure.path)} is then valid Python."
            + ("" if len(repairs) == 1 else " There is more than one way to fix it."),
            safe=len(repairs) == 1 and repair.sure,
            calls=[editing.update(failure.path, failure.cell, repair.source)],
        )
        for place, repair in enumerate(repairs[:3])
    ]


def _stops_at(source: str) -> int | None:
    """The line (from 1) at which parsing stops; None if the source can be parsed."""
    try:
        parse_cell(source)
    except NotPython:
        return None
    except SyntaxError as error:
        return min(error.lineno or 1, source.count("\n") + 1)
    return None


def _repairs(source: str) -> list[_SyntaxRepair]:
    """The changes with the fewest steps that can be parsed."""
    printed = with_print_function(source)
    if printed != source and _stops_at(printed) is None:
        return [_SyntaxRepair(printed, "write print as a function")]
    open_ones = [_SyntaxRepair(source, "")]
    if printed != source:
        open_ones = [_SyntaxRepair(printed, "write print as a function")]
    for _ in range(_STEPS):
        next_ones: dict[str, _SyntaxRepair] = {}
        for before in open_ones:
            for repair in _single(before.source):
                what = f"{before.what} and {repair.what}" if before.what else repair.what
                sure = repair.sure and before.sure
                next_ones.setdefault(repair.source, _SyntaxRepair(repair.source, what, sure))
        done = [each for each in next_ones.values() if _stops_at(each.source) is None]
        if done:
            return done
        # Only those that get parsing further deserve a second step.
        reached = max((_stops_at(each.source) or 0 for each in open_ones), default=0)
        open_ones = [
            each for each in next_ones.values() if (_stops_at(each.source) or 0) >= reached
        ][:40]
    return []


def _single(source: str) -> Iterator[_SyntaxRepair]:
    stop = _stops_at(source)
    if stop is None:
        return
    scan = _Scan(source)
    if scan.open_quote is not None:
        yield from _with_quote(source, *scan.open_quote)
        return
    if scan.wrong_close is not None:
        yield from _with_right_close(source, *scan.wrong_close)
        return
    yield from _with_colon(source, stop)
    if scan.open_brackets:
        yield from _with_bracket(source, *scan.open_brackets[-1])


def _insert(source: str, place: int, text: str, what: str, *, sure: bool = True) -> _SyntaxRepair:
    line = source.count("\n", 0, place) + 1
    return _SyntaxRepair(source[:place] + text + source[place:], f"{what} in line {line}", sure)


def _line_ends(source: str, start: int) -> Iterator[tuple[int, str]]:
    """The ends of the lines from this place on, before comments, with the text before them."""
    while True:
        end = source.find("\n", start)
        line = source[start : end if end >= 0 else len(source)]
        code = _without_comment(line)
        yield start + len(code), code
        if end < 0:
            return
        start = end + 1


def _without_comment(line: str) -> str:
    scan = _Scan(line)
    return (line if scan.comment is None else line[: scan.comment]).rstrip()


def _with_colon(source: str, stop: int) -> Iterator[_SyntaxRepair]:
    lines = source.split("\n")
    for number in dict.fromkeys([stop, stop - 1]):
        if not 1 <= number <= len(lines):
            continue
        code = _without_comment(lines[number - 1])
        if _BLOCK.match(code) and not code.endswith(":"):
            place = sum(len(each) + 1 for each in lines[: number - 1]) + len(code)
            yield _insert(source, place, ":", "add the missing “:”")


def _with_bracket(source: str, start: int, opened: str) -> Iterator[_SyntaxRepair]:
    """A closing bracket at the end of each line from there on, or before the colon of its block."""
    close = _CLOSES[opened]
    what = f"add the missing “{close}”"
    for end, code in _line_ends(source, start + 1):
        place = end - 1 if code.endswith(":") else end
        yield _insert(source, place, close, what)


def _with_right_close(source: str, place: int, opened: str | None) -> Iterator[_SyntaxRepair]:
    """Fix a closing bracket that closes nothing, or another bracket."""
    line = source.count("\n", 0, place) + 1
    found = source[place]
    without = source[:place] + source[place + 1 :]
    if opened is None:
        yield _SyntaxRepair(without, f"take out the “{found}” too many in line {line}", sure=False)
        return
    right = _CLOSES[opened]
    # df["a") has the wrong one; f(a[1) has one missing.
    yield _insert(source, place, right, f"add the missing “{right}”")
    swapped = source[:place] + right + source[place + 1 :]
    yield _SyntaxRepair(swapped, f"close “{opened}” by “{right}” in line {line}", sure=False)


def _with_quote(source: str, start: int, quote: str) -> Iterator[_SyntaxRepair]:
    what = f"add the missing {quote}"
    if len(quote) == 3:
        yield _insert(source, len(source), quote, what, sure=False)
        return
    end = source.find("\n", start)
    end = len(source) if end < 0 else end
    yield _insert(source, end, quote, what)
    # print("a) needs it before the bracket that closes an open one; the nearest first.
    for place in range(end - 1, start, -1):
        if source[place] in ")]},:" and place > start + 1:
            yield _insert(source, place, quote, what)


class _Scan:
    """Brackets and quotes from the start of the source to the first that is wrong.

    ``open_quote`` is a string that is not closed (its place and quote), ``wrong_close`` a bracket
    that closes nothing (its place, and what was open), ``open_brackets`` are those still open.
    """

    def __init__(self, source: str) -> None:
        self.open_quote: tuple[int, str] | None = None
        self.wrong_close: tuple[int, str | None] | None = None
        self.open_brackets: list[tuple[int, str]] = []
        self.comment: int | None = None
        at = 0
        while at < len(source):
            char = source[at]
            if char == "#":
                self.comment = at if self.comment is None else self.comment
                end = source.find("\n", at)
                at = len(source) if end < 0 else end
            elif char in "\"'":
                closed = _string_end(source, at)
                if closed is None:
                    self.open_quote = (at, _quote_at(source, at))
                    return
                at = closed
            elif char in _CLOSES:
                self.open_brackets.append((at, char))
                at += 1
            elif char in _OPENS:
                opened = self.open_brackets[-1][1] if self.open_brackets else None
                if opened != _OPENS[char]:
                    self.wrong_close = (at, opened)
                    return
                self.open_brackets.pop()
                at += 1
            else:
                at += 1


def _quote_at(source: str, at: int) -> str:
    return source[at] * 3 if source.startswith(source[at] * 3, at) else source[at]


def _string_end(source: str, at: int) -> int | None:
    """The place after a string that starts here; None if it is not closed."""
    quote = _quote_at(source, at)
    place = at + len(quote)
    while place < len(source):
        if source[place] == "\\":
            place += 2
        elif source.startswith(quote, place):
            return place + len(quote)
        elif source[place] == "\n" and len(quote) == 1:
            return None
        else:
            place += 1
    return None


FIX = Fix(
    "syntax",
    ("SyntaxError", "IndentationError", "_IncompleteInputError", "IncompleteInputError"),
    find,
)
