"""Ordinary sentences that nobody tuned a service for: is each taken for what it asks?"""

from __future__ import annotations

from pathlib import Path

from ..services.benchmarks import Case, Expect

FILE = Path(__file__).with_name("sentences.yaml")
FILES = ("cars.ipynb", "sales.parquet", "customers.csv", "orders.csv")
"""The files of each case."""


def sentence_cases() -> list[Case]:
    """A case for each sentence of ``sentences.yaml``; its kind is its language."""
    import yaml

    languages = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return [
        Case(f"{language}-{number}", sentence, _expected(right), language, files=FILES)
        for language, sentences in languages.items()
        for number, (right, sentence) in enumerate(sentences, 1)
    ]


def _expected(right: str) -> Expect:
    """Of ``service.action``; nothing of ``ordinary``."""
    service, _, action = right.partition(".")
    return Expect(service, action) if action else Expect()
