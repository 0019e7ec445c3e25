"""Cells that plot relations: between columns, with groups, in time and space."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .data import Column, Data
from .formatting import call, label, literal, names_list, names_map, source
from .plots import LEVELS, LONG, named_columns

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
