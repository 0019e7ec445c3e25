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


CARS = """import pandas as pd
cars = pd.DataFrame({'Name': ['a'], 'Horsepower': [1.0], 'Weight_in_lbs': [2], 'Origin': ['x'],
    "Driver's seat": [1], 'Say "so"': [3]})
other = pd.DataFrame({'Horsepwer': [1], 'Name': ['a'], 'Origin': ['y'], 'Year': [1]})
groups = cars.groupby('Origin')"""

# What pandas says of each is worded in another way: see ``_is_named``.
IN_LISTS = [
    ("cars.dropna(subset=['Horsepwer'])", "cars.dropna(subset=['Horsepower'])"),
    ("cars[['Horsepwer']]", "cars[['Horsepower']]"),
    ("cars[['Name', 'Horsepwer']]", "cars[['Name', 'Horsepower']]"),
    ("cars.loc[:, ['Name', 'Horsepwer']]", "cars.loc[:, ['Name', 'Horsepower']]"),
    ("cars.groupby(['Orgin', 'Name']).size()", "cars.groupby(['Origin', 'Name']).size()"),
    (
        "cars.groupby('Origin')[['Horsepwer']].mean()",
        "cars.groupby('Origin')[['Horsepower']].mean()",
    ),
    ("groups['Horsepwer'].mean()", "groups['Horsepower'].mean()"),
    ("cars.drop(columns=['Horsepwer'])", "cars.drop(columns=['Horsepower'])"),
    ("cars.drop(['Horsepwer'], axis=1)", "cars.drop(['Horsepower'], axis=1)"),
    ("cars.drop(labels='Nmae', axis='columns')", "cars.drop(labels='Name', axis='columns')"),
    ("cars.merge(other, on=['Nmae'])", "cars.merge(other, on=['Name'])"),
    ("pd.merge(cars, other, on=['Nmae'])", "pd.merge(cars, other, on=['Name'])"),
    (
        "cars.merge(other, left_on=['Nmae'], right_on=['Name'])",
        "cars.merge(other, left_on=['Name'], right_on=['Name'])",
    ),
    (
        "pd.merge(cars, other, left_on='Weight_in_lbs', right_on='Yaer')",
        "pd.merge(cars, other, left_on='Weight_in_lbs', right_on='Year')",
    ),
    ("cars.set_index(['Nmae'])", "cars.set_index(['Name'])"),
    ("cars.sort_values(['Nmae'])", "cars.sort_values(['Name'])"),
    ("cars.drop_duplicates(['Nmae'])", "cars.drop_duplicates(['Name'])"),
    ("pd.melt(cars, id_vars=['Nmae'])", "pd.melt(cars, id_vars=['Name'])"),
    ("pd.get_dummies(cars, columns=['Orgin'])", "pd.get_dummies(cars, columns=['Origin'])"),
    ("groups.agg({'Horsepwer': 'mean'})", "groups.agg({'Horsepower': 'mean'})"),
    ("groups.agg(mean=('Horsepwer', 'mean'))", "groups.agg(mean=('Horsepower', 'mean'))"),
    ("cars.astype({'Horsepwer': int})", "cars.astype({'Horsepower': int})"),
]
SEVERAL = [
    # At once, whether pandas names all of them or only the first.
    ("cars[['Horsepwer', 'Orgin']]", "cars[['Horsepower', 'Origin']]"),
    ("cars[['Name', 'Horsepwer', 'Orgin']]", "cars[['Name', 'Horsepower', 'Origin']]"),
    ("cars.sort_values(['Orgin', 'Nmae'])", "cars.sort_values(['Origin', 'Name'])"),
    ("cars.merge(other, on=['Nmae', 'Orgin'])", "cars.merge(other, on=['Name', 'Origin'])"),
    # Names with quotes, as the cell quotes them.
    ('cars.dropna(subset=["Driver\'s seet"])', 'cars.dropna(subset=["Driver\'s seat"])'),
    ("cars[['Name', \"Drivers seat\"]]", "cars[['Name', \"Driver's seat\"]]"),
    ("cars[['Name', 'Driver\\'s seet']]", "cars[['Name', \"Driver's seat\"]]"),
    (
        'cars[["Driver\'s seet", \'Say "sso"\']]',
        'cars[["Driver\'s seat", \'Say "so"\']]',
    ),
    # Right in another table, which keeps it.
    (
        "other[['Horsepwer']], cars[['Horsepwer']]",
        "other[['Horsepwer']], cars[['Horsepower']]",
    ),
    # What is made by the statement is not missing.
    ("cars['Orgin2'] = cars[['Orgin']]", "cars['Orgin2'] = cars[['Origin']]"),
]


@pytest.mark.parametrize("cases", [IN_LISTS, SEVERAL])
async def test_near_columns_in_lists_are_used(tmp_path: Path, cases: list[tuple[str, str]]) -> None:
    ids = [chr(ord("b") + place) for place in range(len(cases))]
    async with bench(tmp_path, [CARS, *(source for source, _ in cases)]) as b:
        await b.run("a")
        for cell_id, (source, _) in zip(ids, cases, strict=True):
            fixes = await b.fails(cell_id, "KeyError")
            assert titles(fixes)[:1], source
            assert fixes[0].safe, source
            await b.apply(fixes[0])
        state = await b.state()
        assert [state[cell_id] for cell_id in ids] == [(fixed, "ok") for _, fixed in cases]


async def test_one_fix_names_all_columns_and_is_offered_only_where_it_would_help(
    tmp_path: Path,
) -> None:
    sources = [
        CARS,
        "cars[['Horsepwer', 'Orgin']]",
        "cars[['Name', 'Acceleration']]",  # near nothing
        "cars[['Horsepwer', 'Acceleration']]",
        "cars.merge(other, on=['Horsepower'])",  # right in one, near nothing in both
        "cars.merge(other, on=['Horsepwer'])",
        "cars[['Horsepower', 'Horsepwer']]",  # the one that is near is there already
        "names = ['Horsepwer']\ncars[names]",  # not where it is looked up
        "{'Horsepower': 1}[['Horsepwer'][0]]",  # a dict
        "cars.drop(['Horsepwer'])",  # rows
        "cars.drop(index=['Horsepwer'])",
    ]
    async with bench(tmp_path, sources) as b:
        await b.run("a")
        found = {cell_id: await b.fails(cell_id, "KeyError") for cell_id in "bcdefghijk"}
    assert titles(found["b"]) == [
        "Use the columns 'Horsepower' and 'Origin' instead of 'Horsepwer' and 'Orgin'"
    ]
    assert [titles(found[cell_id]) for cell_id in "cdefhijk"] == [[]] * 8
    assert titles(found["g"]) == ["Use the column 'Horsepower' instead of 'Horsepwer'"]
    assert not found["g"][0].safe


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
