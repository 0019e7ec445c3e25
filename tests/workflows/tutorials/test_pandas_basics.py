"""Every lesson on a real kernel: right answers of several kinds pass, mistakes are named."""

# ruff: noqa: E501 - a table of answers, a line each

from __future__ import annotations

from pathlib import Path

import pytest

from .classroom import Classroom, Try, classroom, untouched

LOAD = 'import pandas as pd\n\npenguins = pd.read_csv("penguins.csv")\n'
ISLANDS = LOAD + 'islands = pd.read_csv("islands.csv")\n'


def loading(read: str, rows: str = "len(penguins)", columns: str = "penguins.shape[1]") -> str:
    return f"import pandas as pd\n\npenguins = {read}\nn_rows = {rows}\nn_columns = {columns}\n"


def exploring(
    missing: str = "penguins.isna().sum()",
    mean: str = 'penguins["body_mass_g"].mean()',
    species: str = 'penguins["species"].value_counts()',
) -> str:
    return f"{LOAD}\nmissing = {missing}\nmean_mass = {mean}\nspecies = {species}\n"


def selecting(
    masses: str = 'penguins[["species", "body_mass_g"]]',
    heavy: str = 'penguins[penguins["body_mass_g"] > 4500]',
    biscoe: str = 'heavy[heavy["island"] == "Biscoe"]',
) -> str:
    return f"{LOAD}\nmasses = {masses}\nheavy = {heavy}\nheavy_biscoe = {biscoe}\n"


def grouping(
    mean: str = 'penguins.groupby("species")["body_mass_g"].mean()',
    summary: str = (
        'penguins.groupby("island").agg(penguins=("species", "size"), '
        'heaviest=("body_mass_g", "max"))'
    ),
) -> str:
    return f"{LOAD}\nmean_mass = {mean}\nsummary = {summary}\n"


def joining(
    located: str = 'penguins.merge(islands, on="island", how="left")',
    unknown: str = 'located["latitude"].isna().sum()',
) -> str:
    return f"{ISLANDS}\nlocated = {located}\nunknown = {unknown}\n"


READ = 'pd.read_csv("penguins.csv")'
SOLUTIONS = [
    Try(1, loading(READ)),
    Try(2, exploring()),
    Try(3, selecting()),
    Try(4, grouping()),
    Try(5, joining()),
]
OTHER_WAYS = [
    Try(1, loading('pd.read_table("penguins.csv", sep=",")', "penguins.shape[0]", "len(penguins.columns)")),
    Try(1, loading(READ, "penguins.index.size", "penguins.columns.size") + "penguins.head()"),
    Try(2, exploring("penguins.isnull().sum().to_dict()", "round(penguins.body_mass_g.mean())")),
    Try(2, exploring("len(penguins) - penguins.count()", species='penguins.groupby("species").size()')),
    Try(2, exploring(species="penguins.species.value_counts().reset_index()")),
    Try(3, selecting("penguins.loc[:, ['body_mass_g', 'species']]", 'penguins.query("body_mass_g > 4500")')),
    Try(3, selecting(heavy="penguins.loc[penguins.body_mass_g.gt(4500)].sort_values('body_mass_g')")),
    Try(3, selecting(biscoe='penguins.query("body_mass_g > 4500 and island == \'Biscoe\'").reset_index(drop=True)')),
    Try(4, grouping("penguins.groupby('species').body_mass_g.mean().sort_values().round(1)")),
    Try(4, grouping("penguins.groupby('species', as_index=False)['body_mass_g'].mean()")),
    Try(4, grouping("penguins.pivot_table(values='body_mass_g', index='species', aggfunc='mean')")),
    Try(4, grouping("{s: penguins.body_mass_g[penguins.species == s].mean() for s in penguins.species.unique()}")),
    Try(4, grouping(summary="pd.DataFrame({'penguins': penguins.island.value_counts(), 'heaviest': penguins.groupby('island').body_mass_g.max()}).reset_index()")),
    Try(5, joining('islands.merge(penguins, on="island", how="right")', "int(located.longitude.isnull().sum())")),
    Try(5, joining('penguins.join(islands.set_index("island"), on="island")', "len(located) - located.latitude.count()")),
]  # fmt: skip
MISTAKES = [
    Try(1, loading('"penguins.csv"', "1", "1"), "only the file's name"),
    Try(1, loading('pd.read_csv("pengiuns.csv")'), 'Did you mean "penguins.csv"'),
    Try(1, loading('pd.read_csv("penguins.csv", header=None)'), "one row too many"),
    Try(1, loading('pd.read_csv("penguins.csv", index_col=0)'), "`species`: it was made the index"),
    Try(1, loading(READ, "penguins.shape[1]", "penguins.shape[0]"), "exchanged"),
    Try(1, loading(READ, "344"), "typed in by hand"),
    Try(1, loading(READ, "penguins.shape"), "the pair (rows, columns)"),
    Try(1, loading(READ, "penguins.size"), "counts all values"),
    Try(1, loading(READ).replace("n_rows", "n_row"), "Is it what you called `n_row`"),
    Try(1, loading(READ).replace("n_rows", "N_Rows"), "`N_Rows`, but the task asks for `n_rows`"),
    Try(1, "import pandas as pd\npd.read_csv('penguins.csv')", "write `penguins = ` in front"),
    Try(1, loading('pd.read_csv("penguins.csv"'), "bracket"),
    Try(1, loading("read_csv('penguins.csv')"), "There is no `read_csv`"),
    Try(2, exploring("penguins.isna()"), "Add .sum()"),
    Try(2, exploring("penguins.isna().sum().sum()"), "one for each column"),
    Try(2, exploring("penguins.count()"), "values that are there"),
    Try(2, exploring(mean="penguins.body_mass_g.median()"), "is the median"),
    Try(2, exploring(mean="penguins.body_mass_g.mean"), "Add () after it"),
    Try(2, exploring(mean="penguins.body_mass_g.sum() / len(penguins)"), "count as 0 in it"),
    Try(2, exploring(mean="penguins['body_mass'].mean()"), 'Did you mean "body_mass_g"'),
    Try(2, exploring(species="penguins.species.unique()"), ".value_counts() does"),
    Try(2, exploring(species="penguins.species.value_count()"), "`value_counts`"),
    Try(2, exploring(species="print(penguins.species.value_counts())"), "print() does that"),
    Try(3, selecting('penguins["species", "body_mass_g"]'), "in a list"),
    Try(3, selecting('penguins["body_mass_g"]'), "two pairs of brackets"),
    Try(3, selecting(heavy='penguins[penguins["body_mass_g"] >= 4500]'), "has 118 rows: those of exactly 4500 g"),
    Try(3, selecting(heavy='penguins["body_mass_g"] > 4500'), "`heavy` is a condition"),
    Try(3, selecting(heavy='penguins["body_mass_g"] > 4500', biscoe="heavy"), "the condition itself"),
    Try(3, selecting(heavy='penguins[penguins["body_mass_g"] < 4500]'), "turn < into >"),
    Try(3, selecting(biscoe='penguins[(penguins.body_mass_g > 4500) | (penguins.island == "Biscoe")]'), "Both must be: &"),
    Try(3, selecting(biscoe='penguins[penguins.body_mass_g > 4500 and penguins.island == "Biscoe"]'), "joined by & (and)"),
    Try(3, selecting(biscoe='penguins[penguins.body_mass_g > 4500 & penguins.island == "Biscoe"]'), "bind tighter"),
    Try(3, selecting(biscoe='penguins[penguins.island == "Biscoe"]'), "the light ones too"),
    Try(3, selecting(biscoe='heavy[heavy.island = "Biscoe"]'), "write == and not ="),
    Try(4, grouping('penguins["body_mass_g"].mean()'), "Group first"),
    Try(4, grouping('penguins.groupby("species")["body_mass_g"]'), "only the groups"),
    Try(4, grouping('penguins.groupby("species")["body_mass_g"].median()'), "medians"),
    Try(4, grouping('penguins.groupby("island")["body_mass_g"].mean()'), "by island"),
    Try(4, grouping('penguins.groupby("species").mean()'), "Texts have no mean"),
    Try(4, grouping(summary='penguins.groupby("island").agg(penguins=("body_mass_g", "count"), heaviest=("body_mass_g", "max"))'), "without a mass were left out"),
    Try(4, grouping(summary='penguins.groupby("island")["body_mass_g"].agg(["size", "max"])'), "the columns `penguins` and `heaviest`"),
    Try(4, grouping(summary='penguins.groupby("island").agg(penguins=("species", "size"), heaviest=("body_mass_g", "min"))'), "is the lightest"),
    Try(5, joining('penguins.merge(islands, on="island")'), "has 220 rows: penguins whose island"),
    Try(5, joining('penguins.merge(islands, on="island", how="outer")'), "has 345 rows: an island without"),
    Try(5, joining('penguins.merge(islands, on="island", how="right")'), 'how="right" keeps'),
    Try(5, joining("pd.concat([penguins, islands])"), "concat stacks"),
    Try(5, joining('penguins.merge(islands, how="cross")', "0"), "Say on="),
    Try(5, joining(unknown='located["latitude"].notna().sum()'), "whose latitude is known"),
    Try(5, joining(unknown="located.latitude.isna()"), "should be a number"),
]  # fmt: skip


@pytest.mark.timeout(240)
async def test_right_answers_pass_and_mistakes_are_named(tmp_path: Path) -> None:
    async with classroom(tmp_path, "pandas-basics") as room:
        await starter_is_explained(room)
        assert await room.try_all([*SOLUTIONS, *OTHER_WAYS, *MISTAKES]) == []
        assert await room.changed_by_checks(SOLUTIONS) == []


async def starter_is_explained(room: Classroom) -> None:
    verdicts = await untouched(room)
    names = {1: "penguins", 2: "missing", 3: "masses", 4: "mean_mass", 5: "located"}
    for number, name in names.items():
        assert not verdicts[number].passed
        expected = f"The cell still holds the starter code. `{name}` is still `...`."
        assert expected in verdicts[number].feedback
