"""The best text of the MIME bundles that libraries and kernels write."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from jupyter_datalayer_agent.tools.mime_text import best_text, html_text, plain
from jupyter_datalayer_agent.tools.outputs import render_outputs
from jupyter_datalayer_agent.tools.redaction import EVERYTHING, redact

FRAME = """<div>
<style scoped>
    .dataframe tbody tr th { vertical-align: top; }
</style>
<table border="1" class="dataframe">
  <thead>
    <tr style="text-align: right;">
      <th></th>
      <th>name</th>
      <th>a &amp; b</th>
    </tr>
  </thead>
  <tbody>
    <tr>
      <th>0</th>
      <td>Ann</td>
      <td>1</td>
    </tr>
  </tbody>
</table>
</div>"""

BUNDLES: dict[str, tuple[dict[str, Any], str]] = {
    "Markdown('# *Title*')": (
        {"text/plain": "<IPython.core.display.Markdown object>", "text/markdown": "# *Title*"},
        "# *Title*",
    ),
    "Latex('$x^2$')": (
        {"text/plain": "<IPython.core.display.Latex object>", "text/latex": "$x^2$"},
        "$x^2$",
    ),
    "JSON({'k': [1, 2]})": (
        {"text/plain": "<IPython.core.display.JSON object>", "application/json": {"k": [1, 2]}},
        '{"k": [1, 2]}',
    ),
    "HTML('<b>bold</b>')": (
        {"text/plain": "<IPython.core.display.HTML object>", "text/html": "<b>bold</b>"},
        "bold",
    ),
    "an object of a class in a function": (
        {"text/plain": "<__main__.f.<locals>.A object at 0x7f1c0>", "text/html": "<b>local</b>"},
        "local",
    ),
    "text between angle brackets, which is no repr": (
        {"text/plain": "<a> < <b>", "text/html": "<b>html</b>"},
        "<a> < <b>",
    ),
    "a frame, whose plain text is better": (
        {"text/plain": "  name  a & b\n0  Ann      1", "text/html": FRAME},
        "  name  a & b\n0  Ann      1",
    ),
    "a Styler": (
        {"text/plain": "<pandas.io.formats.style.Styler at 0x7f1c0>", "text/html": FRAME},
        " | name | a & b\n0 | Ann | 1",
    ),
    "sympy": (
        {"text/plain": "x**2", "text/latex": "$\\displaystyle x^{2}$"},
        "x**2",
    ),
    "lines of Matplotlib without their picture": (
        {"text/plain": "[<matplotlib.lines.Line2D at 0x7f1c0>]"},
        "[<matplotlib.lines.Line2D at 0x7f1c0>]",
    ),
    "a widget": (
        {
            "text/plain": "IntSlider(value=3)",
            "application/vnd.jupyter.widget-view+json": {"model_id": "1"},
        },
        "IntSlider(value=3)",
    ),
    "R's text, without plain": ({"text/markdown": "**5**", "text/html": "<b>5</b>"}, "**5**"),
    "Julia's HTML": (
        {"text/plain": 'HTML{String}("<b>5</b>")', "text/html": "<b>5</b>"},
        'HTML{String}("<b>5</b>")',
    ),
    "lines of nbformat": ({"text/plain": ["one\n", "two"]}, "one\ntwo"),
    "colours": (
        {"text/plain": "\x1b[31mred\x1b[0m \x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\"},
        "red link",
    ),
    "a drawing": (
        {
            "text/plain": "<graphviz.graphs.Digraph at 0x7f1c0>",
            "image/svg+xml": "<svg><title>flow</title><text x='1'>on</text><text>end</text></svg>",
        },
        "[SVG picture]\nflow\non\nend",
    ),
    "PDF": (
        {"text/plain": "<IPython.core.display.Pdf object>", "application/pdf": "JVBERi0="},
        "<IPython.core.display.Pdf object> [output of type application/pdf]",
    ),
    "JavaScript": (
        {"text/plain": "<IPython.Javascript object>", "application/javascript": "go()"},
        "[JavaScript]\ngo()",
    ),
    "nothing": ({}, "[output of type none]"),
    "an empty plain text": ({"text/plain": ""}, "[output of type none]"),
    "HTML without text": (
        {"text/plain": "<IPython.lib.display.IFrame at 0x7f1c0>", "text/html": "<iframe id=a>"},
        "<IPython.lib.display.IFrame at 0x7f1c0> [output of type text/html]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BUNDLES)
def test_the_best_text_of(name: str) -> None:
    data, expected = BUNDLES[name]
    assert best_text(data) == expected


@pytest.mark.parametrize(
    "mime",
    ["application/vnd.plotly.v1+json", "application/vnd.vegalite.v5+json", "application/geo+json"],
)
def test_a_chart_is_summarised_with_its_data_elided(mime: str) -> None:
    spec = {
        "data": [{"type": "bar", "x": list(range(9_000)), "name": "sales"}],
        "layout": {"title": {"text": "Sales"}, "template": {"layout": {"font": "x" * 9_000}}},
    }
    text = best_text({mime: spec, "text/plain": f"Figure({json.dumps(spec)})"})
    assert text.startswith(f"[{mime}] ")
    assert '"type": "bar", "x": [0, 1, 2, "… 8997 more"], "name": "sales"' in text
    assert '"text": "Sales"' in text
    assert len(text) < 300


def test_the_explanation_below_a_chart_is_no_text_of_it() -> None:
    plain_text = (
        "<VegaLite 5 object>\n\nIf you see this, the renderer has not been properly enabled."
    )
    assert best_text({"text/plain": plain_text, "text/html": "<p>a chart</p>"}) == "a chart"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("<IPython.core.display.Image object>", "[picture 1: image/png]"),
        ("<__main__.f.<locals>.Plot at 0x7F1c0>", "[picture 1: image/png]"),
        ("<Figure size 640x480 with 1 Axes>",
         "[picture 1: image/png <Figure size 640x480 with 1 Axes>]"),
        ("A chart of prices", "[picture 1: image/png A chart of prices]"),
    ],
)  # fmt: skip
def test_beside_a_picture_is_what_says_more_than_its_class(said: str, shown: str) -> None:
    data = {"image/png": "iVBORw0KGgo=", "text/plain": said}
    output = {"output_type": "display_data", "data": data, "metadata": {}}
    assert str(render_outputs([output])[0]) == shown


def test_html_keeps_rows_lists_and_preformatted_text() -> None:
    html = (
        "<!-- no --><h1>Title</h1><p>one\n two<br>three</p><ul><li>a<li>b</ul>"
        "<script>if (a < b) { x = '<p>no</p>' }</script><pre>  x = 1\n    y</pre>"
        "<table><tr><td></td><td>1</td></tr></table><img src='data:,AA' alt='a map'>"
        "1 < 2 &lt; 3"
    )
    assert html_text(html).splitlines() == [
        "Title", "one two", "three", "- a", "- b", "  x = 1", "    y", " | 1",
        "[image: a map]1 < 2 < 3",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (
            '\n<iframe\n  width="1"\n  src="https://a.org/b?c=1&amp;d"\n></iframe>',
            "[page: https://a.org/b?c=1&d]",
        ),
        ("<video src='a.mp4' controls>No video.</video>", "[video: a.mp4]No video."),
        ('<audio><source src="a.mp3" type="audio/mpeg"/></audio>', "[source: a.mp3]"),
        ('<img src="data:image/png;base64,AA"/>', ""),
        ('<img src="https://a.org/b.png">', "[image: https://a.org/b.png]"),
        ('<iframe srcdoc="x"></iframe>', ""),
    ],
)
def test_what_shows_another_address_is_that_address(html: str, text: str) -> None:
    data = {"text/plain": "<IPython.lib.display.IFrame at 0x7f2b>", "text/html": html}
    assert best_text(data) == (
        text or "<IPython.lib.display.IFrame at 0x7f2b> [output of type text/html]"
    )
    assert html_text(html).strip() == text


@pytest.mark.parametrize(
    "piece",
    ["<", "<!", "<a ", "<a b='", "<!--", "&#", "<![CDATA[", "<?", "</a", "<td>", "<b>", "<script>"],
)
def test_hostile_html_takes_linear_time(piece: str) -> None:
    html = piece * (400_000 // len(piece))
    begun = time.perf_counter()
    html_text(html)
    assert time.perf_counter() - begun < 5  # HTMLParser alone: minutes


def test_a_tag_that_does_not_end_takes_linear_time() -> None:
    html = "<" + 200_000 * "a"
    begun = time.perf_counter()
    assert html_text(html) == html[:200_000]
    assert time.perf_counter() - begun < 5  # with one pattern for name and rest: minutes


def test_escape_sequences_that_do_not_end_are_harmless() -> None:
    assert plain("\x1b]8;;" * 3 + "x") == ""
    assert plain("no escape") == "no escape"


def test_what_shows_data_is_withheld_as_rows() -> None:
    outputs = [
        {"output_type": "display_data", "data": data}
        for data in (
            {"application/vnd.vegalite.v5+json": {"data": {"values": [{"a": 417}]}}},
            {"application/json": {"rows": [{"a": 417}]}, "text/plain": "<x>"},
            {"text/html": FRAME.replace("Ann", "417"), "text/plain": "<x>"},
            {"text/markdown": "| a | b |\n|---|---|\n| 417 | 2 |", "text/plain": "<x>"},
        )
    ]
    shown, _ = render_outputs(outputs)
    assert shown.count("417") == 4
    kept = redact(shown, {"row_data": "by the setting"})
    assert "417" not in kept
    assert kept.count("withheld by the setting") == 4
    text, _ = render_outputs(
        [{"output_type": "display_data", "data": BUNDLES["Latex('$x^2$')"][0]}]
    )
    assert redact(text, {"row_data": "by the setting"}) == "$x^2$"
    assert redact(text, EVERYTHING) == "[output of 5 characters withheld by the setting]"


def test_a_picture_is_not_accompanied_by_the_data_of_its_chart() -> None:
    spec = {"data": [{"y": [417]}]}
    data = {"image/png": "", "application/vnd.plotly.v1+json": spec, "text/plain": "Figure()"}
    text, images = render_outputs([{"output_type": "display_data", "data": data}])
    assert text == "[picture 1: image/png]"
    assert len(images) == 1
