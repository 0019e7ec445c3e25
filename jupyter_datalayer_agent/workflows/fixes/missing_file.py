"""FileNotFoundError: a file of nearly that name, or of that name in another folder."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator

from ...notebook.dataflow.names import analyse
from ...notebook.paths import name_set
from ...protocol.cells import PageCell
from ...protocol.workflows import FixInfo
from ...tools.tracebacks import where
from .. import editing
from ..fix import CellFailure, Fix, FixProbe
from ..nearness import Near, near_names
from ..side_effects import may_run_again, quiet, writes

_NO_FILE = re.compile(
    r"""(?:No such file or directory|[Ff]ile|[Pp]ath)(?: not found)?:? *b?(['"])(?P<name>.+?)\1"""
)
_READERS = name_set(
    "ExcelFile fromfile genfromtxt imread load load_dataset load_workbook "
    "loadtxt open open_dataset read read_bytes read_csv read_excel read_feather read_file read_fwf "
    "read_hdf read_html read_image read_json read_orc read_parquet read_pickle read_sas read_spss "
    "read_stata read_table read_text read_xml reader scan_csv scan_parquet"
)
# These create or remove the file that they name.
_NOT_READING = re.compile(
    r"^(to_|save|write|dump|export|mkdir|makedirs|rename|replace|move|copy|remove|unlink|rm|touch|"
    r"symlink|chdir|ZipFile|TarFile)"
)
_EXISTING = """
print(__import__('json').dumps([each for each in {names!r}
    if __import__('os').path.isfile(each)]))
"""


async def find(failure: CellFailure, probe: FixProbe) -> list[FixInfo]:
    """Fixes for a missing file."""
    assert failure.error is not None
    match = _NO_FILE.search(failure.error.evalue)
    if match is None or "://" in match["name"]:
        return []
    wanted = match["name"]
    cell = _cell_with(failure, wanted)
    if cell is None:
        return []
    if not _only_read(cell, wanted) and _loses_something(failure):
        return []
    candidates = await _candidates(failure, wanted, probe)
    fixes = []
    for near in candidates:
        spans = _spans(cell, wanted, near.name)
        if spans is None:
            return []
        source = editing.replaced(cell.source, spans)
        fixes.append(_fix(failure, cell, source, wanted, near))
    return fixes


def _fix(failure: CellFailure, cell: PageCell, source: str, wanted: str, near: Near) -> FixInfo:
    assert failure.error is not None
    calls = [editing.update(failure.path, cell, source)]
    again = may_run_again(failure.cell.source, where(failure.error.traceback).line)
    explanation = f"There is no {wanted}; {near.name} is there."
    here = cell.id == failure.cell.id
    if not here:
        calls.append(editing.run(failure.path, [failure.cell.id]))
        explanation += (
            f" The name is in {editing.cell_name(failure.path, cell)}, which would be run again."
        )
        again = False
    return FixInfo(
        id=f"file-{near.name}",
        title=f"Read {near.name} instead of {wanted}",
        explanation=explanation,
        safe=near.clear and again and _only_read(cell, wanted),
        calls=calls,
    )


# Where the name is


def _cell_with(failure: CellFailure, wanted: str) -> PageCell | None:
    """The failed cell if it contains the name; else the one cell that assigns it to a variable
    which the failed cell uses. None if it is composed in any other way."""
    if _literals(failure.cell, wanted):
        return failure.cell
    uses = analyse(failure.cell.source).uses
    holders = [
        cell
        for cell in failure.cells
        if cell.type == "code"
        and cell.id != failure.cell.id
        and any(target in uses for target in _assigned(cell, wanted))
    ]
    return holders[0] if len(holders) == 1 and quiet(holders[0].source) else None


def _loses_something(failure: CellFailure) -> bool:
    """Whether the failed statement writes, moves or removes files."""
    assert failure.error is not None
    tree = editing.tree_of(failure.cell.source)
    line = where(failure.error.traceback).line
    for statement in tree.body if tree is not None else ():
        if line is not None and not statement.lineno <= line <= (statement.end_lineno or line):
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and _does(node) == "write":
                return True
    return False


def _does(call: ast.Call) -> str:
    """The name of the called function; ``write`` for all that create, change or remove a file."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else ""
    if isinstance(function, ast.Name):
        name = function.id
    return "write" if _NOT_READING.match(name) or (name == "open" and writes(call)) else name


def _literals(cell: PageCell, wanted: str) -> list[ast.Constant]:
    tree = editing.tree_of(cell.source)
    in_text = {
        id(part)
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    return [
        node
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.Constant) and node.value == wanted and id(node) not in in_text
    ]


def _assigned(cell: PageCell, wanted: str) -> Iterator[str]:
    tree = editing.tree_of(cell.source)
    for node in tree.body if tree is not None else ():
        value = node.value if isinstance(node, ast.Assign) else None
        if (
            isinstance(node, ast.Assign)
            and isinstance(value, ast.Constant)
            and value.value == wanted
        ):
            yield from (each.id for each in node.targets if isinstance(each, ast.Name))


def _spans(cell: PageCell, wanted: str, new: str) -> list[editing.SourceSpan] | None:
    """The literals' new texts; None if one of them names a file to be written or removed."""
    spans = []
    for literal in _literals(cell, wanted):
        if _NOT_READING.match(_called_with(cell, literal)):
            return None
        span = editing.string_span(cell.source, literal, new)
        if span is None:
            return None
        spans.append(span)
    return spans or None


def _called_with(cell: PageCell, literal: ast.Constant) -> str:
    """The function whose argument the literal is: ``read_csv``; ``write`` for an ``open`` that
    writes; empty if it is no argument."""
    for call in _calls_around(cell, literal):
        name = _does(call)
        # Path("a.txt").unlink() uses the result.
        return name if name != "Path" else _method_of(cell, call) or name
    return ""


def _calls_around(cell: PageCell, literal: ast.Constant) -> Iterator[ast.Call]:
    tree = editing.tree_of(cell.source)
    place = (literal.lineno, literal.col_offset)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Call):
            given = [*node.args, *[each.value for each in node.keywords]]
            if any((each.lineno, each.col_offset) == place for each in given):
                yield node


def _method_of(cell: PageCell, call: ast.Call) -> str | None:
    tree = editing.tree_of(cell.source)
    place = (call.lineno, call.col_offset, call.end_col_offset)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call):
            inner = node.value
            if (inner.lineno, inner.col_offset, inner.end_col_offset) == place:
                return node.attr
    return None


def _only_read(cell: PageCell, wanted: str) -> bool:
    """Whether every occurrence of the name is the argument of a function that reads."""
    return all(_called_with(cell, literal) in _READERS for literal in _literals(cell, wanted))


# Existing files


async def _candidates(failure: CellFailure, wanted: str, probe: FixProbe) -> list[Near]:
    """Files of that name elsewhere, or of nearly that name, as the notebook would name them."""
    here = posixpath.dirname(failure.path)
    name = posixpath.basename(wanted.replace("\\", "/"))
    paths: dict[str, list[str]] = {}
    for path in await probe.files():
        relative = posixpath.relpath(path, here or ".")
        paths.setdefault(posixpath.basename(path), []).append(relative)
    same = sorted(paths.get(name, []), key=lambda each: (each.count("/"), each))
    if same:
        found = [Near(each, 0, clear=len(same) == 1) for each in same[:3]]
    else:
        found = _near_files(wanted, name, paths)
    if wanted.startswith("./"):
        found = [Near(f"./{each.name}", each.distance, each.clear) for each in found]
    # The kernel may have another working folder than the notebook's: ask it what exists.
    there = await probe.compute(_EXISTING.format(names=[each.name for each in found]))
    if isinstance(there, list):
        found = [each for each in found if each.name in there]
    return found


def _near_files(wanted: str, name: str, paths: dict[str, list[str]]) -> list[Near]:
    stem, extension = posixpath.splitext(name)
    alike = [each for each in paths if _kind(each) == _kind(name) or each.startswith(f"{stem}.")]
    found = []
    for near in near_names(name, alike):
        for path in sorted(paths[near.name], key=lambda each: (each.count("/"), each))[:2]:
            beside = posixpath.dirname(path) == posixpath.dirname(posixpath.normpath(wanted))
            only = len(paths[near.name]) == 1 and _kind(near.name) == extension.lower()
            found.append(Near(path, near.distance, near.clear and only and beside))
    return found[:3]


def _kind(name: str) -> str:
    return posixpath.splitext(name)[1].lower()


FIX = Fix("missing-file", ("FileNotFoundError",), find)
