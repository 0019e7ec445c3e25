"""What a cell drew: its figures, and what is on their axes."""

from __future__ import annotations

import sys
import types
from collections import deque
from collections.abc import Sequence
from typing import Any

from .formatting import counted
from .looking import CheckFailed

WATCHER = "_datalayer_agent_figures"
HOOK = f"{WATCHER}:seen"
HOOKS = "figure.hooks"


def watch_figures() -> None:
    """Remember the figures that are made from now on.

    A notebook's figures are closed when their cell ends, so that afterwards pyplot knows none of
    them. Matplotlib calls the functions named in ``rcParams["figure.hooks"]`` (3.7 and later) with
    each new figure.
    """
    try:
        import matplotlib
    except ImportError:
        return
    watcher = types.ModuleType(WATCHER)
    figures: deque[Any] = deque(maxlen=20)
    watcher.figures = figures  # type: ignore[attr-defined]
    watcher.seen = figures.append  # type: ignore[attr-defined]
    sys.modules[WATCHER] = watcher
    params: Any = matplotlib.rcParams
    if HOOKS in params:
        others = [each for each in params[HOOKS] if each != HOOK]
        params[HOOKS] = [*others, HOOK]


def drawn_figures(names: dict[str, Any]) -> list[Any]:
    """The figures that were made since, those with something on them; the watch ends.

    Where the cell has set the parameters back (a style may), or matplotlib is older, those among
    ``names``, which the cell has assigned, count too.
    """
    matplotlib = sys.modules.get("matplotlib")
    watcher: Any = sys.modules.get(WATCHER)
    if matplotlib is None:
        return []
    params: Any = matplotlib.rcParams
    watched = HOOKS in params and HOOK in params[HOOKS]
    if watched:
        params[HOOKS] = [each for each in params[HOOKS] if each != HOOK]
    figures = list(watcher.figures) if watcher is not None else []
    if watcher is not None:
        # The module stays: parameters that the learner copied meanwhile may name it.
        watcher.figures.clear()
        watcher.seen = _unseen
    if not watched:
        figures += [each for each in _named_figures(names) if each not in figures]
    return [figure for figure in figures if figure.axes]


def _unseen(figure: Any) -> None:
    """What the watch does with a figure when it is over."""


def _named_figures(names: dict[str, Any]) -> list[Any]:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    found: list[Any] = []
    for name, value in names.items():
        figure = value.figure if isinstance(value, Axes) else value
        if isinstance(figure, Figure) and not name.startswith("_") and figure not in found:
            found.append(figure)
    return found


def one_figure(figures: Sequence[Any], panels: int = 1) -> Any:
    """The figure that the task asks for, with so many axes in use."""
    if not figures:
        raise CheckFailed(
            "The cell drew no figure. Make one with `fig, ax = plt.subplots()` and draw on `ax`."
        )
    used = [figure for figure in figures if any(has_data(ax) for ax in figure.axes)]
    if not used:
        raise CheckFailed("There is a figure, but nothing is drawn on its axes yet.")
    if len(used) > 1 and panels > 1:
        raise CheckFailed(
            f"The cell drew {len(used)} figures. Make one figure with {panels} axes: "
            f"`fig, axes = plt.subplots(...)`."
        )
    if len(used) > 1:
        raise CheckFailed(f"The cell drew {len(used)} figures; the task asks for one.")
    return used[0]


def panels_of(figure: Any, wanted: int) -> list[Any]:
    """The figure's axes in reading order; ``CheckFailed`` unless all ``wanted`` are in use."""
    axes = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
    used = [ax for ax in axes if has_data(ax)]
    if len(axes) < wanted:
        raise CheckFailed(
            f"The figure has {counted(len(axes), 'axis')}; the task asks for {wanted}: "
            f"`plt.subplots(...)` takes the number of rows and of columns."
        )
    if len(used) < wanted:
        empty = [str(axes.index(ax)) for ax in axes if not has_data(ax)]
        raise CheckFailed(
            f"Nothing is drawn on axes[{empty[0] if empty else 0}]. Each plot has axes of its own: "
            "call the methods of `axes[0]` and of `axes[1]`."
        )
    if len(used) > wanted:
        raise CheckFailed(f"{len(used)} axes are drawn on; the task asks for {wanted}.")
    return sorted(used, key=lambda ax: (-round(ax.get_position().y0, 2), ax.get_position().x0))


def has_data(ax: Any) -> bool:
    """Whether something was drawn on the axes."""
    return bool(ax.lines or ax.collections or ax.patches or ax.images or ax.containers)


def lines_of(ax: Any) -> list[Any]:
    """The curves on the axes: lines of more than two points."""
    return [line for line in ax.lines if len(line.get_ydata(orig=False)) > 2]


def line_through(ax: Any, values: Any) -> Any | None:
    """The curve whose heights are these values, in their order."""
    return next((line for line in lines_of(ax) if same_numbers(ydata(line), values)), None)


def ydata(line: Any) -> list[float]:
    """The heights of a curve's points."""
    return [float(each) for each in line.get_ydata(orig=False)]


def xdata(line: Any) -> list[float]:
    """The places of a curve's points on the x axis, dates as numbers."""
    return [float(each) for each in line.get_xdata(orig=False)]


def same_numbers(found: Sequence[float], wanted: Any) -> bool:
    """Whether two rows of numbers are equal, missing ones included."""
    wanted = [float(each) for each in wanted]
    if len(found) != len(wanted):
        return False
    return all(a == b or (a != a and b != b) or abs(a - b) < 1e-6 for a, b in zip(found, wanted))  # noqa: B905


def is_row_numbers(values: Sequence[float]) -> bool:
    """Whether these are 0, 1, 2…: what matplotlib takes when x is not given."""
    return same_numbers(values, range(len(values)))


def is_joined(line: Any) -> bool:
    """Whether the points are joined by a line."""
    return str(line.get_linestyle()) not in ("None", " ", "") and line.get_linewidth() > 0


def colour_of(artist: Any) -> tuple[float, ...]:
    """A line's colour as numbers."""
    from matplotlib.colors import to_rgba

    return tuple(round(float(part), 3) for part in to_rgba(artist.get_color()))


def title_of(ax: Any) -> str:
    """The title of the axes, wherever it is; that of the figure where it has this one only."""
    own = " ".join(ax.get_title(loc=each) for each in ("left", "center", "right")).strip()
    whole = getattr(ax.figure, "_suptitle", None)
    if not own and whole is not None and len(ax.figure.axes) == 1:
        own = whole.get_text().strip()
    return own


def legend_of(ax: Any) -> list[str] | None:
    """The texts of the legend; None without one."""
    legends = [ax.get_legend(), *ax.figure.legends]
    found = [each for each in legends if each is not None]
    return [text.get_text() for text in found[0].get_texts()] if found else None
