"""The fixed part of a request: what it says, pinned, and what it costs."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import get_args

import pytest

from jupyter_datalayer_agent.agent.context.system_prompt import parse_prompt, prompts, system_prompt
from jupyter_datalayer_agent.protocol.base import Location, Mode
from jupyter_datalayer_agent.tools.builtin import builtin_registry
from jupyter_datalayer_agent.tools.gate import Gate
from tests.support.tokens import count

SNAPSHOTS = Path(__file__).parent / "snapshots"
LIMITS: dict[Mode, int] = {"ask": 1_620, "edit": 1_620, "agent": 3_070}
"""What it took before there were file tools: a new tool pays for itself by shorter words."""
SHORT_LIMIT = 1_500


def pinned(name: str, text: str) -> str:
    """The pinned text; written anew with ``UPDATE_SNAPSHOTS`` set, for a change that is meant."""
    path = SNAPSHOTS / name
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("mode", get_args(Mode))
def test_the_fixed_part_does_not_grow(mode: Mode) -> None:
    gate = Gate.on("a.ipynb", mode)
    tools = [tool.schema() for tool in gate.allowed(builtin_registry())]
    tokens = count(system_prompt(mode, gate.notebook_mode)) + count(json.dumps(tools))
    print(f"fixed part of a request in {mode} mode: {tokens} tokens, {len(tools)} tools")
    assert tokens < LIMITS[mode]


@pytest.mark.parametrize(
    "gate",
    [
        Gate.on("a.dlex"),
        Gate("agent", attached=frozenset(["a.ipynb"]), active="a.ipynb", created=["b.dlex"]),
    ],
    ids=["a Lexical document", "a notebook and a Lexical document"],
)
def test_with_the_tools_for_blocks_the_fixed_part_stays_under_4000_tokens(gate: Gate) -> None:
    tools = [tool.schema() for tool in gate.sent(builtin_registry(), with_blocks=True)]
    tokens = count(system_prompt("agent", gate.notebook_mode)) + count(json.dumps(tools))
    print(f"fixed part with blocks: {tokens} tokens, {len(tools)} tools")
    assert tokens < 4_000


@pytest.mark.parametrize("mode", get_args(Mode))
@pytest.mark.parametrize("location", ["panel", "inline"])
@pytest.mark.parametrize("target", [None, "a.ipynb"])
def test_the_fixed_part_for_a_small_window_stays_under_1500_tokens(
    mode: Mode, location: Location, target: str | None
) -> None:
    gate = Gate.on(target, mode)
    gate.location = location
    tools = [tool.schema() for tool in gate.allowed(builtin_registry()) if tool.basic]
    prompt = system_prompt(mode, gate.notebook_mode, location=location, is_short=True)
    tokens = count(prompt) + count(json.dumps(tools))
    print(f"short fixed part, {mode}, {location}: {tokens} tokens, {len(tools)} tools")
    assert tokens < SHORT_LIMIT
    assert tokens < count(system_prompt(mode, gate.notebook_mode, location=location)) + count(
        json.dumps([tool.schema() for tool in gate.allowed(builtin_registry())])
    )
    # It names no tool that is not sent, and says how to use each that works on the notebook.
    assert named(prompt) <= {str(tool["name"]) for tool in tools}
    if gate.notebook_mode == "full":
        of_notebook = {tool.name for tool in builtin_registry() if tool.group == "notebook"}
        assert {str(tool["name"]) for tool in tools} & of_notebook <= named(prompt)


def test_tool_schemas_are_as_pinned() -> None:
    text = json.dumps([tool.schema() for tool in builtin_registry()], indent=2) + "\n"
    assert text == pinned("tools.json", text)


@pytest.mark.parametrize(
    ("mode", "notebook_mode"),
    [("ask", "off"), ("ask", "read-only"), ("edit", "read-only"), ("agent", "off"),
     ("agent", "full"), ("agent", "read-only")],
)  # fmt: skip
def test_system_prompts_are_as_pinned(mode: Mode, notebook_mode: str) -> None:
    text = system_prompt(mode, notebook_mode) + "\n"  # type: ignore[arg-type]
    assert text == pinned(f"prompt-{mode}-{notebook_mode}.md", text)


@pytest.mark.parametrize(
    ("mode", "notebook_mode"),
    [("ask", "off"), ("ask", "read-only"), ("edit", "read-only"), ("agent", "off"),
     ("agent", "full"), ("agent", "read-only")],
)  # fmt: skip
def test_short_system_prompts_are_as_pinned(mode: Mode, notebook_mode: str) -> None:
    text = system_prompt(mode, notebook_mode, is_short=True) + "\n"  # type: ignore[arg-type]
    assert text == pinned(f"short-prompt-{mode}-{notebook_mode}.md", text)


def named(text: str) -> set[str]:
    """The tools that a text names."""
    words = re.findall(r"\b[a-z]+(?:[A-Z][a-z]+)+\b", text)
    return {word for word in words if builtin_registry().find(word)}


@pytest.mark.parametrize(
    ("mode", "location"),
    [("ask", "panel"), ("edit", "panel"), ("agent", "panel"), ("agent", "inline")],
)
@pytest.mark.parametrize("target", [None, "a.ipynb"])
def test_a_prompt_names_no_tool_that_its_mode_has_not_and_all_for_the_notebook(
    mode: Mode, location: Location, target: str | None
) -> None:
    gate = Gate.on(target, mode)
    gate.location = location
    allowed = gate.allowed(builtin_registry())
    said = named(system_prompt(mode, gate.notebook_mode, location=location))
    assert said <= {tool.name for tool in allowed}
    assert {tool.name for tool in allowed if tool.group == "notebook"} <= said


def test_every_mode_has_a_prompt_of_its_own() -> None:
    for mode in get_args(Mode):
        for is_short in (False, True):
            assert any(
                prompt.modes == (mode,) and prompt.order == 20 and prompt.is_short == is_short
                for prompt in prompts()
            )


def test_the_users_own_instructions_come_last() -> None:
    assert system_prompt("ask", "off", "Always use polars.").endswith("Always use polars.")


def test_of_long_instructions_of_the_user_a_small_window_gets_the_beginning() -> None:
    short = system_prompt("ask", "off", "Always use polars. " * 1000, is_short=True)
    assert short.endswith("[The rest is left out.]")
    assert len(short) < 4000
    assert system_prompt("ask", "off", "Always use polars.", is_short=True).endswith("use polars.")


def test_a_prompt_without_front_matter_names_its_file() -> None:
    with pytest.raises(ValueError, match=r"mine\.md.*front matter"):
        parse_prompt("mine.md", "Just text")
