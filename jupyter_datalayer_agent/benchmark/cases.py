"""All cases of the services that are installed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..services.benchmarks import Case, Expect, builtin_cases
from ..services.service import Service

ORDINARY = "ordinary"
SENTENCES = "sentences"
FILES = ("cars.ipynb", "sales.parquet", "customers.csv", "orders.csv")
"""The files of each ordinary sentence."""


def cases_of(service: Service) -> Sequence[Case]:
    """The cases of a service: its own, else those that are here."""
    return builtin_cases(service.id) if service.cases is None else service.cases()


def ordinary_cases() -> list[Case]:
    """A case for each message of ``ordinary.yaml``, none of which is for a service."""
    return [
        Case(f"ordinary-{number}", message, Expect(), kind="ordinary")
        for number, message in enumerate(_read("ordinary.yaml"), 1)
    ]


def sentence_cases() -> list[Case]:
    """A case for each of the ordinary sentences of ``sentences.yaml``, for which nobody tuned a
    service; its kind is its language."""
    return [
        Case(f"{language}-{number}", sentence, _expected(right), language, files=FILES)
        for language, sentences in _read("sentences.yaml").items()
        for number, (right, sentence) in enumerate(sentences, 1)
    ]


def _expected(right: str) -> Expect:
    """Of ``service.action``; nothing of ``ordinary``."""
    service, _, action = right.partition(".")
    return Expect(service, action) if action else Expect()


def _read(name: str) -> Any:
    import yaml

    return yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def all_cases(services: Iterable[Service]) -> list[tuple[str, Case]]:
    """Each case with the service that it belongs to."""
    own = [(service.id, case) for service in services for case in cases_of(service)]
    return [
        *own,
        *((ORDINARY, case) for case in ordinary_cases()),
        *((SENTENCES, case) for case in sentence_cases()),
    ]
