"""The static graph of names: a table of notebooks with the sets that are expected."""

from __future__ import annotations

import builtins
import hashlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_datalayer_agent.notebook.dataflow.dependencies import analyse, build, dependents, stale
from jupyter_datalayer_agent.protocol.cells import PageCell


def notebook(sources: Sequence[str], *, ran: bool = True) -> list[PageCell]:
    """Code cells with the ids a, b, c…; a source that starts with ``#md`` is Markdown."""
    return [
        PageCell(
            id=chr(ord("a") + index),
            index=index,
            type="markdown" if source.startswith("#md") else "code",
            source=source,
            hash=hashlib.sha256(source.encode()).hexdigest(),
            execution_count=index + 1 if ran else None,
        )
        for index, source in enumerate(sources)
    ]


NAMES = [
    # source, defines, uses (without builtins), mutates
    ("x = 1", "x", "", ""),
    ("y = x + 1", "y", "x", ""),
    ("x += 1", "x", "x", ""),
    ("x: int = y", "x", "y", ""),
    ("x: int", "", "", ""),
    ("a, *b = c", "a b", "c", ""),
    ("a = b = c", "a b", "c", ""),
    ("df['x'] = y", "", "df y", "df"),
    ("df.loc[m, 'x'] += 1", "", "df m", "df"),
    ("obj.a.b = v", "", "obj v", "obj"),
    ("del df['x']", "", "df", "df"),
    ("del x", "", "x", ""),
    ("tmp = 1\ndel tmp", "", "", ""),
    ("items.append(x)", "", "items x", "items"),
    ("df.drop(columns='a', inplace=True)", "", "df", "df"),
    ("df.drop(columns='a')", "", "df", ""),
    ("df.head()", "", "df", ""),
    ("top = df.head()", "top", "df", ""),
    ("x = items.pop()", "x", "items", "items"),
    ("model.fit(X, y)", "", "model X y", "model"),
    ("Xs = scaler.fit_transform(X)", "Xs", "scaler X", "scaler"),
    ("random.shuffle(deck)", "", "random deck", "random deck"),
    ("[i for i in xs if i > k]", "", "xs k", ""),
    ("{k: v for k, v in d.items()}", "", "d", ""),
    ("[y for x in xs for y in x if (n := y)]", "n", "xs", ""),
    ("f'{x:{w}} {y!r}'", "", "x w y", ""),
    ("lambda a, b=c: a + b + d", "", "c d", ""),
    ("def f(a, b=d):\n    return a + b + g", "f", "d", ""),
    ("def f():\n    global n\n    n = 1", "f", "", ""),
    ("def f():\n    global n\n    n = 1\nf()", "f", "n", "n"),
    ("def f():\n    return g\nf()", "f", "g", ""),
    ("k = 1\ndef f():\n    return k\nf()", "f k", "", ""),
    ("@wrap(z)\ndef f(): ...", "f", "wrap z", ""),
    ("class A(B):\n    n = m\n    k = n\n    def go(self):\n        return n", "A", "B m", ""),
    ("import a.b, c as d\nfrom e import f as g", "a d g", "", ""),
    ("try:\n    import a\nexcept ImportError as e:\n    print(e)\n    a = None", "a", "", ""),
    ("if c:\n    x = 1\nelse:\n    x = 2\nx", "x", "c", ""),
    ("if c:\n    x = 1\nx", "x", "c x", ""),
    ("for i in xs:\n    last = i\nlast", "i last", "xs", ""),
    ("with open(p) as file:\n    t = file.read()", "file t", "p", ""),
    ("match v:\n    case {'a': b, **rest}: pass\n    case [p, *q]: pass", "b rest p q", "v", ""),
    ("match v:\n    case Point(x=a) if a > k: pass", "a", "v Point k", ""),
    (
        "def outer():\n    y = 1\n    def inner():\n        nonlocal y\n        y = z",
        "outer",
        "",
        "",
    ),
    ("print(x)\nx = 1", "x", "x", ""),
    ("%matplotlib inline\nx = 1", "x", "", ""),
    ("files = !ls {folder}\n!rm $old", "files", "folder old", ""),
    ("%%time\ny = x", "y", "x", ""),
    ("%time y = f(x)", "y", "f x", ""),
    ("%timeit -n 3 -r 2 f(x)", "", "f x", ""),
    ("%%capture out\nprint(x)", "out", "x", ""),
    ("%%bash\necho $x", "", "", ""),
    ("x?", "", "", ""),
    ("pip install pandas", "", "", ""),
    ("text = '''\n%magic\n!ls\n'''\n!ls", "text", "", ""),
    ("x = (1\n% y)\n%who", "x", "y", ""),
    ("  x = 1\n  y = x", "x y", "", ""),
    ("", "", "", ""),
    ("# only a comment", "", "", ""),
]


@pytest.mark.parametrize(("source", "defines", "uses", "mutates"), NAMES)
def test_names_of(source: str, defines: str, uses: str, mutates: str) -> None:
    names = analyse(source)
    assert names.defines == set(defines.split())
    assert names.uses - set(dir(builtins)) == set(uses.split())
    assert names.mutates == set(mutates.split())
    assert not names.opaque


GRAPHS = [
    # sources of a, b, c…; the changed cells; what follows from them
    (["x = 1", "y = x", "z = y", "w = 1"], "a", "bc"),
    (["x = 1", "y = x", "z = y", "w = 1"], "b", "c"),
    (["x = 1", "y = x", "z = y", "w = 1"], "d", ""),
    # A definition hides the one above it.
    (["x = 1", "x = 2", "x"], "a", ""),
    (["x = 1", "x = 2", "x"], "b", "c"),
    (["x = 1", "print(x)", "x = 2", "print(x)"], "a", "b"),
    # It does not where it may not happen.
    (["x = 1", "if c:\n    x = 2", "x"], "a", "c"),
    (["x = 1", "x += 1", "x"], "a", "bc"),
    # Changes in place: those below follow from both.
    (["df = read()", "df['a'] = 1", "df.head()"], "a", "bc"),
    (["df = read()", "df['a'] = 1", "df.head()"], "b", "c"),
    (["df = read()", "df.head()", "df['a'] = 1", "df.sum()"], "b", ""),
    (["xs = []", "xs.append(1)", "print(xs)"], "b", "c"),
    (["df = read()", "df.dropna(inplace=True)", "df.shape"], "b", "c"),
    # A function reads globals when it is called.
    (["def f():\n    return k", "k = 1", "f()", "k"], "b", "cd"),
    (["k = 1", "def f():\n    return k", "f()", "g = f"], "a", "cd"),
    (["k = 1", "def f():\n    return k", "h = lambda: f()", "h()"], "a", "d"),
    (["n = 0", "def f():\n    global n\n    n += 1", "f()", "n"], "c", "d"),
    (["xs = []", "def f(v):\n    xs.append(v)", "f(1)", "print(xs)"], "c", "d"),
    (["def clean(d):\n    d['x'] = 1", "df = {}", "clean(df)", "df"], "c", "d"),
    (["def f(d):\n    d = 1", "df = {}", "f(df)", "df"], "c", ""),
    (["k = 1", "class A:\n    def go(self):\n        return k", "a = A()", "a.go()"], "a", "cd"),
    (["def load():\n    return p", "p = 1", "df = load()", "p = 2", "df"], "d", ""),
    # Imports and libraries.
    (["import numpy as np", "np.ones(3)", "x = 1"], "a", "b"),
    (["import matplotlib.pyplot as plt", "plt.plot([1])\nplt.show()", "plt.plot([2])"], "b", ""),
    (["import numpy as np", "np.random.seed(1)", "np.random.rand()"], "b", "c"),
    (["from x import *", "y = 1", "foo(y)", "y + 1"], "a", "c"),
    (["y = 1", "from x import *", "y + 1"], "a", "c"),
    (["y = 1", "from x import *", "y + 1"], "b", "c"),
    (["%run setup.py", "foo()", "x = 1"], "a", "b"),
    # Deleted.
    (["x = 1", "del x", "x = 2", "x"], "a", "b"),
    # Comprehensions and arguments have names of their own.
    (["i = 1", "[i for i in range(3)]", "def f(i):\n    return i\nf(2)"], "a", ""),
    # Shadowed builtins.
    (["list = 1", "list", "len"], "a", "b"),
    # A cell that cannot be parsed counts with every word of it, and hides nothing.
    (["x = 1", "x = (", "print(x)"], "a", "bc"),
    (["x = 1", "x = (", "print(x)"], "b", "c"),
    (["x = 1", "y = (", "print(x)"], "b", ""),
    (["x = 1", "%%sql out\nselect {x}", "print(out)"], "a", "bc"),
    # Markdown, magics, other languages' cells.
    (["x = 1", "#md x", "%%bash\necho x", "!echo {x}"], "a", "d"),
    (["df = 1", "%%time\ny = df", "y"], "a", "bc"),
    # More than one changed cell; a changed cell is not its own dependent.
    (["x = 1", "y = x", "z = y", "q = 5", "q"], "ad", "bce"),
    # Only below: a later definition does not feed an earlier use.
    (["print(x)", "x = 1"], "b", ""),
]


@pytest.mark.parametrize(("sources", "changed", "expected"), GRAPHS)
def test_dependents_of(sources: list[str], changed: str, expected: str) -> None:
    assert dependents(notebook(sources), set(changed)) == list(expected)


def test_other_languages_go_by_order() -> None:
    cells = notebook(["x <- 1", "#md", "y <- 2", "z <- x"])
    assert dependents(cells, {"a"}, "R") == ["c", "d"]
    assert dependents(cells, {"c"}, "R") == ["d"]


def test_only_cells_that_ran_are_stale_the_changed_one_among_them() -> None:
    cells = notebook(["x = 1", "y = x", "z = y"])
    cells[2] = cells[2].model_copy(update={"execution_count": None})
    assert stale(cells, {"a"}) == ["a", "b"]
    assert stale(notebook(["x = 1", "y = x"], ran=False), {"a"}) == []


def test_names_that_nothing_above_defines_are_known() -> None:
    graph = build(
        notebook(["print(x)", "x = 1", "x + y", "if x:\n    q = 1\nq", "from a import *\nr"])
    )
    assert graph.undefined == [{"x"}, set(), {"y"}, set(), set()]


STATEMENTS = st.sampled_from(
    ["x = 1", "y = x", "z = x + y", "x += z", "y.append(x)", "del z", "def f():\n    return y",
     "f()", "z = [x for x in y]", "x = (", "from m import *", "if z:\n    x = y", "%time z = f()"]
)  # fmt: skip


@given(st.lists(STATEMENTS, max_size=12), st.data())
def test_what_follows_grows_with_what_changed(sources: list[str], data: st.DataObject) -> None:
    cells = notebook(sources)
    ids = [cell.id for cell in cells]
    few = data.draw(st.sets(st.sampled_from(ids))) if ids else set()
    one = dependents(cells, few)
    both = set(one) | few
    # Closed: dependents have no further dependents, and all are below a changed cell.
    assert dependents(cells, both) == []
    assert all(each > min(few) for each in one)
    assert set().union(*[dependents(cells, {each}) for each in few]) | few == both


@given(st.text(max_size=200))
def test_any_text_can_be_analysed(source: str) -> None:
    names = analyse(source)
    assert names.mutates <= names.uses | names.defines
