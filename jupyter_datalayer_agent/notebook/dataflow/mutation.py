"""Which calls change their object, judged by their names."""

from __future__ import annotations

import ast

from ..name_set import name_set

# Called for their display, as the last line of a cell, or for a file that they write.
_READING = name_set(
    "all any boxplot copy corr count cov describe dtypes equals explain filter groupby head hist "
    "info isin isna isnull items keys max mean median memory_usage min mode nlargest notna "
    "notnull nsmallest nunique plot predict predict_proba print_schema print_summary prod "
    "quantile query sample score select show skew std sum summary tail to_csv to_dict to_excel "
    "to_feather to_html to_json to_latex to_list to_markdown to_numpy to_parquet to_pickle to_sql "
    "to_string tolist transform unique value_counts values var display "
    # Strings, which never change.
    "capitalize casefold center encode endswith find format index isalnum isalpha isdecimal "
    "isdigit islower isnumeric isspace istitle isupper join ljust lower lstrip partition "
    "removeprefix removesuffix rjust rpartition rsplit rstrip split splitlines startswith "
    "strip swapcase title "
    "upper zfill "
    # These return a new object; with ``inplace=True`` they change theirs.
    "agg aggregate apply applymap assign astype between bfill clip cumsum diff drop "
    "drop_duplicates dropna eval explode ffill fillna interpolate map mask melt merge "
    "pct_change pipe pivot pivot_table rank reindex rename rename_axis replace resample "
    "reset_index rolling round set_axis set_index shift sort_index sort_values stack transpose "
    "unstack where"
)
# These change their object wherever they are called.
_CHANGING = name_set(
    "add append appendleft clear discard extend extendleft fit fit_predict fit_transform insert "
    "partial_fit pop popitem popleft remove reverse setdefault sort update"
)
# These change their first argument.
_CHANGING_ARGUMENT = name_set("heapify heappop heappush heappushpop next setattr delattr shuffle")
# Calls on a library that affect later cells.
_SETTING = name_set(
    "default_rng filterwarnings manual_seed option_context register seed set set_context "
    "set_defaults set_option set_palette set_printoptions set_style set_theme simplefilter update "
    "use basicConfig chdir putenv"
)


def root_name(node: ast.expr) -> str | None:
    """``df`` of ``df.loc[x].b``; None if the chain does not start at a name."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _in_place(call: ast.Call) -> bool:
    return any(
        keyword.arg == "inplace"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is True
        for keyword in call.keywords
    )


def changes_receiver(call: ast.Call) -> bool:
    """Whether a method call as a statement changes its object."""
    if not isinstance(call.func, ast.Attribute):
        return False
    return _in_place(call) or call.func.attr not in _READING


def changes_library(call: ast.Call) -> bool:
    """Whether a module's function sets something that affects later cells (``np.random.seed``)."""
    return isinstance(call.func, ast.Attribute) and call.func.attr in _SETTING


def changes_its_object(call: ast.Call) -> list[str]:
    """Names whose object a call changes wherever it is: ``x = items.pop()``."""
    function = call.func
    names = []
    if isinstance(function, ast.Attribute):
        changing = function.attr in _CHANGING or _in_place(call)
        if changing and (root := root_name(function)) is not None:
            names.append(root)
        last = function.attr
    else:
        last = function.id if isinstance(function, ast.Name) else ""
    if last in _CHANGING_ARGUMENT and call.args and (root := root_name(call.args[0])) is not None:
        names.append(root)
    return names
