"""The blocks of Lexical documents that a turn changed and nobody has decided on."""

from __future__ import annotations

import asyncio

from ...notebook.document import DocumentError
from ...notebook.files.kinds import is_lexical
from ...notebook.files.text_files import TextFiles
from ...protocol.requests import ChangedBlock
from ...store.store import Store
from .checkpoints import open_changes


async def changed_blocks(store: Store, files: TextFiles, turn_id: str) -> list[ChangedBlock]:
    """Of documents as they are now. Those that the turn made are new as a whole; those that cannot
    be read any more have none."""
    found: list[ChangedBlock] = []
    for changes in await open_changes(store, turn_id):
        if changes.made or not changes.texts or not is_lexical(changes.path):
            continue
        from ...notebook.lexical.editor_state import NotLexical
        from ...notebook.lexical.turn_blocks import turn_blocks

        spans = [(each.before.content, each.left.content) for each in changes.texts]
        try:
            now = await files.read_own(changes.path)
            blocks = await asyncio.to_thread(turn_blocks, spans, now.content)
        except (DocumentError, NotLexical):
            continue
        found += [
            ChangedBlock(
                path=changes.path, op=each.op, index=each.index, before=list(each.before) or None
            )
            for each in blocks
        ]
    return found
