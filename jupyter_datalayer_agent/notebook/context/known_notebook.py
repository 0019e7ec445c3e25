"""What a model knows of a notebook from earlier contexts, and the text of the changes since.

Only hashes are stored: of a cell's line (type, status) with its output, and of its source, with how
much of that was shown. So changes can be stated after a restart, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any

from ...protocol.cells import PageCell
from ...protocol.context import CellContext, FileContext, NotebookContext
from .notebook_context import (
    CELL_CHARACTERS,
    TOTAL_CHARACTERS,
    WHOLE_BELOW,
    Outputs,
    cell_context,
    cell_header,
    fenced,
    file_line,
    head_lines,
    most_of_output,
    named,
    outline_line,
    outline_of,
    render_context,
    shares_of,
    shown_output,
    shown_source,
)

MAX_RUNS = 40
"""Moves in a new order: with more of them the whole list is easier to read."""
DIGEST_BYTES = 6
WHOLE = -1
KNOWN_SOURCE = "(source as stated before)"


@dataclass(frozen=True)
class KnownCell:
    """Hashes of a cell's line with its output, and of its source, of which ``shown`` characters
    were sent, or ``WHOLE``."""

    line: str
    source: str
    shown: int = 0


@dataclass(frozen=True)
class KnownNotebook:
    """A notebook as a model knows it.

    ``order`` is the ids of its cells, ``listed`` the order in the last complete statement, whose
    numbers describe a new order. ``cells`` lacks those of which something newer may have been sent.
    """

    head: str
    is_outlined: bool
    order: tuple[str, ...]
    listed: tuple[str, ...]
    selection: str
    cells: Mapping[str, KnownCell]

    def without(self, ids: Collection[str], sources: Collection[str]) -> KnownNotebook:
        """A copy in which the state of the cells ``ids`` is unknown, and of ``sources`` the text
        too."""
        cells = {}
        for cell_id, known in self.cells.items():
            if cell_id in sources:
                continue
            cells[cell_id] = replace(known, line="") if cell_id in ids else known
        return replace(self, cells=cells)

    def since(self, before: KnownNotebook | None) -> dict[str, Any]:
        """As JSON, from which ``updated`` restores it with ``before`` (None: without)."""
        known = {} if before is None else before.cells
        data: dict[str, Any] = {
            "head": self.head,
            "selection": self.selection,
            "cells": {
                cell_id: [cell.line, cell.source, cell.shown]
                for cell_id, cell in self.cells.items()
                if known.get(cell_id) != cell
            },
        }
        if before is None:
            data |= {"outlined": self.is_outlined, "listed": list(self.listed)}
        if before is None or self.order != before.order:
            data["order"] = list(self.order)
        return data


def updated(before: KnownNotebook | None, data: Mapping[str, Any]) -> KnownNotebook | None:
    """The notebook as it is known after a statement; None if what that builds on is missing."""
    if "listed" in data:
        before = None
    elif before is None:
        return None
    order = tuple(data["order"]) if "order" in data or before is None else before.order
    cells = {} if before is None else dict(before.cells)
    cells |= {cell_id: KnownCell(*values) for cell_id, values in data["cells"].items()}
    present = set(order)
    return KnownNotebook(
        head=data["head"],
        is_outlined=data["outlined"] if before is None else before.is_outlined,
        order=order,
        listed=tuple(data["listed"]) if before is None else before.listed,
        selection=data["selection"],
        cells={cell_id: cell for cell_id, cell in cells.items() if cell_id in present},
    )


@dataclass(frozen=True)
class Statement:
    """The lines of a text about a notebook, none if there is nothing to report, and what is known
    from it. Lines of outputs are those that were given, with their marks of privacy."""

    lines: Sequence[str]
    known: KnownNotebook
    is_whole: bool

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)


def stated(
    cells: Sequence[PageCell],
    context: NotebookContext,
    before: KnownNotebook | None,
    outputs: Outputs | None = None,
    around: Sequence[str] = (),
) -> Statement:
    """What to send of a notebook to a model that knows ``before``: the changes, or everything if
    that is shorter. Lines ``around`` say what is with it: libraries, files."""
    outputs = outputs or {}
    if before is None:
        return _Whole(cells, context, outputs, around).statement()
    changes = _Changes(cells, context, outputs, around, before).statement()
    if changes is not None and not changes.lines:
        return changes
    whole = _Whole(cells, context, outputs, around).statement()
    if changes is None or len(changes.text) >= len(whole.text):
        return replace(whole, lines=["The whole notebook, stated anew.", *whole.lines])
    return changes


def known_sources(cells: Iterable[PageCell], known: KnownNotebook) -> Iterable[PageCell]:
    """The cells whose current source the model has been shown whole."""
    for cell in cells:
        was = known.cells.get(cell.id)
        if was is not None and was.shown == WHOLE and was.source == _source(cell):
            yield cell


def digest(text: str) -> str:
    """A short hash."""
    return hashlib.blake2b(
        text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES
    ).hexdigest()


def _source(cell: PageCell) -> str:
    return cell.hash[: 2 * DIGEST_BYTES]


class _Notebook:
    """The current notebook, and what is known of it once it is sent."""

    def __init__(
        self,
        cells: Sequence[PageCell],
        context: NotebookContext,
        outputs: Outputs,
        around: Sequence[str],
        is_outlined: bool,
    ) -> None:
        self.context = context
        self.head = head_lines(context, around)
        self.around = around
        self.outputs = outputs
        self.order = tuple(cell.id for cell in cells)
        self.is_outlined = is_outlined
        self.sources = {cell.id: _source(cell) for cell in cells}
        self.outline = outline_of(cells, context) if is_outlined else []
        self.cells: Sequence[CellContext] = []
        if not is_outlined:
            self.cells = context.all_cells or [cell_context(cell) for cell in cells]
        self.lines = {
            cell.id: digest(_without_number(outline_line(cell))) for cell in self.outline
        } or {cell.id: digest(self._line(cell)) for cell in self.cells}
        self.selection = digest(" ".join(map(_selected, context.selected_cells)))
        self.shown: dict[str, int] = {}

    def _line(self, cell: CellContext) -> str:
        line = _without_number(cell_header(cell, is_selected=False))
        output = self.outputs.get(cell.id)
        return line if output is None else f"{line}\n{output}"

    def show(self, cell: CellContext, most: int) -> list[str]:
        """At most so many characters of the cell's source."""
        shown = min(most, len(cell.content))
        self.shown[cell.id] = WHOLE if shown == len(cell.content) else shown
        return shown_source(cell, shown)

    def known(self, listed: tuple[str, ...]) -> KnownNotebook:
        """What is known after a complete statement."""
        return KnownNotebook(
            head=digest("\n".join(self.head)),
            is_outlined=self.is_outlined,
            order=self.order,
            listed=listed,
            selection=self.selection,
            cells={
                cell_id: KnownCell(self.lines[cell_id], source, self.shown.get(cell_id, 0))
                for cell_id, source in self.sources.items()
            },
        )


class _Whole(_Notebook):
    def __init__(
        self,
        cells: Sequence[PageCell],
        context: NotebookContext,
        outputs: Outputs,
        around: Sequence[str],
    ) -> None:
        self._given = cells
        self._shares = shares_of(cells, outputs)
        super().__init__(cells, context, outputs, around, self._shares is None)

    def statement(self) -> Statement:
        shares = None if self._shares is None else self._shares.sources
        for cell in self.context.selected_cells if shares is None else self.cells:
            self.show(cell, len(cell.content) if shares is None else shares[cell.id])
        lines = render_context(self._given, self.context, self.outputs, self.around)
        return Statement(lines, self.known(self.order), is_whole=True)


class _Changes(_Notebook):
    def __init__(
        self,
        cells: Sequence[PageCell],
        context: NotebookContext,
        outputs: Outputs,
        around: Sequence[str],
        before: KnownNotebook,
    ) -> None:
        super().__init__(cells, context, outputs, around, before.is_outlined)
        self._before = before
        self.shown = {
            cell_id: cell.shown
            for cell_id, cell in before.cells.items()
            if cell.source == self.sources.get(cell_id)
        }
        self._added = set(self.order).difference(before.order)

    def statement(self) -> Statement | None:
        """None if it cannot be sent as changes."""
        before = self._before
        is_clear = len(set(self.order)) == len(self.order)
        if not is_clear:
            return None
        order = self._order()
        if order is None:
            return None
        lines_changed = [*order, *(self._outline() if self.is_outlined else self._cells())]
        known = self.known(before.listed)
        if known.head != before.head:
            return Statement([*self.head, *lines_changed], known, is_whole=False)
        lines = [self.head[0], *lines_changed] if lines_changed else []
        return Statement(lines, known, is_whole=False)

    # -- the order

    def _order(self) -> list[str] | None:
        before = self._before.order
        if self.order == before:
            return []
        present = set(self.order)
        gone = [named(cell_id) for cell_id in before if cell_id not in present]
        lines = [f"Removed: {', '.join(gone)}."] if gone else []
        if len(self.order) < WHOLE_BELOW:
            now = [f"[{number}] {named(cell_id)}" for number, cell_id in enumerate(self.order, 1)]
            return [*lines, f"Order now: {', '.join(now) or 'no cells'}."]
        runs = self._runs()
        if len(runs) > MAX_RUNS:
            return None
        return [*lines, f"Order now, by the numbers of the last whole list: {', '.join(runs)}."]

    def _runs(self) -> list[str]:
        places = {cell_id: place for place, cell_id in enumerate(self._before.listed, 1)}
        runs: list[tuple[int, int, int, str]] = []  # from, to, place in the list or 0, id
        for number, cell_id in enumerate(self.order, 1):
            place = places.get(cell_id, 0)
            if runs and place and runs[-1][2]:
                first, _, begun, name = runs[-1]
                if begun + number - first == place:
                    runs[-1] = (first, number, begun, name)
                    continue
            runs.append((number, number, place, cell_id))
        return [_run(*run) for run in runs]

    # -- the cells

    def _is_new(self, cell_id: str, *, line: bool = True) -> bool:
        was = self._before.cells.get(cell_id)
        if was is None or was.source != self.sources[cell_id]:
            return True
        return line and was.line != self.lines[cell_id]

    def _cells(self) -> list[str]:
        lines: list[str] = []
        left = TOTAL_CHARACTERS
        for cell in self.cells:
            if self._is_new(cell.id) or self._is_wanted(cell):
                added = self._stated(cell, min(left, CELL_CHARACTERS))
                if cell.selection_status == "unselected":
                    left = max(0, left - sum(map(len, added)))
                lines += added
        return self._selection() + lines

    def _is_wanted(self, cell: CellContext) -> bool:
        """Whether all of its source is to be shown, and has not been."""
        return cell.selection_status != "unselected" and self.shown.get(cell.id) != WHOLE

    def _stated(self, cell: CellContext, most: int) -> list[str]:
        """A cell's state, and what is not known of its source and output; a selected one whole."""
        is_selected = cell.selection_status != "unselected"
        of_output = most_of_output(cell)
        header = cell_header(cell)
        if self._is_new(cell.id, line=False) or self._is_wanted(cell):
            lines = [header, *self.show(cell, len(cell.content) if is_selected else most)]
        else:
            lines = [f"{header} {KNOWN_SOURCE}" if cell.content else header]
        output = self.outputs.get(cell.id)
        return [*lines, *shown_output(output, of_output if is_selected else min(most, of_output))]

    def _selection(self) -> list[str]:
        if self.selection == self._before.selection:
            return []
        selected = [_selected(cell, number=True) for cell in self.context.selected_cells]
        return [f"Selected now: {', '.join(selected)}." if selected else "No cell is selected."]

    def _outline(self) -> list[str]:
        changed = []
        for cell in self.outline:
            if self._is_new(cell.id):
                is_edited = cell.id not in self._added and self._is_new(cell.id, line=False)
                changed.append(outline_line(cell) + (" (source changed)" if is_edited else ""))
        lines = [fenced("\n".join(changed))] if changed else []
        selected = self.context.selected_cells
        is_other = self.selection != self._before.selection
        if is_other and not selected:
            return [*lines, "No cell is selected."]
        if not is_other and not any(self._is_new(c.id) or self._is_wanted(c) for c in selected):
            return lines
        lines.append("Selected cells:")
        for each in selected:
            lines += self._stated(each, 0)
        return lines


def _run(first: int, last: int, place: int, cell_id: str) -> str:
    if not place:
        return f"[{first}] {named(cell_id)}, not in it"
    if first == last:
        return f"[{first}] was {place}"
    return f"[{first}-{last}] were {place}-{place + last - first}"


def _selected(cell: CellContext, number: bool = False) -> str:
    label = f"{named(cell.id)} {cell.selection_status}"
    return f"[{cell.index + 1}] {label}" if number else label


def _without_number(line: str) -> str:
    return line.partition("] ")[2]


# The changes of a text file since the model was sent it, by hashes of its lines.


SAID = ", changed; numbers of lines are those from before"


def line_hashes(content: str) -> list[str]:
    """A short hash of each line."""
    return [digest(line) for line in content.split("\n")]


def file_changes(context: FileContext, before: Sequence[str]) -> str:
    """The changed lines, by their numbers at the time of these hashes."""
    lines = context.content.split("\n")
    blocks = [file_line(context, SAID)]
    matcher = SequenceMatcher(None, before, line_hashes(context.content))
    for kind, first, last, new_first, new_last in matcher.get_opcodes():
        if kind == "equal":
            continue
        where = f"Line {last}" if last - first == 1 else f"Lines {first + 1}-{last}"
        if kind == "insert":
            where = f"After line {first}" if first else "Before line 1"
        if kind == "delete":
            blocks.append(f"{where}: removed.")
        else:
            word = ":" if kind == "insert" else " now:"
            blocks.append(f"{where}{word}\n{fenced(chr(10).join(lines[new_first:new_last]))}")
    return "\n".join(blocks)
