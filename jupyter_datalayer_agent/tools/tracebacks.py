"""Parses tracebacks in the forms that kernels write, and shortens them for a model.

The grammar covers IPython's modes (Context, Plain, Verbose, Minimal, Docs), Python's own form with
exception groups, and Julia's. Of any other form, the beginning and end of the text are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from .mime_text import plain

MESSAGE_CHARACTERS = 2_000
LINE_CHARACTERS = 300
UNKNOWN_CHARACTERS = 3_000
OWN_LINES = 10
LIBRARY_LINES = 5
OWN_FRAMES = 6
CHAIN = 5
MOST_LINES = 20_000

_HEAD = re.compile(
    r"(?:(?P<name>[A-Za-z_][\w.]*)\s+|\+ Exception Group )?"
    r"Traceback \(most recent call last\):?$"
)
_GROUP_MARGIN = re.compile(r"^\s+[|+] ?")
_FRAME = re.compile(
    r"\s{0,2}(?:"
    # ``Cell In[3], line 2, in f(x)``; before IPython 8 ``Input In [3], in <cell line: 2>()``.
    r"(?P<cell>(?:Cell|Input) In ?\[[^\]]*\]|<ipython-input-[^>\s]*>)(?P<rest>.*)"
    r"|File (?P<quote>\"?)(?P<file>.+?)(?P=quote)"
    r"(?::(?P<at>\d+)|, line (?P<line>\d+)|(?=, in )).*"
    r"|(?P<bare>[~/]\S*\.py) in .*"
    r")$"
)
_FRAME_BEGINS = frozenset("CIF<~/")
_LAST = "(most recent call last)"
_CELL_FILE = re.compile(r"<ipython-input-|[\\/]ipykernel_\d+[\\/]|<timed ")
_LIBRARY = re.compile(
    r"[\\/](?:site-packages|dist-packages|lib[\\/]python\d[\d.]*|Lib)[\\/]"
    r"|^<(?:frozen|__array|dec)|\.p(?:yx|xi|xd)$"
)
_NUMBER = re.compile(r",? ?line:? (\d+)")
_ARROW = re.compile(r"^-+> ?(\d*)")
_ERROR_LINE = re.compile(r"(?P<name>[A-Za-z_][\w.]*)(?:: |:?$)")
_CHAINED = {
    "The above exception was the direct cause of the following exception:": "Direct cause:",
    "During handling of the above exception, another exception occurred:": "Raised while handling:",
}
_JULIA_FRAME = re.compile(r"\s*\[\d+\] ")
_JULIA_PLACE = re.compile(r"\s+@ (.*)$")


@dataclass(frozen=True)
class Where:
    """Where a failure happened. ``line`` (from 1) is in the cell itself, the outermost frame;
    ``file`` is that of the innermost frame, None for a cell."""

    line: int | None
    file: str | None


@dataclass
class _Frame:
    """``file`` is None for a cell; ``is_own`` is also true for files that belong to no library."""

    lines: list[str]
    file: str | None = None
    line: int | None = None
    is_own: bool = True


@dataclass
class _Error:
    """One exception of a chain; ``relation`` is what the previous one was to it."""

    relation: str = ""
    name: str | None = None
    frames: list[_Frame] = field(default_factory=list)
    message: list[str] = field(default_factory=list)

    def begins_message(self, line: str) -> bool:
        """Whether the message starts here: with the name, unless the heading already had it."""
        match = _ERROR_LINE.match(line)
        return match is not None and self.name in (None, match["name"])


def where(traceback: Sequence[str]) -> Where:
    """Find the place in a traceback; ``Where(None, None)`` if its form is unknown."""
    frames = next((each.frames for each in reversed(_parsed(traceback)) if each.frames), None)
    if frames is None:
        return Where(None, None)
    cell = next((frame.line for frame in frames if frame.file is None and frame.line), None)
    file = frames[-1].file
    return Where(cell, None if file is None or file.startswith("<") else file)


def useful_part(ename: str, evalue: str, traceback: Sequence[str]) -> str:
    """What explains an error: its message, then the frames of the user's own code and the last one
    of a library. In a chain, the exception raised last comes first."""
    message = plain(evalue if ename and evalue.startswith(ename) else f"{ename}: {evalue}").strip()
    errors = [error for error in _parsed(traceback) if error.frames]
    if not errors:
        return _unknown(message, plain("\n".join(traceback)).strip())
    last, *causes = reversed(errors)
    # The error's own message comes from the output, and so is never misread.
    parts = [shortened(message), *_frames(last.frames), *_notes(last.message, message)]
    relation = last.relation
    for cause in causes[:CHAIN]:
        parts += ["", f"{relation} {shortened(chr(10).join(cause.message).strip())}"]
        parts += _frames(cause.frames)
        relation = cause.relation
    if len(causes) > CHAIN:
        parts.append(f"[{len(causes) - CHAIN} earlier exceptions left out]")
    return "\n".join(parts)


def _notes(lines: Sequence[str], message: str) -> list[str]:
    """What the traceback adds to the message: the notes of an exception, the members of a group."""
    added = [line for line in lines if line.strip() and line.strip() not in message]
    return [shortened("\n".join(added))] if added else []


def _unknown(message: str, trace: str) -> str:
    """A traceback of another form, with its message first."""
    if trace in message:
        return shortened(message)
    if len(trace) > UNKNOWN_CHARACTERS:
        half = UNKNOWN_CHARACTERS // 2
        left_out = len(trace) - 2 * half
        trace = f"{trace[:half]}\n[... {left_out} characters left out ...]\n{trace[-half:]}"
    said = message.partition(": ")[2] or message
    is_said_first = said in trace[: len(said) + LINE_CHARACTERS]
    return trace if is_said_first else f"{shortened(message)}\n{trace}"


def _frames(frames: Sequence[_Frame]) -> list[str]:
    """The user's frames in order, the last one of a library, and how many are not shown."""
    own = [index for index, frame in enumerate(frames) if frame.is_own]
    first = own[0] if own else 0  # the kernel's frames are outside of the user's code
    library = [index for index in range(first, len(frames)) if not frames[index].is_own]
    if len(own) > OWN_FRAMES:
        own = [*own[: OWN_FRAMES // 2], *own[-(OWN_FRAMES // 2) :]]
    shown: list[str] = []
    before = first - 1
    for index in sorted({*own, *library[-1:]}):
        shown += _gap(index - before - 1)
        shown += _windowed(frames[index])
        before = index
    return [*shown, *_gap(len(frames) - before - 1)]


def _gap(count: int) -> list[str]:
    return [f"[{count} frame{'' if count == 1 else 's'} left out]"] if count else []


def _windowed(frame: _Frame) -> list[str]:
    """A frame's lines; if there are many, those around its arrow."""
    head, *code = [line for line in frame.lines if line.strip()]
    most = OWN_LINES if frame.is_own else LIBRARY_LINES
    arrow = next((at for at, line in enumerate(code) if _ARROW.match(line)), 0)
    start = max(0, min(arrow - most // 2, len(code) - most))
    return [_line(head.strip()), *map(_line, code[start : start + most])]


def _line(line: str) -> str:
    return line if len(line) <= LINE_CHARACTERS else f"{line[: LINE_CHARACTERS - 1]}…"


def shortened(message: str) -> str:
    """The beginning and end of a long message, 2,000 characters."""
    if len(message) <= MESSAGE_CHARACTERS:
        return message
    half = MESSAGE_CHARACTERS // 2
    left_out = len(message) - 2 * half
    return f"{message[:half]} [... {left_out} characters left out ...] {message[-half:]}"


# -- the grammar


def _parsed(traceback: Sequence[str]) -> list[_Error]:
    """The exceptions of a chain, in the order in which they were raised."""
    return _parsed_text("\n".join(traceback))


@lru_cache(maxsize=16)
def _parsed_text(text: str) -> list[_Error]:
    lines = plain(text).split("\n")
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES // 2], *lines[-MOST_LINES // 2 :]]
    if any(line.strip() == "Stacktrace:" for line in lines):
        return [_julia(lines)]
    return list(_python(lines))


def _python(lines: Sequence[str]) -> Iterator[_Error]:
    error = _Error()
    for line in lines:
        # Most lines are code, which their first characters tell faster than the patterns.
        if (stripped := line.strip()).startswith(("|", "+")):
            line = _GROUP_MARGIN.sub("", line, count=1)
            stripped = line.strip()
        relation = _CHAINED.get(stripped)
        head = None if error.message or _LAST not in stripped else _HEAD.match(stripped)
        if relation is not None:
            yield error
            error = _Error(relation)
        elif error.message:
            error.message.append(line)
        elif head is not None:
            error.name = head["name"]
        elif frame := _frame(line):
            error.frames.append(frame)
        elif error.frames and error.begins_message(line):
            error.message.append(line)
        elif not error.frames and (arrow := _ARROW.match(line)) and arrow[1]:
            error.frames.append(_Frame([line], line=int(arrow[1])))
        elif error.frames:
            _add_line(error.frames[-1], line)
    yield error


def _frame(line: str) -> _Frame | None:
    if line.lstrip()[:1] not in _FRAME_BEGINS:
        return None
    match = _FRAME.match(line[: 4 * LINE_CHARACTERS])
    if match is None:
        return None
    if match["cell"]:
        said = _NUMBER.search(match["rest"])
        return _Frame([line], None, int(said[1]) if said else None)
    file = str(match["file"] or match["bare"])
    number = match["at"] or match["line"]
    if _CELL_FILE.search(file):
        return _Frame([line], None, int(number) if number else None)
    return _Frame([line], file, int(number) if number else None, not _LIBRARY.search(file))


def _add_line(frame: _Frame, line: str) -> None:
    if frame.line is None and (arrow := _ARROW.match(line)) and arrow[1]:
        frame.line = int(arrow[1])
    # IPython's Verbose mode appends the values of variables, which would hide the code.
    if frame.is_own or not (line.startswith("        ") and " = " in line):
        frame.lines.append(line)


def _julia(lines: Sequence[str]) -> _Error:
    """``[1] f(x)`` over ``@ Main ./In[2]:1``, innermost first."""
    error = _Error()
    start = next(at for at, line in enumerate(lines) if line.strip() == "Stacktrace:")
    error.message = [line for line in lines[:start] if line.strip()]
    for line in lines[start + 1 :]:
        if _JULIA_FRAME.match(line):
            error.frames.append(_Frame([line], is_own=False))
        elif error.frames:
            error.frames[-1].lines.append(line)
            if (place := _JULIA_PLACE.match(line)) and "In[" in place[1]:
                number = place[1].rpartition(":")[2]
                error.frames[-1].is_own = True
                error.frames[-1].line = int(number) if number.isdecimal() else None
    error.frames.reverse()
    return error
