"""The phase of the moon: a tool, a workflow, a service and a model provider."""

import datetime
import os

from pydantic import BaseModel, Field

from jupyter_datalayer_agent.models import types as model
from jupyter_datalayer_agent.protocol.base import Wire
from jupyter_datalayer_agent.protocol.requests import Usage
from jupyter_datalayer_agent.services.action import Action, ActionResult, parameter
from jupyter_datalayer_agent.services.service import Service, ServiceConfig
from jupyter_datalayer_agent.tools.registry import ToolOutcome, tool
from jupyter_datalayer_agent.workflows.template import Template, TemplateStep


def phase_on(day: str) -> float:
    """From 0 (new moon) by 0.5 (full moon) to 1."""
    return (datetime.date.fromisoformat(day) - datetime.date(2000, 1, 6)).days / 29.530588 % 1


class Day(Wire):
    day: str = Field(default="2026-11-24", description="YYYY-MM-DD")


@tool(Day, group="astronomy", label=("Look at the moon", "Looking at the moon"), parallel=True)
async def moon_phase(arguments, context):
    """Return the phase of the moon on a day: 0 is new, 0.5 is full."""
    phase = round(phase_on(arguments.day), 2)
    bundle = {"application/vnd.moon-phase+json": {"phase": phase}, "text/plain": f"Phase {phase}"}
    return ToolOutcome({"phase": phase}, f"The moon on {arguments.day}", mime_bundle=bundle)


async def write(run):
    await run.markdown(f"The moon on {run.parameters.day}")
    await run.code(f"print('phase', {phase_on(run.parameters.day):.2f})")


TEMPLATE = Template(
    id="moon-diary",
    name="Moon diary",
    description="Write the phase of the moon into a notebook.",
    parameters=Day,
    steps=lambda parameters: [TemplateStep("Write the phase", write)],
    keywords=("moon diary",),
    notebook="moon.ipynb",
)


class Tell(Action):
    id, title, description = "tell", "Tell the phase", "Tells the phase of the moon on a day."
    examples = ("What does the moon look like on 2026-11-24?",)

    class Parameters(BaseModel):
        day: str = parameter("2026-11-24", title="Day")

    async def execute(self, parameters, progress):
        return ActionResult(f"The phase on {parameters.day} is {phase_on(parameters.day):.2f}.")


SERVICE = Service(
    id="moon",
    name="Moon",
    description="The phase of the moon.",
    actions=[Tell],
    config=ServiceConfig("A lunar month has 29.53 days."),
    examples=["Which phase has the moon?"],
)


class MoonModel:
    """Calls `moonPhase`, then says what it returned. A real one would call its server here."""

    async def stream(self, request):
        yield model.StreamStarted()
        last = request.input[-1]
        if last.get("type") == "function_call_output" or not request.tools:
            text = f"The tool said: {last.get('output', 'nothing')}"
            yield model.TextChunk("text", text)
            content = [{"type": "output_text", "text": text}]
            item = {"type": "message", "role": "assistant", "content": content, "id": "text"}
        else:
            call = {"name": "moonPhase", "arguments": '{"day": "2026-11-24"}'}
            item = {
                "type": "function_call",
                "id": "call",
                "call_id": str(len(request.input)),
                **call,
            }
        yield model.ItemDone(item["id"], item)
        yield model.ResponseDone((item,), Usage(input_tokens=1, output_tokens=1, total_tokens=2))


def readiness():
    if os.environ.get("MOON_KEY"):
        return model.Readiness(True)
    return model.Readiness(False, "MOON_KEY is not set.", "Set it and restart JupyterLab.")


PROVIDER = model.ModelProvider(
    "Moon", [model.CatalogueModel("full", "Full Moon", 100_000)], MoonModel, readiness, True
)
