"""The file group, changes: text files are edited in parts, created and overwritten."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import Field

from ...notebook.document import DocumentError
from ...notebook.edits.checkpoints import WHOLE_DOCUMENT
from ...notebook.files.replacements import NoMatch, Replacement, replaced
from ...notebook.files.text_files import FileText, changed
from ...notebook.files.text_state import TextState
from ...protocol.base import Wire
from ...protocol.tools import Change
from ..context import ToolContext, ToolFailure
from ..data_rows import data_text
from ..redaction import PrivateText
from ..registry import ToolOutcome, tool
from ..risky_code import Reason
from .file_read import about, note_seen, read_text

SHOWN_CHARACTERS = 8_000


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


async def _path(args: EditFile | WriteFile, context: ToolContext) -> str:
    return args.path


async def _preview_edit(args: EditFile, context: ToolContext) -> list[Change]:
    file, after = await _edited(args, context)
    return [Change(path=file.path, op="update", before=file.content, after=after.content)]


@tool(
    EditFile,
    group="file",
    label=("Change a file", "Changing a file"),
    changes=True,
    writes=_path,
    preview=_preview_edit,
)
async def edit_file(args: EditFile, context: ToolContext) -> ToolOutcome:
    """Change pieces of a file that you have read, all or none."""
    files = context.notebooks.text_files
    path = await context.notebooks.confine(args.path)
    async with files.lock(path):
        file, after = await _edited(args, context)
        is_known = context.knows(file.path, WHOLE_DOCUMENT, file.state.hash)
        return await _write(context, file, after, is_known=is_known)


async def _edited(args: EditFile, context: ToolContext) -> tuple[FileText, TextState]:
    """The file before and after the edits. Raises ``ToolFailure``."""
    file = await read_text(context, args.path)
    _refuse_stale(context, file, whole=False)
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
        output = {"closest": {"line": line, "content": data_text(file.path, file.content, text)}}
        hint = "The most similar text is in output; copy it exactly, white space included."
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
    return await read_text(context, path) if await files.exists(path) else None


async def _loss(args: WriteFile, context: ToolContext) -> Reason | None:
    file = await _existing(args, context)
    if file is None or file.content == TextState(args.content).content:
        return None
    _refuse_stale(context, file)
    return Reason(f"Overwrites {file.path}", ("overwrites files",))


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
    writes=_path,
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
        changes = [Change(path=path, op="create", after=made.content)]
        return await _reported(context, made, f"Created {path}", changes)


async def _write(
    context: ToolContext, file: FileText, after: TextState, *, is_known: bool = True
) -> ToolOutcome:
    """Write, and report what was read back: the whole text if the model knows a different one."""
    if after.raw == file.state.raw:
        output = {**_written(file), "unchanged": True}
        return ToolOutcome(output, f"{file.path} is already as requested; nothing was changed")
    written = await context.notebooks.text_files.write(file, after)
    changes = [Change(path=file.path, op="update", before=file.content, after=written.content)]
    return await _reported(context, written, f"Changed {file.path}", changes, is_known=is_known)


async def _reported(
    context: ToolContext,
    written: FileText,
    summary: str,
    changes: list[Change],
    *,
    is_known: bool = True,
) -> ToolOutcome:
    output = _written(written)
    others = []
    if not is_known:
        output["changedByUser"] = True
        others.append("the user")
    if written.reformatted:
        output["reformattedOnSave"] = True
        summary += ", which was reformatted on save"
        others.append("a save hook")
    if others:
        if len(written.content) <= SHOWN_CHARACTERS:
            output["content"] = data_text(written.path, written.content)
        else:
            who = " and ".join(others)
            output["note"] = f"read it again before the next change: {who} changed its text"
    if "note" not in output:
        note_seen(context, written)
    await context.changed(written.path, changes)
    return ToolOutcome(output, summary, changes=changes)


def _written(file: FileText) -> dict[str, Any]:
    return about(file, len(file.content.splitlines()))


def _refuse_stale(context: ToolContext, file: FileText, *, whole: bool = True) -> None:
    """Raise ``ToolFailure`` if the file may not be changed in its current state; ``whole``: it is
    to be overwritten."""
    if context.may_change(file.path, WHOLE_DOCUMENT, file.state.hash, whole=whole):
        return
    assert context.seen is not None
    base = context.seen.base(file.path, WHOLE_DOCUMENT)
    problem: ToolFailure | DocumentError = changed(file.path)
    message = problem.message
    if base is None:
        message = f"{file.path} has not been read in this conversation; nothing was changed."
    output, hint = None, "Read it, base the change on it, keep what the user wrote, and call again."
    if len(file.content) <= SHOWN_CHARACTERS:
        note_seen(context, file)
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


TOOLS = [edit_file, write_file]
