"""The passages of a service's config that are nearest to a question, each with where it is from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby

from ..tools.ranking import Ranking
from .service import Service

MOST_PASSAGES = 3
# "[1]", and not the text of a link.
_CITED = re.compile(r"\[(\d+)\](?!\()")


@dataclass(frozen=True)
class Passage:
    """A paragraph of a config; ``heading`` is the one above it."""

    number: int
    heading: str
    text: str


def passages(service: Service) -> list[Passage]:
    """The config's paragraphs, numbered from 1."""
    found: list[Passage] = []
    heading = service.name
    for block in re.split(r"\n\s*\n", service.config.context.strip()):
        lines = block.strip().splitlines()
        while lines and (match := re.match(r"#+\s+(.*)", lines[0])):
            heading = match[1].strip()
            lines = lines[1:]
        if lines:
            found.append(Passage(len(found) + 1, heading, "\n".join(lines).strip()))
    return found


def best_passages(service: Service, question: str) -> list[Passage]:
    """Those nearest to the question; the first ones where none has anything to do with it."""
    every = passages(service)
    texts = {str(each.number): f"{each.heading} {each.text}" for each in every}
    ranked = [int(each.key) for each in Ranking(texts).rank(question)][:MOST_PASSAGES]
    return [each for each in every if each.number in ranked] or every[:MOST_PASSAGES]


def passages_text(service: Service, question: str) -> str:
    """The passages nearest to a question, in Markdown."""
    parts = []
    for heading, found in groupby(best_passages(service, question), lambda each: each.heading):
        parts += [f"**{heading}**", *(each.text for each in found)]
    return "\n\n".join(parts)


def with_sources(answer: str, service: Service, question: str) -> str:
    """An answer that names passages as [1], with a line for each that it names. Numbers of passages
    that there are not are taken out. One that names none is followed by those nearest to the
    ``question``."""
    known = {each.number: each for each in passages(service)}
    named = [int(number) for number in _CITED.findall(answer)]
    for number in set(named) - known.keys():
        answer = re.sub(rf"\s?\[{number}\](?!\()", "", answer)
    sources = [
        f"- [{number}] {service.name}, {known[number].heading}"
        for number in sorted(set(named) & known.keys())
    ]
    if sources:
        return "\n".join([answer, "", *sources])
    found = passages_text(service, question)
    if not found:
        return answer
    return f"{answer}\n\n*The model named no source. What {service.name} knows:*\n\n{found}"
