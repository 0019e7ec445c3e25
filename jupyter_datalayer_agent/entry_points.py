"""The entry points by which other packages add to this one.

For each group that it is asked for, ``importlib.metadata`` reads the entry points of all packages
that are installed: 26 ms beside JupyterLab, in the event loop. Here they are read once for all.
"""

from __future__ import annotations

import functools
from importlib.metadata import EntryPoint, entry_points

PREFIX = "jupyter_datalayer_agent."


def entry_points_of(group: str) -> tuple[EntryPoint, ...]:
    """Those of ``jupyter_datalayer_agent.<group>``, as installed when the first group was read."""
    return _by_group().get(PREFIX + group, ())


@functools.cache
def _by_group() -> dict[str, tuple[EntryPoint, ...]]:
    installed = entry_points()
    groups = [group for group in installed.groups if group.startswith(PREFIX)]
    return {group: tuple(installed.select(group=group)) for group in groups}
