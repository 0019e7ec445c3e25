"""Probing a data file, and the cells that import, load and convert it."""

from __future__ import annotations

import difflib
import posixpath
from typing import Any

from ....template import StepFailed, TemplateRun
from ..in_kernel import call as kernel_call
from .data import Data
from .formatting import call, codes, count, listed, literal, source

MISSING_MODULES = """
def answer(modules):
    import importlib
    import importlib.util

    importlib.invalidate_caches()
    return [name for name in modules if importlib.util.find_spec(name) is None]
"""

PROBE = """
def answer(path, date_column):
    try:
        how = sniff(path)
        frame, cut = load(path, how)
        if not len(frame.columns):
            raise Unreadable("it has no columns")
        names = [str(name) for name in frame.columns]
        if date_column is not None and date_column not in names:
            return {"unknown": date_column, "names": names}
        european = how["read"].get("sep") == ";" or how["read"].get("decimal") == ","
        return {**how, **profile(frame, date_column, european), "cut": cut}
    except Unreadable as error:
        return {"unreadable": str(error)}
"""

GLYPHS = """
def answer(text):
    from matplotlib import font_manager
    from matplotlib.ft2font import FT2Font

    def lacks(path):
        return {letter for letter in wanted if ord(letter) not in FT2Font(path).get_charmap()}

    wanted = {letter for letter in text if ord(letter) > 127}
    missing = lacks(font_manager.findfont("DejaVu Sans"))
    fonts = []
    for entry in font_manager.fontManager.ttflist if missing else []:
        if missing and entry.name not in fonts and entry.style == "normal":
            helps = missing - lacks(entry.fname)
            if helps:
                fonts.append(entry.name)
                missing -= helps
    return {"fonts": fonts, "lacking": len(missing)}
"""

DISTRIBUTIONS = {"sklearn": "scikit-learn"}
PARQUET = (".parquet", ".pq")


def relative_path(data: str, notebook: str) -> str:
    """The data's path as seen from the notebook's folder."""
    return posixpath.relpath(data, posixpath.dirname(notebook) or ".")


async def need_modules(run: TemplateRun, *modules: str) -> None:
    """Have the kernel's missing modules installed, by a cell that says so."""
    if str(getattr(run.parameters, "data", None) or "").lower().endswith(PARQUET):
        modules = (*modules, "pyarrow")
    asked = {"modules": list(modules)}
    absent = await run.compute(kernel_call(answer=MISSING_MODULES, **asked))
    if not absent:
        return
    packages = " ".join(DISTRIBUTIONS.get(name, name) for name in absent)
    cell = await run.code(f"%pip install --quiet {packages}")
    absent = await run.compute(kernel_call(answer=MISSING_MODULES, **asked))
    if absent:
        raise StepFailed(f"The kernel is still missing {listed(absent)} after {packages}.", cell)


async def probe(run: TemplateRun) -> Data:
    """Profile the file; the result is kept in ``facts["data"]``. Raises ``StepFailed``.

    Target and date columns match in any case.
    """
    parameters = run.parameters
    path = relative_path(parameters.data, run.notebook)
    date_column = getattr(parameters, "date_column", None)
    found = await _probed(run, path, date_column)
    if date_column is not None and "unknown" in found:
        date_column = _column(found["names"], date_column, parameters.data)
        found = await _probed(run, path, date_column)
    if "unreadable" in found:
        raise StepFailed(f"{parameters.data} cannot be analysed: {found['unreadable']}.")
    if not found["rows"]:
        names = [column["name"] for column in found["columns"]]
        raise StepFailed(
            f"{parameters.data} cannot be analysed: it has {count(len(names), 'column')} "
            f"({codes(names)}) and no rows."
        )
    target = getattr(parameters, "target", None)
    names = [column["name"] for column in found["columns"]]
    found["dateColumn"] = date_column
    found["target"] = None if target is None else _column(names, target, parameters.data)
    found["path"] = path
    run.facts["data"] = found
    data = Data(run.facts)
    found["style"] = await _style(run, data)
    return data


async def _probed(run: TemplateRun, path: str, date_column: str | None) -> dict[str, Any]:
    request = kernel_call("sniff", "profile", answer=PROBE, path=path, date_column=date_column)
    answer: dict[str, Any] = await run.compute(request)
    return answer


def _column(names: list[str], wanted: str, data: str) -> str:
    if wanted in names:
        return wanted
    plain = {_plain(name): name for name in names}
    if _plain(wanted) in plain:
        return plain[_plain(wanted)]
    near = difflib.get_close_matches(_plain(wanted), plain, n=3, cutoff=0.6)
    hint = f" Did you mean {listed([repr(plain[name]) for name in near])}?" if near else ""
    raise StepFailed(
        f"{data} has no column {wanted!r}.{hint} Its columns are {codes(names, limit=30)}."
    )


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


async def _style(run: TemplateRun, data: Data) -> dict[str, Any]:
    """Settings for plotting text of the data: fonts, and no formulas by "$"."""
    texts = [text for column in data.columns for text, _ in column.top]
    letters = "".join([*(column.name for column in data.columns), *texts])
    style: dict[str, Any] = {"dollar": "$" in letters, "fonts": [], "lacking": 0}
    if any(ord(letter) > 0x2FF for letter in letters):
        style |= await run.compute(kernel_call(answer=GLYPHS, text="".join(sorted(set(letters)))))
    return style


def imports_cell(data: Data | None, *more: str, plots: bool = True) -> str:
    """The imports at the head of a notebook and the look of its figures.

    ``more`` are further import lines; they are sorted as isort does it.
    """
    lines = ["import pandas as pd", *more]
    if plots:
        lines += ["import matplotlib.pyplot as plt", "import seaborn as sns"]
    style = data.facts["style"] if data else {}
    look = []
    if plots:
        look = ['sns.set_style("whitegrid")', 'plt.rcParams["figure.figsize"] = (12, 6)']
    if plots and style.get("fonts"):
        fonts = ["DejaVu Sans", *style["fonts"]]
        look.append(f'plt.rcParams["font.family"] = {literal(fonts)}')
    if plots and style.get("dollar"):
        look.append('plt.rcParams["text.parse_math"] = False  # "$" in the data is no formula')
    if plots and style.get("lacking"):
        lines.append("import warnings")
        look.append('warnings.filterwarnings("ignore", message="Glyph .* missing from")')
    return "\n\n".join(block for block in (_import_block(lines), "\n".join(look)) if block)


STANDARD = ("import textwrap", "import warnings")


def _import_block(lines: list[str]) -> str:
    """Standard library first; ``import x`` before ``from x import``, each by name."""
    unique = sorted(set(lines), key=lambda line: (line.startswith("from"), line.lower()))
    standard = [line for line in unique if line in STANDARD]
    others = [line for line in unique if line not in STANDARD]
    return "\n\n".join("\n".join(block) for block in (standard, others) if block)


def loading_cell(data: Data) -> str:
    """Read the file with the detected options, and convert columns to their types."""
    facts = data.facts
    path = literal(facts["path"])
    if facts["format"] == "parquet":
        lines = [f"df = pd.read_parquet({path})"]
        if facts.get("reset_index"):
            lines.append("df = df.reset_index()")
        if facts.get("text_columns"):
            lines.append("df.columns = df.columns.map(str)")
    else:
        arguments = [f"{name}={literal(value)}" for name, value in facts["read"].items()]
        lines = [call("df = pd.read_csv(", [path, *arguments])]
    lines += [
        _conversion(each["name"], each["convert"]) for each in facts["columns"] if each["convert"]
    ]
    return "\n".join(lines)


def _conversion(name: str, convert: dict[str, Any]) -> str:
    column = f"df[{literal(name)}]"
    to = convert["to"]
    if to == "date":
        more = [f"format={literal(convert['format'])}"]
        if convert.get("coerce"):
            more.append('errors="coerce"')
        return call(f"{column} = pd.to_datetime(", [column, *more])
    if to == "epoch":
        return call(f"{column} = pd.to_datetime(", [column, f"unit={literal(convert['unit'])}"])
    if to == "iso":
        return source(
            """
            <<column>> = pd.to_datetime(<<column>>, format="ISO8601", utc=True)
            <<column>> = <<column>>.dt.tz_localize(None)
            """,
            column=column,
        )
    rest = {
        "datetime": f"pd.to_datetime({column})",
        "naive": f'{column}.dt.tz_convert("UTC").dt.tz_localize(None)',
        "money": f'pd.to_numeric({column}.str.replace(r"[^\\d.-]", "", regex=True))',
        "percent": f'pd.to_numeric({column}.str.rstrip("% "))',
        "finite": f'{column}.replace([float("inf"), -float("inf")], float("nan"))',
        "bool": f"{column}.astype(bool)",
        "float": f"{column}.astype(float)",
        "object": f'{column}.astype(object).where({column}.notna(), float("nan"))',
    }
    return f"{column} = {rest[to]}"


CONVERSIONS = {
    "date": "read as dates",
    "epoch": "read as dates",
    "iso": "read as dates (UTC)",
    "datetime": "read as dates",
    "naive": "read as dates (UTC)",
    "money": "read as amounts of money",
    "percent": "read as percentages",
    "finite": "freed of infinite values",
    "bool": "read as true or false",
    "float": "read as numbers",
    "object": "read as plain text",
}


def loading_text(data: Data, name: str) -> str:
    """Remarks on how the file was read."""
    facts = data.facts
    read = facts["read"]
    sentences = [f"The data are in {codes([name])}."]
    ways = []
    if "sep" in read:
        signs = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
        ways.append(f"its fields are separated by {signs[read['sep']]}")
    if "encoding" in read:
        ways.append(f"its text is encoded as {read['encoding']}")
    if "decimal" in read:
        ways.append("its decimals have commas")
    if ways:
        sentences.append(f"In this file {listed(ways)}.")
    if "na_values" in read:
        sentences.append(f"{codes(read['na_values'])} stands for a missing value.")
    for conversion in dict.fromkeys(CONVERSIONS.values()):
        names = [
            each["name"]
            for each in facts["columns"]
            if each["convert"] and CONVERSIONS[each["convert"]["to"]] == conversion
        ]
        if names:
            sentences.append(f"{codes(names)} {'is' if len(names) == 1 else 'are'} {conversion}.")
    return " ".join(sentences)
