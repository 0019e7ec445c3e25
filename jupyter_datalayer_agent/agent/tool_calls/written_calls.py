"""Finds tool calls that a model wrote as text instead of making them.

Models do so in the form that their template taught them (``call_formats``) if the server does not
parse it: with arguments after the tool's name, or as JSON or Python. An object ``{"name",
"arguments"}`` is a call, also with ``parameters`` (Llama), inside ``{"type": "function",
"function": …}`` (OpenAI), with arguments that are JSON in a string, and with doubled outer braces
(as Qwen2.5's template shows it). ``[f(a=1)]``, ``f(a=1)`` and ``print(f(a=1))`` are calls in Python
if all their arguments are named literals.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Any

from ...protocol.json_text import parse_json, relaxed_object
from ...tools.registry import NAMESPACES, plain_name
from .call_formats import CALL_TOKENS, FORMATS, CallFormat

_MOST = 200
"""Calls, or beginnings of calls, that are examined in one answer."""
_LONGEST_BEGINNING = 2_000
LONGEST = 200_000
"""Characters of an answer that are examined; a longer one is text."""
_MOST_TOKENS = 20_000
_SPACE = re.compile(r"\s*")
_FIRST_KEYS = ("name", "arguments", "parameters", "function", "type")
_KINDS = ("function", "function_call", "tool_call")
_HEAD = re.compile(r"[\[\s]*\{\{?\s*")
_PYTHON_HEAD = re.compile(r"\[?\s*(?:print\(\s*)?(?P<name>[A-Za-z_][\w.]*)?(?P<open>\s*\()?")
_JSON_ANYWHERE = r'\{\s*"(?:name|arguments|parameters|function|type|id)"\s*:'
_NAME_IN_JSON = re.compile(r'"(?:name|function)"\s*:\s*"([\w.:-]+)')
_OTHER_XML = r"<(?:function|tool|invoke|tool_call)\b[^<>]{0,40}?\bname\s*=\s*[\"'](?P<xml>\w+)[\"']"
_LIST_OF_PYTHON = r"\[\s*(?P<python>[A-Za-z_][\w.]*)\("
_PYTHON_LINE = re.compile(
    r"^[ \t]*(?:print\()?([A-Za-z_][\w.]*)\(\s*[A-Za-z_]\w*\s*=", re.MULTILINE
)
_LINK = re.compile(r"\[[^\[\]]*\]\([^()]*\)")
# Letters beside calls, as in "More:" or "Here it is:".
_SAYS_NOTHING = 10
_DECODER = json.JSONDecoder(strict=False)
_SLOTS = {
    "{name}": r"(?P<name>[\w.:-]{1,128})",
    "{key}": r"(?P<key>[\w.-]{1,128})",
    "{id}": r"[\w-]{1,64}",
    "{is_text}": r'(?: string="(?P<is_text>true|false)")?',
}
_SLOT = re.compile("(" + "|".join(map(re.escape, _SLOTS)) + ")")
_NAME = re.compile(r"[\w.:-]*")


def _pattern(template: str) -> str:
    parts = (_SLOTS.get(part) or _literal(part) for part in _SLOT.split(template))
    return "".join(parts)


def _literal(text: str) -> str:
    return r"\s*".join(map(re.escape, text.split(" ")))


def _mark(text: str) -> str:
    return re.escape(text.rstrip("\n")) + (r"(?=\s|$)" if text.endswith("\n") else "")


@dataclass(frozen=True)
class _Opening:
    """One way in which calls of a format begin, as patterns."""

    format: CallFormat
    template: str
    begins: re.Pattern[str]
    key: re.Pattern[str]
    value_end: re.Pattern[str]
    closing: re.Pattern[str]


def _opening(of: CallFormat, template: str) -> _Opening:
    key = _literal(of.key.split("{key}")[0])
    closing = _literal(of.closing)
    value_end = rf"{re.escape(of.value_end)}(?=\s*(?:{key}|{closing}))"
    patterns = (_pattern(template), _pattern(of.key), value_end, closing)
    return _Opening(of, template, *map(re.compile, patterns))


_OPENINGS = tuple(_opening(each, template) for each in FORMATS for template in each.openings)
_MARKS = sorted({mark for each in FORMATS for mark in each.around}, key=len, reverse=True)
_ANY_MARK = "|".join(map(_mark, _MARKS))
_UNNAMED = "|".join(re.sub(r"\?P<\w+>", "?:", each.begins.pattern) for each in _OPENINGS)
_MARK = re.compile(rf"(?!{_UNNAMED})(?:{_ANY_MARK})")
_FIRST = "".join(re.escape(each) for each in sorted({*"{<[", *(o.template[0] for o in _OPENINGS)}))
_ANYWHERE = re.compile(
    f"(?=[{_FIRST}])(?:{_UNNAMED}|{_JSON_ANYWHERE}|{_OTHER_XML}|{_LIST_OF_PYTHON})"
)
_STRING = (
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    r"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    r'|"[^"\\]*(?:\\.[^"\\]*)*"'
    r"|'[^'\\]*(?:\\.[^'\\]*)*'"
)
_PYTHON_TOKEN = re.compile(
    rf"(?P<string>{_STRING})|(?P<open>[\[({{])|(?P<close>[\])}}])|[^\[\](){{}}\"']+", re.DOTALL
)


@dataclass(frozen=True)
class WrittenCall:
    """A call written as text: ``arguments`` is None if they cannot be read.

    Those in ``texts`` are text that may stand for a value of another type, since the form does not
    say. ``source`` is the call as written, if not in JSON. ``in_python``: it may just as well be
    the user's code.
    """

    name: str
    arguments: dict[str, Any] | None
    texts: frozenset[str] = frozenset()
    source: str = ""
    in_python: bool = False


class Beginning(Enum):
    """What the beginning of an answer may become."""

    TEXT = "text"
    OPEN = "open"
    CALL = "call"


@dataclass(frozen=True)
class _Found:
    """What is at a position of a text, and where it ends: calls, or the beginning of a call that is
    broken there."""

    calls: Sequence[WrittenCall]
    end: int


def whole_answer(text: str) -> list[WrittenCall]:
    """The calls that make up ``text``; none if it contains anything else."""
    calls: list[WrittenCall] = []
    at = _after_marks(text, 0)
    for _ in range(_MOST if len(text) <= LONGEST else 0):
        if at == len(text):
            return calls
        found = _calls_at(text, at)
        if not found.calls:
            break
        calls += found.calls
        at = _after_marks(text, found.end)
    return []


def may_be_example(text: str) -> bool:
    """Whether an answer that consists of calls may be an example of them."""
    return not text.lstrip().startswith(CALL_TOKENS)


def calls_within(
    text: str, is_tool: Callable[[str], bool], names: Collection[str]
) -> Iterator[WrittenCall]:
    """The calls of tools anywhere in a text, also broken ones and XML of unknown form; those in
    Python only if they are of ``names``."""
    text = text[:LONGEST]
    for _, _, calls in _pieces(text):
        for call in calls:
            if call.name in names if call.in_python else is_tool(call.name):
                yield call
    at = 0
    for _ in range(_MOST):
        line = _PYTHON_LINE.search(text, at)
        if line is None:
            return
        at, name = line.end(), plain_name(line[1])
        if name in names:
            found = _python_at(text, _skip(text, line.start()))
            yield from found.calls or [WrittenCall(name, None, in_python=True)]
            at = max(at, found.end)


def says_more_than_calls(text: str, letters: int = _SAYS_NOTHING) -> bool:
    """Whether a text says anything beside the calls in it: more than links and a word or two, of
    at most ``letters``."""
    text = text[:LONGEST]
    if whole_answer(text):
        return False
    parts: list[str] = []
    at, has_calls = 0, False
    for start, end, calls in _pieces(text):
        parts.append(text[at:start])
        is_call = bool(calls) and all(call.arguments is not None for call in calls)
        has_calls = has_calls or is_call
        at = end if is_call else start
    rest = "".join([*parts, text[at:]])
    rest = _LINK.sub("", re.sub(_ANY_MARK, "", rest))
    more = letters if has_calls else 0
    return sum(1 for _ in islice(re.finditer(r"\w", rest), more + 1)) > more


def _pieces(text: str) -> Iterator[tuple[int, int, Sequence[WrittenCall]]]:
    """The calls in a text with their positions, and the broken ones by their names."""
    at = 0
    for _ in range(_MOST):
        head = _ANYWHERE.search(text, at)
        if head is None:
            return
        found = _calls_at(text, head.start())
        calls = found.calls
        if not calls:
            in_python = head["python"] is not None
            name = head["xml"] or head["python"] or _name_at(text, head.start())
            calls = [WrittenCall(plain_name(name), None, in_python=in_python)] if name else []
        # The rest of a broken call is skipped, so that each position is read once.
        at = max(found.end, head.end())
        yield head.start(), at, calls


def _name_at(text: str, at: int) -> str | None:
    """The name of the broken call at a position."""
    for opening in _OPENINGS:
        if (begins := opening.begins.match(text, at)) is not None:
            return begins["name"]
    named = _NAME_IN_JSON.search(text, at, at + 200)
    return None if named is None or _decode(text, at)[0] is not None else named[1]


def beginning(text: str, names: Collection[str]) -> Beginning:
    """Whether an answer that begins like this may consist of calls of ``names``."""
    if len(text) > _LONGEST_BEGINNING:
        return Beginning.TEXT
    at = _after_marks(text, 0)
    rest = text[at:]
    if not rest or any(mark.startswith(rest) for mark in _MARKS):
        return Beginning.OPEN
    found = {_beginning_of(opening.template, text, at, names) for opening in _OPENINGS}
    found |= {_beginning_of_json(text, at, names), _beginning_of_python(text, at, names)}
    return next(each for each in (Beginning.CALL, Beginning.OPEN, Beginning.TEXT) if each in found)


def _beginning_of(template: str, text: str, at: int, names: Collection[str]) -> Beginning:
    """The same for one opening of a call, up to its name."""
    for word in template.split("{name}")[0].split(" "):
        at = _skip(text, at)
        rest = text[at:]
        if len(rest) <= len(word) and word.startswith(rest):
            return Beginning.OPEN
        if not rest.startswith(word):
            return Beginning.TEXT
        at += len(word)
    name = _NAME.match(text, at)
    assert name is not None
    return _beginning_of_name(name[0], name.end() < len(text), names)


def _beginning_of_name(name: str, is_whole: bool, names: Collection[str]) -> Beginning:
    if is_whole:
        return Beginning.CALL if plain_name(name) in names else Beginning.TEXT
    is_open = any(
        f"{space}{each}".startswith(name) for space in ("", *NAMESPACES) for each in names
    )
    is_open = is_open or plain_name(name.rstrip(":")) in names
    return Beginning.OPEN if is_open else Beginning.TEXT


def _beginning_of_python(text: str, at: int, names: Collection[str]) -> Beginning:
    head = _PYTHON_HEAD.match(text, at)
    assert head is not None
    name = head["name"] or ""
    if head["open"] is not None:
        return _beginning_of_name(name, True, names)
    if head.end() < len(text):
        return Beginning.TEXT
    if not head["name"] or "print".startswith(name):
        return Beginning.OPEN
    return _beginning_of_name(name, False, names)


def _beginning_of_json(text: str, at: int, names: Collection[str]) -> Beginning:
    head = _HEAD.match(text, at)
    if head is None:
        return Beginning.OPEN if re.fullmatch(r"[\[\s]+", text[at:]) else Beginning.TEXT
    key, is_whole, at = _string(text, head.end())
    if key is None or not is_whole:
        return _may_be(key, _FIRST_KEYS)
    if key not in _FIRST_KEYS:
        return Beginning.TEXT
    if key not in ("name", "type"):
        return Beginning.CALL
    colon = re.compile(r"\s*:\s*").match(text, at)
    if colon is None or colon.end() == len(text):
        return Beginning.OPEN if not text[at:].strip(" \n\t:") else Beginning.TEXT
    value, is_whole, _ = _string(text, colon.end())
    if value is None:
        return Beginning.TEXT
    if key == "name":
        return _beginning_of_name(value, is_whole, names)
    if not is_whole:
        return _may_be(value, _KINDS)
    return Beginning.CALL if value in _KINDS else Beginning.TEXT


def _may_be(written: str | None, wanted: Collection[str]) -> Beginning:
    """For a string of which only the beginning is there; None: it is not a string."""
    fits = written is not None and any(each.startswith(written) for each in wanted)
    return Beginning.OPEN if fits else Beginning.TEXT


def _string(text: str, at: int) -> tuple[str | None, bool, int]:
    """A JSON string at a position, whether it is complete, and its end."""
    if at == len(text):
        return "", False, at
    if text[at] != '"':
        return None, False, at
    end = text.find('"', at + 1)
    return (text[at + 1 :], False, len(text)) if end < 0 else (text[at + 1 : end], True, end + 1)


def _skip(text: str, at: int) -> int:
    """The end of the white space at a position."""
    space = _SPACE.match(text, at)
    return at if space is None else space.end()


def _after_marks(text: str, at: int) -> int:
    """The end of the white space at a position, and of the marks that surround calls."""
    at = _skip(text, at)
    for _ in range(_MOST):
        if (mark := _MARK.match(text, at)) is None:
            break
        at = _skip(text, mark.end())
    return at


def _calls_at(text: str, at: int) -> _Found:
    """The calls that begin at a position: one, or those of a list."""
    reached = at
    for opening in _OPENINGS:
        begins = opening.begins.match(text, at)
        if begins is None:
            continue
        found = _named_call(opening, text, at, begins)
        if found.calls:
            return found
        reached = max(reached, found.end)
    for read in (_json_at, _python_at):
        found = read(text, at)
        if found.calls:
            return found
        reached = max(reached, found.end)
    return _Found((), reached)


def _named_call(opening: _Opening, text: str, start: int, begins: re.Match[str]) -> _Found:
    """A call that names its tool before its arguments."""
    at = _skip(text, begins.end())
    texts: set[str] = set()
    arguments: dict[str, Any] = {}
    kind = opening.format.arguments
    if kind == "marks":
        try:
            arguments, at = relaxed_object(text, at, opening.format.quote)
        except ValueError:
            return _Found((), at)
    elif kind == "json" or text.startswith("{", at):
        decoded, at = _decode(text, at)
        if not isinstance(decoded, dict):
            return _Found((), at)
        arguments = decoded
    else:
        while (key := opening.key.match(text, at)) is not None:
            end = opening.value_end.search(text, key.end())
            if end is None:
                return _Found((), len(text))
            if key["key"] in arguments:
                # A value that looks like the next argument.
                return _Found((), key.end())
            value = text[key.end() : end.start()]
            if opening.format.has_lines:
                value = value.removeprefix("\n").removesuffix("\n")
            arguments[key["key"]] = value
            if key.groupdict().get("is_text") != "true":
                texts.add(key["key"])
            at = _skip(text, end.end())
    closing = opening.closing.match(text, _skip(text, at))
    if closing is None and kind != "json":
        return _Found((), at)
    at = at if closing is None else closing.end()
    name = plain_name(begins["name"])
    return _Found([WrittenCall(name, arguments, frozenset(texts), text[start:at])], at)


def _json_at(text: str, at: int) -> _Found:
    is_doubled = text.startswith("{{", at)
    if not is_doubled and text[at : at + 1] not in ("{", "["):
        return _Found((), at)
    value, end = _decode(text, at + is_doubled)
    if is_doubled:
        if value is None or not text.startswith("}", end):
            return _Found((), end)
        end += 1
    values = value if isinstance(value, list) else [value]
    calls = [call for each in values if (call := _as_call(each)) is not None]
    return _Found(calls if len(calls) == len(values) else (), end)


def _decode(text: str, at: int) -> tuple[Any, int]:
    """The JSON value at a position and its end; None if there is none or it is broken, with the
    position where it breaks."""
    try:
        _, end = _DECODER.raw_decode(text, at)
        return parse_json(text[at:end], strict=False), end
    except json.JSONDecodeError as error:
        return None, error.pos
    except (ValueError, RecursionError):
        return None, len(text)


def _as_call(value: Any) -> WrittenCall | None:
    """The call that a JSON value is; None if it is not one, or contains more than a call."""
    if not isinstance(value, dict):
        return None
    rest = dict(value)
    if rest.pop("type", "function") not in _KINDS or not isinstance(rest.pop("id", ""), str):
        return None
    inner = rest.get("function")
    if isinstance(inner, dict) and len(rest) == 1:
        rest = dict(inner)
    elif isinstance(inner, str) and "name" not in rest:
        rest["name"] = rest.pop("function")
    name = rest.pop("name", None)
    given = [rest.pop(key) for key in ("arguments", "parameters") if key in rest]
    if rest or not isinstance(name, str) or len(given) != 1:
        return None
    return _with_arguments(plain_name(name), given[0])


def _with_arguments(name: str, arguments: Any) -> WrittenCall | None:
    if isinstance(arguments, str):
        try:
            arguments = parse_json(arguments, strict=False)
        except ValueError:
            return WrittenCall(name, None)
    return WrittenCall(name, arguments) if isinstance(arguments, dict) else None


def _python_at(text: str, at: int) -> _Found:
    """A call, or a list of calls, in Python."""
    head = _PYTHON_HEAD.match(text, at)
    if head is None or not head["name"] or not head["open"]:
        return _Found((), at)
    source, end = _python_source(text, at)
    try:
        tree = ast.parse(source, mode="eval").body
        nodes = tree.elts if isinstance(tree, ast.List) else [_unprinted(tree)]
        calls = [_python_call(node, text[at:end]) for node in nodes]
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return _Found((), end)
    return _Found(calls, end)


def _python_source(text: str, at: int) -> tuple[str, int]:
    """The expression at a position, up to its last bracket, and its end; line breaks in strings are
    escaped."""
    parts: list[str] = []
    depth = 0
    while len(parts) < _MOST_TOKENS and (token := _PYTHON_TOKEN.match(text, at)) is not None:
        at, part = token.end(), token[0]
        if token["string"] and not part.startswith(('"""', "'''")):
            part = part.replace("\n", "\\n")
        parts.append(part)
        depth += bool(token["open"]) - bool(token["close"])
        if depth <= 0 and token["close"]:
            break
    return "".join(parts), at


def _unprinted(node: ast.expr) -> ast.expr:
    match node:
        case ast.Call(func=ast.Name(id="print"), args=[inner], keywords=[]):
            return inner
    return node


def _python_call(node: ast.expr, source: str) -> WrittenCall:
    """Raises ``ValueError`` for anything but a call with named literals only."""
    if not isinstance(node, ast.Call) or node.args:
        raise ValueError
    name = plain_name(ast.unparse(node.func))
    arguments: dict[str, Any] = {}
    for each in node.keywords:
        if each.arg is None:
            raise ValueError
        value = ast.literal_eval(_Words().visit(each.value))
        arguments[each.arg] = json.loads(json.dumps(value, allow_nan=False))
    return WrittenCall(name, arguments, source=source, in_python=True)


class _Words(ast.NodeTransformer):
    """Also accepts JSON's words in Python, as models mix them."""

    _VALUES = {"true": True, "false": False, "null": None}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Replace such a name by a constant."""
        if node.id not in self._VALUES:
            return node
        return ast.copy_location(ast.Constant(self._VALUES[node.id]), node)
