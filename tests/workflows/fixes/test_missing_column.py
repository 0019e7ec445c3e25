"""KeyError on a DataFrame column, on a real kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from .support import bench, titles

FRAME = """import pandas as pd
df = pd.DataFrame({'Horsepower': [1, 2], 'Miles per Gallon': [3, 4], 'q1': [1, 2], 'q2': [3, 4]})
other = pd.DataFrame({'Horsepowr': [1], 'Horsepower ': [2]})
table = {'Horsepower': 1}"""


@pytest.mark.parametrize(
    ("source", "fixed"),
    [
        ("df['Horsepowr'].mean()", "df['Horsepower'].mean()"),
        ('df["horsepower"]', 'df["Horsepower"]'),
        ("df[['Horsepowr', 'q1']]", "df[['Horsepower', 'q1']]"),
        ("df.loc[0, 'Horsepowr']", "df.loc[0, 'Horsepower']"),
        ("df['Miles_per_Gallon']", "df['Miles per Gallon']"),
        ("df.groupby('Horsepowr').size()", "df.groupby('Horsepower').size()"),
        ("df.sort_values(by='Horsepowr')", "df.sort_values(by='Horsepower')"),
        ("df.drop(columns=['Horsepowr'])", "df.drop(columns=['Horsepower'])"),
        ("df.head()['Horsepowr']", "df.head()['Horsepower']"),
        # Only what names a column of this table.
        (
            "# Horsepowr\nprint('Horsepowr', df['Horsepowr'], other['Horsepowr'])",
            "# Horsepowr\nprint('Horsepowr', df['Horsepower'], other['Horsepowr'])",
        ),
    ],
)  # fmt: skip
async def test_a_near_column_is_used(tmp_path: Path, source: str, fixed: str) -> None:
    async with bench(tmp_path, [FRAME, source]) as b:
        await b.run("a")
        fixes = await b.fails("b", "KeyError")
        assert fixes
        assert fixes[0].safe, fixes
        await b.apply(fixes[0])
        assert (await b.state())["b"] == (fixed, "ok")


async def test_what_is_no_column_or_not_clear_is_left_alone(tmp_path: Path) -> None:
    sources = [
        FRAME,
        "table['Horsepowr']",  # a dict
        "df.loc['Horsepowr']",  # a row
        "df['Horsepower']['Horsepowr']",  # a row of a column
        "df.set_index('Horsepower').loc['Horsepowr']",
        "key = 'Horsepowr'\ndf[key]",  # not a literal here
        "df['Acceleration']",  # near nothing
        "import os\nos.environ['HORSEPOWR']",
    ]
    async with bench(tmp_path, sources) as b:
        await b.run("a")
        for cell_id in "bcdefgh":
            assert titles(await b.fails(cell_id, "KeyError")) == [], sources[ord(cell_id) - 97]


async def test_rivals_and_numbers_are_offered_not_applied(tmp_path: Path) -> None:
    async with bench(tmp_path, [FRAME, "df['q3']"]) as b:
        await b.run("a")
        fixes = await b.fails("b", "KeyError")
        assert titles(fixes) == [
            "Use the column 'q1' instead of 'q3'",
            "Use the column 'q2' instead of 'q3'",
        ]
        assert not any(fix.safe for fix in fixes)


async def test_a_cell_that_wrote_before_it_failed_is_not_run_again_unasked(tmp_path: Path) -> None:
    async with bench(tmp_path, [FRAME, "df.to_csv('x.csv')\ndf['Horsepowr']"]) as b:
        await b.run("a")
        (fix,) = await b.fails("b", "KeyError")
        assert not fix.safe
