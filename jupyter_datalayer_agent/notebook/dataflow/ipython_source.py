"""A cell's source as plain Python, with magics and shell lines replaced, line by line.

The server must not load IPython for this (it belongs to the kernel's environment, and takes 0.3 s
to import), so this implements the forms that IPython documents:
https://ipython.readthedocs.io/en/stable/interactive/magics.html. Names that a magic reads
(``{name}``, ``$name``) are kept as uses; what it assigns to is kept as an assignment.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

from ..paths import name_set

# Their body is Python that runs in the notebook's own namespace.
_PYTHON_CELL_MAGICS = frozenset({"time", "timeit", "capture", "prun", "memit", "mprun"})
# Their body does not run in the notebook's namespace.
_OTHER_CELL_MAGICS = name_set(
    "! HTML SVG bash cmd file html javascript js latex markdown perl pypy python python2 python3 "
    "ruby script sh svg sx system writefile"
)
_STATEMENT_MAGICS = frozenset({"time", "timeit", "prun", "memit", "lprun"})
# They define names that the source does not show.
_STAR_MAGICS = frozenset({"run", "pylab", "load", "store"})
STAR = "from __magic__ import *"

_CELL_MAGIC = re.compile(r"\s*%%(!|[\w.]+)[ \t]*([^\n]*)")
_TARGET = re.compile(r"[\w.,\s\[\]'\"*()]+")
_LINE = re.compile(r"^(\s*)(!!?|%)(.*)$")
_HELP = re.compile(r"^(\s*)(\?{1,2}.*|[\w.*%]+\?{1,2})\s*(#.*)?$")
_BARE_COMMAND = re.compile(
    r"^(\s*)(pip3?|conda|mamba|cd|ls|pwd|cat|rm|mv|cp|mkdir)(\s+[^=(.\s].*)?$"
)
_SIGNIFICANT = re.compile(r"[\"'#\\()\[\]{}]")
_READ = re.compile(r"\{([A-Za-z_]\w*)|\$\{?([A-Za-z_]\w*)")
_OPTION = re.compile(r"(?:^|\s)-\S*(?:\s+\d+)?")


class NotPython(Exception):
    """The cell is not Python of the notebook's namespace (``%%bash``, ``%%html``)."""


@dataclass(frozen=True)
class Command:
    """A line, or a cell, of IPython's own syntax.

    ``magic`` is ``!``, ``%name``, ``%%name``, or empty for a command without a sign (``pip install
    x``); ``text`` what follows it, and ``body`` the rest of the cell of a cell magic.
    """

    line: int
    magic: str
    text: str
    body: str = ""


def parse_cell(source: str) -> ast.Module:
    """The syntax tree. Raises ``SyntaxError``, and ``NotPython`` for cells in other languages."""
    try:
        return _parse(source)
    except SyntaxError:
        return _parse(plain_python(source))


def _parse(source: str) -> ast.Module:
    with warnings.catch_warnings():
        # Warnings about a user's code do not belong in the server's log.
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error)) from error


def plain_python(source: str) -> str:
    """The source with IPython's own syntax replaced, as many lines as before.

    Raises ``NotPython`` if a cell magic passes the body to another language.
    """
    cell_magic = _CELL_MAGIC.match(source)
    if cell_magic is None:
        return _lines(_dedented(source))
    name, rest = cell_magic[1], cell_magic[2]
    above, _, body = source.partition("\n")
    while not above.strip():
        above, _, body = body.partition("\n")
    if name in _OTHER_CELL_MAGICS:
        raise NotPython(name)
    if name not in _PYTHON_CELL_MAGICS:
        raise SyntaxError(f"%%{name} is not known")
    first = "pass"
    if name == "capture" and (words := [w for w in rest.split() if not w.startswith("-")]):
        first = f"{words[0]} = None"
    elif name in _STATEMENT_MAGICS:
        first = _statement(rest)
    return f"{first}\n{_lines(body)}"


def split_commands(source: str) -> tuple[str, list[Command]]:
    """The Python in a cell, line for line, and the commands in it, in order.

    The body of a cell magic that is not known to contain Python is only in its command.
    """
    commands: list[Command] = []
    cell_magic = _CELL_MAGIC.match(source)
    if cell_magic is None:
        return _lines(_dedented(source), commands), commands
    name, rest = cell_magic[1], cell_magic[2].strip()
    above = source.count("\n", 0, cell_magic.end())
    body = source[cell_magic.end() :].removeprefix("\n")
    if name not in _PYTHON_CELL_MAGICS:
        return "", [Command(above + 1, f"%%{name}", rest, body)]
    first = _statement(rest) if name in _STATEMENT_MAGICS else "pass"
    return _lines("\n" * above + f"{first}\n{body}", commands), commands


def _dedented(source: str) -> str:
    """IPython runs a cell that is indented as a whole."""
    first = next((line for line in source.splitlines() if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip())]
    if not indent:
        return source
    return "\n".join(line.removeprefix(indent) for line in source.split("\n"))


def _lines(source: str, commands: list[Command] | None = None) -> str:
    """``source`` with what is not Python replaced; the commands in it are added to ``commands``."""
    out = []
    state = _State()
    # The lines so far of a command that continues, and the number of its first.
    begun: list[str] = []
    first = 0
    for number, line in enumerate(source.split("\n"), start=1):
        if begun:
            out.append("")
            begun.append(line)
        else:
            replaced = _replace(line) if state.at_start else None
            if replaced is None:
                state.feed(line)
                out.append(line)
                continue
            out.append(replaced)
            begun, first = [line], number
        if not line.endswith("\\"):
            _note(begun, first, commands)
            begun = []
    _note(begun, first, commands)
    return "\n".join(out)


def _note(lines: list[str], number: int, commands: list[Command] | None) -> None:
    if not lines or commands is None:
        return
    line = " ".join(each.rstrip("\\").strip() for each in lines)
    if assigned := _assigned(line):
        line = assigned[1]
    if (match := _LINE.match(line)) is None:
        if _BARE_COMMAND.match(line):
            commands.append(Command(number, "", line))
        return
    if match[2] != "%":
        commands.append(Command(number, "!", match[3].strip()))
        return
    name, _, text = match[3].strip().partition(" ")
    if name not in _STATEMENT_MAGICS:
        commands.append(Command(number, f"%{name}", text.strip()))
    elif (statement := _OPTION.sub("", text).strip()).startswith("!"):
        commands.append(Command(number, "!", statement.lstrip("!")))


def _replace(line: str) -> str | None:
    """The Python for a line of IPython's own syntax; None for a line of Python."""
    if assigned := _assigned(line):
        return f"{assigned[0]} = {_reads(assigned[1])}"
    if match := _LINE.match(line):
        indent, sign, rest = match[1], match[2], match[3]
        if sign != "%":
            return indent + _reads(rest)
        name, _, arguments = rest.strip().partition(" ")
        if name in _STATEMENT_MAGICS:
            return indent + _statement(arguments)
        if name in _STAR_MAGICS and not indent:
            return STAR
        return indent + _reads(arguments)
    if (match := _HELP.match(line)) or (match := _BARE_COMMAND.match(line)):
        return f"{match[1]}pass"
    return None


def _assigned(line: str) -> tuple[str, str] | None:
    """The target, with its indent, and the command of ``target = !command`` or ``= %magic``."""
    target, _, command = line.partition("=")
    command = command.lstrip()
    is_command = command[:1] == "!" or (command[:1] == "%" and command[1:2].isidentifier())
    if not is_command or not target.strip() or not _TARGET.fullmatch(target):
        return None
    return target.rstrip(), command


def _statement(arguments: str) -> str:
    """The statement that ``%time`` and its like run."""
    statement = _OPTION.sub("", arguments).strip()
    return "pass" if not statement or statement.startswith("!") else statement


def _reads(text: str) -> str:
    """An expression that uses the names in the text's ``{name}`` and ``$name``."""
    names = sorted({first or second for first, second in _READ.findall(text)})
    return f"({', '.join(names)},)" if names else "()"


class _State:
    """Whether the next line starts a statement: outside of brackets, strings and continuations."""

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""
        self._continued = False

    @property
    def at_start(self) -> bool:
        return not (self._depth or self._quote or self._continued)

    def feed(self, line: str) -> None:
        """Read a line of Python."""
        at = 0
        while at < len(line):
            at = self._in_string(line, at) if self._quote else self._in_code(line, at)
        if len(self._quote) == 1 and not line.endswith("\\"):
            self._quote = ""  # an unclosed string ends with its line
        self._continued = not self._quote and line.endswith("\\")

    def _in_string(self, line: str, at: int) -> int:
        found = _SIGNIFICANT.search(line, at)
        if found is None:
            return len(line)
        at = found.start()
        if line[at] == "\\":
            return at + 2
        if line.startswith(self._quote, at):
            at += len(self._quote)
            self._quote = ""
            return at
        return at + 1

    def _in_code(self, line: str, at: int) -> int:
        found = _SIGNIFICANT.search(line, at)
        if found is None:
            return len(line)
        at, char = found.start(), found[0]
        if char == "#":
            return len(line)
        if char in "\"'":
            self._quote = char * 3 if line.startswith(char * 3, at) else char
            return at + len(self._quote)
        if char in "([{":
            self._depth += 1
        elif char in ")]}":
            self._depth = max(0, self._depth - 1)
        return at + 1
