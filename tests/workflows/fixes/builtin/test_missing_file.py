"""FileNotFoundError, on a real kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from .support import Bench, bench, titles


def put(b: Bench, *paths: str) -> None:
    for path in paths:
        file = b.world.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("a,b\n1,2\n")


async def test_a_near_file_name_replaces_the_literal_in_place(tmp_path: Path) -> None:
    source = "import pandas as pd\n# carz.csv\ncars = pd.read_csv('data/carz.csv')  # read\n"
    async with bench(tmp_path, [source]) as b:
        put(b, "data/cars.csv", "data/other.csv")
        (fix,) = await b.fails("a", "FileNotFoundError")
        assert fix.title == "Read data/cars.csv instead of data/carz.csv"
        assert fix.safe
        await b.apply(fix)
        fixed = source.replace("'data/carz.csv'", "'data/cars.csv'")
        assert (await b.state())["a"] == (fixed, "ok")


async def test_a_file_in_another_folder_is_named_as_the_notebook_would(tmp_path: Path) -> None:
    async with bench(tmp_path, ['text = open("cars.csv").read()'], path="nb/sub/a.ipynb") as b:
        put(b, "data/cars.csv")
        (fix,) = await b.fails("a", "FileNotFoundError")
        assert fix.safe
        await b.apply(fix)
        assert (await b.state())["a"] == ('text = open("../../data/cars.csv").read()', "ok")


@pytest.mark.parametrize(
    ("source", "fixed"),
    [
        (
            "import pandas as pd\nx = pd.read_csv('carz.csv').rename(columns=str.upper).copy()",
            "import pandas as pd\nx = pd.read_csv('cars.csv').rename(columns=str.upper).copy()",
        ),
        (
            "from pathlib import Path\nx = Path('carz.csv').read_text()",
            "from pathlib import Path\nx = Path('cars.csv').read_text()",
        ),
        ("import io\nx = io.open('carz.csv')", "import io\nx = io.open('cars.csv')"),
        ("x = open(file='carz.csv', mode='rb')", "x = open(file='cars.csv', mode='rb')"),
    ],
)
async def test_other_ways_to_read(tmp_path: Path, source: str, fixed: str) -> None:
    async with bench(tmp_path, [source]) as b:
        put(b, "cars.csv")
        (fix,) = await b.fails("a", "FileNotFoundError")
        assert fix.safe
        await b.apply(fix)
        assert (await b.state())["a"] == (fixed, "ok")


async def test_two_files_of_that_name_are_both_offered(tmp_path: Path) -> None:
    async with bench(tmp_path, ["open('cars.csv')"]) as b:
        put(b, "x/cars.csv", "y/cars.csv")
        fixes = await b.fails("a", "FileNotFoundError")
        assert titles(fixes) == [
            "Read x/cars.csv instead of cars.csv",
            "Read y/cars.csv instead of cars.csv",
        ]
        assert not any(fix.safe for fix in fixes)
        await b.apply(fixes[1])
        assert (await b.state())["a"] == ("open('y/cars.csv')", "ok")


async def test_a_name_in_a_variable_of_another_cell_is_offered_there(tmp_path: Path) -> None:
    async with bench(tmp_path, ["path = 'carz.csv'", "text = open(path).read()"]) as b:
        put(b, "cars.csv")
        await b.run("a")
        (fix,) = await b.fails("b", "FileNotFoundError")
        assert not fix.safe
        assert "cell 1" in fix.explanation
        await b.apply(fix)
        assert await b.sources() == ["path = 'cars.csv'", "text = open(path).read()"]
        assert (await b.state())["b"][1] == "ok"


@pytest.mark.parametrize(
    "source",
    [
        # The file was to be made or removed: a near one must not be overwritten or lost.
        "open('car.csv/x', 'w')",
        "import os\nos.remove('carz.csv')",
        "from pathlib import Path\nPath('carz.csv').unlink()",
        "from pathlib import Path\np = Path('carz.csv')\np.unlink()",
        "import os\nname = 'carz.csv'\nos.remove(name)",
        "import shutil\nshutil.move('carz.csv', 'b.csv')",
        "open('carz.csv', mode='r+')",
        # The name is put together: what to change is not said.
        "name = 'carz'\nopen(f'{name}.csv')",
        "open('car' + 'z.csv')",
        # Nothing is near.
        "open('population_of_france.csv')",
        "open('https://example.invalid/carz.csv')",
    ],
)
async def test_what_must_not_be_replaced_is_left_alone(tmp_path: Path, source: str) -> None:
    async with bench(tmp_path, [source]) as b:
        put(b, "cars.csv")
        assert await b.fails("a", "FileNotFoundError") == []


async def test_another_number_is_another_file(tmp_path: Path) -> None:
    async with bench(tmp_path, ["open('sales_2023.csv')"]) as b:
        put(b, "sales_2022.csv")
        assert [fix.safe for fix in await b.fails("a", "FileNotFoundError")] == [False]
