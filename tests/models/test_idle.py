"""Work that waits for a quiet moment, and gives way to others."""

from __future__ import annotations

import sys
import threading
import time

import pytest

from jupyter_datalayer_agent.models import loader
from jupyter_datalayer_agent.models.loader import IDLE_SECONDS, giving_way, wait_until_idle


def keep_busy(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def test_it_begins_a_second_after_the_last_work(monkeypatch: pytest.MonkeyPatch) -> None:
    end = time.monotonic() + 0.5
    # The processor time of a process that keeps a core busy until then.
    monkeypatch.setattr(loader.time, "process_time", lambda: min(time.monotonic(), end))
    wait_until_idle(threading.Event())
    assert time.monotonic() >= end - 0.1 + IDLE_SECONDS


def test_a_busy_machine_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process gets nothing of the processor, and each of its waits ends late."""
    needed = threading.Event()
    end = time.monotonic() + 0.6

    def wait(seconds: float) -> bool:
        time.sleep(seconds + (0.1 if time.monotonic() < end else 0))
        return False

    monkeypatch.setattr(loader.time, "process_time", lambda: 0.0)
    monkeypatch.setattr(needed, "wait", wait)
    wait_until_idle(needed)
    assert time.monotonic() >= end + IDLE_SECONDS


def test_what_is_needed_begins_at_once_however_busy_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader.time, "process_time", time.monotonic)
    needed = threading.Event()
    began = time.monotonic()
    threading.Timer(1.5, needed.set).start()
    wait_until_idle(needed)
    assert time.monotonic() - began >= 1.5
    wait_until_idle(needed)


def test_pauses_end_with_the_import_and_where_somebody_waits() -> None:
    needed = threading.Event()
    before = list(sys.meta_path)
    with giving_way(needed):
        pauses = sys.meta_path[0]
        keep_busy(0.01)
        began = time.monotonic()
        assert pauses.find_spec("no_such_module", None) is None
        assert time.monotonic() - began >= 0.001
        keep_busy(0.01)
        needed.set()
        for _ in range(1000):
            pauses.find_spec("no_such_module", None)
    assert sys.meta_path == before
