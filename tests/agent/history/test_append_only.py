"""The history is append-only: what was sent stays at its place, and only what is new is added."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.support.jupyter import RunningServer
from tests.support.long_chats import is_summary, kept_share, rendered
from tests.support.model_server import (
    Call,
    Calls,
    RecordedRequest,
    Say,
    ScriptedModelServer,
    Status,
    Step,
)
from tests.support.planning import of_type, submit, until
from tests.support.sessions import act, sources
from tests.tools.test_outputs import png

PATH = "book.ipynb"
FORMS = ("chat", "responses")


@pytest.fixture(scope="module", params=FORMS)
def both(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    shared_model: ScriptedModelServer,
) -> Iterator[RunningServer]:
    """A server for each form of requests."""
    environment = {"DATALAYER_AGENT_MODEL_API": request.param, "DEEPSEEK_API_KEY": "a-key"}
    folder = tmp_path_factory.mktemp(request.param)
    base = shared_model.base_url
    with RunningServer(folder, api_base=base, environment=environment) as running:
        yield running


class Book:
    """A notebook on disk, and one session about it. ``listens``: it follows the turns, so that it
    could answer questions."""

    def __init__(
        self, server: RunningServer, model: ScriptedModelServer, count: int = 4, path: str = PATH
    ) -> None:
        self.server = server
        self.model = model
        self.path = path
        spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        cells = [nbformat.v4.new_code_cell(f"x{n} = {n}", id=f"cell{n}") for n in range(count)]
        self.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": spec}))
        self.session: str | None = None
        self.turn = ""
        self.listens = False

    @property
    def file(self) -> Path:
        return self.server.root / self.path

    def write(self, notebook: Any) -> None:
        nbformat.write(notebook, self.file)

    def cells(self) -> list[Any]:
        return list(nbformat.read(self.file, as_version=4).cells)

    def change(self, change: Any) -> None:
        """The user changes the list of cells."""
        notebook = nbformat.read(self.file, as_version=4)
        notebook.cells = change(list(notebook.cells))
        self.write(notebook)

    def edit(self, index: int, source: str) -> None:
        def changed(cells: list[Any]) -> list[Any]:
            cells[index].source = source
            return cells

        self.change(changed)

    def say(self, message: str, *steps: Step, prefix: str = "", **more: Any) -> str:
        """The context that this message adds; empty where it adds none. ``prefix`` is no part of
        what the model reads."""
        before = len(self.model.requests)
        self.model.script(*(steps or [Say("Yes.")]))
        request = {
            "message": f"{prefix}{message}",
            "sessionId": self.session,
            "mode": "agent",
            "approval": "never",
            "activeNotebook": self.path,
            "attachments": [{"kind": "notebook", "path": self.path}],
            **more,
        }
        if self.session is not None and self.listens:
            [ended] = of_type(list(self.server.stream("chat/stream", request)), "turn_completed")
            self.turn = ended["turnId"]
        else:
            reply = self.server.post("chat", request)
            assert reply["status"] == "completed", reply
            self.session, self.turn = reply["sessionId"], reply["turnId"]
        sent = [r for r in self.model.requests[before:] if not is_summary(r)]
        return sent[0].context_before(message)


def contexts(request: RecordedRequest) -> list[str]:
    return re.findall(
        r"^<context>\n.*?\n</context>$", request.messages_text, re.DOTALL | re.MULTILINE
    )


def assert_appended(requests: Sequence[RecordedRequest]) -> None:
    """Each request has all items of the one before, as they were, at its beginning."""
    for before, after in pairwise(requests):
        assert after.items[: len(before.items)] == before.items
        assert after.body.get("tools") == before.body.get("tools")
        assert after.body.get("instructions") == before.body.get("instructions")


def twenty_calls() -> list[Step]:
    """Reads, changes and runs, one after the other."""
    steps: list[Step] = [Call("getNotebookCells")]
    steps += [
        Call("updateNotebookCell", {"cellId": "cell1", "content": f"x1 = {n}"}) for n in range(6)
    ]
    steps += [Call("moveNotebookCell", {"cellId": "cell2", "position": "start"})] * 6
    steps += [Call("getNotebookCells", {"cellIds": ["cell1"]})] * 7
    return [*steps, Say("Done.")]


def test_two_turns_of_twenty_calls_each_begin_with_all_that_was_sent(
    both: RunningServer, model: ScriptedModelServer
) -> None:
    book = Book(both, model)
    book.say("First", *twenty_calls())
    last = model.requests[-1]
    book.say("Second", *twenty_calls())
    requests = list(model.requests)
    assert len(requests) == 42
    assert requests[0].api == ("chat" if "chat" in str(both.folder) else "responses")
    shares = [kept_share(one, other) for one, other in pairwise(requests)]
    next_turn = kept_share(last, requests[21])
    print(f"\nfrom turn 1 to 2: {next_turn:.4f}; from call to call: {min(shares):.4f}")
    assert next_turn >= 0.97
    # But for the bracket that closes the list of items.
    assert all(len(rendered(r)) * (1 - s) <= 1.01 for r, s in zip(requests, shares, strict=False))
    assert_appended(requests)


def test_an_unchanged_context_is_not_sent_again(
    both: RunningServer, model: ScriptedModelServer
) -> None:
    book = Book(both, model)
    assert book.say("One").startswith(f"<context>\nAs of turn 1.\n\nNotebook {PATH}: 4 cells")
    assert book.say("Two", Call("getNotebookCells"), Say("Read.")) == ""
    assert book.say("Three") == ""
    assert len(contexts(model.requests[-1])) == 1
    assert_appended(model.requests)


def test_a_changed_cell_is_sent_as_that_cell_with_the_turn_from_which_it_holds(
    both: RunningServer, model: ScriptedModelServer
) -> None:
    book = Book(both, model)
    book.say("One")
    book.say("Two")
    book.edit(2, "y = 'other'")
    context = book.say("Three")
    assert context.startswith("<context>\nAs of turn 3. ")
    assert "[3] code id=cell2 not run\n```\ny = 'other'\n```" in context
    for unchanged in ("cell0", "cell1", "cell3"):
        assert unchanged not in context
    assert book.say("Four") == ""
    book.edit(2, "x2 = 2")
    assert "[3] code id=cell2 not run\n```\nx2 = 2\n```" in book.say("Five"), "also back again"
    assert_appended(model.requests)


def test_added_removed_and_moved_cells_are_sent(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    book = Book(server, model)
    book.say("One")
    new = nbformat.v4.new_code_cell("z = 1", id="fresh")
    book.change(lambda cells: [*cells[:1], new, *cells[1:]])
    added = book.say("Added")
    assert f"Notebook {PATH}: 5 cells" in added
    assert (
        "Order now: [1] id=cell0, [2] id=fresh, [3] id=cell1, [4] id=cell2, [5] id=cell3." in added
    )
    assert "[2] code id=fresh not run\n```\nz = 1\n```" in added
    assert "x1 = 1" not in added
    book.change(lambda cells: [*cells[:2], *cells[3:]])
    removed = book.say("Removed")
    assert "Removed: id=cell1.\nOrder now: [1] id=cell0, [2] id=fresh, [3] id=cell2" in removed
    assert "```" not in removed
    book.change(lambda cells: [cells[-1], *cells[:-1]])
    moved = book.say("Moved")
    assert "Order now: [1] id=cell3, [2] id=cell0, [3] id=fresh, [4] id=cell2." in moved
    assert "Removed" not in moved
    assert "```" not in moved
    assert_appended(model.requests)


def test_a_notebook_of_many_cells_is_sent_as_lines_and_runs_of_the_old_numbers(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    book = Book(server, model, 200)
    book.say("One")
    book.edit(9, "x9 = 9\nmore = 1")
    edited = book.say("Edited")
    assert "[10] code id=cell9 not run | x9 = 9 (source changed)" in edited
    assert edited.count("id=cell") == 1
    new = nbformat.v4.new_code_cell("z = 1", id="fresh")
    book.change(lambda cells: [*cells[:20], new, *cells[20:50], *cells[51:], cells[0]][1:])
    moved = book.say("Moved")
    assert "Removed: id=cell50." in moved
    assert (
        "Order now, by the numbers of the last whole list: [1-19] were 2-20, [20] id=fresh, not in "
        "it, [21-50] were 21-50, [51-199] were 52-200, [200] was 1." in moved
    )
    assert "[20] code id=fresh not run | z = 1" in moved
    assert moved.count("id=cell") == 1
    book.change(lambda cells: cells[:190])
    cut = book.say("Cut")
    assert "[20] id=fresh, not in it, [21-50] were 21-50, [51-190] were 52-191." in cut
    assert len(cut) < 800
    assert_appended(model.requests)


def test_where_the_changes_are_longer_the_whole_is_sent(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    book = Book(server, model)
    book.say("One")
    other = [nbformat.v4.new_code_cell(f"y = {n}", id=f"other{n}") for n in range(3)]
    book.change(lambda cells: other)
    context = book.say("Two")
    assert "The whole notebook, stated anew.\nNotebook book.ipynb: 3 cells" in context
    assert "Order now" not in context
    book.change(lambda cells: other * 0 + [*cells, *Book(server, model, 30, "x.ipynb").cells()])
    many = book.say("Many")
    assert "The whole notebook, stated anew." in many
    assert "[33] code id=cell29 not run\n```\nx29 = 29\n```" in many


def test_what_tools_did_is_sent_again_as_it_is_now(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    """The model's newest source of a cell is its own: it is sent also where the cell is again as
    the context before said."""
    book = Book(server, model)
    book.say("One")
    change = Call("updateNotebookCell", {"cellId": "cell1", "content": "x1 = 'mine'"})
    book.say("Change it", change, Say("Done."))
    assert "x1 = 'mine'" in book.say("And?")
    assert book.say("And now?") == ""
    book.say("Change it again", change, Say("Done."))
    act(server, str(book.session), {"type": "undo", "turnId": book.turn}, "changes_undone")
    assert sources(book.file)[1] == "x1 = 'mine'"
    book.edit(1, "x1 = 'mine'")
    sent = book.say("Was it undone?")
    assert "x1 = 'mine'" in sent
    assert "cell0" not in sent


def test_a_cell_that_was_read_and_then_changed_back_is_sent(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    book = Book(server, model)
    book.say("One")
    reading = Call("getNotebookCells", {"cellIds": ["cell1"]})

    def meanwhile(request: RecordedRequest) -> Step:
        book.edit(1, "x1 = 'theirs'")
        return reading

    book.say("Read it", meanwhile, Say("Theirs."))
    assert "theirs" in model.requests[-1].last_output
    book.edit(1, "x1 = 1")
    assert "[2] code id=cell1 not run\n```\nx1 = 1\n```" in book.say("And now?")


def test_runs_and_a_kernel_restart_are_sent_without_the_sources(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    book = Book(server, model, 3)
    for index, source in enumerate(("print('here')", "1", "2")):
        book.edit(index, f"# {'Why this is done. ' * 9}\n{source}")
    first = book.say("One")
    assert "kernel not started" in first
    run = server.post("tools/runNotebookCells", {"path": PATH, "arguments": {"all": True}})
    assert run["ok"], run
    ran = book.say("Ran")
    assert "kernel running id=" in ran
    assert "[1] code id=cell0 order=1 ok " in ran
    assert " output (source as stated before)\nOutput:\n```\nhere\n```\n" in ran
    assert "Why this is done" not in ran
    assert book.say("Again") == ""
    (kernel,) = [
        each["kernel"]["id"] for each in server.get("/api/sessions") if each["path"] == PATH
    ]
    server.post(f"/api/kernels/{kernel}/restart", {})
    for cell in (cells := book.cells()):
        cell.execution_count, cell.outputs = None, []
    book.change(lambda _: cells)
    restarted = book.say("Restarted")
    assert "[1] code id=cell0 " in restarted
    assert " output" not in restarted
    assert "```" not in restarted
    # The model runs them, and the user clears it all: as the context before said, and yet new.
    book.say("Run", Call("runNotebookCells", {"all": True}), Say("Ran."))
    book.change(lambda _: cells)
    cleared = book.say("Cleared")
    assert "[1] code id=cell0 " in cleared
    assert " output" not in cleared.partition("[1]")[2]
    assert "(source as stated before)" in cleared


def test_another_notebook_that_becomes_active_and_the_first_one_again(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    book, other = Book(server, model), Book(server, model, 2, "other.ipynb")
    book.say("One")
    there = {
        "activeNotebook": other.path,
        "attachments": [{"kind": "notebook", "path": other.path}],
    }
    context = book.say("There", **there)
    assert "Notebook other.ipynb: 2 cells" in context
    assert "x1 = 1" in context
    assert "Not with this message any more: notebook book.ipynb." in context
    book.edit(0, "x0 = 'new'")
    back = book.say("Back")
    assert f"Notebook {PATH}: 4 cells" in back
    assert "x0 = 'new'" in back
    assert "x1 = 1" not in back
    again = book.say("There again", **there)
    assert "Notebook other.ipynb: 2 cells, kernel not started, python. " in again
    assert "As stated before." in again
    assert "```" not in again
    off = book.say("None", activeNotebook=None, attachments=[])
    assert "Notebook mode is off: " in off
    assert f"Notebook {PATH}: " in book.say("On")
    assert_appended_items(model.requests)


def assert_appended_items(requests: Sequence[RecordedRequest]) -> None:
    """As ``assert_appended``, where mode, tools and system prompt differ."""
    for before, after in pairwise(requests):
        one, other = (
            [item for item in request.items if item.get("role") != "system"]
            for request in (before, after)
        )
        assert other[: len(one)] == one


def test_a_change_of_mode_or_model_leaves_the_items_as_they_are(
    both: RunningServer, model: ScriptedModelServer
) -> None:
    book = Book(both, model)
    book.say("One", Call("getNotebookCells"), Say("Read."), mode="ask")
    assert book.say("Two", mode="agent") == ""
    book.edit(0, "x0 = 'new'")
    assert "x0 = 'new'" in book.say("Three", mode="edit", model="openai/another")
    assert book.say("Four", mode="agent") == ""
    assert model.requests[0].tool_names != model.requests[-1].tool_names
    assert_appended_items(model.requests)


def test_after_a_restart_the_same_bytes_are_sent_and_the_changes_too(
    both: RunningServer, model: ScriptedModelServer
) -> None:
    book = Book(both, model)
    book.say("One", *twenty_calls())
    book.edit(0, "x0 = 'new'")
    book.say("Two")
    both.kill()
    both.start()
    book.edit(3, "x3 = 'newer'")
    context = book.say("Three", Call("updateNotebookCell", {"cellId": "cell0", "content": "0"}),
                       Say("Changed."))  # fmt: skip
    assert context.startswith("<context>\nAs of turn 3. ")
    assert "x3 = 'newer'" in context
    assert "x0 = 'new'" not in context
    assert "stale" not in model.requests[-1].last_output, "the cell is known from before"
    assert sources(book.file)[1] == "0" or "0" in sources(book.file)
    both.kill()
    both.start()
    assert "cell3" not in book.say("Four"), "only what the tool changed"
    assert_appended(model.requests)


def test_a_fork_and_a_rewind_continue_from_what_was_sent_there(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    book = Book(server, model)
    book.say("One")
    at = book.turn
    book.edit(0, "x0 = 'new'")
    book.say("Two")
    two = model.requests[-1]
    session = book.session
    copy = server.post(f"sessions/{session}/fork", {"turnId": at})["id"]
    book.session = copy
    assert "x0 = 'new'" in book.say("In the fork"), "it was not sent there"
    assert model.requests[-1].items[:3] == two.items[:3]
    book.session = server.post(f"sessions/{session}/fork", {})["id"]
    assert book.say("In the other fork") == ""
    book.session = session
    op = {"type": "go_back", "turnId": at, "documents": False}
    assert act(server, str(session), op, "went_back")["type"] == "went_back"
    assert "x0 = 'new'" in book.say("After going back")
    assert model.requests[-1].items[:3] == two.items[:3]
    server.post(f"sessions/{session}/ops", {"type": "reset"})
    until(server.stream(f"sessions/{session}/events"), "session_reset")
    assert book.say("After the reset").startswith("<context>\nAs of turn 1.\n\nNotebook")


def test_after_a_compaction_the_whole_context_is_sent(
    both: RunningServer, model: ScriptedModelServer
) -> None:
    book = Book(both, model)
    book.say("One")
    book.say("Two")
    book.edit(0, "x0 = 'new'")
    book.say("Three")
    model.script(Say("SUMMARY"))
    submit(both, str(book.session), {"type": "compact"})
    until(both.stream(f"sessions/{book.session}/events"), "context_compacted")
    context = book.say("Four")
    for source in ("x0 = 'new'", "x1 = 1", "x2 = 2", "x3 = 3"):
        assert source in context
    assert "As of turn 4." in context
    assert book.say("Five") == ""
    assert_appended(model.requests[-2:])


def test_a_compaction_before_a_turn_makes_its_context_whole(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    """What the turn's context builds on is summed up only when it has been made."""
    model.set_default(lambda request: Say("SUMMARY" if is_summary(request) else "Noted."))
    book = Book(server, model, path="compacted.ipynb")
    for number in range(16):
        book.edit(0, f"x0 = {number}")
        book.say(f"Message {number}", Say("Noted."))
    book.edit(0, "x0 = 'last'")
    context = book.say("Message 16", Say("SUMMARY"), Say("Noted."))
    assert is_summary(model.requests[-2])
    for source in ("x0 = 'last'", "x1 = 1", "x2 = 2", "x3 = 3"):
        assert source in context
    after = model.requests[-1]
    server.kill()
    server.start()
    assert book.say("Message 17") == ""
    assert_appended([after, model.requests[-1]])


def test_a_plan_sends_what_it_sent(server: RunningServer, model: ScriptedModelServer) -> None:
    book = Book(server, model)
    book.say("One")
    plan = {"steps": [{"description": "Add a note", "toolCalls": ["addNotebookCell"]}],
            "requiredTools": ["addNotebookCell"]}  # fmt: skip
    note = Call("addNotebookCell", {"type": "markdown", "content": "A note"})
    steps = (Say(json.dumps(plan)), note, Say("It is there."))
    assert book.say("Plan it", *steps, prefix="agent: ") == ""
    assert "A note" in book.say("What is new?")
    assert_appended(model.requests)


def test_a_turn_that_waited_over_a_restart_continues_with_what_it_had_sent(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    book = Book(server, model)
    book.session, book.listens = server.post("sessions", {})["id"], True
    book.say("One", location="panel")
    book.edit(0, "x0 = 'new'")
    request = {
        "message": "Ask me", "mode": "agent", "location": "panel", "activeNotebook": PATH,
        "attachments": [{"kind": "notebook", "path": PATH}],
    }  # fmt: skip
    model.script(Call("askUser", {"question": "Which?"}), Say("That one."))
    submit(server, str(book.session), {"type": "user_message", "request": request})
    asked = until(server.stream(f"sessions/{book.session}/events"), "user_input_requested")[-1]
    server.kill()
    server.start()
    book.edit(0, "x0 = 'newer'")
    server.get(f"sessions/{book.session}/turns")
    answer = {"type": "user_input_answer", "requestId": asked["requestId"], "answer": "This"}
    submit(server, str(book.session), answer)
    until(server.stream(f"sessions/{book.session}/events?after={asked['seq']}"), "turn_completed")
    assert "x0 = 'newer'" in book.say("And now?", location="panel")
    assert_appended(model.requests)


def test_a_changed_file_is_sent_as_its_changed_lines(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    notes = server.root / "notes.txt"
    lines = [f"line {n} of the notes" for n in range(40)]
    notes.write_text("\n".join(lines))
    attached = [{"kind": "file", "path": "notes.txt"}]
    book = Book(server, model)
    more = {"attachments": attached, "activeNotebook": None}
    assert "line 7 of the notes" in book.say("One", **more)
    assert book.say("Two", **more) == ""
    lines[6:8] = ["six", "seven"]
    del lines[20]
    lines.append("the end")
    notes.write_text("\n".join(lines))
    context = book.say("Three", **more)
    assert "Lines 7-8 now:\n```\nsix\nseven\n```\nLine 21: removed.\nAfter line 40:" in context
    assert "line 9 of the notes" not in context
    without = book.say("Four", attachments=[], activeNotebook=None)
    assert "Not with this message any more: file notes.txt." in without
    again = book.say("Five", **more)
    assert "File notes.txt: as stated before." in again
    assert "line 9 of the notes" not in again
    assert_appended(model.requests)


def test_rows_that_were_shown_are_sent_again_only_while_they_may_be(
    both: RunningServer, model: ScriptedModelServer
) -> None:
    rows = both.root / "rows.csv"
    rows.write_text("name,age\nAda,36\n")
    book = Book(both, model)
    more = {"attachments": [{"kind": "file", "path": "rows.csv"}], "activeNotebook": None}
    shown = book.say("One", **more)
    assert "Ada,36" in shown
    first = model.requests[-1]

    def set_to(policy: str) -> None:
        settings = {"settings": {"rowData": policy}}
        both.request("PATCH", f"sessions/{book.session}", json=settings)

    set_to("never")
    assert book.say("Two", **more) == "", "what is withheld is named where the rows were"
    assert "Ada,36" not in model.requests[-1].text
    assert "[2 lines of data withheld by the setting]" in model.requests[-1].text
    rows.write_text("name,age\nBob,37\n")
    assert "Bob" not in book.say("Three", **more)
    set_to("always")
    assert "Bob,37" in book.say("Four", **more)
    assert contexts(model.requests[-1])[0] == shown
    assert model.requests[-1].items[: len(first.items)] == first.items
    set_to("never")
    book.say("Five", **more)
    assert "Ada,36" not in model.requests[-1].text
    assert "Bob,37" not in model.requests[-1].text
    both.kill()
    both.start()
    book.say("Six", **more)
    assert "Ada,36" not in model.requests[-1].text
    assert "Bob,37" not in model.requests[-1].text


def drawing(size: int) -> Call:
    """A call that shows a picture; each size is another."""
    code = "import base64\nfrom IPython.display import Image\nImage(base64.b64decode({!r}))"
    return Call("executeCode", {"code": code.format(png(size, 23))})


DRAW = drawing(19)


def pictures(request: RecordedRequest) -> int:
    """How many pictures it shows."""
    return json.dumps(request.items).count("data:image/png;base64,")


def test_parallel_calls_and_pictures_stay_at_their_places(
    both: RunningServer, model: ScriptedModelServer
) -> None:
    book = Book(both, model)
    reads = Calls([DRAW, Call("listKernels"), drawing(20)], text="Looking.")
    book.say("One", reads, Call("getNotebookCells"), Say("Done."))
    assert pictures(model.requests[1]) == 2
    book.say("Two")
    assert pictures(model.requests[-1]) == 2
    both.kill()
    both.start()
    book.say("Three")
    assert_appended(model.requests)
    sent = both.get(f"sessions/{book.session}/turns")["turns"]
    assert "data:image" not in json.dumps(sent), "documents and events have the outputs"
    book.say("Four", model="deepseek/deepseek-v4-pro")
    assert pictures(model.requests[-1]) == 0
    assert "[a picture]" in model.requests[-1].text
    book.say("Five", model="openai/scripted")
    assert pictures(model.requests[-1]) == 2
    both.request("PATCH", f"sessions/{book.session}", json={"settings": {"outputs": "never"}})
    book.say("Six")
    assert pictures(model.requests[-1]) == 0


def test_a_server_that_takes_no_pictures_is_asked_without_them(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    refusal = {"error": {"message": "image_url is not supported.", "type": "invalid_request_error"}}

    def blind(request: RecordedRequest) -> Step:
        return Status(400, body=refusal) if pictures(request) else Say("Text.")

    book = Book(server, model)
    book.say("One", DRAW, blind, Say("Without it."))
    assert [pictures(request) for request in model.requests] == [0, 1, 0]
    book.say("Two", Say("Fine."))
    assert pictures(model.requests[-1]) == 0, "it is known"
    # Refused for something else: the next request has them again.
    book = Book(server, model)
    book.say("One", DRAW, Say("Seen."))
    model.script(Status(400, body=refusal), Status(400, body=refusal), Say("Now."))
    request = {"message": "Two", "sessionId": book.session}
    response = server.request("POST", "chat", json=request)
    assert response.json()["error"]["code"] == "model_error"
    server.post("chat", request)
    assert [pictures(request) for request in model.requests[-3:]] == [1, 0, 1]


def test_more_pictures_than_providers_take_lead_to_a_compaction(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    book = Book(server, model)
    for number, count in enumerate((7, 7, 6)):
        drawn = [drawing(100 * number + each + 1) for each in range(count)]
        book.say(f"Message {number}", *drawn, Say("Drawn."))
    assert pictures(model.requests[-1]) == 20
    book.say("Next", DRAW, Say("SUMMARY"), Say("Drawn."))
    assert [is_summary(request) for request in model.requests[-3:]] == [False, True, False]
    assert 1 <= pictures(model.requests[-1]) <= 20


def test_a_picture_is_sent_again_only_when_it_changed(
    both: RunningServer, model: ScriptedModelServer
) -> None:
    book = Book(both, model)
    book.say("One", DRAW, drawing(20), DRAW, Say("Drawn."))
    assert pictures(model.requests[-1]) == 2
    name = "Picture of the output of executeCode"
    unchanged = f"{name} is unchanged: it is the one above, “{name}”."
    assert [each for each in model.requests[-1].texts if each.startswith(name)] == [
        f"{name}:", f"{name} (2):", unchanged
    ]  # fmt: skip
    both.kill()
    both.start()
    book.say("Two", DRAW, drawing(21), Say("Drawn."))
    assert pictures(model.requests[-1]) == 3
    assert model.requests[-1].texts.count(unchanged) == 2
    assert f"{name} (3):" in model.requests[-1].texts
    assert_appended(model.requests)
    # Another conversation has not seen it.
    book = Book(both, model)
    book.say("One", DRAW, Say("Drawn."))
    assert pictures(model.requests[-1]) == 1


def test_a_picture_that_a_summary_replaced_is_sent_again(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    book = Book(server, model)
    book.say("One", DRAW, Say("Drawn."))
    model.script(Say("SUMMARY"))
    act(server, str(book.session), {"type": "compact"}, "context_compacted")
    book.say("Two", DRAW, Say("Drawn."))
    assert pictures(model.requests[-1]) == 1


def test_another_model_answers_with_the_pictures_that_the_first_one_saw(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    book = Book(server, model)
    book.say("One", DRAW, Say("A dot."))
    model.script(Say("A small dot."))
    op = {"type": "ask_again", "turnId": book.turn, "model": "openai/another"}
    answer = act(server, str(book.session), op, "answer_finished")
    assert answer["text"] == "A small dot."
    assert pictures(model.requests[-1]) == 1
    op = {"type": "choose_answer", "turnId": book.turn, "answerId": answer["answerId"]}
    act(server, str(book.session), op, "answer_chosen")
    book.say("Two")
    assert pictures(model.requests[-1]) == 1
    found = model.requests[-1].texts
    assert found.index("A small dot.") > next(
        place for place, text in enumerate(found) if text.startswith("Picture of the output")
    )
