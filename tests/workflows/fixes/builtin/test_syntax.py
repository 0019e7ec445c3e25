"""SyntaxError: what each repair makes of a source, and once more with a real kernel."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_datalayer_agent.notebook.dataflow.ipython_source import parse_cell
from jupyter_datalayer_agent.workflows.fixes.syntax import _repairs, with_print_function

from .support import bench

REPAIRS = [
    ("print(sum([1, 2])", "print(sum([1, 2]))"),
    ("x = [1, 2, 3\ny = 4", "x = [1, 2, 3]\ny = 4"),
    ("x = {'a': [1, 2], 'b': 3\ny = x", "x = {'a': [1, 2], 'b': 3}\ny = x"),
    ("x = f({'a': [1]\ny = 2", "x = f({'a': [1]})\ny = 2"),
    ("x = [\n    1,\n    2,\ny = 3", "x = [\n    1,\n    2,]\ny = 3"),
    ("for i in range(3)\n    print(i)", "for i in range(3):\n    print(i)"),
    ("if x == 1  # one\n    y = 2", "if x == 1:  # one\n    y = 2"),
    ("def f(x)\n    return x", "def f(x):\n    return x"),
    ("if (x:\n    y = 1", "if (x):\n    y = 1"),
    (
        "else_ = 1\nif x:\n    y = 1\nelse\n    y = 2",
        "else_ = 1\nif x:\n    y = 1\nelse:\n    y = 2",
    ),
    ("x = 'abc\ny = 1", "x = 'abc'\ny = 1"),
    ('print("hello)', 'print("hello")'),
    ("df['a].mean()", "df['a'].mean()"),
    ("print 'a'", "print('a')"),
    ("print x, y  # both", "print(x, y)  # both"),
    ("for i in x:\n    print i,", 'for i in x:\n    print(i, end=" ")'),
    ("if x: print 'a;b'; y = 1", "if x: print('a;b'); y = 1"),
    ("print >>sys.stderr, 'a'", "print('a', file=sys.stderr)"),
    ("print 'a' % (1,\n  2)", None),  # over two lines: left alone
    ("print 'total: %d' % total", "print('total: %d' % total)"),
    ("%matplotlib inline\nprint 'a'", "%matplotlib inline\nprint('a')"),
    ("!ls (\nprint(1", "!ls (\nprint(1)"),
]


@pytest.mark.parametrize(("source", "repaired"), REPAIRS)
def test_repair(source: str, repaired: str | None) -> None:
    found = [each.source for each in _repairs(source)]
    assert found[:1] == ([repaired] if repaired else [])


@pytest.mark.parametrize(
    "source",
    ["x = = 1", "class = 3", "1x = 2", "x = 1 +", "def", "a b c", "f(x for x in y, 1)",
     "print(f'{x!z}')", "x = 'it's'"],
)  # fmt: skip
def test_what_is_wrong_in_another_way_is_left_alone(source: str) -> None:
    assert _repairs(source) == []


@given(st.text(alphabet="xyif()[]{}:'\"= \n,#print1", max_size=60))
def test_every_repair_can_be_parsed(source: str) -> None:
    for repair in _repairs(source):
        parse_cell(repair.source)
        assert repair.source != source


@given(st.text(alphabet="print 'x\",;#()>\n", max_size=60))
def test_print_as_a_function_changes_nothing_twice(source: str) -> None:
    once = with_print_function(source)
    assert once.count("\n") == source.count("\n")


async def test_each_kind_is_repaired_and_runs(tmp_path: Path) -> None:
    sources = [
        "x = [1, 2, 3]",
        "print(sum(x)",
        "name = 'cars\nn = 2",
        "for i in x\n    pass",
        "print 'n', n",
        "%time y = x\nprint(y[0)",
    ]
    repaired = [
        "x = [1, 2, 3]",
        "print(sum(x))",
        "name = 'cars'\nn = 2",
        "for i in x:\n    pass",
        "print('n', n)",
        "%time y = x\nprint(y[0])",
    ]
    async with bench(tmp_path, sources) as b:
        await b.run("a")
        for cell_id in "bcdef":
            fixes = await b.fails(cell_id, "SyntaxError")
            assert fixes, cell_id
            assert fixes[0].safe, fixes
            await b.apply(fixes[0])
        assert await b.sources() == repaired
        assert {how for _, how in (await b.state()).values()} == {"ok"}


async def test_code_that_can_be_parsed_here_is_not_repaired(tmp_path: Path) -> None:
    async with bench(tmp_path, ["eval('x = (')", "compile('print 1', '', 'exec')"]) as b:
        assert await b.fails("a", "SyntaxError") == []
        assert await b.fails("b", "SyntaxError") == []
