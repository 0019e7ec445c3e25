"""Sequences of edits of a Lexical document on disk: each leaves what Lexical's own parser reads and
prints again, and their undo the file as it was, byte for byte."""

from __future__ import annotations

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_datalayer_agent.notebook.files.restore import TextRecorder, TextSpan, restored
from jupyter_datalayer_agent.notebook.files.text_state import TextState
from jupyter_datalayer_agent.notebook.lexical.block_types import new_blocks, updated
from jupyter_datalayer_agent.notebook.lexical.blocks import (
    BlockEdit,
    DeleteBlock,
    InsertBlocks,
    SetOutput,
    UpdateBlock,
)
from jupyter_datalayer_agent.notebook.lexical.context import turn_blocks
from jupyter_datalayer_agent.notebook.lexical.convert import new_document
from jupyter_datalayer_agent.notebook.lexical.documents import LexicalDocuments, OpenDocument
from jupyter_datalayer_agent.notebook.lexical.merge import BlocksReverted
from tests.notebook.support import World, world
from tests.support.lexical import assert_lexical

EXAMPLES = 200
TEXTS = st.text("ab *_`[]()<>#-+|~$&;!\\\n1.é😀\t", min_size=1, max_size=24)
OUTPUT = {"output_type": "stream", "name": "stdout", "text": "1\n"}
KINDS = st.sampled_from(["markdown", "heading", "quote", "code", "equation", "jupyter-input"])
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["insert", "update", "delete", "output"]), st.integers(0, 9), KINDS, TEXTS
    ),
    min_size=1,
    max_size=6,
)
STARTS = st.tuples(
    st.lists(
        st.sampled_from(["# T", "text", "- a\n  - b", "| a |\n|---|\n| 1 |", "---", ""]), max_size=5
    ),
    st.sampled_from([None, 1, 2, "\t"]),
)


class Checkpoints:
    """Keeps in memory what a turn is about to change."""

    def __init__(self) -> None:
        self.spans: dict[int, TextSpan] = {}

    async def next_span(self, path: str) -> int:
        return len(self.spans)

    async def keep_text(
        self, path: str, span: int, before: TextState | None, left: TextState, *, is_new: bool
    ) -> None:
        assert before is not None
        self.spans[span] = TextSpan(before, left)

    async def drop_text(self, path: str, span: int) -> None:
        self.spans.pop(span)


def edit_of(document: OpenDocument, step: tuple[str, int, str, str]) -> list[BlockEdit]:
    act, place, kind, content = step
    blocks = [each for each in document.blocks.all if not each.is_output]
    new = new_blocks(kind, content)
    if act == "insert" or not blocks:
        return [InsertBlocks(place, new)]
    block = blocks[place % len(blocks)]
    if act == "delete":
        return [DeleteBlock(block.id, block.block.hash)]
    if act == "output":
        return [SetOutput(block.id, block.content, [OUTPUT] * (place % 3))] if block.runs else []
    return [UpdateBlock(block.id, block.block.hash, updated(block.node, new[0]))] if new else []


def start_text(start: tuple[list[str], Any]) -> str:
    contents, indent = start
    nodes = [node for each in contents for node in new_blocks("markdown", each)]
    text = new_document(nodes)
    return text if indent is None else json.dumps(json.loads(text), indent=indent) + "\n"


async def worked_on(w: World, number: int, start: str, steps: Any) -> list[str]:
    """Apply the steps to a new file, look at each result, and undo all."""
    path = f"{number}.dlex"
    file = w.root / path
    file.write_text(start)
    checkpoints = Checkpoints()
    documents = LexicalDocuments(
        w.service.text_files.recording(TextRecorder(checkpoints)), *_parts(w)
    )
    results = []
    for step in steps:
        applied = await documents.edit(path, lambda document, step=step: edit_of(document, step))  # type: ignore[misc]
        assert applied.after.file.content == file.read_text()
        kept = set(applied.before.blocks.ids) & set(applied.after.blocks.ids)
        before = {each.id: each.block.text for each in applied.before.blocks.all}
        same = [each for each in applied.after.blocks.all if before.get(each.id) == each.block.text]
        touched = 2 if step[0] in ("output", "delete", "update") else 0
        assert len(same) >= len(kept) - touched, "what was not touched is as it was"
        results.append(file.read_text())
    now = await w.service.text_files.read_own(path)
    back = restored(list(checkpoints.spans.values()), now.state, BlocksReverted())
    if back.raw != now.state.raw:
        await w.service.text_files.write(now, back)
    assert file.read_text() == start
    return results


def _parts(w: World) -> Any:
    documents = w.service.lexical
    return documents._kernels, documents._ids, documents._executions


def test_200_sequences_are_read_by_lexical_and_undone_byte_for_byte(tmp_path: Path) -> None:
    results: list[str] = []
    numbers = itertools.count()
    loop = asyncio.new_event_loop()
    entered = world(tmp_path)
    w = loop.run_until_complete(entered.__aenter__())

    @settings(
        max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
    @given(start=STARTS, steps=STEPS)
    def work(start: Any, steps: Any) -> None:
        results.extend(
            loop.run_until_complete(worked_on(w, next(numbers), start_text(start), steps))
        )

    try:
        work()
    finally:
        loop.run_until_complete(entered.__aexit__(None, None, None))
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
    assert len(results) >= EXAMPLES
    assert_lexical(results)


def paragraphs(*texts: str) -> str:
    return new_document([node for each in texts for node in new_blocks("paragraph", each)])


@pytest.mark.parametrize(
    ("before", "left", "now", "expected", "overwritten"),
    [
        ("a b c", "a B c", "a B c d", "a b c d", None),
        ("a b c", "a B c", "A B c", "A b c", None),
        ("a b c", "a B C", "x a B C", "x a b c", None),
        ("a b c", "a c", "a x c", "a b x c", None),
        ("a b", "a new b", "a new b more", "a b more", None),
        ("a b", "A B", "A mine B", "a mine b", None),
        ("a b", "a", "mine", "mine b", None),
        ("a b", "a b", "b", "b", None),
        # The user took back, or removed, what the turn had done.
        ("a b c", "A B c", "a B c", "a b c", None),
        ("a b c", "a c", "a b c d", "a b c d", None),
        ("a", "a x", "", "", None),
        ("a", "a x y", "a x mine y", "a mine", None),
        # Only what both changed is contested: the rest is taken back around it.
        ("a b c", "a B c", "a mine c", "a mine c", "a b c"),
        ("a b c", "a B c", "a c", "a c", "a b c"),
        ("a b c d", "A B new c d", "A mine new c D", "a mine c D", "a b c D"),
    ],
)
def test_undo_keeps_what_the_user_did_since(
    before: str, left: str, now: str, expected: str, overwritten: str | None
) -> None:
    spans = [TextSpan(*(TextState(paragraphs(*each.split())) for each in (before, left)))]
    state = TextState(paragraphs(*now.split()))
    reverted = BlocksReverted()
    left_as_is = restored(spans, state, reverted)
    assert left_as_is.raw == paragraphs(*expected.split())
    assert bool(reverted.contested) == (overwritten is not None)
    if overwritten is not None:
        # Decided on later, or at once: the same.
        for each in (left_as_is, state):
            restore = restored(spans, each, BlocksReverted(overwrite=True))
            assert restore.raw == paragraphs(*overwritten.split())


@pytest.mark.parametrize(
    ("before", "left", "now", "expected"),
    [
        ("a b c", "a B c", "a B c", "update1"),
        ("a b", "a new b", "mine a new b", "insert2"),
        ("a b c", "a c", "a c mine", "delete1"),
        ("a b c", "b c", "mine b c", "delete0"),
        ("a b", "a", "a", "delete1"),
        # Changed by the user since, it is still a block that the turn changed.
        ("a b c", "a B c", "a mine c", "update1"),
        # What is as it was before, or gone, has no mark.
        ("a b c", "a B c", "a b c", ""),
        ("a", "a new", "a", ""),
        ("a b", "a", "a b", ""),
    ],
)
def test_the_blocks_that_a_turn_changed_are_found_in_the_document_as_it_is_now(
    before: str, left: str, now: str, expected: str
) -> None:
    texts = [paragraphs(*each.split()) for each in (before, left, now)]
    found = turn_blocks([(texts[0], texts[1])], texts[2])
    assert " ".join(f"{each.op}{each.index}" for each in found) == expected
