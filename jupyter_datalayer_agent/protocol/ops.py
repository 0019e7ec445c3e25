"""The submission queue: what a client may ask of a session."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, model_validator

from .answers import different_models
from .base import Name, Wire
from .mcp import FormAnswer
from .plans import PlanStep
from .requests import ChatRequest, SessionSettings


class TurnOp(Wire):
    """An op about a turn of its session: refused with ``not_found`` where the session does not have
    that turn, and carried out when what runs has ended."""

    turn_id: str


class UserMessage(Wire):
    """A message; it waits its turn while another runs."""

    type: Literal["user_message"] = "user_message"
    request: ChatRequest


class Dequeue(Wire):
    """Take a waiting message back."""

    type: Literal["dequeue"] = "dequeue"
    op_id: str


class SendNow(Wire):
    """Interrupt the running turn and take this waiting message next."""

    type: Literal["send_now"] = "send_now"
    op_id: str


class Interrupt(Wire):
    """Stop the running turn. With ``hold``, messages that wait in the panel do not run after
    it: they stay in the queue until they are sent now or removed. With ``answer_id`` only this one
    of several answers that are being given is stopped."""

    type: Literal["interrupt"] = "interrupt"
    hold: bool = False
    answer_id: str | None = None


class ApprovalDecision(Wire):
    """The user's answer to an ``approval_requested``; the model reads ``feedback``.

    ``unanswered``: why nobody can decide. It is no decision then, and the act is not done.
    """

    type: Literal["approval_decision"] = "approval_decision"
    approval_id: str
    decision: Literal["approve", "approve_for_session", "deny"]
    feedback: str | None = None
    unanswered: str | None = None


class PlanDecision(Wire):
    """The user's answer to a plan that is proposed or paused.

    ``edit`` replaces the steps that are not done by those of ``steps`` that are not, in that
    order, and carries them out: it is an approval of these steps. Done steps cannot be changed.
    Steps that cannot be carried out are refused with an ``error``, and the plan waits on as it was.

    A plan that is ``waiting`` for an action takes ``edit``, ``reject`` and ``skip``, which goes on
    without the action; ``run_action`` runs it.
    """

    type: Literal["plan_decision"] = "plan_decision"
    decision: Literal["approve", "edit", "reject", "skip"]
    steps: list[PlanStep] | None = None


class Pause(Wire):
    """Pause the running plan at the end of its current step; ``resume`` continues."""

    type: Literal["pause"] = "pause"


class UserInputAnswer(Wire):
    """The user's answer to a ``user_input_requested``: a text; where it has a form, ``form``.

    ``unanswered``: why nobody answers, for the model, in place of an answer.
    """

    type: Literal["user_input_answer"] = "user_input_answer"
    request_id: str
    answer: str = ""
    unanswered: str | None = None
    form: FormAnswer | None = None


class Resume(Wire):
    """Resume a plan that is paused, or that stopped: at the step that failed.

    ``client_id`` is the page that the plan goes on in; left out, the one that sends the op.
    """

    type: Literal["resume"] = "resume"
    client_id: str | None = None


class ConfigUpdate(Wire):
    """Change what the session remembers."""

    type: Literal["config_update"] = "config_update"
    settings: SessionSettings


class UploadRegistered(Wire):
    """A data set was uploaded for this session."""

    type: Literal["upload_registered"] = "upload_registered"
    dataset: dict[str, Any]


class Compact(Wire):
    """Summarise the older turns now."""

    type: Literal["compact"] = "compact"


class Undo(TurnOp):
    """Take back what a turn changed, or only some cells of it, or only some documents (``paths``).

    A cell that was changed since is left as it is and reported as a conflict, and so is a text file
    where the same lines were; with ``overwrite`` it is restored all the same. In ``cell_ids``, an
    empty id stands for the document as a whole, as of a text file.
    """

    type: Literal["undo"] = "undo"
    cell_ids: list[str] | None = None
    paths: list[str] | None = None
    overwrite: bool = False


class Keep(TurnOp):
    """Settle what a turn changed, or only some cells or documents of it, as ``undo`` names them."""

    type: Literal["keep"] = "keep"
    cell_ids: list[str] | None = None
    paths: list[str] | None = None


class GoBack(TurnOp):
    """Withdraw the turns after ``turn_id``: they are kept and shown, and not sent any more.

    With ``include_turn`` that turn is withdrawn, too: the user goes back to before its message.
    With ``documents`` what these turns changed in documents is reverted, the newest first, as
    ``undo`` does it: cells that were changed since are left and reported as conflicts.
    """

    type: Literal["go_back"] = "go_back"
    include_turn: bool = False
    documents: bool = False


class RunAction(Wire):
    """The user runs an action that was proposed, with the parameters of its form."""

    type: Literal["run_action"] = "run_action"
    proposal_id: str
    parameters: dict[str, Any] = {}


class AskAgain(TurnOp):
    """Ask another ``model``, or up to four ``models`` at once, what the newest message asked. They
    read what the first one read, and call no tools; those of a comparison read like its others."""

    type: Literal["ask_again"] = "ask_again"
    model: Name | None = Field(default=None, min_length=1)
    models: list[Name] = []

    @model_validator(mode="after")
    def _names_models(self) -> AskAgain:
        self.models = different_models(
            [*([self.model] if self.model else []), *self.models], at_least=1
        )
        return self


class Synthesise(TurnOp):
    """Have a ``model`` (the session's, unless one is named) write where the newest turn's answers
    agree and where they differ. It reads nothing but these."""

    type: Literal["synthesise"] = "synthesise"
    model: Name | None = Field(default=None, min_length=1)


class ChooseAnswer(TurnOp):
    """Continue from this further answer of the newest turn; without one, from its first."""

    type: Literal["choose_answer"] = "choose_answer"
    answer_id: str | None = None


class Reset(Wire):
    """Forget the conversation: messages, token count, scratch kernel and data sets."""

    type: Literal["reset"] = "reset"


class Shutdown(Wire):
    """End the running turn and unload the session from memory."""

    type: Literal["shutdown"] = "shutdown"


Op = Annotated[
    UserMessage
    | Dequeue
    | SendNow
    | Interrupt
    | ApprovalDecision
    | PlanDecision
    | Pause
    | UserInputAnswer
    | Resume
    | ConfigUpdate
    | UploadRegistered
    | Compact
    | Undo
    | Keep
    | GoBack
    | RunAction
    | AskAgain
    | Synthesise
    | ChooseAnswer
    | Reset
    | Shutdown,
    Field(discriminator="type"),
]

OP_ADAPTER: TypeAdapter[Op] = TypeAdapter(Op)
