"""``prompts``: one for each workflow, and one for each service with its background knowledge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...protocol.workflows import WorkflowInfo
from ...services.service import Service
from .rpc import INVALID_PARAMS, Method, Params, Peer, RpcError

if TYPE_CHECKING:
    from ...workflows.templates.catalogue import TemplateCatalogue


# What a prompt is.


Message = dict[str, Any]


@dataclass(frozen=True)
class Argument:
    """A prompt's argument; programs give it as text."""

    name: str
    description: str
    required: bool = False


@dataclass(frozen=True)
class Prompt:
    """A message that a user of the program can send, made from arguments."""

    name: str
    title: str
    description: str
    arguments: Sequence[Argument]
    messages: Callable[[dict[str, str]], list[Message]]

    def listed(self) -> dict[str, Any]:
        """The prompt in the protocol's form."""
        arguments = [
            {"name": each.name, "description": each.description, "required": each.required}
            for each in self.arguments
        ]
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "arguments": arguments,
        }


def from_user(text: str) -> list[Message]:
    """One message from the user."""
    return [{"role": "user", "content": {"type": "text", "text": text}}]


# ``prompts/list`` and ``prompts/get``.


class PromptMethods:
    """``prompts`` yields all prompts. Of several with one name, the first counts."""

    def __init__(self, prompts: Callable[[], Iterable[Prompt]]) -> None:
        self._prompts = prompts

    def methods(self) -> dict[str, Method]:
        """The methods by name."""
        return {"prompts/list": self.list, "prompts/get": self.get}

    async def list(self, peer: Peer, params: Params) -> dict[str, Any]:
        """All prompts."""
        return {"prompts": [prompt.listed() for prompt in self._by_name().values()]}

    async def get(self, peer: Peer, params: Params) -> dict[str, Any]:
        """One prompt's messages."""
        prompt = self._by_name().get(str(params["name"]))
        if prompt is None:
            raise RpcError(INVALID_PARAMS, f"Unknown prompt: {params['name']}. See prompts/list.")
        given = {str(name): str(value) for name, value in (params.get("arguments") or {}).items()}
        missing = [
            each.name for each in prompt.arguments if each.required and each.name not in given
        ]
        if missing:
            raise RpcError(INVALID_PARAMS, f"{prompt.name} needs {', '.join(missing)}.")
        return {"description": prompt.description, "messages": prompt.messages(given)}

    def _by_name(self) -> dict[str, Prompt]:
        by_name: dict[str, Prompt] = {}
        for prompt in self._prompts():
            by_name.setdefault(prompt.name, prompt)
        return by_name


# A prompt for each service: a question about its area, with the agent's knowledge of it.


def service_prompts(services: Iterable[Service]) -> Iterator[Prompt]:
    """The prompts of all services."""
    for service in services:
        yield _service_prompt(service)


def _service_prompt(service: Service) -> Prompt:
    def messages(given: dict[str, str]) -> list[Message]:
        config = service.config
        links = "\n".join(f"- {link.title}: {link.url}" for link in config.links)
        question = given.get("question") or f"What can I do here, and how do I begin? ({examples})"
        parts = [
            question,
            f"This is about {service.name} in Jupyter: {service.description}\n\n{config.context}",
            f"Read more:\n{links}" if links else "",
            "Use this server's tools where they help. Say what you cannot answer from this.",
        ]
        return from_user("\n\n".join(part for part in parts if part))

    examples = "; ".join(service.examples[:3])
    question = Argument("question", f"What you want to know or do, for example: {examples}")
    return Prompt(service.id, service.name, service.description, [question], messages)


# A prompt for each workflow: its steps, for the program's model to carry out with our tools.


def workflow_prompts(catalogue: TemplateCatalogue) -> Iterator[Prompt]:
    """The prompts of all workflows."""
    for info in catalogue.infos():
        yield _workflow_prompt(info)


def _workflow_prompt(info: WorkflowInfo) -> Prompt:
    required = info.parameters.get("required", [])
    arguments = [
        Argument(name, str(schema.get("description", schema.get("title", name))), name in required)
        for name, schema in info.parameters.get("properties", {}).items()
    ]

    def messages(given: dict[str, str]) -> list[Message]:
        steps = "\n".join(f"{number}. {step}" for number, step in enumerate(info.steps, 1))
        values = "\n".join(f"- {name}: {value}" for name, value in given.items() if value)
        return from_user(
            f"Carry out the workflow “{info.name}” in a Jupyter notebook, with the tools of this "
            f"server. {info.description}\n\nSteps:\n{steps}\n\n"
            f"Parameters:\n{values or '- none given: choose sensible ones'}\n\n"
            "If no notebook is named, create one with createNotebook. Write each step as Markdown "
            "and code cells, run them, and check the results before the next step. Report only "
            "numbers that are in the outputs."
        )

    return Prompt(info.id, info.name, info.description, arguments, messages)
