"""What a model needs of the memory, and what a container leaves."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from jupyter_datalayer_agent.models.local import servers
from jupyter_datalayer_agent.models.local.added_models import AddedModels, LocalModel
from jupyter_datalayer_agent.models.local.servers import (
    available,
    installed,
    needed,
    size_text,
    too_large,
)
from tests.support.tiny_model import tiny_model

GB = 1_000_000_000


def model(size: int, window: int = 16_384, kv_bytes: int = 28_672) -> LocalModel:
    return LocalModel("qwen", "/qwen.gguf", size, "Qwen", "qwen2", window, kv_bytes)


def test_a_wider_window_needs_more() -> None:
    assert needed(model(GB)) > GB
    assert needed(model(GB, window=32_768)) > needed(model(GB)) + 16_384 * 28_672


def test_a_model_that_does_not_fit_is_named_with_both_sizes() -> None:
    assert too_large(model(GB), free=4 * GB) == ""
    text = too_large(model(40 * GB), free=3 * GB)
    assert text.startswith("qwen needs about 44.9 GB of memory, and 3.0 GB are available.")
    assert "--context" in text


def test_a_model_that_can_never_fit_is_not_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = AddedModels(tmp_path)
    added = models.add(tiny_model(tmp_path / "tiny.gguf"))
    monkeypatch.setattr(servers, "MODULE", "json")
    assert servers.readiness_of("tiny", models).ready
    monkeypatch.setattr(servers, "installed", lambda: needed(added) - 1)
    state = servers.readiness_of("tiny", models)
    assert not state.ready
    assert state.reason.startswith("tiny needs about 1.5 MB of memory, and this computer has ")


def test_a_container_that_has_less_counts(tmp_path: Path) -> None:
    of_machine = psutil.virtual_memory().total
    assert 0 < available(tmp_path) <= of_machine
    (tmp_path / "memory.max").write_text("3000000\n")
    (tmp_path / "memory.current").write_text("2500000\n")
    assert available(tmp_path) == 500_000
    assert installed(tmp_path) == 3_000_000
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 400000\n")
    assert available(tmp_path) == 900_000
    (tmp_path / "memory.max").write_text("max\n")
    assert available(tmp_path) > 900_000


def test_sizes_are_readable() -> None:
    texts = [size_text(each) for each in (442_976, 540_300_000, 1_117_320_768)]
    assert texts == ["0.4 MB", "540 MB", "1.1 GB"]
