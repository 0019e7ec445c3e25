"""``/lexical``: notebooks as Lexical documents, and back."""

from __future__ import annotations

from ...service import Link, Service, ServiceConfig
from .actions import FromLexical, ToLexical

_CONTEXT = """
# What a Lexical document is
A Lexical document (.dlex or .lexical) is a report of blocks: text, lists, tables, images, equations
and code that runs. It is made with "New Lexical Document" in the launcher, or by the agent.

# Export
A Lexical document is written as a notebook, as Markdown or as HTML, beside it or where you say,
and never in place of another file. Text, code and outputs are kept (Markdown has no outputs); what
Markdown cannot say, as colours and unknown blocks, is not in the export. Nothing is run for it.

# From a notebook
A notebook is written as a Lexical document with its text, code, outputs and attached pictures.
"""

SERVICE = Service(
    id="lexical",
    name="Lexical documents",
    description="Notebooks as Lexical documents, and these as notebooks, Markdown or HTML.",
    config=ServiceConfig(
        context=_CONTEXT,
        links=[Link("Lexical", "https://lexical.dev/")],
        topics=["Lexical", "dlex"],
        questions=["Who reads it: somebody with Jupyter, or with a browser only?"],
    ),
    examples=["Export report.dlex as HTML", "What is a Lexical document?"],
    actions=[ToLexical, FromLexical],
    by_command=True,
)
