"""Text files that a save hook of the server changes as they are written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.notebook.document import DocumentError
from jupyter_datalayer_agent.protocol.page import PageRequest, PageResponse
from tests.notebook.files.test_in_a_page import TextPage
from tests.notebook.support import world
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.planning import of_type
from tests.support.sessions import act, turns

HOOK = """
def double_quotes(model, path, **_):
    if model["type"] == "file" and path.endswith(".py"):
        model["content"] = model["content"].replace("'", '"')

c.FileContentsManager.pre_save_hook = double_quotes
"""


def double_quotes(model: dict[str, Any], **_: Any) -> None:
    if model["type"] == "file":
        model["content"] = model["content"].replace("'", '"')


class SavingPage(TextPage):
    """It saves through the server, whose hook changes what is saved."""

    typed = ""

    def answer(self, request: PageRequest) -> PageResponse:
        response = super().answer(request)
        if request.method == "document.write" and response.ok:
            self.file.write_text(self.text.replace("'", '"'))
            self.text, self.typed = self.text + self.typed, ""
        return response


@pytest.fixture(scope="module")
def scripted() -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer() as model:
        yield model


@pytest.fixture(scope="module")
def hooked(
    tmp_path_factory: pytest.TempPathFactory, scripted: ScriptedModelServer
) -> Iterator[RunningServer]:
    """A server whose hook formats scripts."""
    folder = tmp_path_factory.mktemp("hooked")
    config = folder / "home" / "config"
    config.mkdir(parents=True)
    (config / "jupyter_server_config.py").write_text(HOOK)
    with RunningServer(folder, api_base=scripted.base_url) as server:
        yield server


def turn(server: RunningServer, scripted: ScriptedModelServer, *calls: Call, **more: Any) -> Any:
    scripted.script(*calls, Say("Done."))
    return server.post("chat", {"message": "Go on", "mode": "agent", **more})


def edit(path: str, old: str, new: str) -> Call:
    return Call("editFile", {"path": path, "edits": [{"oldString": old, "newString": new}]})


def statuses(reply: Any) -> list[str]:
    return [call["status"] for call in reply["toolCalls"]]


def test_a_file_that_a_hook_formats_is_created_changed_twice_and_undone(
    hooked: RunningServer, scripted: ScriptedModelServer
) -> None:
    file = hooked.root / "a.py"
    first = turn(
        hooked, scripted, Call("writeFile", {"path": "a.py", "content": "x = 'one'\ny = 1\n"})
    )
    created = file.read_text()
    asked = scripted.requests[-1].text
    session = first["sessionId"]
    second = turn(
        hooked,
        scripted,
        edit("a.py", 'x = "one"', "x = 'two'"),
        edit("a.py", 'x = "two"', "x = 'three'"),
        sessionId=session,
    )
    changed = file.read_text()
    [shown, _] = turns(hooked, session, include="events")
    undone = act(hooked, session, {"type": "undo", "turnId": second["turnId"]}, "changes_undone")
    after = file.read_text()

    assert (statuses(first), statuses(second)) == (["ok"], ["ok", "ok"])
    [output] = of_type(shown["events"], "tool_call_output")
    assert output["summary"] == "Created a.py, which was reformatted on save"
    assert "reformattedOnSave" in asked
    assert created == 'x = "one"\ny = 1\n'
    assert changed == 'x = "three"\ny = 1\n'
    assert undone["conflicts"] == []
    assert after == created


def test_a_file_that_no_hook_changes_is_written_as_it_was_given(
    hooked: RunningServer, scripted: ScriptedModelServer
) -> None:
    turn(hooked, scripted, Call("writeFile", {"path": "a.txt", "content": "it's\n"}))
    assert (hooked.root / "a.txt").read_text() == "it's\n"
    assert "reformatted" not in scripted.requests[-1].text


def test_a_long_file_that_a_hook_formats_is_read_again_before_the_next_change(
    hooked: RunningServer, scripted: ScriptedModelServer
) -> None:
    content = "x = 'one'\n" * 1000
    reply = turn(
        hooked,
        scripted,
        Call("writeFile", {"path": "long.py", "content": content}),
        Call("writeFile", {"path": "long.py", "content": "y = 1\n"}),
    )
    assert statuses(reply) == ["ok", "error"]
    assert (hooked.root / "long.py").read_text() == content.replace("'", '"')


async def test_a_change_that_the_hook_takes_back_is_an_error(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.service.contents_manager.pre_save_hook = double_quotes
        (w.root / "a.py").write_text('x = "one"\n')
        files = w.service.text_files
        file = await files.read("a.py")
        with pytest.raises(DocumentError, match="not as it was written"):
            await files.write(file, file.state.with_content("x = 'one'\n"))


@pytest.mark.parametrize("hook", ["pre_save_hook", "post_save_hook"])
async def test_a_page_shows_what_a_hook_made_of_the_file(tmp_path: Path, hook: str) -> None:
    async with world(tmp_path) as w:
        made = {"pre_save_hook": double_quotes, "post_save_hook": rewritten}[hook]
        setattr(w.service.contents_manager, hook, made)
        (w.root / "a.py").write_text("x = 1\n")
        page = SavingPage(w, "a.py")
        files = w.service.text_files
        file = await files.read("a.py")
        written = await files.write(file, file.state.with_content("x = 'one'\n"))

        assert page.text == page.file.read_text() == written.content == 'x = "one"\n'
        assert (written.reformatted, written.is_unsaved) == (True, False)


async def test_a_page_keeps_what_the_user_types_while_the_hook_runs(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.service.contents_manager.pre_save_hook = double_quotes
        (w.root / "a.py").write_text("x = 1\n")
        page = SavingPage(w, "a.py")
        page.typed = "# typed\n"
        files = w.service.text_files
        file = await files.read("a.py")
        written = await files.write(file, file.state.with_content("x = 'one'\n"))

        assert page.text == written.content == "x = 'one'\n# typed\n"
        assert (written.reformatted, written.is_unsaved) == (False, True)


async def test_a_page_that_closes_once_it_has_saved_is_not_said_to_have_changed_nothing(
    tmp_path: Path,
) -> None:
    class ClosingPage(SavingPage):
        def on_message(self, message: Any) -> None:
            if isinstance(message, PageRequest) and message.method == "document.write":
                self.answer(message)
                self.world.pages.disconnect(self.page, left=True)
            else:
                super().on_message(message)

    async with world(tmp_path) as w:
        w.service.contents_manager.pre_save_hook = double_quotes
        (w.root / "a.py").write_text("x = 1\n")
        page = ClosingPage(w, "a.py")
        files = w.service.text_files
        file = await files.read("a.py")
        with pytest.raises(DocumentError) as failed:
            await files.write(file, file.state.with_content("x = 'one'\n"))

        assert page.file.read_text() == 'x = "one"\n'
        assert failed.value.code == "internal"
        assert "nothing was changed" not in failed.value.message


def rewritten(os_path: str, model: dict[str, Any], **_: Any) -> None:
    """Formats the file that was saved, as a formatter that is a program does."""
    if model["type"] == "file":
        file = Path(os_path)
        file.write_text(file.read_text().replace("'", '"'))


def emptied(os_path: str, **_: Any) -> None:
    Path(os_path).write_bytes(b"\xff\xfe\x00")


async def test_a_file_that_a_hook_formats_after_it_was_saved_is_changed_twice(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        w.service.contents_manager.post_save_hook = rewritten
        (w.root / "a.py").write_text("x = 1\n")
        files = w.service.text_files
        file = await files.read("a.py")
        first = await files.write(file, file.state.with_content("x = 'one'\n"))
        second = await files.write(first, first.state.with_content("y = 2\n"))

        assert (first.content, first.reformatted) == ('x = "one"\n', True)
        assert (second.content, second.reformatted) == ("y = 2\n", False)
        assert (w.root / "a.py").read_text() == "y = 2\n"


@pytest.mark.parametrize(("hook", "content"), [(rewritten, "x = 'one'\n"), (emptied, "x = 2\n")])
async def test_a_change_that_a_hook_takes_back_or_destroys_after_the_save_is_an_error(
    tmp_path: Path, hook: Any, content: str
) -> None:
    async with world(tmp_path) as w:
        (w.root / "a.py").write_text('x = "one"\n')
        w.service.contents_manager.post_save_hook = hook
        files = w.service.text_files
        file = await files.read("a.py")
        with pytest.raises(DocumentError, match="not as it was written"):
            await files.write(file, file.state.with_content(content))
