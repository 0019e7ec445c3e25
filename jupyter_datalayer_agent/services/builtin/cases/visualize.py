"""Benchmark cases of ``/visualize``."""

from __future__ import annotations

from .workflow import of_workflow

CASES = of_workflow(
    "visualize",
    "charts",
    "draw charts of",
    misspelt="darw chrats of",
    german="zeichne Diagramme von",
    french="dessine des graphiques de",
    learn=["how are groups compared?", "what is drawn?"],
    ideas="which chart should I use for two numbers?",
    ordinary=["Plot mpg against weight", "Draw a histogram of mpg", "Make the legend bigger"],
)
