"""What may run again without a question."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.workflows.side_effects import may_run_again, quiet, side_effect


@pytest.mark.parametrize(
    "source",
    [
        "x = 1", "import pandas as pd", "df = pd.read_csv('a.csv')", "def f():\n    return 1",
        "df = df0.copy()\ndf['a'] = 1", "text = open('a.txt').read()", "open('a', 'rb')",
        "image = Image.open('wax.png')", "%matplotlib inline\nx = 1", "print(x)",
    ],
)  # fmt: skip
def test_quiet(source: str) -> None:
    assert quiet(source)


@pytest.mark.parametrize(
    "source",
    [
        "!ls", "%pip install x", "open('a', 'w')", "open('a', mode='a+')", "open('a', how)",
        "path.open('w')", "gzip.open('a', 'wb')", "df.to_csv('a.csv')", "plt.savefig('a.png')",
        "os.remove('a')", "requests.post(url)", "model.fit(X, y)", "time.sleep(60)", "input()",
        "exec(code)", "%%bash\nls", "x = (", "items.append(1)", "n += 1", "df['a'] = 1", "del x",
    ],
)  # fmt: skip
def test_not_quiet(source: str) -> None:
    assert not quiet(source)


def test_it_says_what_it_would_do() -> None:
    assert side_effect("df.to_csv('a.csv')") == "may overwrite a.csv"
    assert side_effect("open('a', 'w')") == "may overwrite a"
    assert side_effect("x = 1") is None


def test_only_what_ran_before_the_failure_counts() -> None:
    source = "x = 1\nprint(nope)\nitems.append(1)"
    assert may_run_again(source, 2)
    assert not may_run_again(source, None)
    assert not may_run_again("items.append(1)\nprint(nope)", 2)
    assert not may_run_again("for i in x:\n    items.append(i)\n    print(nope)", 3)
    assert may_run_again("x = (", None)
