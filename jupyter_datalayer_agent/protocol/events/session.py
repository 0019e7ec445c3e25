"""Events of the session itself, its queue and its data sets."""

from __future__ import annotations

from typing import Literal

from ..answers import CitedAnswer, Provenance, Usage
from ..base import Wire
from ..datasets import Dataset
from ..errors import ErrorCode
from ..requests import SessionSettings
from ..services import ActionOffer, ActionProposal, ActionStatus, Intent, ServiceHelp
from ..tools import Change
from ..workflows import FixInfo
from .turn import BaseEvent

# Events about documents: their changes, undo, and what was found in them.


class DocumentChanged(BaseEvent):
    """A document was changed by this turn, as read back; ``call_id`` is the call that did it."""

    type: Literal["document_changed"] = "document_changed"
    path: str
    changes: list[Change]
    call_id: str | None = None


class DocumentRenamed(BaseEvent):
    """What the session knows as ``old_path``, a document or a folder, is at ``path`` now. Earlier
    events have the newer path when they are read again."""

    type: Literal["document_renamed"] = "document_renamed"
    old_path: str
    path: str


class UndoConflict(Wire):
    """A cell that a turn changed and that was changed again since; sources, None where the cell
    did not, or does not, exist."""

    path: str
    cell_id: str
    before: str | None = None
    after: str | None = None
    now: str | None = None


class ChangesUndone(BaseEvent):
    """Changes of the turn ``of_turn_id`` were reverted: ``changes`` as they were made to the
    documents just now. ``conflicts`` were left as they are, for the user to decide.
    ``cell_ids`` are the cells that are settled by this; None means all of the turn's. ``files`` are
    the paths of the documents that are settled as a whole: text files, and what the turn created.
    ``note`` says what cannot be reverted: what the cells did in the kernel."""

    type: Literal["changes_undone"] = "changes_undone"
    of_turn_id: str
    changes: list[Change]
    conflicts: list[UndoConflict] = []
    cell_ids: list[str] | None = None
    files: list[str] | None = None
    note: str | None = None


class ChangesKept(BaseEvent):
    """The user keeps what the turn ``of_turn_id`` changed, or only some cells of it, and the
    documents ``files`` as a whole."""

    type: Literal["changes_kept"] = "changes_kept"
    of_turn_id: str
    cell_ids: list[str] | None = None
    files: list[str] | None = None


class CellsStale(BaseEvent):
    """Code cells whose outputs no longer follow from the sources above, in notebook order; the
    whole list each time."""

    type: Literal["cells_stale"] = "cells_stale"
    path: str
    cell_ids: list[str]


class FixesOffered(BaseEvent):
    """Fixes, found without a model, for a cell that failed in this turn."""

    type: Literal["fixes_offered"] = "fixes_offered"
    path: str
    cell_id: str
    fixes: list[FixInfo]


# Events that change what the conversation consists of: rewinding, further answers.


class WentBack(BaseEvent):
    """The user went back to the turn ``to_turn_id``, or with ``include_turn`` to before its
    message: the turns ``withdrawn`` (in order) are not sent any more.

    ``documents``: whether their changes were to be reverted; each ``changes_undone`` was
    emitted before. ``left`` are those of the turns of which changes remain: kept by the user
    before, or in conflict.
    """

    type: Literal["went_back"] = "went_back"
    to_turn_id: str
    include_turn: bool
    withdrawn: list[str]
    documents: bool
    left: list[str] = []


class AnswerStarted(BaseEvent):
    """A model begins to answer the message of the turn, beside others: of one that has ended, or of
    a comparison. With ``sources`` it writes a synthesis of these answers."""

    type: Literal["answer_started"] = "answer_started"
    answer_id: str
    model: str
    sources: list[CitedAnswer] | None = None


class AnswerStatus(BaseEvent):
    """The current activity of such an answer, as text for a user."""

    type: Literal["answer_status"] = "answer_status"
    answer_id: str
    message: str


class AnswerDelta(BaseEvent):
    """A delta of such an answer; an ``item_discarded`` discards an item of it."""

    type: Literal["answer_delta"] = "answer_delta"
    answer_id: str
    item_id: str
    delta: str


class AnswerFinished(BaseEvent):
    """Such an answer ended. ``text`` is the whole of it, empty if it is not complete:
    what was shown of it stays, and is not kept as an answer. ``usage`` is what it cost, all its
    calls of the model together; ``duration_ms`` the time from its start."""

    type: Literal["answer_finished"] = "answer_finished"
    answer_id: str
    model: str
    status: Literal["completed", "stopped", "failed"]
    text: str = ""
    code: ErrorCode | None = None
    message: str | None = None
    usage: Usage | None = None
    duration_ms: float | None = None
    provenance: Provenance | None = None
    sources: list[CitedAnswer] | None = None


class AnswerChosen(BaseEvent):
    """The conversation continues from this answer of the turn; without one, from its first."""

    type: Literal["answer_chosen"] = "answer_chosen"
    answer_id: str | None = None


# Events of services: what a message asks for, and actions proposed and run.


class IntentDetected(BaseEvent):
    """What the message is understood to ask for, and what else it could; ``how`` that was found:
    the user typed the command or chose it, a ranking or a model detected it."""

    type: Literal["intent_detected"] = "intent_detected"
    service: str
    subcommand: str
    title: str
    confidence: float
    alternatives: list[Intent] = []
    how: Literal["command", "ranking", "model", "chosen"]


class HelpShown(BaseEvent):
    """What the agent can do, by service, with examples that can be sent."""

    type: Literal["help_shown"] = "help_shown"
    services: list[ServiceHelp]


class ActionsOffered(BaseEvent):
    """No model could say what the message asks for, and these are nearest to its words, the nearest
    first. Nothing was proposed or run. ``text`` introduces them."""

    type: Literal["actions_offered"] = "actions_offered"
    text: str
    offers: list[ActionOffer]


class CommandUnknown(BaseEvent):
    """The message begins with a command that there is not; ``nearest`` may be meant. It can be sent
    again as an ordinary message."""

    type: Literal["command_unknown"] = "command_unknown"
    command: str
    nearest: list[str] = []


class ActionProposed(BaseEvent, ActionProposal):
    """An action that the user may run, with the parameters found. Nothing was executed. Another one
    of the same ``proposal_id`` takes the place of the first."""

    type: Literal["action_proposed"] = "action_proposed"


class ActionStarted(BaseEvent):
    """The user ran an action."""

    type: Literal["action_started"] = "action_started"
    service: str
    action: str
    title: str
    proposal_id: str | None = None


class ActionProgress(BaseEvent):
    """How far the action is: ``fraction`` from 0 to 1, None where that is not known."""

    type: Literal["action_progress"] = "action_progress"
    message: str
    fraction: float | None = None


class ActionFinished(BaseEvent):
    """The action ended. ``output`` is Markdown, ``paths`` the files that it wrote; ``error`` says
    what went wrong and what to do."""

    type: Literal["action_finished"] = "action_finished"
    status: ActionStatus
    output: str = ""
    paths: list[str] = []
    error: str | None = None


class SessionConfigured(BaseEvent):
    """The session's settings or title changed."""

    type: Literal["session_configured"] = "session_configured"
    settings: SessionSettings
    title: str | None = None


class OpQueued(BaseEvent):
    """A message is queued while another turn runs; ``message`` is the user's text."""

    type: Literal["op_queued"] = "op_queued"
    op_id: str
    message: str | None = None


class OpHeld(BaseEvent):
    """A queued message is held, since the turn was stopped, until the user sends or removes it."""

    type: Literal["op_held"] = "op_held"
    op_id: str


class OpDequeued(BaseEvent):
    """A queued message left the queue: its turn started, or the user removed it."""

    type: Literal["op_dequeued"] = "op_dequeued"
    op_id: str
    reason: Literal["started", "removed"]


class SessionReset(BaseEvent):
    """All turns and older events of the session are deleted."""

    type: Literal["session_reset"] = "session_reset"


class SessionDeleted(BaseEvent):
    """The session was deleted, with all its data. ``seq`` is 0: it is not replayed."""

    type: Literal["session_deleted"] = "session_deleted"


class DatasetRegistered(BaseEvent):
    """A data set became known to the session."""

    type: Literal["dataset_registered"] = "dataset_registered"
    dataset: Dataset
