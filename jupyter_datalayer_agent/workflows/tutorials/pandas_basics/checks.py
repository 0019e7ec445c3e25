"""The checks of the pandas lessons. They run in the learner's kernel."""

from __future__ import annotations

import ast
from typing import Any

from ..in_kernel.looking import CheckFailed, Inspection, close
from ..in_kernel.tables import by_key, check_keys, check_rows, frame, read_data, same_rows


def _penguins() -> Any:
    return read_data("penguins.csv")


def loading(look: Inspection) -> str:
    """Lesson 1."""
    data = _penguins()
    table = frame(look, "penguins")
    if not same_rows(table, data):
        if len(table) == len(data) + 1:
            raise CheckFailed(
                "`penguins` has one row too many: the line with the columns' names was read as a "
                "penguin. Leave header=None out."
            )
        if len(table) == len(data) and len(table.columns) == len(data.columns) - 1:
            raise CheckFailed(
                f"`penguins` lacks the column `{table.index.name or data.columns[0]}`: it was made "
                "the index. Leave index_col out."
            )
        if len(table.columns) == 1:
            raise CheckFailed(
                "`penguins` has one column only: commas separate the values; leave sep out."
            )
        check_rows("penguins", table, data)
    _count(look, "n_rows", len(data), len(data.columns), "rows")
    _count(look, "n_columns", len(data.columns), len(data), "columns")
    return f"Right. The table has {len(data)} rows and {len(data.columns)} columns."


def _count(look: Inspection, name: str, wanted: int, other: int, what: str) -> None:
    if isinstance(look.value(name), tuple):
        raise CheckFailed(
            f"`{name}` is the pair (rows, columns). Take one of them: `.shape[0]` is the rows, "
            "`.shape[1]` the columns."
        )
    found = look.number(name)
    if found == other:
        raise CheckFailed(f"`{name}` is {other}: rows and columns are exchanged.")
    if found == wanted * other:
        raise CheckFailed(f"`{name}` is {found:,}: `.size` counts all values, not the {what}.")
    if what == "rows" and found == wanted + 1:
        raise CheckFailed(f"`{name}` is one too large: the line with the names is not a row.")
    if found != wanted:
        raise CheckFailed(f"`{name}` is {found:,}; the table has another number of {what}.")
    if isinstance(look.assigned(name), ast.Constant):
        raise CheckFailed(
            f"`{name}` is right, but typed in by hand. Let pandas count, so that it stays right "
            "when the file changes: `penguins.shape` or `len(...)`."
        )


def exploring(look: Inspection) -> str:
    """Lesson 2."""
    data = _penguins()
    missing = look.value("missing")
    if type(missing).__name__ == "DataFrame" and missing.shape == data.shape:
        raise CheckFailed(
            "`missing` still has an answer for each value. Add .sum(), which counts the True ones "
            "in each column."
        )
    if type(missing).__name__ == "Series" and len(missing) == len(data):
        raise CheckFailed(
            "`missing` was counted along the rows. Count for each column: plain .sum()."
        )
    if getattr(missing, "ndim", 0) == 0 and not isinstance(missing, (dict, list)):
        raise CheckFailed(
            "`missing` is a single number. Asked for is one for each column: one .sum()."
        )
    check_keys(
        "missing",
        by_key(look, "missing"),
        data.isna().sum(),
        [(lambda: data.notna().sum(), "it counts the values that are there, not those missing.")],
    )
    _mean(look, data["body_mass_g"])
    species = look.value("species")
    if type(species).__name__ in ("ndarray", "ArrowStringArray", "list") or isinstance(
        species, (int, str)
    ):
        raise CheckFailed(
            "`species` does not say how many penguins each species has. .value_counts() does; "
            ".unique() and .nunique() do not."
        )
    counts = data["species"].value_counts()
    check_keys(
        "species",
        by_key(look, "species"),
        counts,
        [
            (
                lambda: data["species"].value_counts(normalize=True),
                "these are shares, not numbers.",
            ),
            (lambda: data["island"].value_counts(), "these are the islands, not the species."),
            (
                lambda: data.groupby("species")["sex"].count(),
                "penguins of which a value is missing were left out. Count the rows: "
                ".value_counts() or .size().",
            ),
        ],
    )
    return f"Right. The most frequent species is {counts.index[0]} with {counts.iloc[0]} penguins."


def _mean(look: Inspection, masses: Any) -> None:
    found = look.number("mean_mass")
    if close(found, masses.mean()):
        return
    if close(found, masses.median()):
        raise CheckFailed(
            "`mean_mass` is the median, the value in the middle. The mean is .mean()."
        )
    if close(found, masses.fillna(0).mean(), 5e-5):
        raise CheckFailed(
            "`mean_mass` is too small: penguins without a mass count as 0 in it. .mean() leaves "
            "them out."
        )
    raise CheckFailed(f"`mean_mass` is {found:.6g}, which is not the mean of `body_mass_g`.")


def selecting(look: Inspection) -> str:
    """Lesson 3."""
    data = _penguins()
    mass, biscoe = data["body_mass_g"], data["island"] == "Biscoe"
    masses = frame(look, "masses")
    check_rows("masses", masses, data[["species", "body_mass_g"]])
    heavy = data[mass > 4500]
    check_rows(
        "heavy",
        frame(look, "heavy"),
        heavy,
        [
            (
                lambda: data[mass >= 4500],
                "those of exactly 4500 g are among them. More than 4500 is > and not >=.",
            ),
            (lambda: data[mass < 4500], "these are the light ones: turn < into >."),
            (lambda: data[mass <= 4500], "these are the light ones: turn <= into >."),
            (
                lambda: data[~(mass <= 4500)],
                "those without a mass are among them. Nothing is known of them: ask for "
                "`body_mass_g` > 4500.",
            ),
            (lambda: data, "these are all penguins; the condition takes none away."),
        ],
    )
    check_rows(
        "heavy_biscoe",
        frame(look, "heavy_biscoe"),
        data[(mass > 4500) & biscoe],
        [
            (
                lambda: data[(mass > 4500) | biscoe],
                "| takes rows where one of both is true. Both must be: &.",
            ),
            (lambda: data[biscoe], "these are all penguins of Biscoe, the light ones too."),
            (lambda: heavy, "these are heavy penguins of all islands."),
            (lambda: data[(mass > 4500) & ~biscoe], "these are those that do not live on Biscoe."),
            (lambda: data[(mass >= 4500) & biscoe], "more than 4500 is > and not >=."),
        ],
    )
    return (
        f"Right. Of {len(heavy)} heavy penguins, {int((biscoe & (mass > 4500)).sum())} live on "
        "Biscoe."
    )


def grouping(look: Inspection) -> str:
    """Lesson 4."""
    data = _penguins()
    by_species = data.groupby("species")["body_mass_g"]
    if isinstance(look.value("mean_mass"), (int, float)):
        raise CheckFailed(
            "`mean_mass` is one number for all penguins. Group first: "
            '`penguins.groupby("species")`.'
        )
    check_keys(
        "mean_mass",
        by_key(look, "mean_mass", _mass_column(look, "mean_mass")),
        by_species.mean(),
        [
            (by_species.median, "these are medians; the mean is .mean()."),
            (by_species.sum, "these are sums; the mean is .mean()."),
            (by_species.max, "these are the largest values; the mean is .mean()."),
            (
                lambda: data.groupby("island")["body_mass_g"].mean(),
                "these are means by island; group by species.",
            ),
        ],
    )
    summary = frame(look, "summary")
    by_island = data.groupby("island")
    if "penguins" not in summary.columns or "heaviest" not in summary.columns:
        raise CheckFailed(
            "`summary` should have the columns `penguins` and `heaviest`; it has "
            f"{', '.join(str(each) for each in summary.columns)}. In .agg, write name=(column, "
            "what)."
        )
    keyed = summary.set_index("island") if "island" in summary.columns else summary
    check_keys(
        "summary",
        dict(keyed["penguins"].items()),
        by_island.size(),
        [
            (
                lambda: by_island["sex"].count(),
                'penguins whose sex is not known were left out. "size" counts all rows.',
            ),
            (
                lambda: by_island["body_mass_g"].count(),
                'penguins without a mass were left out. "count" skips missing values, "size" '
                "counts all rows.",
            ),
            (lambda: data.groupby("species").size(), "group by island, not by species."),
            (lambda: by_island["species"].nunique(), "this is the number of species."),
        ],
    )
    check_keys(
        "summary",
        dict(keyed["heaviest"].items()),
        by_island["body_mass_g"].max(),
        [
            (by_island["body_mass_g"].min, '`heaviest` is the lightest: "max", not "min".'),
            (by_island["body_mass_g"].mean, '`heaviest` is the mean: "max", not "mean".'),
        ],
    )
    heaviest = by_species.mean().idxmax()
    return f"Right. {heaviest} is the heaviest species on average."


def _mass_column(look: Inspection, name: str) -> str | None:
    columns = getattr(look.value(name), "columns", [])
    return "body_mass_g" if "body_mass_g" in columns else None


def joining(look: Inspection) -> str:
    """Lesson 5."""
    data, islands = _penguins(), read_data("islands.csv")
    located = frame(look, "located")
    if "island_x" in located.columns or "island_y" in located.columns:
        raise CheckFailed(
            "`located` pairs rows whatever their islands: there is an `island_x` and an "
            "`island_y`. "
            'Say on="island".'
        )
    if len(located) == len(data) + len(islands):
        raise CheckFailed(
            "`located` has the islands below the penguins: concat stacks tables. To put them side "
            "by side, use merge."
        )
    check_rows(
        "located",
        located,
        data.merge(islands, on="island", how="left"),
        [
            (
                lambda: data.merge(islands, on="island"),
                "penguins whose island is not in `islands` are gone. Keep every penguin: "
                'how="left".',
            ),
            (
                lambda: data.merge(islands, on="island", how="outer"),
                'an island without penguins came in as a row. Keep the penguins only: how="left".',
            ),
            (
                lambda: data.merge(islands, on="island", how="right"),
                'how="right" keeps every island; to keep every penguin, how="left".',
            ),
        ],
    )
    unknown = int((~data["island"].isin(islands["island"])).sum())
    found = look.number("unknown")
    if found == len(data) - unknown:
        raise CheckFailed(f"`unknown` is {found}: these are the penguins whose latitude is known.")
    if found == 2 * unknown:
        raise CheckFailed(
            f"`unknown` is {found}: latitude and longitude were both counted. Take one."
        )
    if found == 1:
        raise CheckFailed(
            "`unknown` is 1, the number of islands. Count the penguins: rows of `located`."
        )
    if found != unknown:
        raise CheckFailed(
            f"`unknown` is {found}. Count the rows of `located` whose latitude is missing: "
            "`.isna().sum()`."
        )
    return f"Right. All {len(data)} penguins are there, {unknown} of them without a place."
