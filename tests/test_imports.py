"""A large import leaves the garbage collector to everybody else as it was."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from jupyter_datalayer_agent.imports import LARGE, importing


class Ring:
    """Refers to itself, so that only the collector can find that nobody else does."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def nothing_frozen() -> Iterator[None]:
    gc.unfreeze()
    yield
    gc.unfreeze()


def test_there_are_no_collections_meanwhile_and_afterwards_there_are() -> None:
    with importing():
        assert not gc.isenabled()
        with importing():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_others_had_before_is_collected_once_they_let_go_of_it() -> None:
    theirs = Ring()
    seen = weakref.ref(theirs)
    with importing():
        during = Ring()
        seen_too = weakref.ref(during)
    assert gc.get_freeze_count() == 0
    del theirs, during
    gc.collect()
    assert seen() is None
    assert seen_too() is None


def test_what_was_new_counts_as_old() -> None:
    gc.collect()
    with importing():
        made = [[] for _ in range(5_000)]
        assert any(each is made for each in gc.get_objects(generation=0))
    assert not any(each is made for each in gc.get_objects(generation=0))
    assert any(each is made for each in gc.get_objects(generation=2))


def test_what_a_very_large_import_made_is_left_out_of_full_collections() -> None:
    with importing():
        made = [[] for _ in range(LARGE + 1_000)]
    assert gc.get_freeze_count() > LARGE
    assert not any(each is made for each in gc.get_objects())
    theirs = Ring()
    seen = weakref.ref(theirs)
    del theirs
    gc.collect()
    assert seen() is None


def test_what_somebody_else_froze_stays_frozen() -> None:
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with importing():
            new = [[each] for each in range(1000)]
        # Nothing was unfrozen, nor anything new frozen; single ones may go out of use meanwhile.
        assert frozen - len(new) / 2 < gc.get_freeze_count() <= frozen
    finally:
        gc.unfreeze()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with importing():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
