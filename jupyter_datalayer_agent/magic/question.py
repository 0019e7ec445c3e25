"""A prompt that ends with a question mark is a prompt.

IPython would take such a line for a request for help.
"""

from __future__ import annotations

import ast
import linecache
import re
import reprlib
import sys
import tokenize
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from IPython.core.inputtransformer2 import EscapedCommand, HelpEnd

# ``{name}`` in a prompt: the variable's short form, which describes it without all its content.


LONGEST = 500
MOST_COLUMNS = 50
# Text in braces that is not one name (JSON, a set) is left alone, and so are its braces.
_NAME = re.compile(r"\{(\{[^\W\d]\w*\})\}|\{([^\W\d]\w*)\}")
# After these, braces belong to a formula or a shell.
_OTHER_BRACES = re.compile(r"[\w^}$\\]")

_short = reprlib.Repr()
_short.maxstring = _short.maxother = LONGEST
_short.maxlist = _short.maxtuple = _short.maxset = _short.maxdict = 10


def filled(prompt: str, variables: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The prompt with variables replaced by their short forms, and the unknown names in braces,
    which are left alone. ``{{name}}`` is a literal ``{name}``; braces around anything else are left
    alone."""
    unknown: dict[str, None] = {}

    def put(found: re.Match[str]) -> str:
        escaped, name = found.groups()
        if escaped:
            return escaped
        if name in variables:
            return short_form(variables[name])
        if not _OTHER_BRACES.match(prompt[max(found.start() - 1, 0) : found.start()]):
            unknown.setdefault(name)
        return found[0]

    return _NAME.sub(put, prompt), list(unknown)


def short_form(value: Any) -> str:
    """Type, size and names of tables and arrays, without their values; a short ``repr`` of the
    rest, whole where that is a short text."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST else value[: LONGEST - 1] + "…"
    kind = type(value).__name__
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        columns = _columns(value)
        if columns is not None and len(shape) == 2:
            return f"{kind}, {shape[0]} rows × {shape[1]} columns: {columns}"
        return f"{kind}, shape {shape}, {getattr(value, 'dtype', '')}".rstrip(", ")
    try:
        text = _short.repr(value)
    except Exception as error:  # noqa: BLE001 - whatever a foreign __repr__ raises
        return f"{kind} (its repr fails: {type(error).__name__})"
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    size = f", {len(value)} items" if isinstance(value, (list, tuple, set, dict)) else ""
    return f"{text} ({kind}{size})" if size else text


def _columns(value: Any) -> str | None:
    names, types = getattr(value, "columns", None), getattr(value, "dtypes", None)
    if names is None or types is None:
        return None
    pairs = [f"{name} ({kind})" for name, kind in zip(names, types, strict=False)]
    more = f", and {len(pairs) - MOST_COLUMNS} more" if len(pairs) > MOST_COLUMNS else ""
    return ", ".join(pairs[:MOST_COLUMNS]) + more


_HELP = ("pinfo", "pinfo2", "psearch")
_PROMPT = "get_ipython().run_line_magic('agent', "
_INDENTS = (tokenize.INDENT, tokenize.DEDENT)


class PromptLine(EscapedCommand):  # type: ignore[misc,unused-ignore]
    """Transforms ``%agent …`` before IPython looks for help; ``%agent?`` still asks for help."""

    priority = HelpEnd.priority - 1

    @classmethod
    def find(cls, tokens_by_line: list[list[tokenize.TokenInfo]]) -> PromptLine | None:
        """The first prompt in the cell."""
        for line in tokens_by_line:
            tokens = [token for token in line if token.type not in _INDENTS]
            if [token.string for token in tokens[:2]] != ["%", "agent"]:
                continue
            sign, name = tokens[:2]
            if sign.end == name.start and name.line.startswith(" ", name.end[1]):
                return cls(sign.start)
        return None


def keep_questions(shell: Any) -> None:
    """Recognise prompts from now on, also in the rest of the running cell."""
    transformers = shell.input_transformer_manager.token_transformers
    if PromptLine in transformers:
        return
    transformers.append(PromptLine)
    _mend_running_cell(shell)


def forget_questions(shell: Any) -> None:
    """Undo ``install``."""
    transformers = shell.input_transformer_manager.token_transformers
    if PromptLine in transformers:
        transformers.remove(PromptLine)


def _mend_running_cell(shell: Any) -> None:
    """Answer the requests for help that prompts of this cell became before the magic was loaded.

    A cell is transformed as a whole before its first line, ``%load_ext``, is run.
    """
    history = shell.history_manager
    if history is None:
        return
    ran = history.input_hist_parsed[-1].splitlines()
    meant = shell.transform_cell(history.input_hist_raw[-1]).splitlines()
    if len(ran) != len(meant):
        return  # Lines were joined differently and cannot be compared.
    prompts = {
        number: (was, _prompt(now))
        for number, (was, now) in enumerate(zip(ran, meant, strict=True), start=1)
        if was != now and now.lstrip().startswith(_PROMPT)
    }
    if not prompts:
        return
    magics = shell.magics_manager.magics["line"]
    # The shell finds it by its name in the table.
    own = {name: _HelpOrPrompt(shell, shell.find_line_magic(name), prompts) for name in _HELP}
    magics.update(own)

    def restore() -> None:
        shell.events.unregister("post_execute", restore)
        magics.update({name: each.help for name, each in own.items() if magics.get(name) is each})

    shell.events.register("post_execute", restore)


def _prompt(line: str) -> str:
    """The prompt in a line like ``get_ipython().run_line_magic('agent', 'why?')``."""
    (statement,) = ast.parse(line.strip()).body
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Call)
    return str(ast.literal_eval(statement.value.args[1]))


class _HelpOrPrompt:
    """A magic for help that looks where in the cell it is called."""

    def __init__(
        self, shell: Any, help: Callable[[str], Any], prompts: dict[int, tuple[str, str]]
    ) -> None:
        self._shell = shell
        self.help = help
        self._prompts = prompts

    def __call__(self, line: str) -> Any:
        prompt = self._called_for()
        if prompt is None:
            return self.help(line)
        return self._shell.run_line_magic("agent", prompt)

    def _called_for(self) -> str | None:
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            was, prompt = self._prompts.get(frame.f_lineno, (None, ""))
            if was == linecache.getline(frame.f_code.co_filename, frame.f_lineno).rstrip("\n"):
                return prompt
            frame = frame.f_back
        return None
