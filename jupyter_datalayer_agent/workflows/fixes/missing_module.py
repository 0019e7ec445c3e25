"""ModuleNotFoundError: a misspelt module, a user's own file elsewhere, or something to install."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Sequence

from ...notebook.files.kinds import document_noun, noun
from ...protocol.cells import PageCell
from ...protocol.workflows import FixCall, FixInfo
from ...tools.tracebacks import where
from .. import editing
from ..fix import CellFailure, Fix, FixProbe
from ..nearness import Near, near_names
from ..side_effects import may_run_again
from .distributions import (
    OWN_NAMES,
    distribution_of,
    is_stdlib,
    known_modules,
    looks_like_a_popular_name,
)

_NO_MODULE = re.compile(r"No module named '?([\w.]+)'?")
_NO_NAME = re.compile(r"cannot import name '(\w+)' from '([\w.]+)' \(unknown location\)")
_OPTIONAL = re.compile(r"Missing optional dependency '([\w.\-]+)'")
_INSTALL_LINE = re.compile(r"^[ \t]*[%!][ \t]*pip3?[ \t]+install[ \t]+(.+)$", re.MULTILINE)

# One round trip: does it exist, what is near it, what does it contain?
_LOOK = """
print(__import__('json').dumps((lambda name: (lambda find, util: {{
    'installed': name in __import__('sys').modules or find(name) is not None,
    'modules': sorted({{each.name for each in util.iter_modules() if each.name[:1] != '_'}}
        | set(getattr(__import__('sys'), 'stdlib_module_names', ()))),
    'submodules': sorted(each.name for each in util.iter_modules(
        list(find(name).submodule_search_locations or []) if find(name) else [])),
}})(__import__('importlib.util').util.find_spec, __import__('pkgutil')))({name!r})))
"""


async def find(failure: CellFailure, probe: FixProbe) -> list[FixInfo]:
    """Fixes for a missing module."""
    assert failure.error is not None
    module = _missing(failure)
    if module is None:
        return []
    top = module.partition(".")[0]
    seen = await probe.compute(_LOOK.format(name=top))
    installed = bool(seen and seen["installed"])
    modules: list[str] = seen["modules"] if seen else []
    if installed and distribution_of(module) in (None, distribution_of(top)):
        # The package is installed and has no such part: nothing to install.
        return _misspelt_part(failure, module, seen["submodules"] if seen else [])
    if is_stdlib(top) and distribution_of(top) is None:
        return []
    local = await _own_module(failure, top, probe)
    if distribution_of(module) is not None:
        return [_install(failure, module, str(distribution_of(module))), *local]
    if local:
        return local
    names = {each for each in [*modules, *known_modules()] if not each.startswith("_")}
    near = [each for each in near_names(top, names) if each.distance < 3]
    misspelt = _misspelt(failure, top, near, modules)
    if misspelt or top in OWN_NAMES or looks_like_a_popular_name(top):
        return misspelt
    return [_install_unknown(failure, top)]


def _missing(failure: CellFailure) -> str | None:
    """The dotted name of the missing module, as the cell imports it."""
    assert failure.error is not None
    message = failure.error.evalue
    if match := _NO_MODULE.search(message):
        module = match[1].strip(".")
        # For ``from google.cloud import storage`` the error names only "google".
        longer = [each for each in _imported(failure.cell) if each.startswith(f"{module}.")]
        known = [each for each in longer if distribution_of(each) is not None]
        return known[0] if known and "." not in module else module
    if match := _NO_NAME.search(message):
        module = f"{match[2]}.{match[1]}"
        return module if distribution_of(module) is not None else None
    if match := _OPTIONAL.search(message):
        module = match[1].replace("-", "_")
        return module if distribution_of(module) is not None else None
    return None


def _imported(cell: PageCell) -> list[str]:
    """Every dotted name that the cell imports."""
    tree = editing.tree_of(cell.source)
    names = []
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


# Misspelt


def _misspelt(
    failure: CellFailure, module: str, near: Sequence[Near], installed: Sequence[str]
) -> list[FixInfo]:
    fixes = []
    for each in near:
        source = _with_module(failure.cell.source, module, each.name)
        if source is None:
            continue
        calls = [editing.update(failure.path, failure.cell, source)]
        there = each.name in installed
        distribution = distribution_of(each.name)
        if not there and distribution is not None:
            calls.insert(0, _install_call(failure, distribution))
        elif not there:
            continue
        fixes.append(
            FixInfo(
                id=f"import-{each.name}",
                title=f"Import {each.name} instead of {module}",
                explanation=f"There is no module {module}; {each.name} is "
                + ("installed." if there else f"in {distribution}, which would be installed.")
                + " Nothing is installed under the misspelt name.",
                safe=there
                and each.clear
                and not _used_elsewhere(failure, module)
                and _again(failure),
                calls=calls,
            )
        )
    return fixes


def _misspelt_part(failure: CellFailure, module: str, submodules: Sequence[str]) -> list[FixInfo]:
    parts = module.split(".")
    if len(parts) != 2:
        return []
    fixes = []
    for each in near_names(parts[1], submodules):
        new = f"{parts[0]}.{each.name}"
        source = _with_module(failure.cell.source, module, new)
        if source is not None:
            fixes.append(
                FixInfo(
                    id=f"import-{new}",
                    title=f"Import {new} instead of {module}",
                    explanation=f"{parts[0]} is installed and has no {parts[1]}; it has "
                    f"{each.name}.",
                    safe=each.clear and _again(failure),
                    calls=[editing.update(failure.path, failure.cell, source)],
                )
            )
    return fixes


def _with_module(source: str, module: str, new: str) -> str | None:
    """The source with the module renamed in its imports and uses; None if the cell does not import
    it."""
    tree = editing.tree_of(source)
    spans = []
    plainly = False
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_in(alias.name, module):
                    spans.append(_renamed(source, editing.offsets(source, alias)[0], module, new))
                    plainly = plainly or alias.asname is None
        elif isinstance(node, ast.ImportFrom) and _is_in(node.module or "", module):
            start, end = editing.offsets(source, node)
            found = source.find(module, start, end)
            spans.append(_renamed(source, found, module, new))
    if not spans or None in spans:
        return None
    if plainly and "." not in module:
        spans += editing.name_spans(source, module, new)
    return editing.replaced(source, [span for span in spans if span is not None])


def _is_in(name: str, module: str) -> bool:
    return name == module or name.startswith(f"{module}.")


def _renamed(source: str, start: int, module: str, new: str) -> editing.SourceSpan | None:
    if start < 0 or not source.startswith(module, start):
        return None
    return editing.SourceSpan(start, start + len(module), new)


def _used_elsewhere(failure: CellFailure, module: str) -> bool:
    return any(
        cell.id != failure.cell.id
        and cell.type == "code"
        and re.search(rf"\b{re.escape(module)}\b", cell.source)
        for cell in failure.cells
    )


# A user's own file


async def _own_module(failure: CellFailure, top: str, probe: FixProbe) -> list[FixInfo]:
    """A module in another folder than the notebook, which is not on the path."""
    here = posixpath.dirname(failure.path)
    folders = []
    for path in await probe.files():
        folder, name = posixpath.split(path)
        if name == "__init__.py" and posixpath.basename(folder) == top:
            folders.append(posixpath.dirname(folder))
        elif name == f"{top}.py":
            folders.append(folder)
    fixes = []
    relative = {posixpath.relpath(folder or ".", here or ".") for folder in folders}
    for folder in sorted(relative, key=lambda each: (each.count("/"), each))[:2]:
        shown = f"the {document_noun(failure.path)}'s own folder" if folder == "." else folder
        fixes.append(
            FixInfo(
                id=f"path-{folder}",
                title=f"Add {shown} to the import path",
                explanation=f"{top} is a file of yours, in {shown}, which is not on the import "
                "path. It is not a package to install.",
                safe=False,
                calls=[
                    editing.add_before(
                        failure.path,
                        failure.cell.id,
                        f"import sys\n\nsys.path.insert(0, {folder!r})",
                    ),
                    editing.run(failure.path, [failure.cell.id]),
                ],
            )
        )
    return fixes


# Installing


def _install(failure: CellFailure, module: str, distribution: str) -> FixInfo:
    plain = distribution.partition("[")[0]
    differs = plain.lower().replace("-", "_") != module.lower()
    return FixInfo(
        id=f"install-{plain}",
        title=f"Install {plain}",
        explanation=(f"{module} is in the package {plain}. " if differs else "")
        + f"`%pip install {distribution}` in a {noun(failure.path)} above installs it into the "
        f"environment of the {document_noun(failure.path)}'s kernel.",
        safe=_again(failure),
        calls=[_install_call(failure, distribution), editing.run(failure.path, [failure.cell.id])],
    )


def _install_unknown(failure: CellFailure, module: str) -> FixInfo:
    name = module.replace("_", "-")
    return FixInfo(
        id=f"install-{name}",
        title=f"Install {name}",
        explanation=f"{module} is not among the packages that are known here. Look whether {name} "
        f"is the package that you mean before you install it (`%pip install {name}` in a "
        f"{noun(failure.path)} above): it runs its own code.",
        safe=False,
        calls=[_install_call(failure, name), editing.run(failure.path, [failure.cell.id])],
    )


def install_call(path: str, cell: PageCell, cells: Sequence[PageCell], name: str) -> FixCall:
    """The call that installs a distribution for a cell: in the %pip cell above it, if there is one,
    else in a new one right before it."""
    line = f"%pip install {name}"
    for above in reversed([each for each in cells if each.index < cell.index]):
        if above.type != "code" or not _only_installs(above.source):
            continue
        installed = [
            word for found in _INSTALL_LINE.findall(above.source) for word in found.split()
        ]
        if name in installed:
            return editing.run(path, [above.id])
        return editing.update(path, above, f"{above.source.rstrip()}\n{line}")
    return editing.add_before(path, cell.id, line)


def _install_call(failure: CellFailure, name: str) -> FixCall:
    return install_call(failure.path, failure.cell, failure.cells, name)


def _only_installs(source: str) -> bool:
    lines = [line for line in source.splitlines() if line.strip()]
    code = [line for line in lines if not line.lstrip().startswith("#")]
    return bool(code) and all(re.match(r"\s*%\s*pip\s+install\s", line) for line in code)


def _again(failure: CellFailure) -> bool:
    assert failure.error is not None
    return may_run_again(failure.cell.source, where(failure.error.traceback).line)


FIX = Fix("missing-module", ("ModuleNotFoundError", "ImportError"), find)
