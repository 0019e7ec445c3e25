"""What of a kernel's tracebacks a model is sent."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from jupyter_datalayer_agent.tools.outputs import failure_text, render_outputs
from jupyter_datalayer_agent.tools.redaction import EVERYTHING, redact
from jupyter_datalayer_agent.tools.tracebacks import Where, useful_part, where

from ..notebook.support import World, code, world, write_notebook

CELLS = {
    "type": ("def f(x):\n    return x + 'a'\nf(1)", "TypeError: unsupported operand"),
    "library": ("import json\njson.loads('{bad')", "JSONDecodeError: Expecting property name"),
    "callback": ("import re\nre.sub('a', lambda m: 1 / 0, 'a')", "ZeroDivisionError: division"),
    "syntax": ("x = = 1", "SyntaxError: invalid syntax"),
    "cause": (
        "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('bad') from e",
        "ValueError: bad",
    ),
    "handling": (
        "try:\n    {}['a']\nexcept KeyError:\n    int('x')",
        "ValueError: invalid literal",
    ),
    "recursion": ("def r(n):\n    return r(n + 1)\nr(0)", "RecursionError: maximum recursion"),
    "lines": (
        "raise ValueError('one\\n\\nFile two, line 3')",
        "ValueError: one\n\nFile two, line 3",
    ),
    "note": ("e = ValueError('bad')\ne.__notes__ = ['see row 7']\nraise e", "ValueError: bad"),
    "long": ("raise ValueError('x' * 90_000)", "ValueError: xxx"),
    "silent": ("raise KeyboardInterrupt", "KeyboardInterrupt:"),
}
MODES = ["Context", "Plain", "Verbose", "Minimal"]


@asynccontextmanager
async def a_book(folder: Path) -> AsyncIterator[World]:
    """A service with a notebook."""
    async with world(folder) as w:
        write_notebook(w.root, [code("a", "")])
        yield w


async def failed(w: World, mode: str, source: str) -> tuple[str, list[str]]:
    """The text of the cell's outputs in one of IPython's modes, and the traceback."""
    await w.service.execute_code(f"%xmode {mode}", path="a.ipynb")
    run = await w.service.execute_code(source, path="a.ipynb")
    assert run.error is not None
    text, _ = render_outputs(run.outputs)
    return text, run.error.traceback


@pytest.mark.parametrize("mode", MODES)
async def test_the_message_comes_first_in_each_mode(tmp_path: Path, mode: str) -> None:
    async with a_book(tmp_path) as book:
        for name, (source, message) in CELLS.items():
            text, traceback = await failed(book, mode, source)
            assert text.startswith(message), name
            assert "\x1b" not in text
            assert len(text) < 2_600, name
            if mode != "Minimal" and name != "silent":
                assert where(traceback).line is not None, name


@pytest.mark.parametrize("mode", ["Context", "Plain", "Verbose"])
async def test_the_cell_and_the_last_frame_of_a_library_are_kept(tmp_path: Path, mode: str) -> None:
    async with a_book(tmp_path) as book:
        text, traceback = await failed(book, mode, CELLS["library"][0])
        assert "json.loads('{bad')" in text
        assert "[2 frames left out]" in text
        assert "raw_decode" in text
        assert "in decode(" not in text
        assert len(text) < 900
        assert len("".join(traceback)) > len(text)
        assert where(traceback).line == 2
        assert str(where(traceback).file).endswith("decoder.py")

        text, traceback = await failed(book, mode, CELLS["callback"][0])
        assert text.count("1 / 0") == 2  # the cell, and its lambda
        assert where(traceback) == Where(2, None)


@pytest.mark.parametrize("mode", ["Context", "Plain", "Verbose"])
async def test_exceptions_of_a_chain_follow_with_their_relation(tmp_path: Path, mode: str) -> None:
    async with a_book(tmp_path) as book:
        text, traceback = await failed(book, mode, CELLS["cause"][0])
        assert text.index("raise ValueError") < text.index(
            "Direct cause: ZeroDivisionError: division by zero"
        )
        assert text.count("Cell In[") == 2
        assert where(traceback) == Where(4, None)
        text, _ = await failed(book, mode, CELLS["handling"][0])
        assert text.startswith("ValueError: invalid literal")
        assert "\n\nRaised while handling: KeyError: 'a'\n" in text


async def test_what_else_a_traceback_says_is_kept(tmp_path: Path) -> None:
    async with a_book(tmp_path) as book:
        text, _ = await failed(book, "Context", CELLS["note"][0])
        assert text.endswith("see row 7")
        text, _ = await failed(book, "Plain", CELLS["recursion"][0])
        assert "frames left out]" in text
        text, _ = await failed(book, "Context", CELLS["recursion"][0])
        assert text.count("return r(n + 1)") < 8
        text, _ = await failed(book, "Context", CELLS["long"][0])
        assert "characters left out" in text
        text, _ = await failed(book, "Context", "%%time\n1 / 0")
        assert text.startswith("ZeroDivisionError: division by zero\n")


async def test_an_error_leads_what_the_cell_printed(tmp_path: Path) -> None:
    async with a_book(tmp_path) as book:
        text, _ = await failed(book, "Context", "print('x' * 50_000)\n1 / 0")
        assert text.startswith("ZeroDivisionError: division by zero\nCell In[")
        kept = redact(text, EVERYTHING)
        assert kept.startswith("[ZeroDivisionError in line 2, its message and traceback withheld")


async def test_frames_of_the_users_own_modules_are_kept(tmp_path: Path) -> None:
    async with a_book(tmp_path) as book:
        (book.root / "helper.py").write_text("def go():\n    import json\n    json.loads('')\n")
        text, traceback = await failed(book, "Context", "import helper\nhelper.go()")
        assert "helper.py:3, in go()" in text
        assert "raw_decode" in text
        assert where(traceback).line == 2
        (book.root / "broken.py").write_text("x = = 1\n")
        text, _ = await failed(book, "Context", "import broken")
        assert text.startswith("SyntaxError: invalid syntax")
        assert "import broken" in text
        assert "x = = 1" in text


GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "/venv/lib/python3.11/site-packages/IPython/core/interactiveshell.py", line 3823, in run
  |     exec(code_obj, self.user_global_ns, self.user_ns)
  |   File "/tmp/ipykernel_123/456.py", line 3, in <module>
  |     g()
  |   File "/tmp/ipykernel_123/456.py", line 2, in g
  |     raise ExceptionGroup('many', [ValueError('one'), TypeError('two')])
  | ExceptionGroup: many (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | ValueError: one
    +---------------- 2 ----------------
    | TypeError: two
    +------------------------------------
"""


def test_a_group_has_its_members() -> None:
    text = useful_part("ExceptionGroup", "many (2 sub-exceptions)", GROUP.splitlines())
    assert text.startswith("ExceptionGroup: many (2 sub-exceptions)\nFile ")
    assert "interactiveshell" not in text
    assert "ValueError: one" in text
    assert "TypeError: two" in text
    assert where(GROUP.splitlines()) == Where(3, None)


def test_julia_has_its_innermost_frame_last() -> None:
    trace = [
        "UndefVarError: `x` not defined",
        "",
        "Stacktrace:",
        " [1] error(s::String)",
        "   @ Base ./error.jl:35",
        " [2] f(x::Int64)",
        "   @ Main ./In[2]:1",
        " [3] top-level scope",
        "   @ In[3]:4",
        " [4] eval",
        "   @ ./boot.jl:370 [inlined]",
    ]
    assert useful_part("UndefVarError", "UndefVarError: `x` not defined", trace).splitlines() == [
        "UndefVarError: `x` not defined",
        "[3] top-level scope",
        "   @ In[3]:4",
        "[2] f(x::Int64)",
        "   @ Main ./In[2]:1",
        "[1] error(s::String)",
        "   @ Base ./error.jl:35",
    ]
    assert where(trace) == Where(4, None)


OTHERS = {
    "R": (
        ("ERROR", "Error in f(1): boom\n"),
        ["Error in f(1): boom\nTraceback:\n", "1. f(1)", '2. stop("boom")   # at line 2 of file'],
        "Error in f(1): boom\nTraceback:\n\n1. f(1)\n",
    ),
    "C++": (
        ("Standard Exception", "boom"),
        ["Standard Exception: boom"],
        "Standard Exception: boom",
    ),
    "JavaScript": (
        ("Error", "boom"),
        ["Stack trace:\nError: boom\n    at <anonymous>:1:28"],
        "Stack trace:\nError: boom\n    at <anonymous>:1:28",
    ),
    "before IPython 8": (
        ("KeyError", "'a'"),
        [
            "-" * 75,
            "KeyError                      Traceback (most recent call last)",
            "Input In [3], in <cell line: 2>()\n      1 x = {}\n----> 2 x['a']\n",
            "\x1b[0;31mKeyError\x1b[0m: 'a'",
        ],
        "KeyError: 'a'\nInput In [3], in <cell line: 2>()\n      1 x = {}\n----> 2 x['a']",
    ),
    "IPython 7": (
        ("KeyError", "'a'"),
        [
            "-" * 75,
            "KeyError                      Traceback (most recent call last)",
            "<ipython-input-3-1a2b> in <module>\n      1 x = {}\n----> 2 x['a']\n",
            "~/env/lib/python3.8/json/frame.py in get(self)\n---> 12 raise KeyError\n",
            "KeyError: 'a'",
        ],
        "KeyError: 'a'\n<ipython-input-3-1a2b> in <module>\n      1 x = {}\n----> 2 x['a']\n~/env",
    ),
    "nothing": (("", ""), [], ""),
    "only a name": (("KeyboardInterrupt", ""), [], "KeyboardInterrupt:"),
    "an unknown form of great length": (
        ("Boom", "far"),
        [f"at {number}" for number in range(90_000)],
        "Boom: far\nat 0\n",
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_forms_keep_their_beginning_and_end(name: str) -> None:
    (ename, evalue), trace, expected = OTHERS[name]
    text = useful_part(ename, evalue, trace)
    assert text.strip(":").startswith(expected.strip(":"))
    assert len(text) < 3_100


@pytest.mark.parametrize(
    "line",
    ["File ", "  | ", "+ ", "a", "\x1b[", "In [", "---> ", "[1] ", "x: ", "File a, in ", "\n"],
)
def test_hostile_tracebacks_take_linear_time(line: str) -> None:
    begun = time.perf_counter()
    useful_part("E", "v", [line * 100_000, f"{line}\n" * 50_000])
    assert time.perf_counter() - begun < 5


async def test_an_error_of_pandas_is_a_fifth_of_its_traceback(tmp_path: Path) -> None:
    async with a_book(tmp_path) as book:
        source = "import pandas as pd\npd.DataFrame({'a': [1]})['Horsepowr']"
        text, traceback = await failed(book, "Context", source)
        assert text.startswith("KeyError: 'Horsepowr'\nCell In[")
        assert "Direct cause: KeyError: 'Horsepowr'" in text
        assert len(text) < len("".join(traceback)) / 4


def test_a_long_message_is_short_in_the_reason_of_a_failure_too() -> None:
    text = failure_text("ValueError", f"begin {'x' * 90_000} end")
    assert text.startswith("ValueError: begin xxx")
    assert text.endswith("xxx end")
    assert len(text) < 2_100
