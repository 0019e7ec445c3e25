"""``/jupyterlab``: theme, layout, documents, search, settings, font sizes, and running."""

from __future__ import annotations

from ...service import Link, Service, ServiceConfig
from .actions import ChangeLayout, ChangeTheme, Find, OpenFile, OpenSettings, Zoom
from .running import Interrupt, RestartAndRunAll, RunAll, RunSelected

_CONTEXT = """
# Theme
JupyterLab has a light theme, a dark one and a dark one with high contrast. Others are extensions.

# Layout
The sidebars are left and right. In single-document mode one document is shown at a time; several
tabs can be placed beside each other in multiple-document mode.

# Find
The search (Ctrl+F, or Cmd+F) finds text in the active document, with replacement; in a notebook it
can also search outputs.

# Settings
The settings editor has the settings of each extension, and the keyboard shortcuts. Ctrl+Shift+C (or
Cmd+Shift+C) opens the command palette, with all commands.

# Font sizes
Code, text and the interface have font sizes of their own.

# Running
The Run menu runs all cells, the selected ones, or restarts the kernel and runs all, which begins
without variables. The Kernel menu interrupts what runs; variables are kept then.
"""

SERVICE = Service(
    id="jupyterlab",
    name="JupyterLab",
    description="Change JupyterLab's theme, layout, font sizes and settings; find files.",
    config=ServiceConfig(
        context=_CONTEXT,
        links=[Link("JupyterLab", "https://jupyterlab.readthedocs.io/")],
        topics=["theme", "dark mode", "sidebar", "layout", "settings", "zoom", "JupyterLab"],
        not_topics=[
            *("plot", "chart", "figure", "legend", "axis", "axes", "seaborn", "matplotlib", "bar"),
            *(
                "data",
                "column",
                "row",
                "rows",
                "value",
                "missing",
                "outlier",
                "document",
                "label",
                "kernel",
            ),
        ],
        questions=["Is it for this document only, or for all of JupyterLab?"],
    ),
    examples=[
        "Switch JupyterLab to the dark theme",
        "Hide the left sidebar",
        "How do I change a keyboard shortcut?",
    ],
    actions=[
        *(ChangeTheme, ChangeLayout, OpenFile, Find, OpenSettings, Zoom),
        *(RunAll, RunSelected, RestartAndRunAll, Interrupt),
    ],
)
