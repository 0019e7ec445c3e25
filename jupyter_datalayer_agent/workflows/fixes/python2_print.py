"""Python 2's print statement as the function that it became."""

from __future__ import annotations

import re

_PRINT = re.compile(r"^(\s*)(?!\s)((?:[^#\"'\n]*[:;]\s*)?)print\b(?!\s*[(=.,)\]])[ \t]*(.*)$")
_TO_FILE = re.compile(r"^>>\s*([\w.]+)\s*,?\s*(.*)$")


def with_print_function(source: str) -> str:
    """The source with every print statement rewritten, also in multi-line strings, which parsing
    the result then detects."""
    return "\n".join(_line(line) for line in source.split("\n"))


def _line(line: str) -> str:
    match = _PRINT.match(line)
    if match is None:
        return line
    indent, before, rest = match.groups()
    rest, after = _statement_end(rest)
    arguments = rest.rstrip()
    extra = ""
    if to_file := _TO_FILE.match(arguments):
        arguments, extra = to_file[2], f", file={to_file[1]}"
    if arguments.endswith(","):
        arguments, extra = arguments[:-1].rstrip(), f'{extra}, end=" "'
    if not arguments:
        extra = extra.removeprefix(", ")
    return f"{indent}{before}print({arguments}{extra}){after}"


def _statement_end(rest: str) -> tuple[str, str]:
    """The statement, and what follows it in its line: a comment, or ``; x = 1``."""
    quote = ""
    at = 0
    while at < len(rest):
        char = rest[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "\"'":
            quote = char
        elif char in "#;":
            code = rest[:at].rstrip()
            return code, rest[len(code) :]
        at += 1
    return rest, ""
