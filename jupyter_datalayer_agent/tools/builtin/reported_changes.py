"""What was changed in a Lexical document: whole, as the user sees it, and block by block."""

from __future__ import annotations

from ...notebook.lexical.blocks import DocumentBlock
from ...notebook.lexical.documents import AppliedBlocks
from ...notebook.lexical.editor_state import EditorState
from ...notebook.lexical.whole_markdown import document_markdown
from ...protocol.tools import Change


def change_of(path: str, before: EditorState, after: EditorState) -> Change | None:
    """A document's change, as Markdown."""
    if before.text == after.text:
        return None
    return Change(
        path=path, op="update", before=document_markdown(before), after=document_markdown(after)
    )


def changes_by_block(applied: AppliedBlocks) -> list[Change]:
    """The blocks that a batch inserted, changed and deleted; outputs are no changes."""
    path = applied.after.path
    old, new = _blocks(applied.before.blocks.all), _blocks(applied.after.blocks.all)
    found: list[Change] = []
    for block_id, block in new.items():
        before = old.get(block_id)
        if before is None:
            found.append(Change(path=path, op="insert", cell_id=block_id, after=block.content))
        elif before.block.hash != block.block.hash:
            found.append(
                Change(
                    path=path,
                    op="update",
                    cell_id=block_id,
                    before=before.content,
                    after=block.content,
                )
            )
    gone = (block_id for block_id in old if block_id not in new)
    return [*found, *(Change(path=path, op="delete", cell_id=each) for each in gone)]


def _blocks(blocks: list[DocumentBlock]) -> dict[str, DocumentBlock]:
    return {each.id: each for each in blocks if not each.is_output}
