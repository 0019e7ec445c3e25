"""The forms in which models are trained to write calls, taken from their chat templates and from
the parsers of model servers: data for ``written_calls``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class CallFormat:
    """How some models write a call.

    ``around`` are marks that may surround calls and carry no meaning; one that ends in a line break
    is a fence, which ends its word. With ``openings`` a call names its tool before its arguments;
    without, it is a JSON object with both, or a call in Python.

    In ``openings`` and ``key``, ``{name}`` is the tool, ``{key}`` the argument, ``{id}`` a call's
    id, ``{is_text}`` an attribute that says whether a value is text; a space is any white space.

    ``arguments``: ``json``; ``tags``, with each value between ``key`` and ``value_end``, without
    escapes (or one JSON object for all); ``marks``, an object with bare keys whose texts are
    between two ``quote``. ``has_lines``: values of ``tags`` are on lines of their own.
    """

    models: str
    around: tuple[str, ...] = ()
    openings: tuple[str, ...] = ()
    arguments: Literal["json", "tags", "marks"] = "json"
    key: str = ""
    value_end: str = ""
    closing: str = ""
    has_lines: bool = False
    quote: str | None = None


FORMATS: tuple[CallFormat, ...] = (
    CallFormat("Qwen2.5 and 3, Hermes, Ernie, Granite 4", ("<tool_call>", "</tool_call>")),
    CallFormat("Qwen2.5-Coder", ("<tools>", "</tools>", "```xml\n")),
    CallFormat("Hunyuan, Jamba, Apriel", ("<tool_calls>", "</tool_calls>")),
    CallFormat(
        "xLAM, Nemotron", ("<function_call>", "</function_call>", "<TOOLCALL>", "</TOOLCALL>")
    ),
    CallFormat("InternLM", ("<|action_start|>", "<|plugin|>", "<|action_end|>")),
    CallFormat("Granite 3", ("<|tool_call|>",)),
    CallFormat("Phi-4-mini", ("functools", "<|tool_call|>", "<|/tool_call|>")),
    CallFormat("Llama 3", ("<|python_tag|>", ";", "<|eom_id|>", "<|eot_id|>")),
    CallFormat("Llama 4", ("<|python_start|>", "<|python_end|>")),
    CallFormat("LFM2", ("<|tool_call_start|>", "<|tool_call_end|>")),
    CallFormat("Olmo 3", ("<function_calls>", "</function_calls>")),
    CallFormat("Gemma 3", ("```tool_code\n", "```\n")),
    CallFormat("Any", ("```json\n", "```tool_call\n", "```tool_calls\n", "```\n")),
    CallFormat("Any, at the end of an answer", ("<|im_end|>", "<end_of_turn>", "</s>")),
    CallFormat(
        "Qwen3-Coder, Nemotron 3, MiMo, Step 3.5, Seed-OSS; Llama 3.1 with JSON",
        ("<tool_call>", "</tool_call>", "<seed:tool_call>", "</seed:tool_call>"),
        ("<function={name}>",),
        "tags",
        key="<parameter={key}>",
        value_end="</parameter>",
        closing="</function>",
        has_lines=True,
    ),
    CallFormat(
        "MiniMax M2",
        ("<minimax:tool_call>", "</minimax:tool_call>", "<function_calls>", "</function_calls>"),
        ('<invoke name="{name}">',),
        "tags",
        key='<parameter name="{key}"{is_text}>',
        value_end="</parameter>",
        closing="</invoke>",
        has_lines=True,
    ),
    CallFormat(
        "DeepSeek V3.2",
        (
            "<｜DSML｜function_calls>",
            "</｜DSML｜function_calls>",
            "<｜DSML｜tool_calls>",
            "</｜DSML｜tool_calls>",
        ),
        ('<｜DSML｜invoke name="{name}">',),
        "tags",
        key='<｜DSML｜parameter name="{key}"{is_text}>',
        value_end="</｜DSML｜parameter>",
        closing="</｜DSML｜invoke>",
    ),
    CallFormat(
        "GLM 4.5",
        openings=("<tool_call>{name}",),
        arguments="tags",
        key="<arg_key>{key}</arg_key> <arg_value>",
        value_end="</arg_value>",
        closing="</tool_call>",
    ),
    CallFormat(
        "DeepSeek V3, R1",
        ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜end▁of▁sentence｜>"),
        ("<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name} ```json ",),
        closing=" ``` <｜tool▁call▁end｜>",
    ),
    CallFormat(
        "DeepSeek V3.1",
        ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜end▁of▁sentence｜>"),
        ("<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>",),
        closing="<｜tool▁call▁end｜>",
    ),
    CallFormat(
        "Kimi K2",
        ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
        ("<|tool_call_begin|> {name} <|tool_call_argument_begin|>",),
        closing="<|tool_call_end|>",
    ),
    CallFormat(
        "Mistral; its older models name the tool in JSON",
        ("[TOOL_CALLS]", "</s>"),
        (
            "[TOOL_CALLS]{name}[ARGS]",
            "[TOOL_CALLS]{name}[CALL_ID]{id}[ARGS]",
            "[TOOL_CALLS]{name}",
        ),
    ),
    CallFormat(
        "gpt-oss (harmony)",
        ("<|call|>", "<|end|>", "<|return|>"),
        tuple(
            f"{to}{form}<|message|>"
            for to in (
                "<|channel|>commentary to={name} ",
                "<|start|>assistant<|channel|>commentary to={name} ",
                "<|start|>assistant to={name} <|channel|>commentary ",
                "to={name} <|channel|>commentary ",
            )
            for form in ("<|constrain|>json ", "json ", "code ", "")
        ),
        closing="<|call|>",
    ),
    CallFormat(
        "gpt-oss, by a server that leaves its marks out",
        openings=("commentary to={name} json ", "assistantcommentary to={name} json "),
    ),
    CallFormat(
        "FunctionGemma",
        openings=("<start_function_call>call:{name}",),
        arguments="marks",
        quote="<escape>",
        closing="<end_function_call>",
    ),
    CallFormat(
        "Gemma 4",
        openings=("<|tool_call>call:{name}",),
        arguments="marks",
        quote='<|"|>',
        closing="<tool_call|>",
    ),
)

CALL_TOKENS: tuple[str, ...] = (
    "<|action_start|>",
    "<|tool_call|>",
    "<|python_tag|>",
    "<|python_start|>",
    "<|tool_call_start|>",
    "<｜DSML｜",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>",
    "[TOOL_CALLS]",
    "<|start|>",
    "<|channel|>",
    # Harmony's header without its first token, which the server read as the start of a message.
    "to=",
    "<start_function_call>",
    "<|tool_call>",
)
"""Beginnings of the formats above that contain a control token, which a model generates only to
make a call. All other forms are markup, JSON or Python, which people and models also write to show
what a call looks like."""
