"""What a tool gets for one call, and how it reports a failure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..protocol.cells import CellRun, PageCell, PageNotebook
from ..protocol.mcp import FormAnswer, InputForm
from ..protocol.page import ActiveDocument
from ..protocol.plans import PlanStep
from ..protocol.renames import Rename
from ..protocol.tools import Change, MissingRequirement, ToolErrorCode
from ..protocol.workflows import QualityReport
from .gate import Gate, Refusal
from .redaction import Sharing

if TYPE_CHECKING:
    from ..datasets.service import Datasets
    from ..notebook.document import NotebookDocument
    from ..notebook.service import NotebookService
    from ..store.queries.history import HistoryQueries


class ToolFailure(Exception):
    """A tool failed, wholly or in part.

    ``output``, ``changes`` and ``blocks`` (see ``ToolOutcome``) are what was done; ``summary`` is
    for a user. ``needs``: what the gate found missing.
    """

    def __init__(
        self,
        code: ToolErrorCode,
        message: str,
        hint: str | None = None,
        *,
        output: Any = None,
        summary: str | None = None,
        changes: Sequence[Change] = (),
        blocks: Sequence[Change] = (),
        images: Sequence[Any] = (),
        more: str | None = None,
        needs: MissingRequirement | None = None,
    ) -> None:
        super().__init__(message)
        self.code: ToolErrorCode = code
        self.message = message
        self.hint = hint
        self.output = output
        self.summary = summary
        self.changes = list(changes)
        self.blocks = list(blocks)
        self.images = list(images)
        self.more = more
        self.needs = needs

    @classmethod
    def of(cls, refusal: Refusal) -> ToolFailure:
        """The failure of a call that the gate refused."""
        return cls(
            "not_allowed",
            refusal.message,
            refusal.hint,
            summary=refusal.summary,
            needs=refusal.needs,
        )


class SeenCells:
    """The sources that a conversation's model has read, by hash, for each notebook.

    An edit is based on the text that the model read last. If the user has changed the cell since,
    its hash differs, and the edit is refused with the new text.
    """

    def __init__(self) -> None:
        self._hashes: dict[tuple[str, str], str] = {}

    def note(self, path: str, cells: Sequence[PageCell]) -> None:
        """Record that the model is shown these cells."""
        for cell in cells:
            self._hashes[path, cell.id] = cell.hash

    def note_hash(self, path: str, cell_id: str, source_hash: str) -> None:
        """Record that the model is shown a cell with this hash."""
        self._hashes[path, cell_id] = source_hash

    def forget(self, path: str, cell_ids: Iterable[str]) -> None:
        """Forget these cells: the model has to read them again."""
        for cell_id in cell_ids:
            self._hashes.pop((path, cell_id), None)

    def renamed(self, rename: Rename) -> None:
        """Move what the model read of a renamed notebook to its new path."""
        rename.rekey_parts(self._hashes)

    def base(self, path: str, cell_id: str) -> str | None:
        """The hash of what the model read last, None if it never read the cell."""
        return self._hashes.get((path, cell_id))


class ShownTexts:
    """Parts of documents, by id and hash, that an approval card shows in full.

    ``while_made``: the card is being made, and shows every part that is asked for.
    """

    def __init__(self) -> None:
        self.while_made = True
        self._parts: set[tuple[str, str]] = set()

    def has(self, part: str, part_hash: str) -> bool:
        """Whether the card shows this version of the part."""
        if self.while_made:
            self._parts.add((part, part_hash))
        return (part, part_hash) in self._parts


async def _nobody_to_ask(question: str, options: list[str] | None) -> str:
    raise ToolFailure("not_allowed", "No one is available to answer.", "Decide with what you know.")


AskForm = Callable[[str, InputForm, Callable[[dict[str, Any]], str | None]], Awaitable[FormAnswer]]
"""Shows an MCP server's message and form to the user; the last argument validates the values."""


async def _nobody_to_fill_in(*_: object) -> FormAnswer:
    return FormAnswer(action="cancel")


QualityOf = Callable[[str, str | None], Awaitable[QualityReport]]
"""The quality report of the notebook at a path, as the page with this client id has it."""
RepairOf = Callable[[str, CellRun, str | None, str | None], Awaitable[str | None]]
"""The known repair of a failed run in the notebook at a path, as a hint for the model: of a cell,
or of code outside of cells; the notebook is as the page with this client id has it."""
UpdatePlan = Callable[[Sequence[PlanStep], str | None], Awaitable[Sequence[PlanStep]]]


FindActions = Callable[[str], list[dict[str, Any]]]
"""The actions of services that are nearest to a query, as a model reads them."""
ProposeAction = Callable[[str, str, dict[str, Any], dict[str, str]], Awaitable[str]]
"""Shows the user the form of an action, by the ids of its service and of it, with parameters and
the user's words for them; its title. Raises ``ToolFailure`` where there is no such action, or it
does not take them."""


def _no_actions(query: str) -> list[dict[str, Any]]:
    return []


async def _nobody_to_propose_to(*_: object) -> str:
    raise ToolFailure("not_allowed", "No form can be shown here.", "Say what the user can do.")


async def _no_plan(steps: Sequence[PlanStep], explanation: str | None) -> Sequence[PlanStep]:
    return steps


@dataclass
class ToolContext:
    """The context of one call. ``renames`` is how many documents were renamed before it. ``seen``
    is None for a direct call, which is based on the current state, and so is ``sharing``, since
    the result goes to no model. ``on_card`` are the parts of changed documents that the user was
    shown while the call waited for approval. ``update_plan`` takes the model's steps and returns
    the plan to show."""

    gate: Gate
    notebooks: NotebookService
    kernel_timeout_seconds: float
    client_id: str | None = None
    session_id: str | None = None
    turn_id: str | None = None
    call_id: str | None = None
    renames: int = 0
    seen: SeenCells | None = None
    on_card: ShownTexts | None = None
    active_document: ActiveDocument | None = None
    past: HistoryQueries | None = None
    datasets: Datasets | None = None
    quality_of: QualityOf | None = None
    repair_of: RepairOf | None = None
    ask: Callable[[str, list[str] | None], Awaitable[str]] = _nobody_to_ask
    ask_form: AskForm = _nobody_to_fill_in
    update_plan: UpdatePlan = _no_plan
    find_actions: FindActions = _no_actions
    propose_action: ProposeAction = _nobody_to_propose_to
    sharing: Sharing | None = None
    on_status: Callable[[str], Awaitable[None]] | None = None
    on_changes: Callable[[str, list[Change], str | None], Awaitable[None]] | None = None
    on_stale: Callable[[str, list[str]], Awaitable[None]] | None = None

    def path(self, path: str | None) -> str:
        """The path of a call's notebook. Raises ``ToolFailure`` if the call may not use it."""
        path = self.gate.target if path is None else self.now(path)
        refusal = self.gate.path_refusal(path or "")
        if path is None or refusal is not None:
            assert refusal is not None
            raise ToolFailure.of(refusal)
        return path

    def lexical_path(self, path: str | None) -> str:
        """The path of a call's Lexical document. Raises ``ToolFailure`` if the call may not use
        it."""
        path = next(iter(self.gate.lexical_targets), "") if path is None else self.now(path)
        if (refusal := self.gate.lexical_refusal(path)) is not None:
            raise ToolFailure.of(refusal)
        return path

    def path_with_kernel(self, path: str | None) -> str:
        """The path of a call's notebook or Lexical document; without one that of the notebook, or
        else of the Lexical document."""
        path = None if path is None else self.now(path)
        lexical = self.gate.lexical_targets
        if lexical and (path in lexical or (path is None and self.gate.target is None)):
            return self.lexical_path(path)
        return self.path(path)

    def now(self, path: str) -> str:
        """The current path of the document that had this path when the call began."""
        return self.notebooks.renames.since(path, self.renames)

    def with_paths_now(self, changes: Sequence[Change]) -> list[Change]:
        """The changes with current paths (see ``now``)."""
        return [each.model_copy(update={"path": self.now(each.path)}) for each in changes]

    def knows(self, path: str, part: str, part_hash: str) -> bool:
        """Whether the model has read this version of a part of a document."""
        return self.seen is None or self.seen.base(path, part) == part_hash

    def may_change(self, path: str, part: str, part_hash: str, *, whole: bool) -> bool:
        """Whether this version of a part may be changed: the model has read it, or the card shows
        it. Replacing the ``whole`` text takes the former, since other text would be lost."""
        if self.knows(path, part, part_hash):
            return True
        return not whole and self.on_card is not None and self.on_card.has(part, part_hash)

    async def document(self, path: str | None) -> NotebookDocument:
        """The notebook that the call works on, checked by the gate."""
        return await self.notebooks.open(self.path(path), self.client_id)

    async def notebook(self, path: str | None, *, outputs: bool = False) -> PageNotebook:
        """The current state of the call's notebook, for reading; outputs on request."""
        return await self.notebooks.read(self.path(path), self.client_id, outputs=outputs)

    async def status(self, message: str) -> None:
        """Show the user what the tool is doing."""
        if self.on_status is not None:
            await self.on_status(message)

    async def changed(self, path: str, changes: list[Change]) -> None:
        """Report at once that a document was changed and read back."""
        if self.on_changes is not None and changes:
            await self.on_changes(self.now(path), self.with_paths_now(changes), self.call_id)

    async def stale(self, path: str, cell_ids: list[str]) -> None:
        """Report all stale cells of the notebook."""
        if self.on_stale is not None:
            await self.on_stale(self.now(path), cell_ids)
