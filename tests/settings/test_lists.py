"""Lists on the command line and in the environment, as they are typed."""

from __future__ import annotations

from typing import Any

import pytest
from traitlets import TraitError
from traitlets.config.loader import KVArgParseConfigLoader

from jupyter_datalayer_agent.settings.definitions import AgentTraits
from jupyter_datalayer_agent.settings.startup_layers import from_environment


def configured(*arguments: str) -> AgentTraits:
    argv = [f"--AgentTraits.{each}" for each in arguments]
    return AgentTraits(config=KVArgParseConfigLoader(argv).load_config())


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (["locked=model,approval_policy"], "locked", ["model", "approval_policy"]),
        (["locked=model, outputs,"], "locked", ["model", "outputs"]),
        (["locked=model"], "locked", ["model"]),
        (["locked=model", "locked=outputs"], "locked", ["model", "outputs"]),
        (["locked=['model', 'outputs']"], "locked", ["model", "outputs"]),
        (["locked="], "locked", []),
        (["locked=[]"], "locked", []),
        (["local_model_ports=8000"], "local_model_ports", [8000]),
        (["local_model_ports=8000,9000"], "local_model_ports", [8000, 9000]),
    ],
)
def test_lists_are_taken_with_commas_and_without(
    arguments: list[str], name: str, value: list[Any]
) -> None:
    assert getattr(configured(*arguments), name) == value


def test_what_is_no_list_of_numbers_is_refused() -> None:
    with pytest.raises(TraitError):
        configured("local_model_ports=http")


def test_the_environment_takes_the_same() -> None:
    owner = AgentTraits()
    complaints: list[Any] = []
    environ = {"DATALAYER_AGENT_LOCKED": "model,outputs", "DATALAYER_AGENT_LOCAL_MODEL_PORTS": "1"}
    from_environment(owner, owner.traits(), set(), lambda *each: complaints.append(each), environ)
    assert (owner.locked, owner.local_model_ports) == (["model", "outputs"], [1])
    assert complaints == []
