"""A server extension of the tests: the tools, resources and prompts that the MCP conformance suite
calls by name. The tools are added as those of other packages are; the product has no such way for
resources and prompts, so its two lists of these are extended in place."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any

from jupyter_datalayer_agent.protocol.base import Wire
from jupyter_datalayer_agent.server.mcp import offer
from jupyter_datalayer_agent.server.mcp.prompts import Argument, Message, Prompt, from_user
from jupyter_datalayer_agent.server.mcp.rpc import Peer
from jupyter_datalayer_agent.tools import builtin
from jupyter_datalayer_agent.tools.context import ToolContext, ToolFailure
from jupyter_datalayer_agent.tools.registry import Image, ToolOutcome, ToolRegistry, tool

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5E"
    "rkJggg=="
)


class Nothing(Wire):
    """No arguments."""


class Question(Wire):
    """What to ask."""

    message: str


@tool(Nothing, group="conversation", name="test_simple_text")
async def simple_text(args: Nothing, context: ToolContext) -> ToolOutcome:
    """A text."""
    return ToolOutcome("This is a simple text response for testing.", "A text")


@tool(Nothing, group="conversation", name="test_image_content")
async def image_content(args: Nothing, context: ToolContext) -> ToolOutcome:
    """A picture."""
    return ToolOutcome("A picture.", "A picture", images=[Image("image/png", PIXEL)])


@tool(Nothing, group="conversation", name="test_error_handling")
async def error_handling(args: Nothing, context: ToolContext) -> ToolOutcome:
    """An error."""
    raise ToolFailure("internal", "This tool intentionally returns an error for testing")


async def three_steps(args: Nothing, context: ToolContext) -> ToolOutcome:
    """Three steps."""
    for step in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.status(step)
        await asyncio.sleep(0.05)
    return ToolOutcome("Done.", "Done")


@tool(Question, group="conversation", name="test_elicitation")
async def elicitation(args: Question, context: ToolContext) -> ToolOutcome:
    """A question."""
    return ToolOutcome(f"User response: {await context.ask(args.message, None)}", "Asked")


TOOLS = [
    simple_text,
    image_content,
    error_handling,
    elicitation,
    tool(Nothing, group="conversation", name="test_tool_with_logging")(three_steps),
    tool(Nothing, group="conversation", name="test_tool_with_progress")(three_steps),
]


class Fixtures:
    """The resources of the suite."""

    prefix = "test://"
    templates: Sequence[dict[str, Any]] = (
        {"uriTemplate": "test://template/{id}/data", "name": "template"},
    )

    async def listed(self) -> list[dict[str, Any]]:
        return [{"uri": f"test://{each}", "name": each} for each in ("static-text",)]

    async def read(self, name: str, peer: Peer) -> list[dict[str, Any]]:
        if name == "static-binary":
            return [{"mimeType": "image/png", "blob": PIXEL}]
        if name.startswith("template/"):
            return [
                {"mimeType": "application/json", "text": json.dumps({"id": name.split("/")[1]})}
            ]
        return [{"mimeType": "text/plain", "text": "The content of the static text resource."}]

    async def fingerprint(self, name: str) -> str:
        return name

    async def complete(self, variable: str) -> list[str]:
        return []


def picture(given: dict[str, str]) -> list[Message]:
    image = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
    return [{"role": "user", "content": image}, *from_user("Please analyze the image above.")]


def embedded(given: dict[str, str]) -> list[Message]:
    resource = {"uri": given["resourceUri"], "mimeType": "text/plain", "text": "Embedded."}
    content = {"type": "resource", "resource": resource}
    return [{"role": "user", "content": content}, *from_user("Please process it.")]


PROMPTS = [
    Prompt("test_simple_prompt", "Simple", "A text.", [], lambda given: from_user("Simple.")),
    Prompt(
        "test_prompt_with_arguments",
        "Arguments",
        "With arguments.",
        [Argument("arg1", "The first.", True), Argument("arg2", "The second.", True)],
        lambda given: from_user(f"arg1='{given['arg1']}', arg2='{given['arg2']}'"),
    ),
    Prompt(
        "test_prompt_with_embedded_resource",
        "Resource",
        "With a resource.",
        [Argument("resourceUri", "Which.", True)],
        embedded,
    ),
    Prompt("test_prompt_with_image", "Picture", "With a picture.", [], picture),
]


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "tests.support.mcp.conformance"}]


def _load_jupyter_server_extension(app: Any) -> None:
    make_registry, kinds, prompts = builtin.builtin_registry, offer.resource_kinds, offer.prompts

    def registry() -> ToolRegistry:
        made = make_registry()
        for each in TOOLS:
            made.add(each)
        return made

    def with_prompts(runtime: Any) -> Iterator[Prompt]:
        yield from prompts(runtime)
        yield from PROMPTS

    # The server's modules are those of this process alone.
    builtin.builtin_registry = registry
    offer.resource_kinds = lambda *given: [*kinds(*given), Fixtures()]
    offer.prompts = with_prompts
