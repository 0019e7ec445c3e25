"""Whether code may run (again) without a question: its side effects.

A fix is applied without asking only if the cells that it runs have no side effects by these rules,
which err on the side of asking.
"""

from __future__ import annotations

import ast
import re

from ..notebook.dataflow.ipython_source import NotPython, parse_cell
from ..notebook.dataflow.names import analyse
from ..notebook.paths import name_set
from ..tools.risky_code import first_action_of

_LOUD_FUNCTIONS = name_set("exec eval input getpass setattr delattr exit quit")
_LOUD_METHODS = name_set(
    "commit copy2 copyfile copytree delete dump execute executemany executescript kill makedirs "
    "mkdir patch popen post put remove removedirs rename rmdir rmtree run save save_model savefig "
    "savetxt savez send send_message sendmail spawn submit symlink_to system to_clipboard to_csv "
    "to_excel to_feather to_gbq to_hdf to_json to_parquet to_pickle to_sql to_stata touch unlink "
    "upload urlretrieve write write_bytes write_csv write_parquet write_text writelines"
)
# These usually take long: they must not begin by themselves.
_LONG_METHODS = name_set("fit fit_generator fit_predict fit_transform train sleep")


def side_effect(source: str) -> str | None:
    """The cell's action beyond the kernel, as text, or None."""
    action = first_action_of(source)
    if action is not None:
        return action
    try:
        tree = parse_cell(source)
    except NotPython as other:
        return f"runs a %%{other} cell"
    except SyntaxError:
        return "cannot be read as Python"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (effect := _loud(node)) is not None:
            return effect
    return None


def _loud(call: ast.Call) -> str | None:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else ""
    if isinstance(function, ast.Name):
        if function.id in _LOUD_FUNCTIONS:
            return f"calls {function.id}()"
        name = function.id if function.id == "open" else ""
    if name == "open" and writes(call):
        return "writes a file"
    if name in _LOUD_METHODS:
        return f"calls {name}()"
    if name in _LONG_METHODS:
        return f"calls {name}(), which may take long"
    return None


def writes(call: ast.Call) -> bool:
    """Whether an ``open`` is not, or not surely, for reading: ``open(path, mode)``,
    ``gzip.open(path, mode)`` or ``path.open(mode)``."""
    plainly = isinstance(call.func, ast.Name)
    modes = [each.value for each in call.keywords if each.arg == "mode"]
    modes += call.args[1:2] if plainly else call.args[:2]
    for mode in modes:
        if not isinstance(mode, ast.Constant):
            # The mode is a variable; ``image.open(path)`` has none.
            if plainly:
                return True
        elif isinstance(mode.value, str) and _WRITING.match(mode.value):
            return True
    return False


_WRITING = re.compile(r"^(?=.*[wax+])[rwaxbtU+]{1,4}$")


def repeats(source: str) -> bool:
    """Whether running the code twice differs from running it once (``n += 1``,
    ``items.append(x)``)."""
    names = analyse(source)
    return bool(names.opaque or names.mutates or names.deletes or names.uses & names.defines)


def quiet(source: str) -> bool:
    """Whether the cell may run once more without a question."""
    return side_effect(source) is None and not repeats(source)


def may_run_again(source: str, failed_line: int | None) -> bool:
    """Whether a cell that failed at this line (from 1) may run again without a question. Only the
    statements before it have run; with an unknown line, all may have."""
    try:
        tree = parse_cell(source)
    except (SyntaxError, NotPython):
        return True  # nothing of it ran
    statements = tree.body
    if failed_line is None:
        return quiet(source)
    done = [each for each in statements if (each.end_lineno or each.lineno) < failed_line]
    code = ast.unparse(ast.Module(body=list(done), type_ignores=[]))
    first = statements[len(done)] if len(done) < len(statements) else None
    # A loop may have run several times before it failed.
    if isinstance(first, ast.For | ast.While | ast.With | ast.Try):
        code = f"{code}\n{ast.unparse(first)}"
    return quiet(code)
