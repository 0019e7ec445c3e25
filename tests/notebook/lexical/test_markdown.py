"""Markdown to Lexical nodes and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jupyter_datalayer_agent.notebook.lexical import nodes
from jupyter_datalayer_agent.notebook.lexical.convert import new_document
from jupyter_datalayer_agent.notebook.lexical.from_markdown import blocks_of
from jupyter_datalayer_agent.notebook.lexical.to_markdown import markdown_of
from tests.support.lexical import assert_lexical, printed

EVERYTHING = """\
# A *title*

Text, **bold**, *italic*, ~~struck~~, `code`, <u>under</u>, H<sub>2</sub>O, x<sup>2</sup>, \
<mark>marked</mark>, [a link](https://a.org "T"), ![alt](plot.png), $a_1 + b$\\
a second line; \\$5 and \\$6, snake_case, 2 \\* 3

1. one
   - inner
     - [x] done
     - [ ] not
2. two

> quoted\\
> twice

```python
x = 1

    y
```

```{code-cell} python
print("run")
```

| a | b |
| --- | ---: |
| 1 | **2** \\| x |

$$
E = mc^2
$$

---

![only](image.png)
"""


def written(blocks: list[Any]) -> str:
    return "\n\n".join(map(markdown_of, blocks)) + "\n"


def test_everything_comes_back_as_it_was() -> None:
    blocks = blocks_of(EVERYTHING)
    assert written(blocks) == EVERYTHING
    types = [each["type"] for each in blocks]
    assert types == [
        "heading", "paragraph", "list", "quote", "code", "jupyter-input", "table", "paragraph",
        "horizontalrule", "paragraph",
    ]  # fmt: skip


def test_lexical_prints_new_nodes_as_we_write_them() -> None:
    text = new_document(
        [*blocks_of(EVERYTHING), nodes.jupyter_output("1", [{"output_type": "error"}], "u")]
    )
    assert_lexical([text])
    assert printed([text])[0]["text"] == text, "also in the order of keys"


@pytest.mark.parametrize(
    ("markdown", "types"),
    [
        ("", []),
        ("\n\n", []),
        ("Title\n===", ["heading"]),
        ("    indented", ["code"]),
        ("<div>html</div>", ["paragraph"]),
        ("- a\n\n  b\n- ```\n  code\n  ```", ["list"]),
        ("> - a\n> - b", ["quote"]),
        ("costs $5 and $6", ["paragraph"]),
    ],
)
def test_what_markdown_may_hold_becomes_blocks(markdown: str, types: list[str]) -> None:
    blocks = blocks_of(markdown)
    assert [each["type"] for each in blocks] == types
    assert_lexical([new_document(blocks)])


def test_prices_are_no_equations() -> None:
    (block,) = blocks_of("It costs $5 and $6.")
    assert [each["type"] for each in block["children"]] == ["text"]


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("AT&amp;T &#169; &#xA9; &copy;", "AT&T © © ©"),
        ("a&copy=2&lt 3 &amp &#1 &notit;", "a&copy=2&lt 3 &amp &#1 &notit;"),
        ("&#0; &#xD800; &#9999999;", "\ufffd \ufffd \ufffd"),
        ("`&copy;` &amp;copy;", "&copy; &copy;"),
    ],
)
def test_a_reference_ends_in_a_semicolon(markdown: str, text: str) -> None:
    (block,) = blocks_of(markdown)
    assert "".join(each["text"] for each in block["children"]) == text
    (again,) = blocks_of(markdown_of(block))
    assert shown(again) == shown(block)


def test_an_address_keeps_its_parameters() -> None:
    (block,) = blocks_of("[a](https://x.org/?a=1&copy=2&lt=3 'say \"&copy\"')")
    (link,) = block["children"]
    assert link["url"] == "https://x.org/?a=1&copy=2&lt=3"
    assert link["title"] == 'say "&copy"'
    assert blocks_of(markdown_of(block)) == [block]


def test_a_reference_in_an_address_or_title_stays_text() -> None:
    link = nodes.link("https://x.org/?a&copy;b", [nodes.text("a")], '&lt; "b"')
    image = nodes.image("https://x.org/?a&copy;.png", "&copy;")
    block = nodes.paragraph([link, nodes.text(" and "), image])
    assert blocks_of(markdown_of(block)) == [block]


FORMATS = st.sampled_from([0, 1, 2, 3, 4, 8, 16, 17, 32, 64, 128, 5])
CHARACTERS = st.text("abc1 *_`[]()<>#-+|~$&;!\\.é😀:=\"'x", min_size=1, max_size=12)


@settings(max_examples=300, deadline=None)
@example(runs=[("__1__", 0)])
@given(runs=st.lists(st.tuples(CHARACTERS, FORMATS), min_size=1, max_size=4))
def test_any_text_and_format_survives_markdown(runs: list[tuple[str, int]]) -> None:
    block = nodes.paragraph([nodes.text(content, format) for content, format in runs])
    (back,) = blocks_of(markdown_of(block)) or [nodes.paragraph()]
    assert shown(back) == shown(block)


def shown(block: Any) -> list[tuple[str, int]]:
    """Each character with its format; a format of white space is not seen."""
    found = []
    for node in block["children"]:
        assert node["type"] == "text", node
        found += [(each, 0 if each.isspace() else node["format"]) for each in node["text"]]
    while found and found[-1][0] == " ":
        found.pop()  # not seen either
    return found
