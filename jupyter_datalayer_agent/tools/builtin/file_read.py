"""The file group, reads: files under the server's root are listed, and text files read."""

from __future__ import annotations

from typing import Any

from ...notebook.edits.checkpoints import WHOLE_DOCUMENT
from ...notebook.files.contents import listing
from ...notebook.files.text_files import FileText
from ...protocol.base import Wire
from ..context import ToolContext, ToolFailure
from ..data_rows import DATA_CHARACTERS, DATA_LINES, data_text, is_data
from ..registry import ToolOutcome, tool

READ_CHARACTERS = 32_000
USUAL_ENTRIES = 200
MOST_ENTRIES = 1_000
PATTERN_DEPTH = 5
MOST_DEPTH = 10
_NAMES = {"cp1252": "windows-1252", "latin-1": "iso-8859-1"}


class ListFiles(Wire):
    """Arguments of ``listFiles``. Bounds are not in the schema, whose tokens are sent with every
    request: a number out of bounds is clamped."""

    path: str | None = None
    pattern: str | None = None
    depth: int | None = None
    limit: int | None = None


class ReadFile(Wire):
    """Arguments of ``readFile``; lines are counted from 1."""

    path: str
    start_line: int | None = None
    limit: int | None = None


@tool(ListFiles, group="file", label=("List files", "Listing files"), parallel=True)
async def list_files(args: ListFiles, context: ToolContext) -> ToolOutcome:
    """List a directory, depth levels down; pattern (*.csv) filters names."""
    files = context.notebooks.text_files
    path = await context.notebooks.confine(args.path) if args.path else ""
    if path and (why := await files.why_closed(path)):
        raise ToolFailure("not_allowed", f"{path} {why}: you have no access to it.")
    depth = args.depth or (PATTERN_DEPTH if args.pattern else 1)
    found = await listing(
        files.contents,
        path,
        files.why_closed,
        pattern=args.pattern,
        depth=min(max(depth, 1), MOST_DEPTH),
        limit=min(max(args.limit or USUAL_ENTRIES, 1), MOST_ENTRIES),
    )
    output: dict[str, Any] = {"path": path or "/", "entries": found.entries}
    hidden = found.count - len(found.entries)
    if hidden or not found.is_whole:
        more = f"{hidden} more entries" if found.is_whole else "more entries, not all examined"
        output["more"] = f"[... {more}: give path, pattern, a smaller depth or a larger limit ...]"
    noun = "entry" if found.count == 1 else "entries"
    where = path or "the root"
    return ToolOutcome(output, f"Listed {where}: {len(found.entries)} {noun}", more="list fewer")


@tool(ReadFile, group="file", label=("Read a file", "Reading a file"), parallel=True)
async def read_file(args: ReadFile, context: ToolContext) -> ToolOutcome:
    """Read a text file; a long one by startLine and limit (lines)."""
    file = await read_text(context, args.path)
    note_seen(context, file)
    lines = file.content.split("\n")
    if len(lines) > 1 and lines[-1] == "":
        lines.pop()  # The last line ends in a line feed.
    total = 0 if not file.content else len(lines)
    first = max(args.start_line or 1, 1) - 1
    if first >= max(total, 1):
        raise ToolFailure(
            "invalid_arguments", f"{file.path} has {total} lines; startLine is past the end."
        )
    is_sample = args.limit is None and is_data(file.path)
    room = DATA_CHARACTERS if is_sample else READ_CHARACTERS
    last, is_cut = _fitting(lines, first, DATA_LINES if is_sample else args.limit, room)
    shown = "\n".join(lines[first:last])
    if last == len(lines) and file.content.endswith("\n"):
        shown += "\n"
    if is_cut:
        shown = shown[:room]
    output = {**about(file, total), "content": data_text(file.path, file.content, shown)}
    if first or last < total:
        output["lines"] = f"{first + 1}-{last}"
    if last < total:
        output["nextStartLine"] = last + 1
        if is_sample:
            output["note"] = "the beginning of the data; compute with all of it in code"
    if is_cut:
        output["cut"] = f"line {first + 1} is too long to show in full; read it with code"
    part = f", lines {first + 1} to {last}" if "lines" in output else ""
    return ToolOutcome(
        output, f"Read {file.path}{part}", more="read fewer lines by startLine and limit"
    )


def about(file: FileText, total: int) -> dict[str, Any]:
    """What a model should know about a file besides its text; usual values are left out."""
    state = file.state
    about: dict[str, Any] = {"path": file.path, "totalLines": total, "bytes": file.size}
    if state.encoding != "utf-8":
        name = _NAMES.get(state.encoding, state.encoding)
        about["encoding"] = f"{name} (not UTF-8; guessed)" if state.encoding in _NAMES else name
    if state.has_bom and state.encoding == "utf-8":
        about["encoding"] = "utf-8 with a byte order mark"
    if state.is_mixed:
        about["lineEnds"] = "mixed"
    elif state.newline != "\n":
        about["lineEnds"] = "CRLF" if state.newline == "\r\n" else "CR"
    if file.is_unsaved:
        about["unsaved"] = True
    return about


def _fitting(lines: list[str], first: int, limit: int | None, room: int) -> tuple[int, bool]:
    """The end of the lines from ``first`` on that fit into ``room`` characters, and whether a line
    had to be cut."""
    end = min(len(lines), first + max(limit or len(lines), 1))
    size = 0
    for number in range(first, end):
        size += len(lines[number]) + 1
        if size > room:
            return max(number, first + 1), number == first
    return end, False


async def read_text(context: ToolContext, path: str) -> FileText:
    files = context.notebooks.text_files
    return await files.read(path, context.client_id, context.gate.files)


def note_seen(context: ToolContext, file: FileText) -> None:
    if context.seen is not None:
        context.seen.note_hash(file.path, WHOLE_DOCUMENT, file.state.hash)


TOOLS = [list_files, read_file]
