"""Cells that plot single columns. Each function returns the source of one cell, with a title and
named axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .data import Column, Data, call, label, literal, names_list, names_map, source

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


# Cells that plot relations: between columns, with groups, in time and space.


SCATTER_ROWS = 3000


def heatmap(columns: Sequence[Column]) -> str:
    """Pearson correlations; the upper half would only repeat the lower."""
    names = [column.label for column in columns]
    rename = [(c.name, c.label) for c in columns if c.name != c.label]
    unique = len(set(names)) == len(names)
    size = max(3.6, 0.52 * len(columns) + 1.5)
    return source(
        """
        <<numbers>>
        correlations = df[numbers].corr()
        <<rename>>
        upper = np.triu(np.ones_like(correlations, dtype=bool), k=1)

        fig, axis = plt.subplots(figsize=(<<width>>, <<size>>), layout="constrained")
        sns.heatmap(
            correlations,
            mask=upper,
            annot=True,
            fmt=".2f",
            cmap="vlag",
            vmin=-1,
            vmax=1,
            square=True,
            ax=axis,
        )
        axis.grid(visible=False)
        axis.set(title="Correlations (Pearson)", xlabel="", ylabel="")
        plt.show()
        """,
        numbers=names_list("numbers = ", [column.name for column in columns]),
        rename=(
            names_map("labels = ", rename)
            + "\ncorrelations = correlations.rename(index=labels, columns=labels)"
            if rename and unique
            else ""
        ),
        size=f"{size:g}",
        width=f"{min(12, size * 1.25 + 1):g}",
    )


def groups(data: Data, best: dict[str, Any]) -> str:
    """A box of the number for each of at most ten groups, the highest median on top.

    For a flag its share is drawn. Groups with fewer than five values are left out.
    """
    number, category = data[best["number"]], data[best["category"]]
    many = category.unique > LEVELS
    top = (
        f"largest = df[{literal(category.name)}].value_counts().head({LEVELS}).index\n"
        f"groups = df[df[{literal(category.name)}].isin(largest)]"
        if many
        else ""
    )
    title = f"{number.label} by {category.label}"
    values = {
        "top": top,
        "frame": "groups" if many else "df",
        "category": literal(category.name),
        "number": literal(number.name),
        "height": f"{max(3.0, 0.5 * min(category.unique, LEVELS) + 1.6):g}",
        "title": literal(f"{title} (the {LEVELS} largest groups)" if many else title),
        "x": literal(f"{number.label}: share of rows (%)" if best["flag"] else number.label),
        "y": literal(category.label),
    }
    long = category.about.get("longest", 0) > LONG
    if best["flag"]:
        return _shares(values, best["small"], long)
    if best["small"]:
        order = """
        middle = <<frame>>.groupby(<<category>>, observed=True)[<<number>>].agg(["median", "count"])
        middle = middle[middle["count"] >= 5]
        order = middle.sort_values("median", ascending=False).index
        """
    else:
        order = """
        medians = <<frame>>.groupby(<<category>>, observed=True)[<<number>>].median()
        order = medians.sort_values(ascending=False).index
        """
    figure = """
        fig, axis = plt.subplots(figsize=(12, <<height>>), layout="constrained")
        sns.boxplot(
            <<frame>>,
            x=<<number>>,
            y=<<category>>,
            order=order,
            orient="h",
            fliersize=3,
            <<log>>
            ax=axis,
        )
        <<ticks>>
        axis.set(
            title=<<title>>,
            xlabel=<<x>>,
            ylabel=<<y>>,
        )
        plt.show()
        """
    ticks = f"axis.set_yticks(range(len(order)), [str(value)[:{LONG}] for value in order])"
    return source(
        f"        <<top>>{order}{figure}",
        log="log_scale=True," if number.is_skewed else "",
        ticks=ticks if long else "",
        **values,
    )


def _shares(values: dict[str, str], small: bool, long: bool) -> str:
    names = (
        f"[str(value)[:{LONG}] for value in shares.index]" if long else "shares.index.astype(str)"
    )
    shares = (
        """
        sizes = <<frame>>.groupby(<<category>>, observed=True)[<<number>>].agg(["mean", "count"])
        shares = sizes[sizes["count"] >= 5]["mean"].mul(100).sort_values(ascending=False)
        """
        if small
        else """
        shares = <<frame>>.groupby(<<category>>, observed=True)[<<number>>].mean().mul(100)
        shares = shares.sort_values(ascending=False)
        """
    )
    figure = """
        fig, axis = plt.subplots(figsize=(12, <<height>>), layout="constrained")
        bars = axis.barh(range(len(shares)), shares)
        axis.bar_label(bars, fmt="%.0f %%", padding=4)
        axis.set_yticks(range(len(shares)), <<names>>)
        axis.invert_yaxis()
        axis.set(
            title=<<title>>,
            xlabel=<<x>>,
            ylabel=<<y>>,
            xlim=(0, 110),
        )
        plt.show()
        """
    return source(f"        <<top>>{shares}{figure}", names=names, **values)


def scatter(a: Column, b: Column, group: Column | None, rows: int) -> str:
    """A scatter plot of two numbers, coloured by an optional group."""
    title = f"{b.label} against {a.label}" + (
        f" ({SCATTER_ROWS:,} rows drawn at random)" if rows > SCATTER_ROWS else ""
    )
    return source(
        """
        <<sample>>
        fig, axis = plt.subplots(layout="constrained")
        sns.scatterplot(
            <<frame>>,
            x=<<x>>,
            y=<<y>><<hue>>,
            s=25,
            alpha=0.6,
            ax=axis,
        )
        <<log_x>>
        <<log_y>>
        <<legend>>
        axis.set(
            title=<<title>>,
            xlabel=<<xlabel>>,
            ylabel=<<ylabel>>,
        )
        plt.show()
        """,
        **_points(a, b, group, rows),
        log_x='axis.set_xscale("log")' if a.is_skewed else "",
        log_y='axis.set_yscale("log")' if b.is_skewed else "",
        title=literal(title),
        xlabel=literal(a.label),
        ylabel=literal(b.label),
    )


def _points(x: Column, y: Column, group: Column | None, rows: int) -> dict[str, str]:
    """The points of both scatter plots: all rows, or a random sample, coloured by the group."""
    sampled = rows > SCATTER_ROWS
    return {
        "sample": f"sample = df.sample({SCATTER_ROWS:_}, random_state=0)\n" if sampled else "",
        "frame": "sample" if sampled else "df",
        "x": literal(x.name),
        "y": literal(y.name),
        "hue": f",\nhue={literal(group.name)}" if group else "",
        "legend": _legend(group) if group else "",
    }


def course(time: dict[str, Any], columns: Sequence[Column]) -> str:
    """The mean of each column per period, one axis under the other; or the number of rows."""
    label_of_date = literal(label(time["date"]))
    gathered = _gathered(time, columns)
    dots = ', marker="o"' if time["periods"] <= 40 else ""
    word = time["word"]
    each = time["per_period"] > 1 or time["rule"]
    what = f"mean per {word}" if each else "over time"
    if len(columns) == 1:
        return source(
            """
            <<means>>

            fig, axis = plt.subplots(layout="constrained")
            axis.plot(means.index, means<<dots>>)
            axis.set(
                title=<<title>>,
                xlabel=<<date>>,
                ylabel=<<label>>,
            )
            plt.show()
            """,
            means=gathered,
            dots=dots,
            title=literal(f"{columns[0].label}: {what}"),
            date=label_of_date,
            label=literal(columns[0].label),
        )
    return source(
        """
        <<columns>>
        <<means>>

        <<figure>>
        for axis, (column, label) in zip(axes, columns.items()):
            axis.plot(means.index, means[column]<<dots>>)
            axis.set(ylabel=label)
        axes[-1].set(xlabel=<<date>>)
        fig.suptitle(<<title>>)
        plt.show()
        """,
        columns=named_columns(columns),
        means=gathered,
        dots=dots,
        figure=call(
            "fig, axes = plt.subplots(",
            [
                str(len(columns)),
                "1",
                f"figsize=(12, {2.3 * len(columns) + 0.8:g})",
                "sharex=True",
                'layout="constrained"',
            ],
        ),
        date=label_of_date,
        title=literal(f"The course of time: {what}" if each else "The course of time"),
    )


def rows_per_period(time: dict[str, Any]) -> str:
    """How many rows there are for each period."""
    date = literal(time["date"])
    if time["rule"]:
        counts = f'counts = df.resample("{time["rule"]}", on={date}).size()'
    else:
        counts = f"counts = df.groupby({date}).size()"
    return source(
        """
        <<counts>>

        fig, axis = plt.subplots(layout="constrained")
        axis.plot(counts.index, counts)
        axis.set(
            title=<<title>>,
            xlabel=<<label>>,
            ylabel="Rows",
        )
        axis.set_ylim(bottom=0)
        plt.show()
        """,
        counts=counts,
        title=literal(f"Rows per {time['word']}"),
        label=literal(label(time["date"])),
    )


def _gathered(time: dict[str, Any], columns: Sequence[Column]) -> str:
    pick = literal(columns[0].name) if len(columns) == 1 else "list(columns)"
    date = literal(time["date"])
    if time["rule"]:
        return f'means = df.resample("{time["rule"]}", on={date})[{pick}].mean()'
    return f"means = df.groupby({date})[{pick}].mean()"


def map_of_places(latitude: Column, longitude: Column, group: Column | None, rows: int) -> str:
    """Places as points, about true to scale at their latitude."""
    return source(
        """
        <<sample>>
        fig, axis = plt.subplots(layout="constrained")
        sns.scatterplot(
            <<frame>>,
            x=<<x>>,
            y=<<y>><<hue>>,
            s=12,
            alpha=0.6,
            linewidth=0,
            ax=axis,
        )
        <<legend>>
        axis.set_aspect(<<aspect>>)
        axis.set(
            title=<<title>>,
            xlabel="Longitude (°)",
            ylabel="Latitude (°)",
        )
        plt.show()
        """,
        **_points(longitude, latitude, group, rows),
        aspect=f"{_aspect(latitude):.2f}",
        title=literal(
            f"Where the rows lie ({SCATTER_ROWS:,} drawn at random)"
            if rows > SCATTER_ROWS
            else "Where the rows lie"
        ),
    )


def _legend(group: Column) -> str:
    place = ["axis", '"center left"', "bbox_to_anchor=(1, 0.5)", f"title={literal(group.label)}"]
    return call("sns.move_legend(", place)


def _aspect(latitude: Column) -> float:
    """A degree of longitude is shorter by the cosine of the latitude."""
    middle = min(abs(float(latitude.about["median"])), 70.0)
    return 1 / math.cos(math.radians(middle))
