"""Code that models put into a fence, or below the name of its language."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.protocol.fences import plain_code, unfenced


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("```python\nx = 1\n```", "x = 1"),
        ("\n```py\nx = 1\n```\n\n", "x = 1"),
        ("```\nx = 1\n\ny = 2\n```", "x = 1\n\ny = 2"),
        ("~~~python\nx = 1\n~~~", "x = 1"),
        ("```{r, echo=FALSE}\nx <- 1\n```", "x <- 1"),
        ("```julia\nx = 1\n```", "x = 1"),
        ("````python\n'''\n```\n'''\n````", "'''\n```\n'''"),
        ("  ```python\n  if a:\n      b\n  ```", "if a:\n    b"),
        # An answer that was written to its end, without the closing fence.
        ("```python\nx = 1", "x = 1"),
        ("```python\n```", ""),
        ("python\nx = 1", "x = 1"),
        ("Python\n%%time\nx = 1", "%%time\nx = 1"),
        ("```\npython\nx = 1\n```", "x = 1"),
        ("```python\nα = '🙂'\n```", "α = '🙂'"),
    ],
)
def test_code_is_taken_out_of_what_is_around_it(written: str, code: str) -> None:
    assert plain_code(written) == code
    assert plain_code(code) == code


@pytest.mark.parametrize(
    "code",
    [
        "",
        "python = 3",
        "python",
        "python\n# what it is",
        "python\n\n",
        "python.version\nx = 1",
        "%%python\nprint(1)",
        "%%markdown\n```python\nx = 1\n```",
        'def f():\n    """\n    ```\n    f()\n    ```\n    """',
        '"""\n```python\nx = 1\n```\n"""',
        "x = 1\n```",
        "`x`",
        "```x = 1```",
        "```python\nx = 1\n```\nThis sets x.",
        "Here:\n```python\nx = 1\n```",
        "```python\nx = 1\n```\nand\n```python\ny = 2\n```",
    ],
)
def test_other_code_stays_as_it_is(code: str) -> None:
    assert plain_code(code) == code


def test_only_python_is_named_by_a_line_that_is_no_code() -> None:
    """`python` alone starts Python in a shell, and `r` shows a variable in R."""
    assert plain_code("python\nls", "bash") == "python\nls"
    assert plain_code("r\nplot(r)", "R") == "r\nplot(r)"
    assert plain_code("r\nr + 1") == "r\nr + 1"
    assert plain_code("python\nx = 1", "python") == "x = 1"


def test_the_language_of_a_fence_is_known() -> None:
    assert unfenced("```{.python .numberLines}\nx\n```") == ("x", "python")
    assert unfenced("```\nx\n```") == ("x", None)
    assert unfenced("x") == ("x", None)
