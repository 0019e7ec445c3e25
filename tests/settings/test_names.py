"""A setting has its name in several places: they agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from traitlets import Enum, TraitType

from jupyter_datalayer_agent.settings.definitions import AgentTraits, is_for_server, setting_traits
from jupyter_datalayer_agent.settings.docs_table import with_table
from jupyter_datalayer_agent.settings.layers import UserSettings, camel, snake
from jupyter_datalayer_agent.settings.turn_settings import Settings
from tests.support.jupyter import REPOSITORY

SCHEMA = json.loads((REPOSITORY / "labextension" / "schema" / "settings.json").read_text())


def user_traits() -> dict[str, TraitType[Any, Any]]:
    return {
        name: trait
        for name, trait in setting_traits(AgentTraits()).items()
        if not is_for_server(name, trait)
    }


def test_the_table_in_the_documentation_is_that_of_the_traits() -> None:
    text = (REPOSITORY / "docs" / "settings.md").read_text(encoding="utf-8")
    assert text == with_table(text), (
        "python -m jupyter_datalayer_agent.settings.docs_table docs/settings.md"
    )


def test_the_settings_editor_has_what_a_user_may_set() -> None:
    assert SCHEMA["properties"].keys() == {camel(name) for name in user_traits()}
    for name, trait in user_traits().items():
        described = SCHEMA["properties"][camel(name)]
        assert "default" not in described, "what holds on the server is the default"
        if isinstance(trait, Enum):
            assert described["enum"] == list(trait.values or ())
        for ours, theirs in (("min", "minimum"), ("max", "maximum")):
            bound = getattr(trait, ours, None)
            if bound not in (None, float("inf"), float("-inf")):
                assert described[theirs] == bound, name


def test_a_turn_knows_every_setting_of_a_user() -> None:
    settings = Settings()
    owner = AgentTraits()
    for name in user_traits():
        assert name in Settings.model_fields
        assert getattr(settings, name) == getattr(owner, name), f"the default of {name}"


@pytest.mark.parametrize("name", [*setting_traits(AgentTraits()), "log_level"])
def test_a_name_in_jupyterlab_and_one_of_a_trait_are_the_same(name: str) -> None:
    assert snake(camel(name)) == name
    assert snake(name) == name


def test_a_file_that_holds_something_else_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "settings.jupyterlab-settings"
    file.write_text("{ model: 'openai/x', // and then")
    user = UserSettings(file)
    assert user.values() == {}
    with pytest.raises(OSError, match="holds something else"):
        user.write({"model": "openai/y"})
    assert file.read_text() == "{ model: 'openai/x', // and then"
    file.write_text("{ model: 'openai/x', /* mine */ }")
    assert user.values() == {"model": "openai/x"}
