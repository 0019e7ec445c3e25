"""Verifies what the calls of a step did, so that only verified steps count as done.

The blocks of a Lexical document count as cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ...notebook.cells_of import cells_of
from ...notebook.document import DocumentError
from ...notebook.files.kinds import noun
from ...notebook.service import NotebookService
from ...protocol.renames import Rename
from ...protocol.tools import Change, NotDone
from .scheduler import FinishedCall

RUN_FAILURES = ("kernel_error", "timeout", "aborted")
WELL = ("ok", "skipped")
"""Statuses of a successful run."""


class ErrorMessages(NamedTuple):
    """A message, its redacted form if it has one, and the hint for the model."""

    message: str
    redacted: str | None = None
    hint: str | None = None


@dataclass(frozen=True)
class Failure:
    """A part of a step that failed; ``cell_id`` is set for the run of a cell.

    ``redacted`` is the message as the model may read it, None if nothing is redacted; ``hint``
    tells the model what to do. ``not_run`` are the cells of a run that could not begin, None for
    any other failure.
    """

    message: str
    path: str | None = None
    cell_id: str | None = None
    redacted: str | None = None
    not_run: tuple[str, ...] | None = None
    hint: str | None = None

    @property
    def for_model(self) -> str:
        """The message as the model may read it."""
        return self.message if self.redacted is None else self.redacted


@dataclass
class StepWatch:
    """Follows the calls of one step (or, added up, of all steps).

    ``runs`` has the last status of every cell that was run, by path and cell; ``changed`` the last
    change of every cell; ``unbegun`` the last run of each notebook, if it could not begin;
    ``blocks`` all changes of blocks, which are in no document's changes; ``files`` the paths that
    actions wrote.
    """

    calls: int = 0
    runs: dict[tuple[str, str], str] = field(default_factory=dict)
    changed: dict[tuple[str, str], Change] = field(default_factory=dict)
    unbegun: dict[str, Failure] = field(default_factory=dict)
    blocks: list[Change] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    _messages: dict[tuple[str, str], ErrorMessages] = field(default_factory=dict)
    _open: dict[str, ErrorMessages] = field(default_factory=dict)
    _missing: set[tuple[str, str]] = field(default_factory=set)

    def note(self, call: FinishedCall, target: str | None) -> None:
        """Count a call; ``target`` is the notebook of a call without a path."""
        self.calls += 1
        result = call.done.result
        where = _path_of(call, target)
        for run in runs_of(result.output):
            key = (where, str(run["cellId"]))
            self.runs[key] = str(run["status"])
            if run["status"] not in WELL and result.error is not None:
                self._messages[key] = messages_of(call)
        for cell_id in held_back(call):
            self.runs[where, cell_id] = "held_back"
            self._messages[where, cell_id] = messages_of(call)
        self.blocks += call.done.blocks
        for change in [*(result.changes or []), *call.done.blocks]:
            if change.cell_id is not None:
                self.changed[change.path, change.cell_id] = change
            if change.after is not None:
                self._clear_missing()
        failure = run_failure(call, target)
        if failure is not None and failure.not_run:
            self.unbegun[where] = failure
        elif runs_of(result.output):
            self.unbegun.pop(where, None)
        self._note_call(call, failure)

    def _note_call(self, call: FinishedCall, failure: Failure | None) -> None:
        """A failed call stays open until one of the same tool succeeds. A denied one is not open,
        since the user decided it, and a run is judged by its cell, also one that was held back."""
        result = call.done.result
        if result.ok:
            self._open.pop(result.name, None)
        elif failure is None and not call.done.denied and not _is_held_back(call):
            self._open[result.name] = messages_of(call)

    @property
    def paths(self) -> set[str]:
        """The documents that the calls were about."""
        return {path for path, _ in [*self.runs, *self.changed]} | {*self.unbegun, *self.files}

    def renamed(self, rename: Rename) -> None:
        """Use the new path of a renamed document."""
        rename.rekey_parts(self.runs)
        rename.rekey_parts(self.changed)
        rename.rekey_parts(self._messages)
        rename.rekey(self.unbegun)
        self.unbegun.update(
            (path, replace(each, path=rename.optional(each.path)))
            for path, each in self.unbegun.items()
        )
        for key, change in self.changed.items():
            self.changed[key] = change.model_copy(update={"path": key[0]})
        self.files[:] = rename.paths(self.files)
        self._missing = {(rename.path(path), cell_id) for path, cell_id in self._missing}

    def miss(self, cells: Iterable[Change]) -> None:
        """Record that these cells are gone; a later write replaces them."""
        self._missing.update((each.path, each.cell_id) for each in cells if each.cell_id)

    def _clear_missing(self) -> None:
        for key in self._missing:
            self.changed.pop(key, None)
        self._missing.clear()

    @property
    def failed_runs(self) -> list[Failure]:
        """The cells whose last run failed."""
        failures = []
        for (path, cell_id), status in self.runs.items():
            if status not in WELL:
                plain = ErrorMessages(f"{noun(path).capitalize()} {cell_id} ended with {status}.")
                said = self._messages.get((path, cell_id), plain)
                failures.append(Failure(said.message, path, cell_id, said.redacted, hint=said.hint))
        return failures

    @property
    def unresolved_failures(self) -> list[Failure]:
        """All failures that were not resolved."""
        others = [Failure(m.message, redacted=m.redacted, hint=m.hint) for m in self._open.values()]
        return [*self.failed_runs, *others]

    def only_wrote(self, notice: NotDone | None) -> Failure | None:
        """The failure of a step that made no call but wrote one as text, which ``notice`` is
        about."""
        return None if notice is None or self.calls else Failure(notice.message)

    def forget(self, cell_id: str | None) -> None:
        """Drop a failure that was resolved another way."""
        for key in [key for key in self.runs if key[1] == cell_id]:
            self.runs[key] = "ok"

    def add(self, other: StepWatch) -> None:
        """Add what another step did."""
        self.calls += other.calls
        self.runs.update(other.runs)
        self.changed.update(other.changed)
        self.blocks += other.blocks
        self.files += other.files


@dataclass(frozen=True)
class Verified:
    """What was read back: the number of written ``cells`` that exist, ``later`` of them with a
    different source by now; the cells that are ``gone``; and the number that ran well. ``noun`` is
    what they are called, ``files`` the number of files found where an action wrote them."""

    cells: int
    runs: int
    later: int = 0
    gone: tuple[Change, ...] = ()
    noun: str = "cell"
    files: int = 0

    def summary(self) -> str:
        """For the user."""
        said = []
        if self.cells:
            said.append(f"{_count(self.cells, self.noun)} read back")
        if self.later:
            changed = _count(self.later, self.noun)
            said.append(f"{changed} changed since by someone else and kept")
        if self.gone:
            said.append(f"{_count(len(self.gone), self.noun)} deleted since")
        if self.runs:
            said.append(f"{_count(self.runs, self.noun)} ran without error")
        if self.files:
            said.append(f"{_count(self.files, 'file')} found where expected")
        return ", ".join(said) or "nothing to verify"


async def verify(
    watch: StepWatch, notebooks: NotebookService, client_id: str | None
) -> Verified | Failure:
    """Verify a step: its calls, its runs, and the notebook as read back.

    A cell with a different source was changed by someone else since; that does not fail the step.
    """
    if watch.unresolved_failures:
        return watch.unresolved_failures[0]
    result = await read_back(watch, notebooks, client_id)
    if isinstance(result, Verified) and result.gone:
        watch.miss(result.gone)
        change = result.gone[0]
        first_line = next(iter((change.after or "").strip().splitlines()), "")
        return Failure(
            f"The {noun(change.path)} “{first_line}” that this step wrote is not in {change.path}.",
            change.path,
        )
    return result


async def read_back(
    watch: StepWatch, notebooks: NotebookService, client_id: str | None
) -> Verified | Failure:
    """The written cells in the current notebooks; a failure if one cannot be read."""
    cells = later = 0
    gone: list[Change] = []
    for path in dict.fromkeys(path for path, _ in watch.changed):
        try:
            found = await cells_of(notebooks, path, client_id)
        except DocumentError as error:
            return Failure(f"{path} could not be read back: {error.message}", path)
        sources = {cell.id: cell.source for cell in found.cells}
        for (where, cell_id), change in watch.changed.items():
            if where != path or change.after is None:
                continue
            if cell_id not in sources:
                gone.append(change)
                continue
            cells += 1
            later += sources[cell_id] != change.after
    good = sum(status == "ok" for status in watch.runs.values())
    nouns = {noun(path) for path, _ in [*watch.changed, *watch.runs]}
    what = " or ".join(sorted(nouns)) or "cell"
    return Verified(cells, good, later, tuple(gone), what, len(set(watch.files)))


def run_failure(call: FinishedCall, target: str | None) -> Failure | None:
    """The failed run that a call reports, or its failure to begin; None for any other call."""
    result = call.done.result
    error = result.error
    if error is None:
        return None
    where = _path_of(call, target)
    message, redacted, hint = messages_of(call)
    for run in runs_of(result.output):
        if run["status"] not in WELL:
            return Failure(message, where, str(run["cellId"]), redacted, hint=hint)
    if error.code not in RUN_FAILURES:
        return None
    not_run = result.output.get("notRun") if isinstance(result.output, dict) else None
    if not_run:
        return Failure(message, where, not_run[0], redacted, tuple(not_run), hint)
    return Failure(message, where, _cell_of(call), redacted, hint=hint)


def held_back(call: FinishedCall) -> list[str]:
    """The cells that a call did not run because an earlier call had failed."""
    output = call.done.result.output
    if not _is_held_back(call) or not isinstance(output, dict):
        return []
    return list(output.get("notRun", ()))


def _is_held_back(call: FinishedCall) -> bool:
    error = call.done.result.error
    return error is not None and error.code == "held_back"


def messages_of(call: FinishedCall) -> ErrorMessages:
    """The message of a failed call, complete and as the model may read it."""
    whole, redacted = call.done.result.error, call.done.redacted
    if whole is None:
        return ErrorMessages("")
    if redacted is None or redacted.error is None:
        return ErrorMessages(whole.message, None, whole.hint)
    said, hint = redacted.error.message, redacted.error.hint
    return ErrorMessages(whole.message, None if said == whole.message else said, hint)


def runs_of(output: Any) -> Iterable[dict[str, Any]]:
    """The runs that a tool's output reports: a list of them, or that of the cell it wrote. A
    block's id is its ``cellId``."""
    if not isinstance(output, dict):
        return []
    if isinstance(output.get("runs"), list):
        runs = [{"cellId": run.get("id"), **run} for run in output["runs"]]
        return [run for run in runs if run["cellId"] is not None and "status" in run]
    return [output] if "cellId" in output and "status" in output else []


def _path_of(call: FinishedCall, target: str | None) -> str:
    arguments = call.record.arguments
    given = arguments.get("path") or arguments.get("uri") if isinstance(arguments, dict) else None
    changes = call.done.result.changes or []
    output = call.done.result.output
    read = output.get("path") if isinstance(output, dict) else None
    return str(changes[0].path if changes else read or given or target or "")


def _cell_of(call: FinishedCall) -> str | None:
    """The cell of a run that could not begin."""
    result, arguments = call.done.result, call.record.arguments
    output = result.output if isinstance(result.output, dict) else {}
    if isinstance(output.get("cellId"), str):
        return str(output["cellId"])
    if not isinstance(arguments, dict):
        return None
    ids: Sequence[Any] = arguments.get("cellIds") or arguments.get("cell_ids") or []
    names = ("cellId", "cell_id", "blockId", "block_id")
    one = next((arguments[name] for name in names if arguments.get(name)), None)
    return str(one or ids[0]) if one or ids else None


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
