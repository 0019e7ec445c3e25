"""Each row of the table of formats by a text as its models write it, and what comes close."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import pytest

from jupyter_datalayer_agent.agent.tool_calls.call_formats import CALL_TOKENS, FORMATS
from jupyter_datalayer_agent.agent.tool_calls.written_calls import (
    Beginning,
    beginning,
    calls_within,
    may_be_example,
    says_more_than_calls,
    whole_answer,
)
from jupyter_datalayer_agent.tools.arguments import inexact, typed
from jupyter_datalayer_agent.tools.builtin import builtin_registry

REGISTRY = builtin_registry()
NAMES = tuple(REGISTRY.names())
CODE = 'print("sum:",\n      6 * 7)  # é 🙂 <b>'
EXPECTED = {"content": CODE, "run": True, "position": {"after": "c0"}}
JSON = json.dumps(EXPECTED, ensure_ascii=False)
PYTHON = (
    "addNotebookCell(content='print(\"sum:\",\\n      6 * 7)  # é 🙂 <b>', "
    "run=True, position={'after': 'c0'})"
)
IN_JSON = f'{{"name": "addNotebookCell", "arguments": {JSON}}}'
QWEN = f"""<function=addNotebookCell>
<parameter=content>
{CODE}
</parameter>
<parameter=run>
true
</parameter>
<parameter=position>
{{"after": "c0"}}
</parameter>
</function>"""
INVOKE = f"""<invoke name="addNotebookCell">
<parameter name="content">{CODE}</parameter>
<parameter name="run">true</parameter>
<parameter name="position">{{"after": "c0"}}</parameter>
</invoke>"""
DSML = f"""<｜DSML｜invoke name="addNotebookCell">
<｜DSML｜parameter name="content" string="true">{CODE}</｜DSML｜parameter>
<｜DSML｜parameter name="run" string="false">true</｜DSML｜parameter>
<｜DSML｜parameter name="position" string="false">{{"after": "c0"}}</｜DSML｜parameter>
</｜DSML｜invoke>"""
HARMONY = "<|channel|>commentary to=functions.addNotebookCell"
TEXTS: Mapping[str, list[str]] = {
    "Qwen2.5 and 3, Hermes, Ernie, Granite 4": [f"<tool_call>\n{IN_JSON}\n</tool_call>"],
    "Qwen2.5-Coder": [f"<tools>\n{IN_JSON}\n</tools>", f"```xml\n<tools>{IN_JSON}</tools>\n```"],
    "Hunyuan, Jamba, Apriel": [f"<tool_calls>[\n{IN_JSON}\n]</tool_calls>"],
    "xLAM, Nemotron": [f"<TOOLCALL>[{IN_JSON}]</TOOLCALL>", f"<function_call>{IN_JSON}"],
    "InternLM": [f"<|action_start|><|plugin|>\n{IN_JSON}<|action_end|>"],
    "Granite 3": [f"<|tool_call|>[{IN_JSON}]", f"<tool_call>[{IN_JSON}]"],
    "Phi-4-mini": [f"functools[{IN_JSON}]", f"<|tool_call|>[{IN_JSON}]<|/tool_call|>"],
    "Llama 3": [
        f'{{"name": "addNotebookCell", "parameters": {JSON}}}',
        f'<|python_tag|>{{"type": "function", "name": "addNotebookCell", "parameters": {JSON}}}'
        "<|eom_id|>",
    ],
    "Llama 4": [f"[{PYTHON}]", f"<|python_start|>[{PYTHON}]<|python_end|>"],
    "LFM2": [f"<|tool_call_start|>[{PYTHON}]<|tool_call_end|>"],
    "Olmo 3": [f"<function_calls>\n{PYTHON}\n</function_calls>"],
    "Gemma 3": [
        f"```tool_code\n{PYTHON}\n```",
        f"```tool_code\nprint(default_api.{PYTHON})\n```",
        f"[{PYTHON}]",
    ],
    "Any": [
        f"```json\n{IN_JSON}\n```",
        f"```\n{IN_JSON}\n```",
        IN_JSON.replace('"addNotebookCell"', '"functions.addNotebookCell"'),
        IN_JSON.replace('"addNotebookCell"', '"addNotebookCell<|channel|>commentary"'),
    ],
    "Any, at the end of an answer": [f"{IN_JSON}<|im_end|>", f"{IN_JSON}<end_of_turn>\n"],
    "Qwen3-Coder, Nemotron 3, MiMo, Step 3.5, Seed-OSS; Llama 3.1 with JSON": [
        f"<tool_call>\n{QWEN}\n</tool_call>",
        # As it often comes, without the mark before it.
        f"{QWEN}\n</tool_call>",
        f"<seed:tool_call>\n{QWEN}\n</seed:tool_call>",
        f"<function=addNotebookCell>{JSON}</function>",
    ],
    "MiniMax M2": [
        f"<minimax:tool_call>\n{INVOKE}\n</minimax:tool_call>",
        f'<function_calls>\n<invoke name="addNotebookCell">\n{JSON}\n</invoke>\n</function_calls>',
        f"<function_calls>{INVOKE.replace(CODE, f'{chr(10)}{CODE}{chr(10)}')}</function_calls>",
    ],
    "DeepSeek V3.2": [
        f"<｜DSML｜function_calls>\n{DSML}\n</｜DSML｜function_calls>",
        f"<｜DSML｜tool_calls>\n{DSML}\n</｜DSML｜tool_calls><｜end▁of▁sentence｜>",
    ],
    "GLM 4.5": [
        "<tool_call>addNotebookCell\n"
        f"<arg_key>content</arg_key>\n<arg_value>{CODE}</arg_value>\n"
        "<arg_key>run</arg_key>\n<arg_value>true</arg_value>\n"
        '<arg_key>position</arg_key>\n<arg_value>{"after": "c0"}</arg_value>\n</tool_call>',
    ],
    "DeepSeek V3, R1": [
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>addNotebookCell\n"
        f"```json\n{JSON}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ],
    "DeepSeek V3.1": [
        f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>addNotebookCell<｜tool▁sep｜>{JSON}"
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ],
    "Kimi K2": [
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.addNotebookCell:0"
        f"<|tool_call_argument_begin|>{JSON}<|tool_call_end|><|tool_calls_section_end|>",
    ],
    "Mistral; its older models name the tool in JSON": [
        f"[TOOL_CALLS]addNotebookCell[ARGS]{JSON}",
        f"[TOOL_CALLS]addNotebookCell[CALL_ID]aB3dE5gH7[ARGS]{JSON}</s>",
        f"[TOOL_CALLS]addNotebookCell{JSON}",
        f"[TOOL_CALLS] [{IN_JSON}]",
    ],
    "gpt-oss (harmony)": [
        f"{HARMONY} <|constrain|>json<|message|>{JSON}<|call|>",
        f"<|start|>assistant{HARMONY} <|constrain|>json<|message|>{JSON}<|call|>",
        f"{HARMONY}<|message|>{JSON}",
        f"{HARMONY} json<|message|>{JSON}<|call|>",
        "<|start|>assistant to=functions.addNotebookCell<|channel|>commentary json<|message|>"
        f"{JSON}<|call|>",
        f"to=functions.addNotebookCell<|channel|>commentary <|constrain|>json<|message|>{JSON}",
    ],
    "gpt-oss, by a server that leaves its marks out": [
        f"commentary to=functions.addNotebookCell json{JSON}",
        f"assistantcommentary to=functions.addNotebookCell json{JSON}",
    ],
    "FunctionGemma": [
        f"<start_function_call>call:addNotebookCell{{content:<escape>{CODE}<escape>,run:true,"
        "position:{after:<escape>c0<escape>}}<end_function_call>",
    ],
    "Gemma 4": [
        f'<|tool_call>call:addNotebookCell{{content:<|"|>{CODE}<|"|>,run:true,'
        'position:{after:<|"|>c0<|"|>}}<tool_call|>',
    ],
}
ROWS = [(models, text) for models, texts in TEXTS.items() for text in texts]


OF_TOKENS = {
    "InternLM",
    "LFM2",
    "DeepSeek V3.2",
    "DeepSeek V3, R1",
    "DeepSeek V3.1",
    "Kimi K2",
    "Mistral; its older models name the tool in JSON",
    "gpt-oss (harmony)",
    "FunctionGemma",
    "Gemma 4",
}
"""Models of which every form has a control token before it."""


@pytest.mark.parametrize(("models", "text"), ROWS)
def test_all_forms_but_those_with_control_tokens_may_be_examples(models: str, text: str) -> None:
    assert may_be_example(text) != (models in OF_TOKENS or text.startswith("<|"))


@pytest.mark.parametrize("token", CALL_TOKENS)
def test_a_token_within_a_call_does_not_make_it_one_of_tokens(token: str) -> None:
    assert may_be_example(json.dumps({"name": token, "arguments": {"content": token}}))
    assert may_be_example(f"```\n{token}")


def read(text: str) -> list[tuple[str, dict[str, Any] | None]]:
    """The calls of an answer, with values of the tool's types."""
    calls = []
    for call in whole_answer(text):
        tool = REGISTRY.find(call.name)
        arguments = call.arguments
        if arguments is not None and tool is not None:
            arguments = typed(tool, arguments, call.texts)
        calls.append((call.name, arguments))
    return calls


def test_every_row_has_a_text() -> None:
    assert list(TEXTS) == [each.models for each in FORMATS]


@pytest.mark.parametrize(("models", "text"), ROWS)
def test_a_call_is_read_and_held_back_from_its_first_character(models: str, text: str) -> None:
    assert read(text) == [("addNotebookCell", EXPECTED)]
    assert inexact(REGISTRY.tool("addNotebookCell"), EXPECTED) is None
    states = [beginning(text[:end], NAMES) for end in (*range(1, len(text), 2), len(text))]
    assert Beginning.TEXT not in states
    assert states[-1] is Beginning.CALL


@pytest.mark.parametrize(("models", "text"), ROWS)
def test_two_in_a_row_are_two(models: str, text: str) -> None:
    other = text.replace("6 * 7", "7 * 6")
    [first, second] = read(f"{text}\n{other}")
    assert first == ("addNotebookCell", EXPECTED)
    assert second[1] == {**EXPECTED, "content": CODE.replace("6 * 7", "7 * 6")}


@pytest.mark.parametrize(("models", "text"), ROWS)
def test_beside_a_sentence_it_is_no_whole_answer_and_is_found(models: str, text: str) -> None:
    def found(answer: str) -> set[str]:
        return {call.name for call in calls_within(answer, lambda name: name in NAMES, NAMES)}

    for answer in (f"I add a cell.\n{text}", f"{text}\nThis adds a cell that prints the sum."):
        assert whole_answer(answer) == []
        assert found(answer) == {"addNotebookCell"}
        assert says_more_than_calls(answer, letters=0)
    assert not says_more_than_calls(text, letters=0)


@pytest.mark.parametrize(("models", "text"), ROWS)
def test_cut_anywhere_it_is_no_call_or_the_whole_one(models: str, text: str) -> None:
    """What stands behind the arguments may be missing where they say themselves that they end."""
    for end in range(1, len(text), 3):
        assert read(text[:end]) in ([], [("addNotebookCell", EXPECTED)])


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (QWEN.replace(CODE, "x = '</parameter>'"), "x = '</parameter>'"),
        (QWEN.replace(CODE, "a\n</parameter>\nb"), "a\n</parameter>\nb"),
        (QWEN.replace(CODE, "\n\n  x\n\n"), "\n\n  x\n\n"),
        (QWEN.replace(CODE, ""), ""),
        (QWEN.replace(CODE, "42"), "42"),
        (QWEN.replace(CODE, "true"), "true"),
        (QWEN.replace(CODE, '{"a": 1}'), '{"a": 1}'),
        (QWEN.replace(CODE, "<tool_call>\n</tool_call>"), "<tool_call>\n</tool_call>"),
        (QWEN.replace(CODE, '&lt; \\n \\"'), '&lt; \\n \\"'),
        (QWEN.replace(CODE, "日本語 = '🇫🇷'"), "日本語 = '🇫🇷'"),
        (f"[{PYTHON.replace('sum:', '[f(a=1)] ]')}]", CODE.replace("sum:", "[f(a=1)] ]")),
        (f"[{PYTHON.replace('(content=', '(content=')}]".replace("True", "true"), CODE),
        (f"[{PYTHON.replace(chr(92) + 'n', chr(10))}]", CODE),
        (IN_JSON.replace("sum:", "<tool_call> ```"), CODE.replace("sum:", "<tool_call> ```")),
    ],
)
def test_content_is_kept_whatever_is_in_it(text: str, content: str) -> None:
    assert read(text) == [("addNotebookCell", {**EXPECTED, "content": content})]


def test_code_that_has_the_name_of_a_tool_in_another_spelling_is_code() -> None:
    """``readFile`` is found as ``read_file``, which is a name that users give to functions."""

    def found(text: str) -> list[str]:
        tools = calls_within(text, lambda name: REGISTRY.find(name) is not None, NAMES)
        return [call.name for call in tools]

    assert found("Use it so:\n```python\nread_file(path='a.csv')\n```") == []
    assert found("```python\ntexts = [read_file(path) for path in paths]\n```") == []
    assert found("```python\nreadFile(path='a.csv')\n```") == ["readFile"]
    assert found("<function=read_file>") == ["read_file"]


def test_without_arguments() -> None:
    for text in (
        "<tool_call>\n<function=listKernels>\n</function>\n</tool_call>",
        "<tool_call>listKernels\n</tool_call>",
        "[listKernels()]",
        "```tool_code\nlistKernels()\n```",
        "<start_function_call>call:listKernels{}<end_function_call>",
        "[TOOL_CALLS]listKernels[ARGS]{}",
        '<｜DSML｜invoke name="listKernels">\n</｜DSML｜invoke>',
    ):
        assert read(text) == [("listKernels", {})]


@pytest.mark.parametrize(
    "text",
    [
        QWEN.replace("</function>", ""),
        QWEN.replace("</parameter>", ""),
        QWEN.replace("<parameter=content>", "<parameter=content"),
        # Content that ends the call: what follows it is text.
        QWEN.replace(CODE, "x\n</parameter>\n</function>\ny"),
        # Content that goes on like another argument: it would be cut, and the argument set.
        QWEN.replace(CODE, "x\n</parameter>\n<parameter=run>\nfalse"),
        "<function=addNotebookCell>",
        "<tool_call>addNotebookCell",
        "<tool_call>addNotebookCell adds a cell</tool_call>",
        "[addNotebookCell('x')]",
        "[addNotebookCell(content=x)]",
        "[addNotebookCell(content=open('a').read())]",
        "[addNotebookCell(**a)]",
        "[addNotebookCell(content={1, 2})]",
        "[addNotebookCell(content=1e999)]",
        "[addNotebookCell(content='x'), 1]",
        "addNotebookCell",
        "print(addNotebookCell)",
        "addNotebookCell(content='x'",
        f"```python\n{PYTHON}\n```",
        f"{HARMONY}<|message|>I add a cell.<|end|>",
        "<|channel|>commentary<|message|>I add a cell.",
        "<start_function_call>call:addNotebookCell{content:<escape>x}<end_function_call>",
        "[TOOL_CALLS]addNotebookCell[ARGS]",
        "[1, 2]",
        "[[addNotebookCell(content='x')]]",
    ],
)
def test_what_is_not_whole_is_text(text: str) -> None:
    assert whole_answer(text) == []


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("commentary on the data", 12),
        ("[addition](https://example.org)", 5),
        ("addition is commutative", 4),
        ("printing needs a cell", 6),
        ("<tool_call>additional", 15),
        ("<function=print>", 11),
        ("functools.reduce", 10),
        ("[TOOL_CALLS] are marks", 15),
        ("<|channel|>final<|message|>42", 12),
        ("executeCode runs code", 12),
    ],
)
def test_other_text_is_let_go_at_the_first_character_that_differs(text: str, at: int) -> None:
    names = ("addNotebookCell", "executeCode")
    states = [beginning(text[:end], names) for end in range(1, len(text) + 1)]
    assert states.index(Beginning.TEXT) == at - 1
    assert Beginning.CALL not in states


@pytest.mark.parametrize(
    "piece",
    [
        "<tool_call>",
        "<function=addNotebookCell>",
        "<function=addNotebookCell><parameter=content>",
        "<function=addNotebookCell><parameter=content></parameter>",
        "<tool_call>addNotebookCell<arg_key>content</arg_key><arg_value>",
        "[addNotebookCell(",
        "[addNotebookCell(content='",
        "addNotebookCell(content=",
        '{"name":',
        '{"name": "addNotebookCell", "arguments": [',
        "{'name': ",
        "[TOOL_CALLS]addNotebookCell[ARGS]{",
        "<|channel|>commentary to=functions.addNotebookCell<|message|>",
        "<start_function_call>call:addNotebookCell{content:<escape>",
        "```tool_code\n",
        "<invoke name=",
        "(" * 50,
        " ",
        "\n",
        "`",
        "</parameter>\n",
        "[a](b",
        "\naddNotebookCell(content=1",
    ],
)
def test_a_megabyte_of_it_is_read_in_no_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    began = time.process_time()
    assert whole_answer(text) == []
    list(calls_within(text, lambda name: name in NAMES, NAMES))
    says_more_than_calls(text)
    took = time.process_time() - began
    # The three take a tenth of it; a reading that is not linear takes seconds.
    assert took < 0.5
    assert beginning(text, NAMES) is Beginning.TEXT
