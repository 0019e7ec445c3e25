"""What the calls in a tree of Python do beyond the kernel, by ``rules``."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from .action import Kind, RiskyAction
from .lists import HTTP_VERBS, NATIVE_LIBRARIES, QUIET, TARGET_KEYWORDS, CallRule
from .place import WILD, Place
from .rules import FUNCTIONS, LAST_NAMES, METHODS
from .shell import actions_of, actions_of_program
from .values import BUFFER, MEMORY, UNKNOWN, Ref, TextValue, Value, Values, canonical

# SQL that loses data: ``DROP``, ``TRUNCATE``, ``ALTER``, ``DELETE``, ``UPDATE`` without
# ``WHERE``.


_NOISE = re.compile(r"--[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_STRING = re.compile(r"'(?:[^']|'')*'")
_NAME = r"(?P<name>[^\s;(,]+)"
_LOSSES = (
    (re.compile(rf"DROP\s+(?P<what>\w+)\s+(?:IF\s+EXISTS\s+)?{_NAME}"), "drops the {what}"),
    (re.compile(rf"TRUNCATE\s+(?:TABLE\s+)?{_NAME}"), "empties the table"),
    (re.compile(rf"ALTER\s+(?P<what>\w+)\s+(?:IF\s+EXISTS\s+)?{_NAME}"), "alters the {what}"),
    (re.compile(rf"DELETE\s+FROM\s+{_NAME}"), "deletes rows of"),
    (re.compile(rf"(?:CREATE\s+OR\s+REPLACE)\s+(?P<what>TABLE)\s+{_NAME}"), "replaces the {what}"),
)
_UPDATE = re.compile(rf"UPDATE\s+{_NAME}\s+SET\b(?!.*\bWHERE\b)", re.DOTALL)
_COPY = re.compile(r"COPY\b.*?\bTO\s+'(?P<path>(?:[^']|'')[^']*(?:''[^']*)*)'", re.DOTALL)


def losses(text: str) -> Iterator[tuple[str, str]]:
    """(action, target) of each statement that loses data: ("drops the table", "cars").

    A ``COPY … TO 'file'`` is (``""``, file): it depends on whether the file exists.
    """
    for statement in _NOISE.sub(" ", text).split(";"):
        shown = statement.strip()
        # Keywords match in any case, and not inside strings.
        bare = _STRING.sub(lambda string: "'" + " " * (len(string[0]) - 2) + "'", shown)
        upper = bare.upper()
        for pattern, verb in _LOSSES:
            if match := pattern.match(upper):
                what = match.groupdict().get("what") or ""
                yield verb.format(what=what.lower()), _name(shown, match)
                break
        else:
            if match := _UPDATE.match(upper):
                yield "changes all rows of", _name(shown, match)
            elif upper.startswith("COPY") and (copied := _COPY.match(_upper_words(shown))):
                yield "", shown[copied.start("path") : copied.end("path")]


def _upper_words(text: str) -> str:
    upper = text.upper()
    return upper if len(upper) == len(text) else text


def _name(shown: str, match: re.Match[str]) -> str:
    return shown[match.start("name") : match.end("name")].strip("\"`[]'")


_WRITES = frozenset("wa+")
_READING = frozenset(
    {"r", "rb", "rt", "br", "tr", "rU", "r:", "r:gz", "r:bz2", "r:xz", "r:*", "r|gz"}
)
_NO_FILES = ("open()", "gzip.open()", "sys.stdout", "sys.stderr", "sys.__stdout__")


class Calls:
    """The actions of one tree; ``in_python`` reads code that a call executes."""

    def __init__(
        self,
        tree: ast.AST,
        values: Values,
        place: Place,
        in_python: Callable[[str, Place], Iterator[RiskyAction]],
    ) -> None:
        self._in_python = in_python
        self._values = values
        self._place = place
        self._calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        self._folders = [folder for call in self._calls for folder in self._changed_to(call)]

    def actions(self) -> Iterator[RiskyAction]:
        """The actions in the order of their lines."""
        for call in sorted(self._calls, key=lambda call: (call.lineno, call.col_offset)):
            yield from self._of_call(call)

    def _changed_to(self, call: ast.Call) -> Iterator[str | None]:
        if _last_name(call.func) == "chdir" and call.args:
            for value in self._values.of(call.args[0]):
                yield value.text if isinstance(value, TextValue) else None

    def _of_call(self, call: ast.Call) -> Iterator[RiskyAction]:
        functions = self._functions(call.func)
        handed_on = [
            (argument, rule)
            for argument in [*call.args, *(each.value for each in call.keywords)]
            if (rule := self._handed_on(argument)) is not None
        ]
        for argument, rule in handed_on:
            kind = self._action(rule, "", call).kind
            yield RiskyAction(kind, "calls", ast.unparse(argument), call.lineno, is_seen=True)
        for name in functions:
            if name in FUNCTIONS:
                yield from self._by_rule(call, FUNCTIONS[name])
                return
            if (found := list(self._special(call, name))) or name in QUIET:
                yield from found
                return
        method = call.func.attr if isinstance(call.func, ast.Attribute) else None
        if method in METHODS:
            yield from self._by_rule(call, METHODS[method])
        elif method in HTTP_VERBS:
            yield from self._http(call)
        elif method == "push":
            yield from self._push(call)

    def _functions(self, node: ast.expr) -> list[str]:
        """The full names that a function may have; empty if nothing by its name is risky."""
        name = _last_name(node)
        if isinstance(node, ast.Attribute) and name not in LAST_NAMES:
            return []
        return [canonical(each.name) for each in self._values.of(node) if isinstance(each, Ref)]

    def _handed_on(self, node: ast.expr) -> CallRule | None:
        """The rule of a function that is passed to another one as a callback."""
        if not isinstance(node, ast.Attribute | ast.Name):
            return None
        for name in self._functions(node) if _last_name(node) in LAST_NAMES else ():
            rule = FUNCTIONS.get(name)
            if rule is not None and rule.what in ("remove", "move", "run"):
                return rule
        return None

    # What a rule says of a call

    def _by_rule(self, call: ast.Call, rule: CallRule) -> Iterator[RiskyAction]:
        if rule.what == "execute":
            yield from self._executed(call)
            return
        is_seen = not (rule.is_native or self._is_native(call.func))
        for action in self._of_rule(call, rule):
            yield replace(action, is_seen=is_seen)

    def _is_native(self, function: ast.expr) -> bool:
        """Whether it is a method of what a library made that writes by native code."""
        if not isinstance(function, ast.Attribute):
            return False
        made_by = (each.name for each in self._values.of(function.value) if isinstance(each, Ref))
        return any(name.partition(".")[0] in NATIVE_LIBRARIES for name in made_by)

    def _of_rule(self, call: ast.Call, rule: CallRule) -> Iterator[RiskyAction]:
        if rule.what in ("remove", "move", "truncate"):
            yield from self._removal(call, rule)
        elif rule.what in ("write", "copy", "open"):
            yield from self._writing(call, rule)
        elif rule.what == "run":
            yield from self._program(call, rule)
        elif rule.what == "sql":
            yield from self._sql(call, rule)
        elif rule.what == "table":
            yield from self._table(call)
        elif rule.what == "send":
            kind: Kind = "sends data to another machine"
            if rule.keyword == "url":
                yield from self._sends(call, 0)
            else:
                yield RiskyAction(kind, "calls", ast.unparse(call), call.lineno)
        elif rule.what == "end":
            yield self._action(rule, ast.unparse(call), call)

    def _action(self, rule: CallRule, target: str, call: ast.Call) -> RiskyAction:
        kinds: dict[str, tuple[Kind, str]] = {
            "remove": ("removes or moves files", "removes"),
            "move": ("removes or moves files", "moves"),
            "truncate": ("overwrites files", "truncates"),
            "run": ("runs a shell command", "runs a program:"),
            "end": ("runs a shell command", "ends a process:"),
        }
        kind, verb = kinds[rule.what]
        return RiskyAction(kind, verb, target, call.lineno)

    def _removal(self, call: ast.Call, rule: CallRule) -> Iterator[RiskyAction]:
        if rule.at >= 0:
            yield self._action(rule, self._shown(self._target(call, rule)) or "a file", call)
            return
        assert isinstance(call.func, ast.Attribute)
        receivers = self._values.of(call.func.value)
        # ``text.replace(a, b)`` and ``frame.rename(columns=…)`` move no file: only a path's methods
        # do.
        paths = [each for each in receivers if isinstance(each, TextValue) and each.is_path]
        if rule.what == "move" and (not paths or len(call.args) != 1):
            return
        # Not a path's: ``link.unlink(other)``.
        if rule.what == "remove" and not paths and call.args:
            return
        yield self._action(rule, self._shown(call.func.value), call)

    def _writing(self, call: ast.Call, rule: CallRule) -> Iterator[RiskyAction]:
        mode = self._mode(call, rule)
        if mode in _READING or (mode is not None and "x" in mode):
            return
        target = self._target(call, rule)
        if target is None:
            return
        if rule.at == 0 and rule.what == "write":
            # ``save_model(model, "folder")``: the first text argument is the path.
            target = next(filter(self._is_text, [target, *call.args[1:2]]), target)
        found: tuple[Value, ...] = self._values.of(target)
        is_text = any(isinstance(each, TextValue) for each in found)
        if rule.what == "open" and rule.at < 0 and not is_text and not _is_mode(mode or ""):
            return  # ``image.open(…)``, ``webbrowser.open(url)``: no path and no mode
        if any(isinstance(each, Ref) and _is_buffer(each) for each in found):
            return
        actions: dict[tuple[Kind, str], RiskyAction] = {}
        for value in found:
            path = value.text if isinstance(value, TextValue) else WILD
            if rule.what == "copy":
                path = self._in_folder(path, call)
            if rule.ending and not path.endswith((rule.ending, WILD)):
                path += rule.ending
            met = self._met(path, mode or "")
            if path and met is not None:
                shown = ast.unparse(target) if WILD in path else path
                actions.setdefault(met, RiskyAction(*met, shown, call.lineno))
        yield from actions.values()

    def _in_folder(self, path: str, call: ast.Call) -> str:
        """The path that a copy writes: inside it, if it is a folder."""
        folder = self._place.folder
        if folder is None or WILD in path or not os.path.isdir(os.path.join(folder, path)):
            return path
        return os.path.join(path, os.path.basename(self._values.text_of(call.args[0])))

    def _met(self, path: str, mode: str) -> tuple[Kind, str] | None:
        """Kind and verb of writing to a path; None if nothing is lost."""
        if "\n" in path:
            return None
        there = self._place.look(path, self._folders)
        if there == "remote":
            return "sends data to another machine", "writes to"
        if there == "new":
            return None
        sure = there == "there" and WILD not in path and "?" not in mode
        return "overwrites files", ("appends to" if "a" in mode else "overwrites") if sure else (
            "may overwrite"
        )

    def _is_text(self, node: ast.expr) -> bool:
        return any(isinstance(each, TextValue) for each in self._values.of(node))

    def _mode(self, call: ast.Call, rule: CallRule) -> str | None:
        """The mode in which a file is opened; for other writers ``a`` if they append."""
        at, default = (rule.mode, rule.default) if rule.what == "open" else (99, None)
        node = next((each.value for each in call.keywords if each.arg == "mode"), None)
        if node is None and at < len(call.args):
            node = call.args[at]
        if node is None:
            return default
        value = self._values.of(node)[0]
        return value.text if isinstance(value, TextValue) else "w?"

    def _program(self, call: ast.Call, rule: CallRule) -> Iterator[RiskyAction]:
        target = self._target(call, rule)
        shown = self._shown(target) if target is not None else ast.unparse(call.func)
        found: list[RiskyAction] = []
        if isinstance(target, ast.List | ast.Tuple):
            found = list(actions_of_program(self._arguments(target), self._place, call.lineno))
        elif target is not None:
            for value in self._values.of(target):
                if isinstance(value, TextValue) and value.text.strip(WILD):
                    found += actions_of(value.text, self._place, call.lineno)
        yield from found or [self._action(CallRule("run"), shown, call)]

    def _arguments(self, node: ast.List | ast.Tuple) -> list[str]:
        arguments = []
        for each in node.elts:
            value = self._values.of(each)[0]
            known = "python" if value == Ref("sys.executable") else WILD
            arguments.append(value.text if isinstance(value, TextValue) else known)
        return arguments

    def _sql(self, call: ast.Call, rule: CallRule) -> Iterator[RiskyAction]:
        target = self._target(call, rule)
        receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
        in_memory = receiver is not None and MEMORY in self._values.of(receiver)
        for value in self._values.of(target) if target is not None else ():
            if isinstance(value, TextValue):
                yield from of_sql(value.text, self._place, call.lineno, in_memory=in_memory)

    def _table(self, call: ast.Call) -> Iterator[RiskyAction]:
        how = next((each.value for each in call.keywords if each.arg == "if_exists"), None)
        value = self._values.of(how)[0] if how is not None else TextValue("fail")
        connection = next((each.value for each in call.keywords if each.arg == "con"), None)
        if connection is None and len(call.args) > 1:
            connection = call.args[1]
        if connection is not None and MEMORY in self._values.of(connection):
            return
        if not isinstance(value, TextValue) or value.text not in ("fail", "append"):
            name = self._shown(self._target(call, CallRule("table", 0, "name"))) or "a table"
            yield RiskyAction("changes a database", "replaces the table", name, call.lineno)

    def _executed(self, call: ast.Call) -> Iterator[RiskyAction]:
        for value in self._values.of(call.args[0]) if call.args else ():
            if isinstance(value, TextValue) and len(value.text) < 20_000:
                for action in self._in_python(value.text, self._place):
                    yield replace(action, line=call.lineno)

    # What no table can say

    def _special(self, call: ast.Call, name: str) -> Iterator[RiskyAction]:
        if name in ("requests.request", "httpx.request", "requests.Session().request"):
            verb = self._values.of(call.args[0])[0] if call.args else UNKNOWN
            if not isinstance(verb, TextValue) or verb.text.lower() in HTTP_VERBS:
                yield from self._sends(call, 1)
        elif name == "urllib.request.urlopen":
            if len(call.args) > 1 or any(each.arg == "data" for each in call.keywords):
                yield from self._sends(call, 0)
        elif name in ("pip.main", "pip._internal.main"):
            shown = self._shown(call)
            kind: Kind = "installs or removes packages"
            yield RiskyAction(kind, "installs or removes packages:", shown, call.lineno)
        elif name == "shutil.make_archive" and call.args:
            for value in self._values.of(call.args[0]):
                path = value.text if isinstance(value, TextValue) else WILD
                if self._place.look(f"{path}.{WILD}", self._folders) != "new":
                    shown, line = self._shown(call.args[0]), call.lineno
                    yield RiskyAction("overwrites files", "may overwrite", shown, line, True)
        elif name in ("get_ipython().run_line_magic", "get_ipython().run_cell_magic",
                      "get_ipython().magic", "get_ipython().run_cell"):  # fmt: skip
            yield from self._by_ipython(call, name)

    def _by_ipython(self, call: ast.Call, name: str) -> Iterator[RiskyAction]:
        parts = [self._values.of(each)[0] for each in call.args]
        texts = [each.text if isinstance(each, TextValue) else "" for each in parts]
        sign = "" if name.endswith("run_cell") else "%%" if "cell" in name else "%"
        source = sign + " ".join(texts[:2]) + "\n" + "\n".join(texts[2:])
        for action in self._in_python(source, self._place):
            yield replace(action, line=call.lineno)

    def _http(self, call: ast.Call) -> Iterator[RiskyAction]:
        """``session.post("https://…")``, whatever the session is called."""
        first = self._values.of(call.args[0])[0] if call.args else UNKNOWN
        if isinstance(first, TextValue) and first.text.startswith(("http://", "https://")):
            yield from self._sends(call, 0)

    def _push(self, call: ast.Call) -> Iterator[RiskyAction]:
        """GitPython: ``repo.remotes.origin.push()``, ``repo.git.push()``."""
        assert isinstance(call.func, ast.Attribute)
        if {"remote", "remotes", "origin", "git"} & set(ast.unparse(call.func.value).replace(
            "()", "").split(".")):  # fmt: skip
            shown = ast.unparse(call.func)
            kind: Kind = "sends data to another machine"
            yield RiskyAction(kind, "pushes with git:", shown, call.lineno, is_seen=True)

    def _sends(self, call: ast.Call, at: int) -> Iterator[RiskyAction]:
        named = next((each.value for each in call.keywords if each.arg == "url"), None)
        url = call.args[at] if at < len(call.args) else named
        shown = self._shown(url) or ast.unparse(call.func)
        kind: Kind = "sends data to another machine"
        yield RiskyAction(kind, "sends data to", shown, call.lineno, is_seen=True)

    # Targets

    def _target(self, call: ast.Call, rule: CallRule) -> ast.expr | None:
        if rule.at < 0:
            return call.func.value if isinstance(call.func, ast.Attribute) else None
        if rule.at < len(call.args):
            return call.args[rule.at]
        names = TARGET_KEYWORDS | {rule.keyword}
        named = [each for each in call.keywords if each.arg in names]
        exact = [each for each in named if each.arg == rule.keyword]
        return next((each.value for each in [*exact, *named]), None)

    def _shown(self, node: ast.expr | None) -> str:
        """A target for a user: the path if known, else the code that computes it."""
        if node is None:
            return ""
        known = self._values.of(node)
        if len(known) == 1 and isinstance(known[0], TextValue) and WILD not in known[0].text:
            return known[0].text
        return ast.unparse(node)


def of_sql(text: str, place: Place, line: int, *, in_memory: bool = False) -> Iterator[RiskyAction]:
    """The actions of SQL; a database in memory loses nothing that lasts."""
    for verb, target in losses(text):
        if verb and not in_memory:
            yield RiskyAction("changes a database", verb, target, line)
        elif not verb and place.look(target) != "new":
            yield RiskyAction("overwrites files", "overwrites", target, line)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _is_buffer(value: Ref) -> bool:
    """An object in memory, or a file that something else opened (and was asked about)."""
    return value == BUFFER or canonical(value.name) in _NO_FILES


def _is_mode(mode: str) -> bool:
    return 0 < len(mode) < 5 and set(mode) <= set("rwabtxU+?") and bool(set(mode) & _WRITES)
