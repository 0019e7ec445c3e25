"""Benchmark cases of ``/report``."""

from __future__ import annotations

from .workflow import of_workflow

CASES = of_workflow(
    "report",
    "write",
    "write a report of",
    misspelt="wriet a reprot of",
    german="schreibe einen Bericht zu",
    french="ecris un rapport de",
    learn=["what belongs into a report?", "how can a report be run again?"],
    ideas="ideas for a better report",
    ordinary=[
        "Summarise this notebook",
        "Write a conclusion below the plot",
        "What does this report say?",
    ],
)
