"""Probing a data file, and the cells that import, load and convert it."""

from __future__ import annotations

import asyncio
import difflib
import posixpath
from typing import Any

from .....datasets.dialect import SOURCES
from .....datasets.dialect.encodings import candidates, certain, name_of, preview
from .....datasets.dialect.numbers import NumberFormat
from .....protocol.datasets import ReadingChoices
from ....template import StepFailed, TemplateRun
from ..in_kernel import call as kernel_call
from .data import WIDTH, Data, call, code, codes, count, listed, literal, source

MISSING_MODULES = """
def answer(modules):
    import importlib
    import importlib.util

    importlib.invalidate_caches()
    return [name for name in modules if importlib.util.find_spec(name) is None]
"""

PROBE = """
def answer(path, date_column, choices):
    try:
        how = inspect_file(path, choices)
        if "undecided" in how:
            return how
        frame, cut = load(path, how)
        if not len(frame.columns):
            raise Unreadable("has no columns")
        names = [str(name) for name in frame.columns]
        if date_column is not None and date_column not in names:
            return {"unknown": date_column, "names": names}
        return {**how, **profile(frame, date_column, how), "cut": cut}
    except Unreadable as error:
        return {"unreadable": str(error)}
"""

COMPARE = """
def answer(path, how):
    return difference(df, path, how)
"""
_COMPARED = ("format", "encoding", "delimiter", "start", "numbers", "read", "rows", "cut")

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

SIGNS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars", " ": "white space"}
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
        raise StepFailed(f"{parameters.data} cannot be analysed: it {found['unreadable']}.")
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
    found["choices"] = run.facts.pop("choices")
    found["preview"] = run.facts.pop("preview", None)
    run.facts["data"] = found
    data = Data(run.facts)
    found["style"] = await _style(run, data)
    return data


async def _probed(run: TemplateRun, path: str, date_column: str | None) -> dict[str, Any]:
    choices = run.facts.setdefault("choices", {})
    for name in ReadingChoices.model_fields:
        if (given := getattr(run.parameters, name, None)) is not None:
            choices[name] = given

    def request() -> str:
        asked = {"path": path, "date_column": date_column, "choices": choices}
        return kernel_call(*SOURCES, "profile", answer=PROBE, **asked)

    answer: dict[str, Any] = await run.compute(request())
    if "undecided" in answer:
        choices["encoding"] = await _encoding(run, bytes.fromhex(answer["undecided"]))
        answer = await run.compute(request())
    return answer


async def _encoding(run: TemplateRun, words: bytes) -> str:
    """The encoding of these words, the user's choice if it is not certain."""
    found = await asyncio.to_thread(candidates, words)
    if certain(found):
        run.facts["preview"] = found[0].preview
        return found[0].encoding
    question = (
        f"The encoding of {run.parameters.data} is not certain. Choose the one in which its words "
        "are right, or give it as the parameter encoding."
    )
    chosen = await run.ask(question, [each.label for each in found])
    encoding = chosen.split(":")[0].strip()
    try:
        text = words.decode(encoding)
    except (LookupError, UnicodeError) as error:
        raise StepFailed(
            f"{run.parameters.data} cannot be read as {encoding}: {error}. Run the workflow again, "
            "and choose another encoding."
        ) from error
    run.facts["preview"] = preview(text)
    return encoding


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
        arguments = [_argument(name, value) for name, value in facts["read"].items()]
        lines = [call("df = pd.read_csv(", [path, *arguments])]
    lines += [
        _conversion(each["name"], each["convert"]) for each in facts["columns"] if each["convert"]
    ]
    return "\n".join(lines)


def _argument(name: str | None, value: Any) -> str:
    """An argument of a call, a long dictionary with an entry a line."""
    start = f"{name}=" if name else ""
    line = f"{start}{literal(value)}"
    if not isinstance(value, dict) or len(line) + len("    ,") <= WIDTH:
        return line
    entries = (f"        {literal(key)}: {literal(each)},\n" for key, each in value.items())
    return f"{start}{{\n{''.join(entries)}    }}"


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
    if to == "number":
        return call(f"{column} = pd.to_numeric(", [_number_text(column, convert)])
    if to == "spelling":
        return call(f"{column} = {column}.replace(", [_argument(None, convert["same"])])
    rest = {
        "datetime": f"pd.to_datetime({column})",
        "naive": f'{column}.dt.tz_convert("UTC").dt.tz_localize(None)',
        "finite": f'{column}.replace([float("inf"), -float("inf")], float("nan"))',
        "bool": f"{column}.astype(bool)",
        "float": f"{column}.astype(float)",
        "object": f'{column}.astype(object).where({column}.notna(), float("nan"))',
    }
    return f"{column} = {rest[to]}"


def _number_text(column: str, form: dict[str, Any]) -> str:
    """The column's texts as Python writes numbers, as ``as_numbers`` makes them in the kernel."""
    text = column
    if form["accounting"]:
        text += r""".str.strip().str.replace(r"^\((.*)\)$", r"-\1", regex=True)"""
    if form["signs"]:
        marks = f"[{form['thousands']}{form['signs']}\\s]"
        text += f'.str.replace(r"{marks}", "", regex=True)'
    elif form["thousands"]:
        text += f'.str.replace({literal(form["thousands"])}, "")'
    if form["decimal"] != ".":
        text += f'.str.replace({literal(form["decimal"])}, ".")'
    return text


async def load_frame(run: TemplateRun, data: Data) -> None:
    """Load the file by a cell, and compare what the notebook then has with the file.

    Raises ``StepFailed`` where they differ."""
    cell = await run.code(loading_cell(data))
    facts = data.facts
    how = {name: facts[name] for name in _COMPARED if name in facts}
    how["columns"] = [{key: each[key] for key in ("name", "convert")} for each in facts["columns"]]
    modules = (*SOURCES, "profile", "loaded")
    asked = {"path": facts["path"], "how": how}
    differs = await run.compute(kernel_call(*modules, answer=COMPARE, names=["df"], **asked))
    if differs:
        raise StepFailed(
            f"The loaded table is not what {run.parameters.data} says: it {differs}. Give the "
            "file's encoding, delimiter or decimal, and run the workflow again.",
            cell,
        )


CONVERSIONS = {
    "date": "read as dates",
    "epoch": "read as dates",
    "iso": "read as dates (UTC)",
    "datetime": "read as dates",
    "naive": "read as dates (UTC)",
    "number": "read as numbers",
    "finite": "freed of infinite values",
    "bool": "read as true or false",
    "float": "read as numbers",
    "object": "read as plain text",
}


def reading_text(data: Data) -> str:
    """How the file was read, as far as it was inferred; empty for a Parquet file."""
    facts = data.facts
    if facts["format"] != "csv":
        return ""
    choices = facts["choices"]
    how = [f"values separated by {SIGNS.get(facts['delimiter'], code(facts['delimiter']))}"]
    encoding = f"encoding {name_of(facts['encoding'])}"
    if facts.get("preview"):
        encoding += f" ({code(facts['preview'])})"
    how += [encoding, "column names in the first line" if facts["header"] else "no column names"]
    sentences = [f"How the file was read: {listed(how)}."]
    for name, form in facts["numbers"].items():
        written = {**form, "sample": NumberFormat(**form).example}
        sentences.append(f"Numbers of {code(name)} are written as {code(written['sample'])}.")
        if form["ambiguous"]:
            sentences.append("They can be read in two ways; the parameter decimal decides.")
    if facts["codes"]:
        verb = "keeps its" if len(facts["codes"]) == 1 else "keep their"
        sentences.append(f"{codes(facts['codes'])} {verb} leading zeros, as text.")
    for name, (misfits, example) in facts["nearly"].items():
        sentences.append(
            f"{code(name)} is text: {count(misfits, 'value')} of it, such as {code(example)}, "
            f"{'is' if misfits == 1 else 'are'} not a number."
        )
    for key, what in (
        ("missing", "means a missing value in"),
        ("kept", "is a value, not a gap, in"),
    ):
        for marker, names in _by_marker(facts[key]).items():
            sentences.append(f"{code(marker)} {what} {codes(names)}.")
    sentences += facts["damaged"]
    dropped = facts["dropped"]
    if dropped:
        lines = listed([f"{line:,}" for line in dropped])
        sentences.append(
            f"Left out, as they have another number of values: "
            f"{'line' if len(dropped) == 1 else 'lines'} {lines}."
        )
    if not choices and not facts.get("preview"):
        return " ".join(sentences)
    given = [f"{name} {code(value)}" for name, value in choices.items()]
    return " ".join([*sentences, f"Given or chosen: {listed(given)}."])


def _by_marker(found: dict[str, list[str]]) -> dict[str, list[str]]:
    markers = dict.fromkeys(marker for each in found.values() for marker in each)
    return {marker: [name for name in found if marker in found[name]] for marker in markers}


def loading_text(data: Data, name: str) -> str:
    """Remarks on how columns were read."""
    facts = data.facts
    sentences = [f"The data are in {codes([name])}."]
    for conversion in dict.fromkeys(CONVERSIONS.values()):
        names = [
            each["name"]
            for each in facts["columns"]
            if each["convert"] and CONVERSIONS.get(each["convert"]["to"]) == conversion
        ]
        if names:
            sentences.append(f"{codes(names)} {'is' if len(names) == 1 else 'are'} {conversion}.")
    for each in facts["columns"]:
        if each["convert"] and each["convert"]["to"] == "spelling":
            sentences += _spellings(each["name"], each["convert"]["same"])
    return " ".join(sentences)


def _spellings(column: str, same: dict[str, str]) -> list[str]:
    by_chosen: dict[str, list[str]] = {}
    for other, chosen in same.items():
        by_chosen.setdefault(chosen, []).append(code(literal(other)))
    parts = [f"{listed(others)} as {code(chosen)}" for chosen, others in by_chosen.items()]
    return [f"In {code(column)}, other spellings are read as one value: {listed(parts)}."]
