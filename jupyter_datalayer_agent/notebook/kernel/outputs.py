"""Kernel messages as nbformat outputs, merged and updated as JupyterLab does it."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Any

from ...protocol.limits import MAX_PRINTED_CHARACTERS, MAX_PRINTED_END_CHARACTERS
from ..agent_mark import is_active, is_run_by_user, made_by_agent
from ..renames import TrackedPath

Output = dict[str, Any]

MOST_DISPLAYS = 1_000

OUTPUT_MESSAGES = frozenset(
    {
        "stream",
        "display_data",
        "update_display_data",
        "execute_result",
        "error",
        "clear_output",
    }
)


class Displays:
    """Which outputs of a kernel's cells show a ``display_id``; the newest 1,000 ids."""

    def __init__(self) -> None:
        self._shown: OrderedDict[str, list[tuple[CellOutputs, Output]]] = OrderedDict()

    def add(self, display_id: str, owner: CellOutputs, output: Output) -> None:
        """An output shows this id from now on."""
        self._shown.setdefault(display_id, []).append((owner, output))
        self._shown.move_to_end(display_id)
        while len(self._shown) > MOST_DISPLAYS:
            self._shown.popitem(last=False)

    def of(self, display_id: str) -> list[tuple[CellOutputs, Output]]:
        """The outputs that show an id."""
        return self._shown.get(display_id, [])


class PrintedEnd:
    """The end of what a cell printed beyond ``MAX_PRINTED_CHARACTERS``, and how much is missing: a
    cell that prints without end must not fill the server's memory and the notebook."""

    def __init__(self) -> None:
        self._pieces: deque[str] = deque()
        self._kept = 0
        self._dropped = 0

    def add(self, text: str) -> None:
        """More is printed."""
        self._pieces.append(text[-MAX_PRINTED_END_CHARACTERS:])
        self._dropped += len(text) - len(self._pieces[-1])
        self._kept += len(self._pieces[-1])
        while self._kept - len(self._pieces[0]) >= MAX_PRINTED_END_CHARACTERS:
            gone = len(self._pieces.popleft())
            self._kept -= gone
            self._dropped += gone

    def text(self) -> str:
        """The end, after a line that says how much is left out before it."""
        left_out = f"\n… {self._dropped:,} characters left out\n" if self._dropped else ""
        return left_out + "".join(self._pieces)


class CellOutputs:
    """The outputs of one run of a cell, growing as messages arrive.

    ``displays`` is shared by the cells of a kernel, since a later cell may update what an earlier
    one shows; ``updated`` then gets the earlier one. ``cell`` is its notebook and its id. Made
    while the user runs something, they are the user's; else the agent's, and marked.
    """

    def __init__(
        self, displays: Displays | None = None, cell: tuple[TrackedPath, str] | None = None
    ) -> None:
        self.outputs: list[Output] = []
        self.cell = cell
        self.execution_count: int | None = None
        self.updated: list[CellOutputs] = []
        self._displays = Displays() if displays is None else displays
        self._by_user = is_run_by_user()
        self._clear_with_next = False
        self._streamed = 0
        self._end: PrintedEnd | None = None

    def add(self, message_type: str, content: dict[str, Any]) -> None:
        """Take one message of the cell; types that are no output are passed over."""
        if message_type not in OUTPUT_MESSAGES:
            return
        if message_type == "clear_output":
            if content.get("wait"):
                self._clear_with_next = True
            else:
                self.clear()
            return
        display_id = (content.get("transient") or {}).get("display_id")
        if message_type == "update_display_data":
            self._update(display_id, content)
            return
        if self._clear_with_next:
            self.clear()
        if message_type == "stream":
            self._stream(str(content.get("name", "stdout")), str(content.get("text", "")))
            return
        output = _output(message_type, content, self._metadata(content))
        self.outputs.append(output)
        if display_id:
            self._displays.add(display_id, self, output)

    def clear(self) -> None:
        """Drop everything shown so far."""
        self._clear_with_next = False
        self._streamed = 0
        self._end = None
        self.outputs.clear()

    def _stream(self, name: str, text: str) -> None:
        room = MAX_PRINTED_CHARACTERS - self._streamed
        text, more = text[:room], text[room:]
        self._streamed += len(text)
        if text:
            self._print(name, text)
        if more:
            if self._end is None:
                self._end = PrintedEnd()
                self.outputs.append({"output_type": "stream", "name": name, "_end": self._end})
            self._end.add(more)

    def _print(self, name: str, text: str) -> None:
        last = self.outputs[-1] if self.outputs else None
        if last is not None and last["output_type"] == "stream" and last["name"] == name:
            last["_pieces"].append(text)
        else:
            self.outputs.append({"output_type": "stream", "name": name, "_pieces": [text]})

    def _update(self, display_id: str | None, content: dict[str, Any]) -> None:
        for owner, output in self._displays.of(display_id or ""):
            output["data"] = content.get("data") or {}
            output["metadata"] = self._metadata(content)
            if owner is not self and owner not in self.updated:
                self.updated.append(owner)

    def _metadata(self, content: dict[str, Any]) -> dict[str, Any]:
        """What the agent's code displays and may act in a page says whose it is."""
        metadata: dict[str, Any] = content.get("metadata") or {}
        is_marked = not self._by_user and is_active(content.get("data"))
        return made_by_agent(metadata) if is_marked else metadata

    def snapshot(self) -> list[Output]:
        """The outputs now, as nbformat; later messages do not change it."""
        return [_nbformat(output) for output in self.outputs]


def _nbformat(output: Output) -> Output:
    if "_end" in output:
        return {"output_type": "stream", "name": output["name"], "text": output["_end"].text()}
    pieces = output.get("_pieces")
    if pieces is None:
        return dict(output)
    if len(pieces) > 1:
        pieces[:] = [_overwrite("".join(pieces))]
    return {"output_type": "stream", "name": output["name"], "text": _overwrite(pieces[0])}


def _overwrite(text: str) -> str:
    """Text after carriage returns took back what stood in the line, as progress bars do."""
    if "\r" not in text:
        return text
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        shown = ""
        for piece in line.split("\r"):
            shown = piece + shown[len(piece) :]
        # A return at the end waits: the next piece writes over the line.
        lines.append(shown + "\r" if line.endswith("\r") else shown)
    return "\n".join(lines)


def _output(message_type: str, content: dict[str, Any], metadata: dict[str, Any]) -> Output:
    if message_type == "error":
        return {
            "output_type": "error",
            "ename": str(content.get("ename", "")),
            "evalue": str(content.get("evalue", "")),
            "traceback": [str(line) for line in content.get("traceback", [])],
        }
    output: Output = {
        "output_type": message_type,
        "data": content.get("data") or {},
        "metadata": metadata,
    }
    if message_type == "execute_result":
        output["execution_count"] = content.get("execution_count")
    return output
