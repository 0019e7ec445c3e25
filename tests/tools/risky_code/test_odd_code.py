"""Code that is broken, huge, deep or oddly written; and what other cells give a name."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_datalayer_agent.tools.risky_code import Place, actions_in, reason_of

ORDINARY = """
import pandas as pd
import matplotlib.pyplot as plt

cars = pd.read_csv("cars.csv")
cars["kpl"] = cars["mpg"] * 0.425
by_year = cars.groupby("year")["kpl"].agg(["mean", "std"])
fig, ax = plt.subplots(figsize=(8, 4))
for origin, group in cars.groupby("origin"):
    ax.plot(group["year"], group["kpl"], label=f"{origin} ({len(group)})")
ax.set_title("Consumption by year")
fig.savefig("consumption.png", dpi=200)
by_year.to_csv("by_year.csv")
"""


def acts(code: str, *cells: str, folder: str | None = None) -> list[str]:
    return [action.description for action in actions_in(code, Place(folder, cells=cells))]


def test_of_code_that_cannot_be_parsed_the_lines_are_reported() -> None:
    assert acts("x = (\nos.remove('a')\n") == ["calls os.remove('a')"]
    assert acts("print 'x'\nsubprocess.call(c)") == ["calls subprocess.call(c)"]
    assert acts("print 'x'\nprint(open('a'))") == []
    assert acts("def f(:\n  df.to_csv('a.csv')") == ["calls df.to_csv('a.csv')"]


def test_commands_in_code_that_cannot_be_parsed_are_reported_once() -> None:
    assert acts("x = (]\n!rm a") == ["removes a"]


@pytest.mark.parametrize(
    "code",
    [
        "x = " + "(" * 10_000 + ")" * 10_000 + "\nos.remove('a')",
        "x = " + "-" * 20_000 + "1\nos.remove('a')",
        "x = " + "1 + " * 20_000 + "1\nos.remove('a')",
        "p" + ".parent" * 5_000 + "\nos.remove('a')",
        "p = q\nq = p\np.unlink(); os.remove('a')",
        "x += x\nos.remove('a'); open(x, 'w')",
    ],
)
def test_no_depth_is_too_deep(code: str) -> None:
    assert any("remove" in each for each in acts(code))


@pytest.mark.parametrize(
    "make",
    [
        lambda: "data = [\n" + "1.25, 2.5, 3.75,\n" * 65_000 + "]\nos.remove('a')",
        lambda: "# " + "x" * 1_000_000 + "\nos.remove('a')",
        lambda: "data = '" + "x " * 500_000 + "'\nos.remove('a')",
        lambda: "os.remove(" * 100_000,
        lambda: "%%bash\n" + "rm a\n" * 200_000,
        lambda: "!" + "rm a; " * 160_000,
        lambda: "a = " * 250_000 + "os.remove('a')",
        lambda: "\n".join(f"x{n} = f({n})" for n in range(60_000)) + "\nos.remove('a')",
    ],
)  # fmt: skip
def test_a_cell_of_a_megabyte_takes_no_second(make: Callable[[], str]) -> None:
    code = make()
    began = time.process_time()
    assert acts(code)
    assert time.process_time() - began < 1.5  # 0.1 to 0.6 s on a machine that does nothing else


def test_an_ordinary_cell_takes_two_milliseconds(tmp_path: Path) -> None:
    place = Place(str(tmp_path))
    cells = [f"{ORDINARY}# {number}" for number in range(50)]
    began = time.thread_time()
    for cell in cells:
        assert list(actions_in(cell, place)) == []
    assert (time.thread_time() - began) / len(cells) < 0.004  # 1 ms where nothing else runs


def test_a_notebook_of_a_thousand_cells_is_looked_into_in_a_second(tmp_path: Path) -> None:
    cells = [f"{ORDINARY}# {number}" for number in range(1000)]
    place = Place(str(tmp_path), cells=cells)
    began = time.thread_time()
    assert reason_of([("A cell", cell) for cell in cells], place) is None
    assert time.thread_time() - began < 4  # 1 s where nothing else runs


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n", "\n\x0c\n"])
def test_any_line_end_will_do(end: str) -> None:
    assert "removes a" in acts(f"x = 1{end}os.remove('a')")


def test_odd_characters_do_no_harm() -> None:
    assert acts("\ufeffx = 1\nos.remove('a')") == ["calls os.remove('a')"]  # as IPython, no Python
    assert acts("x = '\ud800'\nos.remove('a')") == ["calls os.remove('a')"]
    assert acts("x = '\0'\nos.remove('a')") == ["calls os.remove('a')"]
    assert acts("名前 = 'a'\nos.remove(名前)") == ["removes a"]


def test_what_other_cells_import_and_name_counts(tmp_path: Path) -> None:
    (tmp_path / "cars.csv").touch()
    folder = str(tmp_path)
    assert acts("sub.run(c)", "import subprocess as sub") == ["runs a program: c"]
    assert acts("drop('a')", "from os import (\n    remove as drop,\n)") == []  # not a known name
    assert acts("remove('a')", "from os import (\n    path, remove,\n)") == ["removes a"]
    assert acts("df.to_csv(OUT)", "OUT = 'cars.csv'", folder=folder) == ["overwrites cars.csv"]
    assert acts("df.to_csv(OUT)", "OUT = 'new.csv'", folder=folder) == []
    assert acts("df.to_csv(D / 'new.csv')", "D = Path('.')", folder=folder) == []
    assert acts("con.execute('DROP TABLE t')", "con = sqlite3.connect(':memory:')") == []


def test_a_name_of_the_cell_itself_hides_that_of_others() -> None:
    assert acts("def remove(x): pass\nremove('a')", "from os import remove") == []


def test_two_values_of_a_name_count_both(tmp_path: Path) -> None:
    (tmp_path / "cars.csv").touch()
    code = "out = 'new.csv'\nif x:\n    out = 'cars.csv'\ndf.to_csv(out)"
    assert acts(code, folder=str(tmp_path)) == ["overwrites cars.csv"]


def test_a_link_that_leads_nowhere_is_a_file_too(tmp_path: Path) -> None:
    (tmp_path / "new.csv").symlink_to("gone.csv")
    assert acts("df.to_csv('new.csv')", folder=str(tmp_path)) == ["overwrites new.csv"]


def test_where_the_folder_is_not_known_a_file_may_be_there() -> None:
    assert acts("df.to_csv('new.csv')") == ["may overwrite new.csv"]
