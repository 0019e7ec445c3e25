"""Commands of a shell: what each does, and to what."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from .action import Kind, RiskyAction
from .lists import CLOUDS, INSTALLERS, INSTALLING, PREFIXES, READERS, REMOVERS, SENDERS
from .place import WILD, Place

# Longer scripts are reported as a run only.
_LONGEST = 50_000
_ASSIGNMENT = re.compile(r"^\w+=")
_ENDS = re.compile(r"^[;&|()\n]+$")
_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*")
_PYTHON = re.compile(r"^python[\d.]*$")


def actions_of(text: str, place: Place, line: int) -> Iterator[RiskyAction]:
    """The actions of a command line or a script that begins at ``line``; commands that only read
    have none."""
    if len(text) > _LONGEST:
        first = text.strip().split("\n", 1)[0]
        yield RiskyAction("runs a shell command", "runs a shell command:", first, line)
        return
    text = _COMMENT.sub("", text)
    for number, each in enumerate(_joined(text), start=line):
        if each.strip():
            yield from _of_line(each, place, number)


def actions_of_program(arguments: Sequence[str], place: Place, line: int) -> Iterator[RiskyAction]:
    """The actions of a program that is run with these arguments, without a shell."""
    yield from _of_command(list(arguments), place, line)


def _joined(text: str) -> list[str]:
    """The lines, those continued by a backslash joined into their first."""
    lines: list[str] = []
    goes_on = -1
    for number, line in enumerate(text.split("\n")):
        begun = line.removesuffix("\\")
        if goes_on >= 0:
            lines[goes_on] += f" {begun}"
            lines.append("")
        else:
            lines.append(begun)
        goes_on = -1 if begun == line else (goes_on if goes_on >= 0 else number)
    return lines


def _of_line(text: str, place: Place, line: int) -> Iterator[RiskyAction]:
    text = re.sub(r"\$\(|`", " ; ", text)
    try:
        lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|()<>")
        lexer.whitespace_split = True
        tokens = list(lexer)
    except ValueError:
        tokens = text.split()
    command: list[str] = []
    for token in [*tokens, ";"]:
        if _ENDS.match(token):
            yield from _of_command(command, place, line)
            command = []
        else:
            command.append(token)


def _of_command(command: list[str], place: Place, line: int) -> Iterator[RiskyAction]:
    command, written = _redirected(command)
    for sign, target in written:
        if place.look(_filled(target)) != "new":
            yield RiskyAction(
                "overwrites files", "appends to" if sign == ">>" else "overwrites", target, line
            )
    while command and (command[0] in PREFIXES or _ASSIGNMENT.match(command[0])):
        command = command[1:]
    if not command:
        return
    name, *rest = command
    name = name.rpartition("/")[2]
    if _PYTHON.match(name) and rest[:1] == ["-m"] and len(rest) > 1:
        name, *rest = rest[1:]
    shown = " ".join(each.replace(WILD, "…") for each in command)
    plain = [each for each in rest if not each.startswith("-")]
    kind, verb, target = _judged(name, rest, plain, shown, place)
    if kind is not None:
        yield RiskyAction(kind, verb, target, line)


def _judged(
    name: str, rest: list[str], plain: list[str], shown: str, place: Place
) -> tuple[Kind | None, str, str]:
    """Kind, verb and target of a command; no kind if it only reads."""
    runs: tuple[Kind | None, str, str] = ("runs a shell command", "runs a shell command:", shown)
    first = plain[0] if plain else ""
    if name in REMOVERS:
        return "removes or moves files", "removes", " ".join(plain) or f"what {shown} is given"
    if name == "find":
        actions = {"-delete", "-exec", "-execdir", "-ok"} & set(rest)
        return ("removes or moves files", "runs", shown) if actions else (None, "", "")
    if name == "mv":
        return "removes or moves files", "moves", " ".join(plain[:-1]) or shown
    if name == "cp" and plain:
        there = place.look(_filled(plain[-1])) != "new"
        return ("overwrites files", "copies onto", plain[-1]) if there else (None, "", "")
    if name == "sed" or name == "perl":
        return (
            runs if any(each.startswith(("-i", "--in-place")) for each in rest) else (None, "", "")
        )
    if name == "tee" and plain:
        there = any(place.look(_filled(each)) != "new" for each in plain)
        return ("overwrites files", "overwrites", " ".join(plain)) if there else (None, "", "")
    if name in INSTALLERS:
        installs = first in INSTALLING or (first in ("pip", "env") and len(plain) > 1)
        kind: Kind = "installs or removes packages"
        return (kind, "installs or removes packages:", shown) if installs else (None, "", "")
    if name == "git":
        return _judged_git(first, plain, shown)
    if name in SENDERS or first in CLOUDS.get(name, ()) or set(plain[:2]) & _cloud(name):
        return "sends data to another machine", "sends data to another machine:", shown
    if name in ("curl", "wget"):
        return _judged_transfer(name, rest, shown, place)
    return (None, "", "") if name in READERS or name.startswith("#") else runs


def _cloud(name: str) -> frozenset[str]:
    return CLOUDS.get(name, frozenset())


def _judged_git(first: str, plain: list[str], shown: str) -> tuple[Kind | None, str, str]:
    if first == "push":
        return "sends data to another machine", "pushes with git:", shown
    if first in ("rm", "mv", "clean", "reset", "restore", "checkout"):
        return "removes or moves files", "changes files with git:", shown
    if first in ("status", "log", "diff", "show", "branch", "remote", "rev-parse", "ls-files",
                 "describe", "blame", "config") and len(plain) < 3:  # fmt: skip
        return None, "", ""
    return "runs a shell command", "runs a shell command:", shown


_SENDING = re.compile(
    r"^(-[a-zA-Z]*[dFT].*|-X.*|--(data|form|upload-file|request|json|post|body|method).*)$"
)


def _judged_transfer(
    name: str, rest: list[str], shown: str, place: Place
) -> tuple[Kind | None, str, str]:
    """curl and wget: what they send, and the file that they write."""
    if any(_SENDING.match(each) for each in rest) and "GET" not in rest:
        return "sends data to another machine", "sends data to another machine:", shown
    flags = ("-o", "--output") if name == "curl" else ("-O", "--output-document")
    outputs = [rest[at + 1] for at, each in enumerate(rest[:-1]) if each in flags]
    there = [each for each in outputs if place.look(_filled(each)) != "new"]
    return ("overwrites files", "overwrites", there[0]) if there else (None, "", "")


def _redirected(command: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """The command without its ``> file``, and the (sign, file) of each."""
    kept: list[str] = []
    written: list[tuple[str, str]] = []
    at = 0
    while at < len(command):
        token = command[at]
        if token in (">", ">>", ">|", "&>") and at + 1 < len(command):
            written.append((token, command[at + 1]))
            if kept and kept[-1] in ("1", "2"):
                kept.pop()
            at += 2
        elif token in ("<", "<<", "<<<", ">&"):
            at += 2
        else:
            kept.append(token)
            at += 1
    return kept, written


def _filled(word: str) -> str:
    """An argument with ``$name`` and ``{name}``, which are expanded at run time, as unknown."""
    return re.sub(r"\$\{[^}]*\}?|\$\w+|\{[^}]*\}?|[*?]", WILD, word)
