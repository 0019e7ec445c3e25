"""Whoever reads the statements about a notebook one after the other knows it as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_datalayer_agent.notebook.context.known_notebook import (
    KnownNotebook,
    Statement,
    file_changes,
    known_sources,
    line_hashes,
    stated,
    updated,
)
from jupyter_datalayer_agent.notebook.context.notebook_context import build_context
from jupyter_datalayer_agent.notebook.edits.batch import source_hash
from jupyter_datalayer_agent.protocol.cells import PageCell, PageNotebook
from jupyter_datalayer_agent.protocol.context import FileContext
from jupyter_datalayer_agent.tools.redaction import text

LONG = "value = 1  # what it is for\n" * 3
OUTPUTS = ["", "42", "Output:\n```\nnot mine\n```", "[1] code id=a", "row\n" * 300]
SOURCES = [f"x = {n}\n{LONG}" for n in range(3)] + ["", "```\nfenced\n```", "[1] code id=a"]


Cell = tuple[str, str, int | None, bool]


def notebook(cells: Sequence[Cell]) -> PageNotebook:
    """A notebook of cells: id, source, execution count, whether it is selected."""
    return PageNotebook(
        path="a.ipynb",
        cells=[
            PageCell(
                id=cell_id,
                index=index,
                type="code",
                source=source,
                hash=source_hash(source),
                execution_count=count,
                last_run_success=None if count is None else True,
                selection_status="selected" if selected else "unselected",
            )
            for index, (cell_id, source, count, selected) in enumerate(cells)
        ],
    )


def say(
    book: PageNotebook, before: KnownNotebook | None, outputs: Mapping[str, str] | None = None
) -> Statement:
    shown = {cell_id: text(said) for cell_id, said in (outputs or {}).items() if said}
    return stated(book.cells, build_context(book), before, shown)


class Reader:
    """Knows what the statements say, and nothing else."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.listed: list[str] = []
        self.lines: dict[str, str] = {}
        self.sources: dict[str, str] = {}
        self.outputs: dict[str, str] = {}
        self.selected: set[str] = set()

    def read(self, statement: Statement) -> None:
        if statement.is_whole:
            self.order, self.lines, self.sources, self.outputs = [], {}, {}, {}
            self.selected = set()
        before = self.lines.copy()
        for header, source, output in _cells(statement.text):
            match = re.match(r"\[(\d+)\] code id=(\S+) ?(.*)", header)
            assert match is not None
            cell_id, line = match[2], match[3]
            is_known = line.endswith("(source as stated before)")
            line = line.removesuffix("(source as stated before)").rstrip()
            words = [word for word in line.split() if word not in ("selected", "empty")]
            self.lines[cell_id] = " ".join(words)
            if is_known:
                assert cell_id in self.sources
                assert cell_id in before
            else:
                self.sources[cell_id] = source
            self.outputs[cell_id] = output
            if statement.is_whole:
                self.order.append(cell_id)
                if "selected" in line.split():
                    self.selected.add(cell_id)
        if statement.is_whole:
            self.listed = list(self.order)
        if found := re.search(r"^Order now: (.*)\.$", statement.text, re.MULTILINE):
            self.order = re.findall(r"\[\d+\] id=(\S+?)(?:,|$)", found[1])
        if found := re.search(r"^Selected now: (.*)\.$", statement.text, re.MULTILINE):
            self.selected = set(re.findall(r"id=(\S+) selected", found[1]))
        if "\nNo cell is selected." in statement.text:
            self.selected = set()


def _cells(text: str) -> list[tuple[str, str, str]]:
    """Headers with the content of the fences after them: the source, and the output."""
    found: list[tuple[str, str, str]] = []
    lines = iter(text.split("\n"))
    is_output = False
    for line in lines:
        if line.startswith("[") and "] code id=" in line:
            found.append((line, "", ""))
            is_output = False
        elif line == "Output:":
            is_output = True
        elif line.startswith("```"):
            inside: list[str] = []
            for each in lines:
                if each == line:
                    break
                inside.append(each)
            header, source, output = found[-1]
            said = "\n".join(inside)
            found[-1] = (header, source, said) if is_output else (header, said, output)
    return found


BOOKS = st.lists(
    st.tuples(
        st.sampled_from("abcdefgh"),
        st.sampled_from(SOURCES),
        st.sampled_from([None, 1, 2]),
        st.booleans(),
    ),
    max_size=8,
    unique_by=lambda cell: cell[0],
)
SAID = st.fixed_dictionaries({cell_id: st.sampled_from(OUTPUTS) for cell_id in "abcdefgh"})


@given(st.lists(st.tuples(BOOKS, SAID), min_size=1, max_size=6))
def test_statements_hold_all_of_a_notebook(
    books: list[tuple[list[Cell], dict[str, str]]],
) -> None:
    reader, known = Reader(), None
    for cells, outputs in books:
        book = notebook(cells)
        outputs = {cell.id: outputs[cell.id] for cell in book.cells}
        statement = say(book, known, outputs)
        reader.read(statement)
        assert reader.order == [cell.id for cell in book.cells]
        assert reader.selected == {
            cell.id for cell in book.cells if cell.selection_status == "selected"
        }
        for cell in book.cells:
            assert reader.sources[cell.id] == cell.source
            assert reader.outputs[cell.id][:300] == outputs[cell.id][:300]
            assert len(reader.outputs[cell.id]) < 1_040
            assert (f"order={cell.execution_count}" in reader.lines[cell.id]) == (
                cell.execution_count is not None
            )
        kept = json.loads(json.dumps(statement.known.since(None if statement.is_whole else known)))
        assert updated(known, kept) == statement.known, "it is the same from the database"
        known = statement.known
        assert say(book, known, outputs).text == "", "what was sent is not sent again"
        assert {cell.id for cell in known_sources(book.cells, known)} == set(reader.order)


@given(st.lists(st.permutations(range(25)), min_size=1, max_size=4), st.integers(0, 5))
@settings(max_examples=50)
def test_a_new_order_of_many_cells_is_sent_as_the_numbers_of_the_whole_list(
    orders: list[list[int]], moves: int
) -> None:
    def cell(number: int) -> tuple[str, str, int | None, bool]:
        return (f"c{number}", f"x = {number}", None, False)

    start = list(range(60))
    known = say(notebook([cell(n) for n in start]), None).known
    for places in orders:
        for place in places[:moves]:
            start.insert(place, start.pop((place * 7) % len(start)))
        statement = say(notebook([cell(n) for n in start]), known)
        listed = [int(name[1:]) for name in known.listed]
        if statement.text and not statement.is_whole:
            found = re.search(r"last whole list: (.*)\.$", statement.text, re.MULTILINE)
            assert found is not None
            sent: list[int] = []
            for run in found[1].split(", "):
                numbers = list(map(int, re.findall(r"\d+", run)))
                first, last = numbers[len(numbers) // 2], numbers[-1]
                sent += listed[first - 1 : last]
            assert sent == start
        known = statement.known


def test_a_cell_that_was_cut_is_sent_whole_once_it_is_selected() -> None:
    long = "y = 1\n" * 5_000
    book = notebook([("a", long, None, False), ("b", "x", None, False)])
    first = say(book, None)
    assert "more characters" in first.text
    assert [cell.id for cell in known_sources(book.cells, first.known)] == ["b"]
    selected = notebook([("a", long, None, True), ("b", "x", None, False)])
    second = say(selected, first.known)
    assert long.rstrip() in second.text
    assert {cell.id for cell in known_sources(book.cells, second.known)} == {"a", "b"}
    third = say(book, second.known)
    assert "```" not in third.text, "it is known whole, though it is not selected any more"


def test_a_selected_cell_of_many_is_sent_once() -> None:
    cells = [(f"c{n}", f"x = {n}\ny = 2", None, False) for n in range(200)]
    known = say(notebook(cells), None).known
    cells[4] = ("c4", cells[4][1], None, True)
    selected = say(notebook(cells), known)
    assert (
        "Selected cells:\n[5] code id=c4 not run selected\n```\nx = 4\ny = 2\n```" in selected.text
    )
    cells[4] = ("c4", cells[4][1], None, False)
    none = say(notebook(cells), selected.known)
    assert none.text.endswith("\nNo cell is selected.")
    cells[4] = ("c4", cells[4][1], None, True)
    again = say(notebook(cells), none.known)
    assert again.text.endswith("[5] code id=c4 not run selected (source as stated before)")


def test_a_notebook_that_grows_past_its_limit_is_still_sent_as_its_changes() -> None:
    cells: list[Cell] = [(f"c{n}", f"x = {n}\n" * 20, None, False) for n in range(100)]
    known = say(notebook(cells), None).known
    assert not known.is_outlined
    cells += [(f"d{n}", f"y = {n}\n" * 20, None, False) for n in range(60)]
    grown = say(notebook(cells), known)
    assert len(grown.text) < 22_000
    cells[3] = ("c3", "z = 1", 7, False)
    changed = say(notebook(cells), grown.known)
    assert not changed.is_whole
    assert len(changed.text) < 400
    assert "[4] code id=c3 order=7 ok" in changed.text


def test_an_output_that_changed_is_sent_with_its_cell_and_not_with_its_source() -> None:
    book = notebook([("a", LONG, 1, False), ("b", "x", 1, False)])
    first = say(book, None, {"a": "41", "b": "1"})
    assert "Output:\n```\n41\n```" in first.text
    second = say(book, first.known, {"a": "42", "b": "1"})
    assert second.text.splitlines()[1:] == [
        "[1] code id=a order=1 ok (source as stated before)",
        "Output:",
        "```",
        "42",
        "```",
    ]
    assert not say(book, second.known, {"a": "42", "b": "1"}).lines


LINES = st.lists(st.sampled_from(["a", "b", "", "```", "c"]), max_size=12)


@given(LINES, LINES)
def test_changed_lines_of_a_file_make_the_new_one_of_the_old(
    old: list[str], new: list[str]
) -> None:
    before, after = "\n".join(old), "\n".join(new)
    sent = file_changes(FileContext(path="a.txt", content=after), line_hashes(before))
    lines: list[str | None] = list(before.split("\n"))
    added: dict[int, list[str]] = {}
    rest = sent.split("\n")[1:]
    while rest:
        head = rest.pop(0)
        first, last = (int(n) for n in (re.findall(r"\d+", head) * 2)[:2])
        inside: list[str] = []
        if not head.endswith("removed."):
            fence = rest.pop(0)
            while (line := rest.pop(0)) != fence:
                inside.append(line)
        if head.startswith(("After", "Before")):
            added[0 if head.startswith("Before") else first] = inside
        else:
            lines[first - 1 : last] = [None] * (last - first + 1)
            added[last] = inside + added.get(last, [])
    made = [*added.get(0, [])]
    for number, each in enumerate(lines, 1):
        made += [] if each is None else [each]
        made += added.get(number, [])
    assert made == after.split("\n")
