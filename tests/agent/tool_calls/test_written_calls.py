"""Calls that models write as text: which forms are read, and when a beginning is none."""

from __future__ import annotations

import json

import pytest

from jupyter_datalayer_agent.agent.tool_calls.written_calls import (
    Beginning,
    beginning,
    calls_within,
    says_more_than_calls,
    whole_answer,
)
from jupyter_datalayer_agent.tools.builtin import builtin_registry

ARGUMENTS = {"type": "code", "content": "print(1)\n", "run": True}
PLAIN = json.dumps({"name": "addNotebookCell", "arguments": ARGUMENTS})
OTHER = json.dumps({"name": "listKernels", "arguments": {}})
LLAMA = json.dumps({"name": "addNotebookCell", "parameters": ARGUMENTS})
LLAMA_TYPED = json.dumps(
    {"type": "function", "function": "addNotebookCell", "parameters": ARGUMENTS}
)
OPENAI = json.dumps(
    {
        "type": "function",
        "function": {"name": "addNotebookCell", "arguments": json.dumps(ARGUMENTS)},
    }
)
LINE_BREAK = PLAIN.replace("\\n", "\n")
NAMES = ("addNotebookCell", "listKernels")


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f"\n  {PLAIN}\n\n",
        json.dumps(json.loads(PLAIN), indent=2),
        f"```json\n{PLAIN}\n```",
        f"```\n{PLAIN}\n```\n",
        f"```xml\n<tool_call>\n{PLAIN}\n</tool_call>\n```",
        f"<tool_call>\n{PLAIN}\n</tool_call>",
        f"<tool_call>{PLAIN}",
        f"<tools>\n{PLAIN}\n</tools>",
        f"<function_call>{PLAIN}</function_call>",
        f"[{PLAIN}]",
        f"[TOOL_CALLS][{PLAIN}]",
        f"[TOOL_CALLS] [{PLAIN}]",
        f"<|python_tag|>{LLAMA}",
        LLAMA,
        LLAMA_TYPED,
        OPENAI,
        LINE_BREAK,
        f"{{{PLAIN}}}",
        f"{{{PLAIN}}} ```",
        f"<tool_call>\n{{{PLAIN}}}\n</tool_call>",
    ],
)
def test_each_form_is_one_call_and_is_held_back_from_its_first_character(text: str) -> None:
    [call] = whole_answer(text)
    assert (call.name, call.arguments) == ("addNotebookCell", ARGUMENTS)
    states = [beginning(text[:end], NAMES) for end in range(1, len(text) + 1)]
    assert Beginning.TEXT not in states
    assert states[-1] is Beginning.CALL


@pytest.mark.parametrize(
    "text",
    [
        f"{PLAIN}\n{OTHER}",
        f"[{PLAIN}, {OTHER}]",
        f"```json\n{PLAIN}\n```\n\n```json\n{OTHER}\n```",
        f"<tool_call>\n{PLAIN}\n</tool_call>\n<tool_call>\n{OTHER}\n</tool_call>",
        f"{{{PLAIN}}}\n{{{OTHER}}}",
    ],
)
def test_several_in_a_row_keep_their_order(text: str) -> None:
    assert [call.name for call in whole_answer(text)] == ["addNotebookCell", "listKernels"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "[1, 2]",
        "null",
        f"I add it. {PLAIN}",
        f"{PLAIN}\nThis adds a cell.",
        f"{PLAIN}, {OTHER}",
        f"```json\n{PLAIN}\n```\nDone.",
        PLAIN[:-1],
        PLAIN.replace("{", "{{", 1),
        f"{PLAIN}}}",
        f"{{{PLAIN}}} Done.",
        f"{{{{{PLAIN}}}}}",
        f"{{[{PLAIN}]}}",
        f"[{PLAIN}, 1]",
        json.dumps({"name": "addNotebookCell"}),
        json.dumps({"name": "addNotebookCell", "arguments": ARGUMENTS, "why": "it is asked"}),
        json.dumps({"name": "addNotebookCell", "arguments": ARGUMENTS, "parameters": {}}),
        json.dumps({"name": "addNotebookCell", "arguments": [1]}),
        json.dumps({"name": 1, "arguments": {}}),
        json.dumps({"type": "object", "name": "addNotebookCell", "parameters": {}}),
        "[" * 100_000,
        '{"name":' * 5_000,
    ],
)
def test_what_has_anything_else_in_it_is_text(text: str) -> None:
    assert whole_answer(text) == []


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("The mean is 4.", 1),
        ("`mean`", 2),
        ("```python\nprint(1)\n```", 4),
        ("```json\n[1, 2]", 10),
        ('{"total": 4}', 4),
        ('{"name": "Ford", "arguments": 1}', 11),
        ('{"name": 4}', 10),
        ('{"type": "FeatureCollection"}', 11),
        # As a list of calls in Python it could begin with listKernels.
        ("[link](https://example.org)", 4),
        ("[note](https://example.org)", 2),
        ("<table><tr>", 3),
        ("- [ ] one", 1),
        ("4", 1),
        ("{{ name }}", 4),
        ('{{"total": 4}}', 5),
    ],
)
def test_other_text_is_let_go_at_the_first_character_that_differs(text: str, at: int) -> None:
    states = [beginning(text[:end], NAMES) for end in range(1, len(text) + 1)]
    assert states.index(Beginning.TEXT) == at - 1
    assert Beginning.CALL not in states[: at - 1]


def test_calls_are_found_within_a_text_also_broken_ones() -> None:
    registry = builtin_registry()

    def found(text: str) -> list[tuple[str, bool]]:
        calls = calls_within(text, lambda name: registry.find(name) is not None, NAMES)
        return [(call.name, call.arguments is not None) for call in calls]

    assert found(f"Sure:\n```json\n{PLAIN}\n```\nand {OTHER}.") == [
        ("addNotebookCell", True),
        ("listKernels", True),
    ]
    assert found('<tools>\n<function name="executeCode" arguments=\'{"code": "1"}\'>') == [
        ("executeCode", False)
    ]
    assert found('<input name="executeCode">, <function name="other">') == []
    assert found('{"name": "addNotebookCell", "arguments": {"content": \'x\'}}') == [
        ("addNotebookCell", False)
    ]
    assert found('{"name": "Ford", "arguments": {}} {"name": "addNotebookCell"}') == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        PLAIN,
        f"<tools>\n{PLAIN}\n</tools>\nMore: [Parquet](https://a.b), [DuckDB](https://c.d/e)",
        f"Here it is:\n```json\n{PLAIN}\n```\n{OTHER}",
    ],
)
def test_a_text_of_calls_and_links_says_nothing(text: str) -> None:
    assert not says_more_than_calls(text)


@pytest.mark.parametrize(
    "text",
    [
        "Parquet keeps the types [1].",
        "Yes.",
        f"{PLAIN}\nThis would add a cell.",
        f"Add a cell with a call:\n```json\n{PLAIN}\n```",
        '{"name": "Ada", "age": 36} is a JSON object.',
        f"{PLAIN}\nParquetは列の型を保存します。",
        '{"not": "a call, but JSON that somebody asked for"}',
        "An open brace { and then text.",
    ],
)
def test_a_text_with_a_sentence_says_something(text: str) -> None:
    assert says_more_than_calls(text)
