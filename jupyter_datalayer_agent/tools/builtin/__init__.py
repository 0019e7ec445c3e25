"""The built-in tools, in the order in which the model is sent them.

A tool is a function in the file of its group and an entry in that file's ``TOOLS``.
"""

from __future__ import annotations

from ..registry import ToolRegistry
from . import (
    blocks_change,
    blocks_read,
    conversation,
    datasets,
    documents,
    file_change,
    file_read,
    history,
    kernels,
    notebook_change,
    notebook_read,
    run_blocks,
    run_cells,
)
from .aliases import ALIASES

GROUPS = [
    notebook_read,
    notebook_change,
    run_cells,
    documents,
    kernels,
    file_read,
    file_change,
    history,
    datasets,
    conversation,
    # Last: most requests leave these out, and the tools before them then stay the same.
    blocks_read,
    blocks_change,
    run_blocks,
]


def builtin_registry() -> ToolRegistry:
    """A registry with the built-in tools and their aliases."""
    registry = ToolRegistry()
    for group in GROUPS:
        for tool in group.TOOLS:
            registry.add(tool)
    for alias in ALIASES:
        registry.add(alias)
    return registry
