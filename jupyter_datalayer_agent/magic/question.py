"""A prompt that ends with a question mark is a prompt.

IPython takes a line that ends with one for a request for help on its last word.
"""

from __future__ import annotations

import re

_QUESTION = re.compile(r"^(\s*)%agent[ \t]+(?!\?)(\S.*\?)\s*$")


def keep_questions(lines: list[str]) -> list[str]:
    """IPython's input with such lines written as the calls that they are to become."""
    if lines and lines[0].startswith("%%"):
        return lines
    return [_call(line) for line in lines]


def _call(line: str) -> str:
    found = _QUESTION.match(line)
    if found is None:
        return line
    indent, prompt = found.groups()
    return f"{indent}get_ipython().run_line_magic('agent', {prompt!r})\n"
