"""A model of 300 KB in a real GGUF file: a Llama of two layers with random weights, which no one
trained. It writes letters without meaning, the same ones each time at temperature 0, and never an
end: for tests of starting, loading, streaming and ending, and not of what a model answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from gguf import GGUFWriter, TokenType

WIDTH = 64
HEADS = 4
KV_HEADS = 2
LAYERS = 2
CONTEXT = 2048
LETTERS = "etaoinshrdlu"
TEMPLATE = (
    "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}assistant:"
)


def tiny_model(file: Path, *, architecture: str = "llama", context: int = CONTEXT) -> Path:
    """Write the model."""
    writer = GGUFWriter(str(file), architecture)
    writer.add_name("Tiny random Llama")
    writer.add_context_length(context)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(2 * WIDTH)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_chat_template(TEMPLATE)
    tokens = _vocabulary(writer)
    random = np.random.default_rng(7)

    def tensor(name: str, *shape: int) -> None:
        writer.add_tensor(name, random.normal(0, 0.3, shape).astype(np.float32))

    tensor("token_embd.weight", tokens, WIDTH)
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        writer.add_tensor(f"{block}attn_norm.weight", np.ones(WIDTH, np.float32))
        tensor(f"{block}attn_q.weight", WIDTH, WIDTH)
        tensor(f"{block}attn_k.weight", WIDTH // HEADS * KV_HEADS, WIDTH)
        tensor(f"{block}attn_v.weight", WIDTH // HEADS * KV_HEADS, WIDTH)
        tensor(f"{block}attn_output.weight", WIDTH, WIDTH)
        writer.add_tensor(f"{block}ffn_norm.weight", np.ones(WIDTH, np.float32))
        tensor(f"{block}ffn_gate.weight", 2 * WIDTH, WIDTH)
        tensor(f"{block}ffn_up.weight", 2 * WIDTH, WIDTH)
        tensor(f"{block}ffn_down.weight", WIDTH, 2 * WIDTH)
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    # Only letters can win: the rows of all other tokens are zero.
    output = np.zeros((tokens, WIDTH), np.float32)
    output[-len(LETTERS) :] = random.normal(0, 1, (len(LETTERS), WIDTH))
    writer.add_tensor("output.weight", output)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def _vocabulary(writer: GGUFWriter) -> int:
    """A SentencePiece vocabulary of bytes and letters; the number of tokens."""
    special = [b"<unk>", b"<s>", b"</s>"]
    in_bytes = [f"<0x{number:02X}>".encode() for number in range(256)]
    letters = [letter.encode() for letter in LETTERS]
    kinds = [TokenType.UNKNOWN, *[TokenType.CONTROL] * 2, *[TokenType.BYTE] * 256]
    tokens = [*special, *in_bytes, *letters]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([*kinds, *[TokenType.NORMAL] * len(letters)])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    return len(tokens)
