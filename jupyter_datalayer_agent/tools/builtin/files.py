"""The file group: text files under the server's root are listed, read, edited and written."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import Field

from ...notebook.document import DocumentError
from ...notebook.files.listing import listing
from ...notebook.files.replacements import NoMatch, Replacement, replaced
from ...notebook.files.text_files import FileText, changed
from ...notebook.files.text_state import TextState
from ...protocol.base import Wire
from ...protocol.tools import Change
from ..context import ToolContext, ToolFailure
from ..data_rows import data_text
from ..redaction import PrivateText
from ..registry import ToolOutcome, tool

READ_CHARACTERS = 32_000
USUAL_ENTRIES = 200
MOST_ENTRIES = 1_000
PATTERN_DEPTH = 5
MOST_DEPTH = 10
SHOWN_CHARACTERS = 8_000
WHOLE = ""
"""In place of a cell's id: the whole file."""
_NAMES = {"cp1252": "windows-1252", "latin-1": "iso-8859-1"}


class ListFiles(Wire):
    """Arguments of ``listFiles``. Bounds are not in the schema: each of its tokens is sent with
    every request, and a number out of bounds is as good as the bound."""

    path: str | None = None
    pattern: str | None = None
    depth: int | None = None
    limit: int | None = None


class ReadFile(Wire):
    """Arguments of ``readFile``; lines are counted from 1."""

    path: str
    start_line: int | None = None
    limit: int | None = None


class FileEdit(Wire):
    """One part of a file's text and its replacement."""

    old_string: str = Field(min_length=1)
    new_string: str
    replace_all: bool = False


class EditFile(Wire):
    """Arguments of ``editFile``."""

    path: str
    edits: list[FileEdit] = Field(min_length=1)


class WriteFile(Wire):
    """Arguments of ``writeFile``; ``content`` is the whole text."""

    path: str
    content: str


@tool(ListFiles, group="file", label=("List files", "Listing files"), parallel=True)
async def list_files(args: ListFiles, context: ToolContext) -> ToolOutcome:
    """List a directory, depth levels down; pattern (*.csv) filters names."""
    files = context.notebooks.text_files
    path = await context.notebooks.confine(args.path) if args.path else ""
    if path and (why := await files.why_closed(path)):
        raise ToolFailure("not_allowed", f"{path} {why}: it is closed to you.")
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
        more = f"{hidden} more entries" if found.is_whole else "more, not all were looked at"
        output["more"] = f"[... {more}: give path, pattern, a smaller depth or a larger limit ...]"
    noun = "entry" if found.count == 1 else "entries"
    where = path or "the root"
    return ToolOutcome(output, f"Listed {where}: {len(found.entries)} {noun}", more="list fewer")


@tool(ReadFile, group="file", label=("Read a file", "Reading a file"), parallel=True)
async def read_file(args: ReadFile, context: ToolContext) -> ToolOutcome:
    """Read a text file; a long one by startLine and limit (lines)."""
    file = await _read(context, args.path)
    _note(context, file)
    lines = file.content.split("\n")
    if len(lines) > 1 and lines[-1] == "":
        lines.pop()  # The last line ends in a line feed.
    total = 0 if not file.content else len(lines)
    first = max(args.start_line or 1, 1) - 1
    if first >= max(total, 1):
        raise ToolFailure(
            "invalid_arguments", f"{file.path} has {total} lines; startLine is beyond them."
        )
    last, is_cut = _fitting(lines, first, args.limit)
    shown = "\n".join(lines[first:last])
    if last == len(lines) and file.content.endswith("\n"):
        shown += "\n"
    if is_cut:
        shown = shown[:READ_CHARACTERS]
    output = {**_about(file, total), "content": data_text(file.path, shown)}
    if first or last < total:
        output["lines"] = f"{first + 1}-{last}"
    if last < total:
        output["nextStartLine"] = last + 1
    if is_cut:
        output["cut"] = f"line {first + 1} is longer than what is shown; read it with code"
    part = f", lines {first + 1} to {last}" if "lines" in output else ""
    return ToolOutcome(
        output, f"Read {file.path}{part}", more="read fewer lines by startLine and limit"
    )


def _about(file: FileText, total: int) -> dict[str, Any]:
    """What the model should know of a file besides its text; what is usual is left out."""
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


def _fitting(lines: list[str], first: int, limit: int | None) -> tuple[int, bool]:
    """The end of the lines that are shown from ``first`` on, and whether a line had to be cut."""
    end = min(len(lines), first + max(limit or len(lines), 1))
    size = 0
    for number in range(first, end):
        size += len(lines[number]) + 1
        if size > READ_CHARACTERS:
            return max(number, first + 1), number == first
    return end, False


async def _preview_edit(args: EditFile, context: ToolContext) -> list[Change]:
    file, after = await _edited(args, context)
    return [Change(path=file.path, op="update", before=file.content, after=after.content)]


@tool(
    EditFile,
    group="file",
    label=("Change a file", "Changing a file"),
    changes=True,
    preview=_preview_edit,
)
async def edit_file(args: EditFile, context: ToolContext) -> ToolOutcome:
    """Change pieces of a file that you have read, all or none."""
    files = context.notebooks.text_files
    path = await context.notebooks.confine(args.path)
    async with files.lock(path):
        file, after = await _edited(args, context)
        return await _write(context, file, after)


async def _edited(args: EditFile, context: ToolContext) -> tuple[FileText, TextState]:
    """The file as it is, and as the edits make it. Raises ``ToolFailure``."""
    file = await _read(context, args.path)
    _refuse_stale(context, file)
    pieces = [Replacement(e.old_string, e.new_string, e.replace_all) for e in args.edits]
    try:
        return file, await asyncio.to_thread(replaced, file.state, pieces)
    except NoMatch as problem:
        raise _no_match(file, args, problem) from problem


def _no_match(file: FileText, args: EditFile, problem: NoMatch) -> ToolFailure:
    old = args.edits[problem.index].old_string[:80]
    place = f"edits[{problem.index}]: oldString {old!r}"
    if problem.lines:
        numbers = ", ".join(map(str, problem.lines[:10]))
        return ToolFailure(
            "invalid_arguments",
            f"{place} occurs {len(problem.lines)} times in {file.path} (lines {numbers}); nothing "
            "was changed.",
            "Give more of the text around it, or replaceAll.",
        )
    output = None
    hint = "Read the file again and copy the text exactly, white space included."
    if problem.closest is not None:
        line, text = problem.closest
        output = {"closest": {"line": line, "content": data_text(file.path, text)}}
        hint = "The text that is most like it is in output; copy it exactly, white space included."
    return ToolFailure(
        "invalid_arguments",
        f"{place} does not occur in {file.path}; nothing was changed.",
        hint,
        output=output,
    )


async def _existing(args: WriteFile, context: ToolContext) -> FileText | None:
    """The file that would be overwritten, None for a new one."""
    files = context.notebooks.text_files
    path = await files.check(args.path, context.gate.files)
    return await _read(context, path) if await files.exists(path) else None


async def _loss(args: WriteFile, context: ToolContext) -> str | None:
    file = await _existing(args, context)
    if file is None or file.content == TextState(args.content).content:
        return None
    _refuse_stale(context, file)
    return f"Overwrites {file.path}"


async def _preview_write(args: WriteFile, context: ToolContext) -> list[Change]:
    file = await _existing(args, context)
    content = TextState(args.content).content
    if file is None:
        return [Change(path=args.path, op="create", after=content)]
    return [Change(path=file.path, op="update", before=file.content, after=content)]


@tool(
    WriteFile,
    group="file",
    label=("Write a file", "Writing a file"),
    changes=True,
    destructive=_loss,
    preview=_preview_write,
)
async def write_file(args: WriteFile, context: ToolContext) -> ToolOutcome:
    """Create a text file, or overwrite one whole; to change one, editFile."""
    files = context.notebooks.text_files
    path = await context.notebooks.confine(args.path)
    async with files.lock(path):
        file = await _existing(args, context)
        if file is not None:
            _refuse_stale(context, file)
            content = TextState(args.content).content
            return await _write(context, file, file.state.with_content(content))
        made = await files.create(path, args.content)
        _note(context, made)
        changes = [Change(path=path, op="create", after=made.content)]
        await context.changed(path, changes)
        return ToolOutcome(_written(made), f"Created {path}", changes=changes)


async def _write(context: ToolContext, file: FileText, after: TextState) -> ToolOutcome:
    """Write, and report what was read back."""
    if after.raw == file.state.raw:
        output = {**_written(file), "unchanged": True}
        return ToolOutcome(output, f"{file.path} is already as requested; nothing was changed")
    written = await context.notebooks.text_files.write(file, after)
    _note(context, written)
    changes = [Change(path=file.path, op="update", before=file.content, after=written.content)]
    await context.changed(file.path, changes)
    return ToolOutcome(_written(written), f"Changed {file.path}", changes=changes)


def _written(file: FileText) -> dict[str, Any]:
    return _about(file, len(file.content.splitlines()))


async def _read(context: ToolContext, path: str) -> FileText:
    files = context.notebooks.text_files
    return await files.read(path, context.client_id, context.gate.files)


def _note(context: ToolContext, file: FileText) -> None:
    if context.seen is not None:
        context.seen.note_hash(file.path, WHOLE, file.state.hash)


def _refuse_stale(context: ToolContext, file: FileText) -> None:
    """Raise ``ToolFailure`` where the model does not know the file as it is."""
    if context.seen is None:
        return
    base = context.seen.base(file.path, WHOLE)
    if base == file.state.hash:
        return
    problem: ToolFailure | DocumentError = changed(file.path)
    message = problem.message
    if base is None:
        message = f"{file.path} has not been read in this conversation; nothing was changed."
    output, hint = None, "Read it, base the change on it, keep what the user wrote, and call again."
    if len(file.content) <= SHOWN_CHARACTERS:
        _note(context, file)
        shown: PrivateText | str = data_text(file.path, file.content)
        output = {**_written(file), "content": shown}
        hint = "Its text is in output. Base the change on it, keep what the user wrote."
    raise ToolFailure(
        "stale",
        message,
        hint,
        output=output,
        summary=f"{file.path} changed in the meantime; read it again"
        if base is not None
        else f"{file.path} was not read before",
    )


TOOLS = [list_files, read_file, edit_file, write_file]
