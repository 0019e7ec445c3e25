"""The objects that ``Store`` has for each subject open the database when one is first called."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from jupyter_datalayer_agent.store import Store

from .chats import open_store, url


async def test_every_method_of_a_subject_can_be_awaited(tmp_path: Path) -> None:
    """A method that is not async would do without the database, and its result be lost."""
    async with open_store(tmp_path / "agent.db") as store:
        opened = await store._open()
        names = [name for name in vars(store) if not name.startswith("_")]
        assert "events" in names
        for name in names:
            for method, _ in inspect.getmembers(getattr(opened, name), inspect.isroutine):
                if not method.startswith("_"):
                    assert inspect.iscoroutinefunction(getattr(getattr(opened, name), method)), (
                        f"{name}.{method}"
                    )


async def test_the_file_is_made_by_the_first_call(tmp_path: Path) -> None:
    store = Store(url(tmp_path / "agent.db"))
    plans = store.plans
    assert not (tmp_path / "agent.db").exists()
    try:
        assert await plans.last("s_no") is None
        assert (tmp_path / "agent.db").exists()
    finally:
        await store.close()


def test_a_subject_has_no_private_names() -> None:
    with pytest.raises(AttributeError):
        _ = Store("sqlite://").plans.__not_there__  # type: ignore[attr-defined]
