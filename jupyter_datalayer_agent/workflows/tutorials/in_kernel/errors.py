"""What an exception in a learner's cell most likely means, in words of the lesson."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable
from typing import Any

from .formatting import listed, nearest
from .looking import Inspection

Explanation = Callable[[Inspection, str], "str | None"]


def explain(look: Inspection, ename: str, evalue: str) -> str:
    """The most likely reason; at least the error itself."""
    for pattern, meaning in MEANINGS:
        if re.search(pattern, evalue):
            return f"The cell stopped with {ename}. {meaning}"
    known = BY_NAME.get(ename)
    reason = known(look, evalue) if known is not None else None
    if reason is None and ("ellipsis" in evalue or "Ellipsis" in evalue):
        reason = _still_dots(look)
    first = evalue.strip().splitlines()[0] if evalue.strip() else ""
    return f"The cell stopped with {ename}. {reason or first}".rstrip()


def _still_dots(look: Inspection) -> str:
    places = [
        target.id
        for node in ast.walk(look.tree)
        if isinstance(node, ast.Assign) and _is_dots(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    what = listed(places) if places else "Something"
    return f"{what} is still `...`. Put your answer in its place."


def _is_dots(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _name_error(look: Inspection, evalue: str) -> str | None:
    found = re.search(r"name '(\w+)'", evalue)
    if found is None:
        return None
    name = found[1]
    if name in ("pd", "np", "plt", "sns"):
        return f"`{name}` is not imported. The starter code's import lines have to stay."
    near = nearest(name, [each for each in look.names if not each.startswith("_")])
    if near is not None:
        return f"There is no `{name}`. Did you mean `{near}`?"
    return f'There is no `{name}`. A text needs quotes: "{name}"; else assign it first.'


def _key_error(look: Inspection, evalue: str) -> str | None:
    if evalue.startswith("("):
        return 'To take several columns, put their names in a list: `table[["a", "b"]]`.'
    found = re.search(r"['\"]([^'\"]+)['\"]", evalue)
    columns: dict[str, str] = {}
    for name, value in list(look.names.items()):
        if type(value).__name__ == "DataFrame" and not name.startswith("_"):
            columns.update({str(column): name for column in value.columns})
    if found is None or not columns:
        return None
    if found[1] in columns:
        return _not_in_this(look, found[1], columns[found[1]])
    near = nearest(found[1], columns)
    if near is not None:
        return f'There is no column "{found[1]}". Did you mean "{near}"?'
    return f'There is no column "{found[1]}". There are {listed(columns)}.'


def _not_in_this(look: Inspection, column: str, table: str) -> str:
    for name in look.assigns() or ():
        value: Any = look.names.get(name)
        if type(value).__name__ == "Series" and str(value.dtype) in ("bool", "boolean"):
            return (
                f"`{name}` is a condition, True or False for each row, and has no column "
                f'"{column}". Take the rows first: `{table}[condition]`.'
            )
    return f'The column "{column}" is in `{table}`, but not in what you take it from.'


def _file_not_found(look: Inspection, evalue: str) -> str | None:
    found = re.search(r"['\"]([^'\"]+)['\"]", evalue)
    if found is None:
        return None
    near = nearest(os.path.basename(found[1]), os.listdir("."))
    if near is not None:
        return f'There is no file "{found[1]}" beside the notebook. Did you mean "{near}"?'
    return f'There is no file "{found[1]}" beside the notebook.'


def _module_not_found(look: Inspection, evalue: str) -> str | None:
    found = re.search(r"No module named '([\w.]+)'", evalue)
    if found is None:
        return None
    module = found[1].split(".")[0]
    package = {"sklearn": "scikit-learn"}.get(module, module)
    if package in ("pandas", "matplotlib", "scikit-learn", "seaborn", "numpy"):
        return f"This kernel has no {package}. Install it: run `%pip install {package}` in a cell."
    return f"There is no module {module}. Look at the spelling of the import."


def _attribute_error(look: Inspection, evalue: str) -> str | None:
    found = re.search(r"'(\w+)' object has no attribute '(\w+)'", evalue)
    if found is None or found[1] == "ellipsis":
        return None
    owners: list[Any] = [
        value for value in list(look.names.values()) if type(value).__name__ == found[1]
    ]
    near = (
        nearest(found[2], [each for each in dir(owners[0]) if each[0] != "_"]) if owners else None
    )
    if near is not None:
        return f"`{found[2]}` does not exist here. Did you mean `{near}`?"
    return f"A {found[1]} has nothing called `{found[2]}`."


def _syntax_error(look: Inspection, evalue: str) -> str | None:
    line = re.search(r"line (\d+)", evalue)
    where = f" at line {line[1]}" if line else ""
    if "==" in evalue:
        return f"Python cannot read the cell{where}. To compare, write == and not =."
    if "was never closed" in evalue or "unexpected EOF" in evalue or "unmatched" in evalue:
        return f"Python cannot read the cell{where}: an opening and a closing bracket do not pair."
    if "incomplete input" in evalue:
        return f"The cell ends{where} in the middle: a bracket is open, or a block is empty."
    if "string literal" in evalue:
        return f"Python cannot read the cell{where}: a text has no closing quote."
    message = re.sub(r"(?<!\s)\s*\([^()]*line \d+\)$", "", evalue.strip())
    return f"Python cannot read the cell{where}: {message}."


BY_NAME: dict[str, Explanation] = {
    "NameError": _name_error,
    "KeyError": _key_error,
    "FileNotFoundError": _file_not_found,
    "ModuleNotFoundError": _module_not_found,
    "ImportError": _module_not_found,
    "AttributeError": _attribute_error,
    "SyntaxError": _syntax_error,
    "IndentationError": _syntax_error,
}

# By what the message says, whatever the exception is called.
MEANINGS: list[tuple[str, str]] = [
    (
        r"truth value of a (Series|DataFrame|array) is ambiguous|truth value of an array",
        "Conditions on columns are joined by & (and) and | (or), each condition in brackets: "
        "`(a > 1) & (b == 2)`. The words `and` and `or` do not work on columns.",
    ),
    (
        r"Cannot perform '(rand_|ror_|and_|or_)'|unsupported operand type\(s\) for [&|]"
        r"|operation '(rand_|ror_|and_|or_)' not supported",
        "& and | bind tighter than > and ==: put each condition in brackets, `(a > 1) & (b == 2)`.",
    ),
    (
        r"'(method|builtin_function_or_method)' object is not subscriptable",
        "A method was not called: add () after its name.",
    ),
    (r"'(DataFrame|Series)' object is not callable", "Columns are taken with [ ], not ( )."),
    (
        r"agg function failed|does not support (operation|reduction) '(mean|median|sum)'"
        r"|Could not convert .* to numeric|Cannot perform reduction",
        'Texts have no mean. Choose the column of numbers first: `["body_mass_g"]`.',
    ),
    (
        r"could not convert string to float",
        "The features hold texts, and the model counts with numbers only. Take the columns of "
        "numbers.",
    ),
    (
        r"contains NaN|Input y contains NaN",
        "Values are missing, which this model does not take. Drop those rows with .dropna() first.",
    ),
    (
        r"inconsistent numbers of samples",
        "The features and the answers have different numbers of rows. Make both from the same "
        "table, or from the same part of the split.",
    ),
    (
        r"Expected 2D array, got|Expected a 2-dimensional container",
        'Features are a table, also for one column or one row: `[["name"]]`, not `["name"]`.',
    ),
    (
        r"not fitted yet|is not fitted",
        "The model was not fitted before it was used: call `.fit(X_train, y_train)`.",
    ),
    (
        r"x and y must have same first dimension|x and y must be the same size",
        "x and y have different lengths. Take both from the same table.",
    ),
    (
        r"missing 1 required positional argument: 'self'|missing \d required positional "
        r"arguments?: "
        r"'(X|y)'",
        "An object is missing: write LogisticRegression() with its brackets, and give .fit both "
        "X_train and y_train.",
    ),
    (
        r"is not a valid format string",
        'The names alone are no data: give the columns, `table["name"]`, or say data=table.',
    ),
    (
        r"'numpy.ndarray' object has no attribute '(plot|hist|boxplot|bar|set_\w+)'",
        "`plt.subplots` with several plots gives an array of axes: choose one of them, `axes[0]`.",
    ),
]
