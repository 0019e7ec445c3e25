"""All groups of entry points are read at once: a reading blocks the event loop for 26 ms."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent import entry_points as module
from jupyter_datalayer_agent.entry_points import entry_points_of
from tests.support.packages import declare, import_from

ENTRIES = """
[jupyter_datalayer_agent.tools]
moons = moons:count_moons
suns = moons:count_suns
[jupyter_datalayer_agent.fixes]
eclipse = moons:FIX
[jupyter_datalayer_agent_of_others.tools]
other = moons:other
"""


def test_what_a_package_declares_is_found_by_its_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(tmp_path, "moons", ENTRIES)
    import_from(tmp_path, monkeypatch)
    assert [point.value for point in entry_points_of("tools")] == [
        "moons:count_moons",
        "moons:count_suns",
    ]
    [fix] = entry_points_of("fixes")
    assert fix.dist is not None
    assert (fix.name, fix.value, fix.dist.name) == ("eclipse", "moons:FIX", "moons")
    assert entry_points_of("workflows") == ()


def test_the_packages_are_read_once_for_all_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = 0

    def count(**selected: Any) -> Any:
        nonlocal readings
        readings += 1
        return importlib.metadata.entry_points(**selected)

    monkeypatch.setattr(module, "entry_points", count)
    module._by_group.cache_clear()
    for group in ("sdk", "tools", "services", "workflows", "fixes"):
        entry_points_of(group)
    assert readings == 1
