"""Cells that plot single columns. Each function returns the source of one cell, with a title and
named axes."""

from __future__ import annotations

from collections.abc import Sequence

from .data import Column, Data
from .formatting import call, literal, names_list, names_map, source

LEVELS = 10
LONG = 28


def _grid(amount: int, across: int, height: float) -> dict[str, str]:
    """The arguments of ``plt.subplots`` for so many plots, and the removal of spare ones."""
    columns = 2 if amount == 4 else min(across, amount)
    rows = -(-amount // columns)
    spare = (
        "for axis in axes.flat[len(columns) :]:\n    axis.remove()"
        if rows * columns > amount
        else ""
    )
    size = f"{rows}, {columns}, figsize=(12, {height * rows:g})"
    return {"grid": size, "spare": spare}


def named_columns(columns: Sequence[Column]) -> str:
    """The columns with their labels, by the name ``columns``."""
    return names_map("columns = ", [(column.name, column.label) for column in columns])


def distributions(columns: Sequence[Column]) -> str:
    """Histograms: a bar for each of few whole numbers, logarithmic if skewed."""
    skewed = [column.name for column in columns if column.is_skewed]
    discrete = [column.name for column in columns if column.is_discrete]
    heavy = [column.name for column in columns if column.is_heavy]
    if len(columns) == 1:
        return _distribution(columns[0])
    options = ["df", "x=column", "bins=30"]
    if discrete:
        options.append("discrete=column in discrete")
    if skewed:
        options.append("log_scale=column in skewed")
    options.append("ax=axis")
    line = call("sns.histplot(", options, indent=4)
    return source(
        """
        <<columns>>
        <<discrete>>
        <<skewed>>
        <<heavy>>

        fig, axes = plt.subplots(<<grid>>, layout="constrained")
        for axis, (column, label) in zip(axes.flat, columns.items()):
            <<line>>
            axis.set(xlabel=label, ylabel="Rows")
            <<counts>>
        <<spare>>
        fig.suptitle("How the numbers are distributed")
        plt.show()
        """,
        columns=named_columns(columns),
        discrete=names_list("discrete = ", discrete) if discrete else "",
        skewed=names_list("skewed = ", skewed, "  # drawn on a logarithmic axis") if skewed else "",
        heavy=names_list("heavy = ", heavy, "  # counted on a logarithmic axis") if heavy else "",
        counts='if column in heavy:\n    axis.set_yscale("log")' if heavy else "",
        line=line,
        **_grid(len(columns), 3, 3.2),
    )


def _distribution(column: Column) -> str:
    options = (
        f"df, x={literal(column.name)}, "
        + ("discrete=True" if column.is_discrete else "bins=40")
        + (", log_scale=True" if column.is_skewed else "")
    )
    return source(
        """
        axis = sns.histplot(<<options>>)
        axis.set(
            title=<<title>>,
            xlabel=<<label>>,
            ylabel="Rows",
        )
        <<counts>>
        plt.show()
        """,
        counts='axis.set_yscale("log")' if column.is_heavy else "",
        options=options,
        title=literal(f"Distribution of {column.label}"),
        label=literal(column.label),
    )


def bars(columns: Sequence[Column]) -> str:
    """The most frequent values of each column."""
    many = any(column.unique > LEVELS for column in columns)
    long = any(column.about.get("longest", 0) > LONG for column in columns)
    head = f".head({LEVELS})" if many else ""
    names = (
        f"[str(value)[:{LONG}] for value in counts.index]" if long else "counts.index.astype(str)"
    )
    if len(columns) == 1:
        column = columns[0]
        return source(
            """
            counts = df[<<name>>].value_counts()<<head>>

            fig, axis = plt.subplots(figsize=(12, <<height>>), layout="constrained")
            axis.barh(range(len(counts)), counts)
            axis.set_yticks(range(len(counts)), <<names>>)
            axis.invert_yaxis()
            axis.set(
                title=<<title>>,
                xlabel="Rows",
                ylabel=<<label>>,
            )
            plt.show()
            """,
            name=literal(column.name),
            head=head,
            names=names,
            height=f"{max(2.5, 0.45 * min(column.unique, LEVELS) + 1):g}",
            title=literal(
                f"{column.label}: the {LEVELS} most frequent values"
                if many
                else f"{column.label}: rows of each value"
            ),
            label=literal(column.label),
        )
    across = 2 if long else 3
    tallest = max(min(column.unique, LEVELS) for column in columns)
    return source(
        """
        <<columns>>

        fig, axes = plt.subplots(<<grid>>, layout="constrained")
        for axis, (column, label) in zip(axes.flat, columns.items()):
            counts = df[column].value_counts()<<head>>
            axis.barh(range(len(counts)), counts)
            axis.set_yticks(range(len(counts)), <<names>>)
            axis.invert_yaxis()
            axis.set(title=label, xlabel="Rows", ylabel="")
        <<spare>>
        fig.suptitle(<<title>>)
        plt.show()
        """,
        columns=named_columns(columns),
        head=head,
        names=names,
        title=literal(
            f"Rows of each group (at most the {LEVELS} largest)" if many else "Rows of each group"
        ),
        **_grid(len(columns), across, max(2.4, 0.32 * tallest + 1)),
    )


def missing_bars(data: Data) -> str:
    """The share of missing values of each column that has any."""
    shown = min(len(data.incomplete), 20)
    return source(
        """
        missing = df.isna().mean().mul(100).sort_values(ascending=False)
        missing = missing[missing > 0]<<head>>

        fig, axis = plt.subplots(figsize=(12, <<height>>), layout="constrained")
        bars = axis.barh(<<names>>, missing, height=0.7)
        axis.bar_label(bars, fmt="%.1f %%", padding=4)
        axis.invert_yaxis()
        axis.set(title="Missing values", xlabel="Share of rows (%)", ylabel="", xlim=(0, 110))
        plt.show()
        """,
        head=f".head({shown})" if len(data.incomplete) > shown else "",
        height=f"{0.4 * shown + 1.4:g}",
        names="[name[:40] for name in missing.index]"
        if any(len(column.name) > 40 for column in data.incomplete)
        else "missing.index",
    )


def boxes(columns: Sequence[Column]) -> str:
    """One box plot a column, each on its own axis, with outliers as points."""
    if len(columns) == 1:
        column = columns[0]
        return source(
            """
            fig, axis = plt.subplots(figsize=(12, 2.6), layout="constrained")
            sns.boxplot(df, x=<<name>>, fliersize=3, ax=axis)
            axis.set(title=<<title>>, xlabel=<<label>>)
            plt.show()
            """,
            name=literal(column.name),
            title=literal("Spread and outliers"),
            label=literal(column.label),
        )
    skewed = [column for column in columns if column.is_skewed]
    return source(
        """
        <<columns>>

        fig, axes = plt.subplots(<<grid>>, layout="constrained")
        for axis, (column, label) in zip(axes.flat, columns.items()):
            sns.boxplot(df, x=column, fliersize=3, ax=axis)
            axis.set(xlabel=label)
        <<spare>>
        fig.suptitle("Spread and outliers")
        plt.show()
        """
        if not skewed
        else """
        <<columns>>
        <<skewed>>

        fig, axes = plt.subplots(<<grid>>, layout="constrained")
        for axis, (column, label) in zip(axes.flat, columns.items()):
            sns.boxplot(df, x=column, log_scale=column in skewed, fliersize=3, ax=axis)
            axis.set(xlabel=label)
        <<spare>>
        fig.suptitle("Spread and outliers")
        plt.show()
        """,
        columns=named_columns(columns),
        skewed=names_list("skewed = ", [c.name for c in skewed], "  # drawn on a logarithmic axis"),
        **_grid(len(columns), 2, 1.5),
    )
