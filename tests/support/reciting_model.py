"""A model in a real GGUF file that recites: a Llama of one layer, in which each token has exactly
one that follows it. llama.cpp loads, templates, samples, streams and parses it as it does any
other, and a test knows what it will say.

Its chat template is of the form of Qwen2.5's and Hermes', so that llama.cpp makes tool calls of
``<tool_call>`` blocks. What is recited depends on the conversation: a call where there are tools
and the last message is not a result, a long answer where the last message has the word LONG, else a
short one.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGUFWriter, TokenType

CONTEXT = 32_768
"""Tokens: what is no piece is read as bytes, and a turn's prompt has tens of thousands."""
HEAD = 32
SPACE = "▁"

TEMPLATE = """\
{%- if tools %}<|im_start|>system
{% if messages[0].role == 'system' %}{{ messages[0].content }}{% endif %}
<tools>{% for tool in tools %}
{{ tool | tojson }}{% endfor %}
</tools>
For each call, return an object within <tool_call></tool_call> tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call><|im_end|>
{% elif messages[0].role == 'system' %}<|im_start|>system
{{ messages[0].content }}<|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == 'assistant' %}<|im_start|>assistant
{{ message.content or '' }}
{%- for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{% elif message.role == 'tool' %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% elif message.role == 'user' %}<|im_start|>user
{{ message.content }}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% if 'LONG' in (messages[-1].content or '') %}\x02
{%- elif tools and messages[-1].role != 'tool' %}\x03
{%- else %}\x01{% endif %}{% endif %}"""
_SHORT, _LONG, _CALL = 1, 2, 3
"""The bytes with which prompts end."""


def reciting_model(
    file: Path,
    *,
    text: Sequence[str],
    long: Sequence[str],
    call: tuple[str, Mapping[str, Any]],
) -> Path:
    """Write a model that answers in these pieces, repeats ``long`` without an end, and makes the
    call. No two pieces may be equal."""
    written = json.dumps({"name": call[0], "arguments": call[1]})
    third = len(written) // 3 + 1
    parts = [written[start : start + third] for start in range(0, len(written), third)]
    called = ["<tool_call>\n", *parts, "\n</tool_call>"]
    special = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>"]
    first_byte = len(special)
    tokens = [*special, *(f"<0x{number:02X}>" for number in range(256))]
    end = special.index("<|im_end|>")
    follows: dict[int, int] = {}
    for begin, pieces in ((_SHORT, text), (_LONG, long), (_CALL, called)):
        ids = [first_byte + begin, *range(len(tokens), len(tokens) + len(pieces))]
        tokens += [piece.replace(" ", SPACE) for piece in pieces]
        follows.update(itertools.pairwise(ids))
        follows[ids[-1]] = ids[1] if begin == _LONG else end
    pieces_from = first_byte + 256
    kinds = [
        TokenType.UNKNOWN,
        *[TokenType.CONTROL] * (len(special) - 1),
        *[TokenType.BYTE] * 256,
        *[TokenType.NORMAL] * (len(tokens) - pieces_from),
    ]
    width = -(-len(tokens) // 64) * 64

    writer = GGUFWriter(str(file), "llama")
    writer.add_name("Reciting Llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(64)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    # Small, since the time for a long prompt grows with it.
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(HEAD)
    writer.add_chat_template(TEMPLATE)
    writer.add_tokenizer_model("llama")
    writer.add_token_list([token.encode() for token in tokens])
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(end)
    writer.add_unk_token_id(0)
    writer.add_add_space_prefix(False)

    def tensor(name: str, *shape: int) -> np.ndarray[Any, np.dtype[np.float32]]:
        values = np.zeros(shape, np.float32)
        writer.add_tensor(name, values)
        return values

    # Each token is a direction of its own, attention and feed-forward add nothing to it, and the
    # output turns it to the next one.
    tensor("token_embd.weight", len(tokens), width)[:] = np.eye(len(tokens), width)
    tensor("blk.0.attn_norm.weight", width)[:] = 1
    for part in ("q", "k", "v"):
        tensor(f"blk.0.attn_{part}.weight", HEAD, width)
    tensor("blk.0.attn_output.weight", width, HEAD)
    tensor("blk.0.ffn_norm.weight", width)[:] = 1
    tensor("blk.0.ffn_gate.weight", 64, width)
    tensor("blk.0.ffn_up.weight", 64, width)
    tensor("blk.0.ffn_down.weight", width, 64)
    tensor("output_norm.weight", width)[:] = 1
    output = tensor("output.weight", len(tokens), width)
    for token in range(len(tokens)):
        output[follows.get(token, end), token] = 3
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file
