"""What a model says is shown in a cell's output, which JupyterLab trusts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_datalayer_agent.magic.answer import escaped, printable, safe

OURS = re.compile(r"</?(pre|code)>|<code class=\"language-[^\"<>]*\">")
PIECES = [
    "<img src=x onerror=act()>", "<script>act()</script>", "<!-- ", "<?", "</", "<a href=", "<",
    "![x](http://far.example/a.png)", "![x][y]", "[x](javascript:act())", "[x]: javascript:act()",
    "[x](<javascript:act()>)", "[x](< java\tscript:act()>)", "[x](java&#115;cript&colon;act())",
    "[x](javascript\\:act())", "[x](data:text/html,x)", "[x](https://a.example)", "$\\href{x}{y}$",
    "```", "```html\n", "````", "~~~\n", "`", "``", "$", "$$", "\n", "\n\n", "- ", "  ",
    "    ", "> ", "a < b", "List<int>", "word", "\\", "!", "[", "]", "(", ")", ":",
]  # fmt: skip


def acting(text: str) -> list[str]:
    """What in the text a browser could act upon, wherever a renderer puts it."""
    rest = OURS.sub("", text)
    found = re.findall(r"<[A-Za-z/!?]|!\[|\\\\href", rest)
    read = re.sub(r"[\x00-\x20\\\\<]", "", rest).lower().replace("&colon;", ":")
    read = read.replace("&#115;", "s")
    return found + re.findall(r"\][(:](?:javascript|data|vbscript):", read)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_nothing_that_acts_is_left_wherever_it_is(text: str) -> None:
    assert acting(safe(text)) == []


def test_what_acts_is_seen_by_these_tests() -> None:
    for piece in PIECES[:7] + PIECES[7:16]:
        if piece != "<" and "[y]" not in piece:
            assert acting(piece), piece


@pytest.mark.parametrize(
    "text",
    [
        "**Bold**, a < b, [a link](https://a.example/x?y=1#z), [a file](data/cars.csv 'title: x')",
        "```python\nfor x in y:\n    print(x < 3)\n```\n\nand `x < y`, $x_1 < 2$ and [here](#a).",
        "[mail](mailto:a@b.example) and a list:\n\n- one\n- two",
    ],
)
def test_usual_answers_stay_as_they_are(text: str) -> None:
    assert safe(text) == text


def test_code_with_tags_reads_as_it_was_meant() -> None:
    assert safe("Use `<b>` here.") == "Use <code>&#60;b&#62;</code> here."
    shown = safe("Page:\n\n```html\n<b>x</b>\n\n$y$\n```\n\nEnd `x`.")
    code = "&#60;b&#62;x&#60;/b&#62;&#10;&#10;&#36;y&#36;"
    assert shown == (f'Page:\n\n<pre><code class="language-html">{code}</code></pre>\n\n\nEnd `x`.')


def test_words_are_words_and_terminals_get_no_commands() -> None:
    assert escaped("It's 1.5 a_b *c* <d>…") == "It's 1.5 a&#95;b &#42;c&#42; &#60;d&#62;…"
    assert printable("a\x1b[2Jb\tc\nd\x9b1m") == "a[2Jb\tc\nd1m"
