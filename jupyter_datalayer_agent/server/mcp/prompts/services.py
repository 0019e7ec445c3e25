"""A prompt for each service: a question about its area, with what the agent knows about that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ....services.service import Service
from .kind import Argument, Message, Prompt, from_user


def service_prompts(services: Iterable[Service]) -> Iterator[Prompt]:
    """All of them."""
    for service in services:
        yield _prompt(service)


def _prompt(service: Service) -> Prompt:
    def messages(given: dict[str, str]) -> list[Message]:
        config = service.config
        links = "\n".join(f"- {link.title}: {link.url}" for link in config.links)
        question = given.get("question") or f"What can I do here, and how do I begin? ({examples})"
        parts = [
            question,
            f"This is about {service.name} in Jupyter: {service.description}\n\n{config.context}",
            f"Read more:\n{links}" if links else "",
            "Act with the tools of this server where that helps. Say what is not known from this.",
        ]
        return from_user("\n\n".join(part for part in parts if part))

    examples = "; ".join(service.examples[:3])
    question = Argument("question", f"What you want to know or do, for example: {examples}")
    return Prompt(service.id, service.name, service.description, [question], messages)
