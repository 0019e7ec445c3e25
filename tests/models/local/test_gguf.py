"""The header of a GGUF file: what it says, beside the package ``gguf``, and files that are none."""

from __future__ import annotations

import os
import re
from pathlib import Path

import gguf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_datalayer_agent.models.local.gguf import (
    BLOCKS,
    MAGIC,
    UnusableFile,
    read_model,
)
from tests.support.tiny_model import CONTEXT, HEADS, KV_HEADS, LAYERS, WIDTH, tiny_model


def test_the_header_says_what_the_model_is(tmp_path: Path) -> None:
    file = tiny_model(tmp_path / "tiny.gguf")
    found = read_model(file)
    field = gguf.GGUFReader(file).fields["llama.context_length"]
    assert found.context_length == field.contents() == CONTEXT
    assert (found.architecture, found.title) == ("llama", "Tiny random Llama")
    assert found.size == file.stat().st_size
    # A key and a value of each head in each layer, in two bytes a number.
    assert found.kv_bytes == 2 * LAYERS * 2 * KV_HEADS * (WIDTH // HEADS)


def test_sizes_of_blocks_are_those_of_the_format() -> None:
    theirs = {int(kind): sizes for kind, sizes in gguf.GGML_QUANT_SIZES.items()}
    assert {kind: theirs[kind] for kind in BLOCKS} == dict(BLOCKS)


def test_a_file_that_ends_early_is_incomplete(tmp_path: Path) -> None:
    whole = tiny_model(tmp_path / "tiny.gguf").read_bytes()
    part = tmp_path / "part.gguf"
    for length in [*range(4, 9000, 331), len(whole) // 2, len(whole) - 1]:
        part.write_bytes(whole[:length])
        with pytest.raises(UnusableFile, match=r"incomplete or damaged: .* Download it again"):
            read_model(part)
    part.write_bytes(whole)
    assert read_model(part).size == len(whole)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "is empty"), (b"GG", "is not a GGUF file"), (b"PK\x03\x04" * 9, "is not a GGUF file")],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "other.gguf"
    file.write_bytes(content)
    with pytest.raises(UnusableFile, match=message):
        read_model(file)


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnusableFile, match=r"is a folder. Name the .gguf file"):
        read_model(tmp_path)
    with pytest.raises(UnusableFile, match="does not exist"):
        read_model(tmp_path / "missing.gguf")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    file = tiny_model(tmp_path / "tiny.gguf")
    file.chmod(0)
    with pytest.raises(UnusableFile, match="permission denied"):
        read_model(file)


def test_what_writes_no_text_is_refused(tmp_path: Path) -> None:
    file = tiny_model(tmp_path / "clip.gguf", architecture="clip")
    with pytest.raises(UnusableFile, match=re.escape("contains no language model (clip)")):
        read_model(file)
    writer = gguf.GGUFWriter(tmp_path / "vocabulary.gguf", "llama")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(UnusableFile, match="a vocabulary but no model"):
        read_model(tmp_path / "vocabulary.gguf")


def test_a_part_of_a_split_model_is_refused(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "part.gguf", "llama")
    writer.add_uint16("split.count", 3)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(UnusableFile, match=r"one of 3 parts .* llama-gguf-split --merge"):
        read_model(tmp_path / "part.gguf")


@given(st.binary(max_size=200))
def test_no_content_is_more_than_unusable(
    tmp_path_factory: pytest.TempPathFactory, rest: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.gguf"
    file.write_bytes(MAGIC + (3).to_bytes(4, "little") + rest)
    with pytest.raises(UnusableFile):
        read_model(file)
