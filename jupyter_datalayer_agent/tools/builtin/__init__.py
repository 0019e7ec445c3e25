"""The built-in tools, in the order in which the model is sent them."""

from __future__ import annotations

from ..registry import ToolRegistry
from .aliases import ALIASES
from .conversation import ask_user, update_plan
from .datasets import list_datasets, load_dataset_full
from .documents import create_lexical, create_notebook, get_active_document
from .history import (
    get_context_by_provenance,
    get_recent_turns,
    get_turn_by_id,
    search_chat_history,
)
from .kernels import execute_code, list_kernels, select_kernel
from .notebook_change import (
    add_notebook_cell,
    delete_notebook_cells,
    move_notebook_cell,
    update_notebook_cell,
)
from .notebook_read import get_cell_outputs, get_notebook_cells, get_notebook_quality
from .run_cells import run_notebook_cells

TOOLS = [
    get_notebook_cells,
    get_cell_outputs,
    get_notebook_quality,
    add_notebook_cell,
    update_notebook_cell,
    run_notebook_cells,
    delete_notebook_cells,
    move_notebook_cell,
    get_active_document,
    create_notebook,
    create_lexical,
    list_kernels,
    select_kernel,
    execute_code,
    search_chat_history,
    get_recent_turns,
    get_turn_by_id,
    get_context_by_provenance,
    list_datasets,
    load_dataset_full,
    update_plan,
    ask_user,
]


def builtin_registry() -> ToolRegistry:
    """A registry with the built-in tools and their aliases."""
    registry = ToolRegistry()
    for tool in TOOLS:
        registry.add(tool)
    for alias in ALIASES:
        registry.add(alias)
    return registry
