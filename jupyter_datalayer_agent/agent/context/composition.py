"""A turn's context as it is sent: the part that the model does not know yet.

Earlier statements stay in the history, and the newest one applies, so only changes are sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from ...notebook.context.known_notebook import (
    Statement,
    digest,
    file_changes,
    known_sources,
    line_hashes,
    stated,
)
from ...notebook.context.notebook_context import head_line, render_context
from ...notebook.edits.checkpoints import WHOLE_DOCUMENT
from ...notebook.files.text_state import TextState
from ...protocol.base import SharePolicy
from ...protocol.cells import PageCell
from ...protocol.context import ContextPart, FileContext, NotebookContext, PartKind
from ...protocol.tools import ShareKind
from ...tools.context import SeenCells
from ...tools.redaction import (
    BY_SETTING,
    CallRef,
    Part,
    PrivateText,
    Refused,
    Sharing,
    Shown,
    private_parts,
    redact,
    text,
)
from ..history import KnownContext

AS_BEFORE = "As stated before."
REST = "What is not named here is as it was stated last."
NOTHING_NEW = "Nothing is stated of it."


@dataclass(frozen=True)
class NotebookNow:
    """A notebook as it was read, with the texts of its outputs by cell id. Lines ``around`` say
    what belongs to it: libraries, files."""

    cells: Sequence[PageCell]
    context: NotebookContext
    outputs: Mapping[str, PrivateText]
    around: Sequence[str] = ()

    def under(self, rules: Mapping[ShareKind, SharePolicy]) -> NotebookNow:
        """What these rules allow to send without asking: outputs that the user would be asked about
        are left out, and notes say what is never sent."""
        asked = {kind for kind, rule in rules.items() if rule == "ask"}
        never: Refused = {kind: BY_SETTING for kind, rule in rules.items() if rule == "never"}
        outputs = {
            cell_id: PrivateText(
                part if part.kinds.isdisjoint(never) else Part(part.redacted(never))
                for part in output.parts
            )
            for cell_id, output in self.outputs.items()
            if all(part.kinds.isdisjoint(asked) for part in output.parts)
        }
        return replace(self, outputs=outputs)

    def whole(self) -> PrivateText:
        """Everything that can be sent of it as text."""
        return joined(render_context(self.cells, self.context, self.outputs, self.around))


@dataclass(frozen=True)
class Piece:
    """A part of the context, before the decision how much of it is sent.

    A ``lasting`` one applies until something else is stated; others apply to their message only.
    ``label`` names it when it is not stated again, ``topic`` tells it from others of its kind.
    ``blocks`` are the hashes of the blocks of a Lexical document that it shows in full, by id.
    """

    kind: PartKind
    said: str | PrivateText = ""
    path: str | None = None
    names: Sequence[str] = ()
    lasting: bool = True
    label: str = ""
    topic: str = ""
    notebook: NotebookNow | None = None
    file: FileContext | None = None
    blocks: Mapping[str, str] | None = None

    @property
    def key(self) -> str:
        """Its key in what the model knows."""
        return " ".join([self.kind, *filter(None, [self.topic, self.path]), *self.names])


class Composition:
    """The context of the turn with this number, for a model with this knowledge.

    ``seen`` is what tools have shown of cells, which may be newer than what contexts said;
    ``refused`` what may not be sent. ``rules`` say which outputs of a notebook are sent: the user
    is asked when the model reads them, not with each message.
    """

    def __init__(
        self,
        pieces: Sequence[Piece],
        known: KnownContext,
        turn: int,
        seen: SeenCells | None = None,
        rules: Mapping[ShareKind, SharePolicy] = MappingProxyType({}),
    ) -> None:
        self._pieces = pieces
        self._known = known
        self._turn = turn
        self._keys = tuple(piece.key for piece in pieces if piece.lasting)
        # For each notebook, by its piece: what the rules allow to send, and what is new.
        self._notebooks = {
            piece.key: piece.notebook.under(rules) for piece in pieces if piece.notebook is not None
        }
        self._statements = {
            piece.key: self._stated(piece.path, self._notebooks[piece.key], seen)
            for piece in pieces
            if piece.notebook is not None and piece.path is not None
        }
        self._new = {key: joined(each.lines) for key, each in self._statements.items()}
        self.refused: Refused = {}

    def _stated(self, path: str, now: NotebookNow, seen: SeenCells | None) -> Statement:
        before = self._known.notebooks.get(path)
        if before is not None and seen is not None:
            newer = {c.id for c in now.cells if seen.base(path, c.id) not in (None, c.hash)}
            before = before.without(newer, newer)
        return stated(now.cells, now.context, before, now.outputs, now.around)

    async def decide(self, sharing: Sharing | None) -> None:
        """Decide what may be sent; without ``sharing``, everything."""
        parts = private_parts(self._composed({}))
        if sharing is None or not parts:
            return
        call = CallRef("", "context", {}, "what is in the context")
        self.refused = await sharing.refused(
            parts, call, lambda refused: Shown(redact(self._composed(refused), refused))
        )

    @property
    def private(self) -> list[frozenset[ShareKind]]:
        """The kinds of each private part of all pieces."""
        return private_parts(self._whole)

    @property
    def text(self) -> str:
        """What is sent; empty if there is nothing to report."""
        if not self._is_needed(self.refused):
            return ""
        return str(redact(self._composed(self.refused), self.refused))

    @property
    def stated(self) -> dict[str, Any]:
        """What the model knows from ``text``, as ``KnownContext.after`` takes it."""
        said = [piece for piece in self._pieces if piece.lasting and self._said(piece)]
        texts = [piece for piece in said if piece.notebook is None]
        return {
            "pieces": list(self._keys),
            "texts": {
                piece.key: digest(str(redact(text(piece.said), self.refused))) for piece in texts
            },
            "lines": {
                piece.key: line_hashes(piece.file.content)
                for piece in texts
                if piece.file is not None and not private_parts(text(piece.said))
            },
            "notebooks": {
                piece.path: self._statements[piece.key].known.since(self._base(piece))
                for piece in said
                if piece.notebook is not None
            },
        }

    def _base(self, piece: Piece) -> Any:
        if self._statements[piece.key].is_whole:
            return None
        return self._known.notebooks[piece.path or ""]

    def note(self, known: KnownContext, seen: SeenCells) -> None:
        """Record in ``seen`` which cells and files the model knows in their current state."""
        for piece in self._pieces:
            file = piece.file
            if file is not None and not file.truncated:
                if known.texts.get(piece.key) == digest(text(piece.said)):
                    seen.note_hash(file.path, WHOLE_DOCUMENT, TextState(file.content).hash)
                continue
            if piece.blocks is not None and piece.path is not None:
                if known.texts.get(piece.key) == digest(text(piece.said)):
                    for block_id, block_hash in piece.blocks.items():
                        seen.note_hash(piece.path, block_id, block_hash)
                continue
            if piece.notebook is None or piece.path is None or piece.path not in known.notebooks:
                continue
            for cell in known_sources(piece.notebook.cells, known.notebooks[piece.path]):
                seen.note_hash(piece.path, cell.id, cell.hash)

    def parts(self, refused: Refused) -> list[ContextPart]:
        """Each piece in full, and the size of what is sent of it."""
        return [
            ContextPart(
                kind=piece.kind,
                path=piece.path,
                names=list(piece.names),
                text=str(redact(whole, refused)),
                tokens=estimate(str(redact(text(self._line(piece)), refused))),
            )
            for piece, whole in zip(self._pieces, self._whole, strict=True)
        ]

    @cached_property
    def _whole(self) -> list[PrivateText]:
        """The whole text of each piece."""
        return [self._whole_of(piece) for piece in self._pieces]

    def _whole_of(self, piece: Piece) -> PrivateText:
        if piece.notebook is None:
            return text(piece.said)
        # Everything in an unknown notebook is new.
        is_known = piece.path in self._known.notebooks
        return self._notebooks[piece.key].whole() if is_known else self._new[piece.key]

    # -- what is said

    def _is_needed(self, refused: Refused) -> bool:
        if self._known.pieces != self._keys:
            return True
        return any(self._said(piece, refused) for piece in self._pieces)

    def _composed(self, refused: Refused) -> PrivateText:
        is_first = self._known.pieces is None
        head = f"As of turn {self._turn}.{'' if is_first else ' ' + REST}"
        lines = [line for piece in self._pieces if (line := self._line(piece, refused))]
        before = [key for key in self._known.pieces or () if not key.startswith("state")]
        gone = [key for key in before if key not in self._keys]
        if gone:
            lines.append(f"Not with this message any more: {', '.join(gone)}.")
        body = [part for line in lines or [NOTHING_NEW] for part in ("\n\n", line)]
        return text(f"<context>\n{head}", *body, "\n</context>")

    def _line(self, piece: Piece, refused: Refused | None = None) -> str | PrivateText:
        """The statement for a piece, if any."""
        said = self._said(piece, refused)
        if said or self._known.pieces == self._keys:
            return said
        if piece.notebook is not None:
            return f"{head_line(piece.notebook.context)} {AS_BEFORE}"
        return piece.said if piece.kind == "state" else f"{piece.label}: {AS_BEFORE.lower()}"

    def _said(self, piece: Piece, refused: Refused | None = None) -> str | PrivateText:
        """What is new in a piece; empty if it is known."""
        if piece.notebook is not None:
            return self._new[piece.key]
        if not piece.lasting:
            return piece.said
        known = self._known.texts.get(piece.key)
        refused = self.refused if refused is None else refused
        whole = text(piece.said)
        if known in (digest(whole), digest(str(redact(whole, refused)))):
            return ""
        lines = self._known.lines.get(piece.key)
        if piece.file is not None and lines is not None and not private_parts(whole):
            changes = file_changes(piece.file, lines)
            return changes if len(changes) < len(whole) else piece.said
        return piece.said


def joined(lines: Sequence[str]) -> PrivateText:
    """The lines as one text, with their marks of privacy."""
    return text(*[piece for line in lines for piece in ("\n", line)][1:])


def estimate(written: str) -> int:
    """Tokens of a text, estimated."""
    from ...models.tokens import estimate_tokens

    return estimate_tokens(written) if written else 0
