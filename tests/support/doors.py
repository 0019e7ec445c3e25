"""What changes while a card waits, by whichever door its call came."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.magic.kernels import Kernel, notebook_kernel
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, ScriptedModelServer
from tests.support.page import submit_in_page
from tests.support.waiting_calls import Folder

JUNK = "!rm junk.txt"
RUN = Call("runNotebookCells", {"all": True})
DECISIONS = ("approve", "deny")


class Waiting:
    """A call on a notebook, by which all cells run. The first card is approved, after something
    was changed; the second is denied. Without a change the first one is."""

    def __init__(
        self,
        folder: Folder,
        kernel: Kernel,
        change: Callable[[Waiting], None] | None,
        call: Call = RUN,
    ) -> None:
        self.folder, self.kernel, self.call = folder, kernel, call
        self.server, self.model = folder.server, folder.model
        self.asked: list[str] = []
        self._change = change

    def decide(self, asked: str) -> str:
        """The decision on this card."""
        if not self.asked and self._change is not None:
            self._change(self)
        self.asked.append(asked)
        return "deny" if self._change is None else DECISIONS[len(self.asked) - 1]

    def follow(self, session: str, events: Iterator[dict[str, Any]]) -> None:
        """Decide in a page, to the turn's end."""
        for event in events:
            if event["type"] == "approval_requested":
                op = {"type": "approval_decision", "approvalId": event["approvalId"]}
                decision = self.decide(event["reason"])
                submit_in_page(self.server, session, {**op, "decision": decision})
            if event["type"] in ("turn_completed", "turn_aborted"):
                return
        raise AssertionError("the turn has no end")


# -- what changes ----------------------------------------------------------------------------------


def on_the_disk(waiting: Waiting) -> None:
    path = waiting.server.root / waiting.folder.notebook
    path.write_text(path.read_text().replace("junk.txt", "cars.csv"), encoding="utf-8")


def by_the_kernel(waiting: Waiting) -> None:
    path = waiting.server.root / waiting.folder.notebook
    done = waiting.kernel.run(
        f"import pathlib; p = pathlib.Path({str(path)!r})\n"
        "_ = p.write_text(p.read_text().replace('junk.txt', 'cars.csv'))"
    )
    assert done.status == "ok"


def by_another_file_in_its_place(waiting: Waiting) -> None:
    other = waiting.folder.path / "other.ipynb"
    path = waiting.server.root / waiting.folder.notebook
    other.write_text(path.read_text().replace("junk.txt", "cars.csv"), encoding="utf-8")
    other.replace(path)


def a_variable_of_the_kernel(waiting: Waiting) -> None:
    assert waiting.kernel.run("name = 'cars.csv'").status == "ok"


def the_folder_of_the_kernel(waiting: Waiting) -> None:
    other = waiting.folder.path / "other"
    other.mkdir()
    (other / "junk.txt").write_text("the user's", encoding="utf-8")
    assert waiting.kernel.run("import os; os.chdir('other')").status == "ok"


CHANGES = {
    on_the_disk: (JUNK, "cars.csv"),
    by_the_kernel: (JUNK, "cars.csv"),
    by_another_file_in_its_place: (JUNK, "cars.csv"),
    a_variable_of_the_kernel: ("!rm {name}", "cars.csv"),
    the_folder_of_the_kernel: (JUNK, "other"),
}


def changed_while_it_waits(
    server: RunningServer,
    model: ScriptedModelServer,
    door: Callable[[Waiting], None],
    change: Callable[[Waiting], None],
) -> None:
    """Check that what changed while a card waited is shown on a second one, and does not run."""
    source, shown = CHANGES[change]
    folder = Folder(server, model)
    folder.write(source)
    with notebook_kernel(server, folder.notebook) as kernel:
        assert kernel.run("name = 'junk.txt'").status == "ok"
        waiting = Waiting(folder, kernel, change)
        door(waiting)
        (_, second) = waiting.asked
        assert shown in second
    assert folder.left == {"cars.csv", "junk.txt"}
    other = folder.path / "other" / "junk.txt"
    assert change is not the_folder_of_the_kernel or other.exists()
