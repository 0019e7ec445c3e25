"""Changes to a cell's source, exact to the token, and the tool calls that make them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..notebook.dataflow.ipython_source import NotPython, parse_cell
from ..notebook.files.kinds import is_lexical, noun
from ..protocol.cells import PageCell
from ..protocol.workflows import FixCall


@dataclass(frozen=True)
class SourceSpan:
    """A part of a source, in characters from its start, and its replacement."""

    start: int
    end: int
    text: str


def tree_of(source: str) -> ast.Module | None:
    """The syntax tree, or None if the cell is not Python."""
    try:
        return parse_cell(source)
    except (SyntaxError, NotPython):
        return None


def offsets(source: str, node: ast.expr | ast.stmt | ast.alias) -> tuple[int, int]:
    """Where a node is in the source, in characters (the tree counts lines and bytes)."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (
        _offset(source, node.lineno, node.col_offset),
        _offset(source, node.end_lineno, node.end_col_offset),
    )


def _offset(source: str, line: int, column: int) -> int:
    lines = source.split("\n")
    start = sum(len(each) + 1 for each in lines[: line - 1])
    text = lines[line - 1] if line <= len(lines) else ""
    return start + len(text.encode()[:column].decode(errors="ignore"))


def replaced(source: str, spans: Iterable[SourceSpan]) -> str:
    """The source with the parts replaced."""
    for span in sorted(spans, key=lambda each: each.start, reverse=True):
        source = source[: span.start] + span.text + source[span.end :]
    return source


def name_spans(source: str, name: str, new: str) -> list[SourceSpan]:
    """Every use of a variable: no attribute, no keyword of a call, nothing in strings or
    comments."""
    tree = tree_of(source)
    spans = []
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Name) and node.id == name:
            start, end = offsets(source, node)
            # IPython transforms some cells, which shifts positions: those are left alone.
            if source[start:end] == name:
                spans.append(SourceSpan(start, end, new))
    return spans


def string_span(source: str, node: ast.Constant, new: str) -> SourceSpan | None:
    """A string literal with another value, in its own quotes; None if the place in the source is
    not that of the literal."""
    start, end = offsets(source, node)
    text = source[start:end]
    try:
        if ast.literal_eval(text) != node.value:
            return None
    except (SyntaxError, ValueError):
        return None
    quote = '"' if text.rstrip().endswith('"') else "'"
    body = repr(new)[1:-1]
    if repr(new)[0] == "'":
        body = body.replace("\\'", "'")
    if quote in body:
        return SourceSpan(start, end, repr(new))
    return SourceSpan(start, end, f"{quote}{body}{quote}")


# Each works on a notebook and on a Lexical document, whose blocks are its cells.


def update(path: str, cell: PageCell, source: str, *, run: bool = True) -> FixCall:
    """The call that gives a cell its new source: the changed lines only, so that what the user
    types elsewhere in the cell meanwhile stays."""
    part = noun(path)
    arguments: dict[str, Any] = {"path": path, f"{part}Id": cell.id, "run": run}
    old, new = _changed_lines(cell.source, source)
    if old and cell.source.count(old) == 1:
        arguments["edits"] = [{"oldString": old, "newString": new}]
    else:
        arguments["content"] = source
    label = f"Change the {part} and run it" if run else f"Change the {part}"
    name = "updateBlock" if is_lexical(path) else "updateNotebookCell"
    return FixCall(name=name, arguments=arguments, label=label)


def _changed_lines(before: str, after: str) -> tuple[str, str]:
    old, new = before.split("\n"), after.split("\n")
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    # An added line needs a neighbour by which it is located.
    if start == len(old) - end and start > 0:
        start -= 1
    elif start == len(old) - end and end > 0:
        end -= 1
    return "\n".join(old[start : len(old) - end]), "\n".join(new[start : len(new) - end])


def run(path: str, cell_ids: Sequence[str]) -> FixCall:
    """The call that runs cells, in notebook order."""
    part = noun(path)
    label = f"Run the {part}" if len(cell_ids) == 1 else f"Run {len(cell_ids)} {part}s"
    name = "runBlock" if is_lexical(path) else "runNotebookCells"
    arguments = {"path": path, f"{part}Ids": list(cell_ids)}
    return FixCall(name=name, arguments=arguments, label=label)


def add_before(path: str, cell_id: str, source: str) -> FixCall:
    """The call that puts a code cell before another one and runs it."""
    in_blocks = is_lexical(path)
    return FixCall(
        name="insertBlock" if in_blocks else "addNotebookCell",
        arguments={
            "path": path,
            "type": "jupyter-input" if in_blocks else "code",
            "content": source,
            "position": {"before": cell_id},
            "run": True,
        },
        label=f"Add a {noun(path)} and run it",
    )


def cell_name(path: str, cell: PageCell) -> str:
    """A cell's name for users: ``cell 3``."""
    return f"{noun(path)} {cell.index + 1}"
