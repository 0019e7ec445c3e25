"""Models that a user adds and removes, and files that change afterwards."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jupyter_datalayer_agent.models import loader
from jupyter_datalayer_agent.models.local import servers
from jupyter_datalayer_agent.models.local.added_models import (
    AddedModels,
    CannotAdd,
    added_models,
    name_of,
)
from jupyter_datalayer_agent.models.local.servers import readiness_of
from jupyter_datalayer_agent.models.prices import context_window, cost_of
from jupyter_datalayer_agent.protocol.requests import Usage
from tests.support.tiny_model import CONTEXT, tiny_model


@pytest.fixture
def models(tmp_path: Path) -> AddedModels:
    return AddedModels(tmp_path / "added")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tiny_model(tmp_path / "Tiny Model.Q4_K_M.gguf")


def test_an_added_model_has_the_name_of_its_file_and_a_window(
    models: AddedModels, file: Path
) -> None:
    added = models.add(file)
    assert (added.id, added.window) == ("local/tiny-model.q4_k_m", CONTEXT)
    assert models.all() == [added]
    assert models.find(added.id) == models.find(added.name) == added


def test_a_long_trained_window_is_not_taken_whole(models: AddedModels, tmp_path: Path) -> None:
    file = tiny_model(tmp_path / "long.gguf", context=131_072)
    assert models.add(file).window == 16_384
    assert models.add(file, "longer", 65_536).window == 65_536


@pytest.mark.parametrize("window", [0, -1, 999, CONTEXT + 1])
def test_a_window_that_the_model_does_not_have_is_refused(
    models: AddedModels, file: Path, window: int
) -> None:
    with pytest.raises(CannotAdd, match=r"can be 1,000 to 2,048 tokens"):
        models.add(file, None, window)
    assert models.all() == []


@pytest.mark.parametrize("name", ["../escape", "A", "a b", ".hidden", "a/b", "", "x" * 61, "a\n"])
def test_a_name_that_is_none_is_refused(models: AddedModels, file: Path, name: str) -> None:
    if name:
        with pytest.raises(CannotAdd, match="is not a valid name"):
            models.add(file, name)
    assert models.find(name) is None


def test_a_name_is_taken_once(models: AddedModels, file: Path) -> None:
    models.add(file, "qwen")
    with pytest.raises(CannotAdd, match=r"The name qwen is already used for .*--name"):
        models.add(file, "qwen")


def test_names_are_made_of_any_file_name() -> None:
    assert name_of(Path("Qwen2.5 Coder (1.5B).gguf")) == "qwen2.5-coder-1.5b"
    assert name_of(Path("模型.gguf")) == "model"
    assert len(name_of(Path("x" * 200 + ".gguf"))) == 60


def test_models_that_are_added_at_once_are_all_kept(models: AddedModels, file: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: models.add(file, f"m{number}"), range(24)))
    assert len(models.all()) == 24


def test_removing_keeps_the_file(models: AddedModels, file: Path) -> None:
    content = file.read_bytes()
    models.add(file, "qwen")
    models.remove("local/qwen")
    assert models.all() == []
    assert file.read_bytes() == content
    with pytest.raises(CannotAdd, match=r"No local model is called qwen. Added models: none"):
        models.remove("qwen")


def test_an_entry_that_cannot_be_read_hides_no_other(models: AddedModels, file: Path) -> None:
    models.add(file, "good")
    (models.folder / "bad.json").write_text('{"name": "bad"')
    assert [model.name for model in models.all()] == ["good"]
    assert models.add(file, "bad").name == "bad"


async def test_a_name_that_a_provider_has_too_brings_neither_its_price_nor_its_window(
    file: Path,
) -> None:
    await loader.litellm()
    assert (context_window("gpt-4o") or 0) > CONTEXT
    added_models().add(file, "gpt-4o")
    assert context_window("local/gpt-4o") == CONTEXT
    assert cost_of("local/gpt-4o", Usage(input_tokens=1000, total_tokens=1000)) is None


def test_a_file_that_was_moved_or_has_changed_is_not_ready(
    models: AddedModels, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "MODULE", "json")
    models.add(file, "qwen")
    assert readiness_of("local/qwen", models).ready
    elsewhere = file.rename(file.with_name("elsewhere.gguf"))
    moved = readiness_of("local/qwen", models)
    assert "is missing" in moved.reason
    assert str(file) in moved.reason
    assert "models remove qwen" in moved.what_to_do
    elsewhere.rename(file)
    assert readiness_of("local/qwen", models).ready
    os.truncate(file, 1000)
    assert "has changed since it was added" in readiness_of("local/qwen", models).reason
    assert "models add FILE.gguf" in readiness_of("local/other", models).what_to_do


def test_without_llama_cpp_the_command_to_install_it_is_named(
    models: AddedModels, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "MODULE", "no_such_module")
    models.add(file, "qwen")
    state = readiness_of("local/qwen", models)
    assert not state.ready
    assert 'pip install "jupyter-datalayer-agent[local]"' in state.what_to_do
