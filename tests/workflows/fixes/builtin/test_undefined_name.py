"""NameError, on a real kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from .support import bench, titles


async def test_the_cell_that_defines_the_name_is_run_first(tmp_path: Path) -> None:
    async with bench(tmp_path, ["x = 20", "#md text", "y = x + 1", "print(y * 2)"]) as b:
        (fix,) = await b.fails("d", "NameError")
        assert fix.title == fix.label == "Run cells 1 and 3 first"
        assert fix.done == "ran cells 1 and 3 first"
        assert fix.safe
        await b.apply(fix)
        assert (await b.state())["d"] == ("print(y * 2)", "ok")


async def test_a_cell_below_that_defines_the_name_is_run_first(tmp_path: Path) -> None:
    async with bench(tmp_path, ["print(rate)", "rate = 3"]) as b:
        (fix,) = await b.fails("a", "NameError")
        assert "is below cell 1" in fix.explanation
        assert fix.safe
        await b.apply(fix)
        assert (await b.state())["a"][1] == "ok"


async def test_everything_that_the_cell_misses_is_run_at_once(tmp_path: Path) -> None:
    async with bench(tmp_path, ["a = 1", "b = 2", "c = a + b"]) as b:
        (fix,) = await b.fails("c", "NameError")
        await b.apply(fix)
        assert (await b.state())["c"][1] == "ok"


@pytest.mark.parametrize(
    "definer",
    [
        "open('out.txt', 'w').write('x')\nrate = 3",
        "!touch out.txt\nrate = 3",
        "import os\nos.makedirs('out.txt')\nrate = 3",
        "from pathlib import Path\nPath('out.txt').write_text('')\nrate = 3",
        "rate = input()",
    ],
)
async def test_a_cell_with_effects_outside_the_kernel_is_offered_not_run(
    tmp_path: Path, definer: str
) -> None:
    async with bench(tmp_path, [definer, "print(rate)"]) as b:
        (fix,) = await b.fails("b", "NameError")
        assert fix.title == "Run cell 1 first"
        assert not fix.safe
        assert not (b.world.root / "out.txt").exists()


async def test_what_has_run_and_counts_up_is_not_run_again_without_a_question(
    tmp_path: Path,
) -> None:
    sources = ["n = 0", "n += 1\nextra = n", "del extra", "print(extra)"]
    async with bench(tmp_path, sources) as b:
        await b.run("a", "b", "c")
        (fix,) = await b.fails("d", "NameError")
        assert fix.title == "Run cell 2 first"
        assert not fix.safe


async def test_a_failed_cell_that_changed_something_before_is_not_run_again_unasked(
    tmp_path: Path,
) -> None:
    async with bench(tmp_path, ["items = []", "rate = 3", "items.append(1)\nprint(rate)"]) as b:
        await b.run("a")
        (fix,) = await b.fails("c", "NameError")
        assert not fix.safe


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("json.dumps([1])", "import json\njson.dumps([1])"),
        ("%%time\nx = math.pi", "%%time\nimport math\nx = math.pi"),
        ("Path('a')", "from pathlib import Path\nPath('a')"),
        ("datetime.now()", "from datetime import datetime\ndatetime.now()"),
        ("datetime.datetime.now()", "import datetime\ndatetime.datetime.now()"),
    ],
)
async def test_a_well_known_import_is_added(tmp_path: Path, source: str, expected: str) -> None:
    async with bench(tmp_path, [source]) as b:
        (fix,) = await b.fails("a", "NameError")
        assert fix.safe
        await b.apply(fix)
        assert (await b.state())["a"] == (expected, "ok")


async def test_an_import_goes_to_the_cell_of_imports(tmp_path: Path) -> None:
    async with bench(tmp_path, ["#md", "import json\nimport os", "np.ones(2)"]) as b:
        await b.run("b")
        (fix,) = await b.fails("c", "NameError")
        assert fix.title == "Add “import numpy as np” to cell 2"
        await b.apply(fix)
        assert await b.sources() == [
            "#md",
            "import json\nimport os\nimport numpy as np",
            "np.ones(2)",
        ]
        assert (await b.state())["c"][1] == "ok"


async def test_a_misspelt_name_is_replaced_where_it_is_a_variable(tmp_path: Path) -> None:
    source = "# totl of it\nprint(f'totl {totl}', 'totl', dict(totl=totl))"
    async with bench(tmp_path, ["total = 3", source]) as b:
        await b.run("a")
        (fix,) = await b.fails("b", "NameError")
        assert fix.title == "Replace totl with total"
        assert fix.label == "Replace totl with total and run the cell again"
        assert fix.done == "replaced `totl` with `total`"
        assert [call.label for call in fix.calls] == ["Change the cell and run it"]
        assert fix.safe
        await b.apply(fix)
        fixed = "# totl of it\nprint(f'totl {total}', 'totl', dict(totl=total))"
        assert (await b.state())["b"] == (fixed, "ok")


@pytest.mark.parametrize(
    ("source", "fixed"),
    [("pritn(1)", "print(1)"), ("x = true", "x = True"), ("x = [null]", "x = [None]"),
     ("for i in rnage(2):\n    pass", "for i in range(2):\n    pass")],
)  # fmt: skip
async def test_misspelt_builtins(tmp_path: Path, source: str, fixed: str) -> None:
    async with bench(tmp_path, [source]) as b:
        fix = (await b.fails("a", "NameError"))[0]
        assert fix.safe
        await b.apply(fix)
        assert (await b.state())["a"] == (fixed, "ok")


@pytest.mark.parametrize(
    ("there", "source"),
    [
        ("df1 = 1\ndf3 = 3", "df2"),  # a number is no misspelling
        ("sales_a = 1\nsales_b = 2", "sales_c"),  # two as near as each other
        ("value = 1\nvalues = 2", "valuee"),
    ],
)
async def test_what_is_not_clear_is_offered_not_applied(
    tmp_path: Path, there: str, source: str
) -> None:
    async with bench(tmp_path, [there, source]) as b:
        await b.run("a")
        fixes = await b.fails("b", "NameError")
        assert not any(fix.safe for fix in fixes)


@pytest.mark.parametrize("source", ["qwertz_uiop", "x1", "collections_of_mine"])
async def test_a_name_that_is_near_nothing_is_left_alone(tmp_path: Path, source: str) -> None:
    async with bench(tmp_path, [source]) as b:
        assert await b.fails("a", "NameError") == []


async def test_an_error_in_a_file_of_ones_own_is_not_the_notebooks(tmp_path: Path) -> None:
    async with bench(tmp_path, ["rate = 3", "import mine\nmine.go()"]) as b:
        (b.world.root / "mine.py").write_text("def go():\n    return rate\n")
        assert await b.fails("b", "NameError") == []


async def test_a_local_variable_without_a_value_is_another_error(tmp_path: Path) -> None:
    source = "def f():\n    print(x)\n    x = 1\nf()"
    async with bench(tmp_path, ["x = 1", source]) as b:
        assert await b.fails("b", "UnboundLocalError") == []


async def test_cells_that_wait_for_each_other_are_not_run(tmp_path: Path) -> None:
    async with bench(tmp_path, ["first = second", "second = first"]) as b:
        assert titles(await b.fails("a", "NameError")) == []
