"""Faults around a running server: each is reported with what helps, nothing that was acknowledged
is lost, and the session goes on afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Gate, Hang, Say, ScriptedModelServer

LONG = "The answer goes on. " * 50_000
FOLDER = "home/data/datalayer-agent"
SIZE = 16
"""MiB of the file system that has the database alone."""


class Story:
    """A session that has a number to remember, and an answer that streams when the fault comes."""

    def __init__(self, server: RunningServer, model: ScriptedModelServer) -> None:
        self.server = server
        self.model = model
        model.script(Say("Noted."), Gate(Say(LONG, chunk=100_000), after=1), Say("It is 4711."))
        self.session = server.post("sessions", {})["id"]
        noted = server.post("chat", {"message": "remember 4711", "sessionId": self.session})
        assert noted["reply"] == "Noted."
        request = {"message": "Tell me much", "sessionId": self.session}
        self.events = server.stream("chat/stream", request)
        self.seen: list[Any] = []
        self._read(lambda event: event["type"] == "text_delta")

    def _read(self, is_last: Callable[[Any], bool]) -> None:
        for event in self.events:
            self.seen.append(event)
            if is_last(event):
                return

    def end(self) -> list[Any]:
        """The rest of the turn's events."""
        self.model.release()
        self._read(lambda event: False)
        return self.seen

    def goes_on(self) -> None:
        """The next message is answered, and the model is sent what was said before."""
        reply = self.server.post("chat", {"message": "Which?", "sessionId": self.session})
        assert reply["reply"] == "It is 4711."
        text = self.model.requests[-1].text
        assert "remember 4711" in text
        assert "Tell me much" in text
        turns = self.server.get(f"sessions/{self.session}/turns")["turns"]
        assert [turn["message"] for turn in turns] == ["remember 4711", "Tell me much", "Which?"]
        assert turns[0]["reply"] == "Noted."


def mounted(*options: str) -> bool:
    return subprocess.run(["mount", *options], capture_output=True).returncode == 0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system for the database."""
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    if not mounted("-t", "tmpfs", "-o", f"size={SIZE}m", "tmpfs", str(folder)):
        pytest.skip("file systems may not be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def model() -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer() as scripted:
        yield scripted


def test_a_full_disk(tmp_path: Path, disk: Path, model: ScriptedModelServer) -> None:
    with RunningServer(tmp_path, api_base=model.base_url) as server:
        story = Story(server, model)
        filler = disk / "filler"
        filler.write_bytes(b"x" * shutil.disk_usage(disk).free)
        assert shutil.disk_usage(disk).free == 0
        assert story.end()[-1]["type"] == "turn_completed", "the log has room left"
        model.reset()
        model.script(*[Say("It is 4711.")] * 20)
        sent = {"message": LONG[:900_000], "sessionId": story.session, "mode": "ask"}
        replies = (server.request("POST", "chat", json=sent).json() for _ in range(20))
        failed = next(each["error"]["message"] for each in replies if each.get("error"))
        assert "disk" in failed
        assert "is full. Free some space and try again" in failed
        filler.unlink()
        reply = server.post("chat", {"message": "Which?", "sessionId": story.session})
        assert reply["reply"] == "It is 4711."


def test_a_read_only_database_folder(
    tmp_path: Path, disk: Path, model: ScriptedModelServer
) -> None:
    with RunningServer(tmp_path, api_base=model.base_url) as server:
        story = Story(server, model)
        assert story.end()[-1]["type"] == "turn_completed"
        server.stop()
        assert mounted("-o", "remount,ro", str(disk))
        server.start()
        message = {"message": "Which?", "sessionId": story.session}
        refused = server.request("POST", "chat", json=message)
        assert not refused.ok
        assert "cannot be written. Check the permissions" in refused.text
        assert mounted("-o", "remount,rw", str(disk))
        story.goes_on()


def test_a_database_that_is_damaged_in_mid_run(tmp_path: Path, model: ScriptedModelServer) -> None:
    with RunningServer(tmp_path, api_base=model.base_url) as server:
        story = Story(server, model)
        assert story.end()[-1]["type"] == "turn_completed"
        database = tmp_path / FOLDER / "agent.db"
        server.stop()
        shutil.copy(database, tmp_path / "backup.db")
        server.start()
        assert server.get(f"sessions/{story.session}")["id"] == story.session
        with database.open("r+b") as file:
            file.write(os.urandom(database.stat().st_size))
        message = {"message": "Which?", "sessionId": story.session}
        refused = server.request("POST", "chat", json=message)
        assert not refused.ok
        assert "is damaged" in refused.text
        assert "restore a backup" in refused.text
        server.stop()
        for beside in database.parent.glob("agent.db-*"):
            if beside.is_file():
                beside.unlink()
        shutil.copy(tmp_path / "backup.db", database)
        server.start()
        story.goes_on()


def test_a_server_that_was_stopped_for_a_while(tmp_path: Path, model: ScriptedModelServer) -> None:
    with RunningServer(tmp_path, api_base=model.base_url) as server:
        story = Story(server, model)
        assert server.process is not None
        server.process.send_signal(signal.SIGSTOP)
        model.release()
        time.sleep(float(os.environ.get("FAULT_SECONDS", "2")))
        server.process.send_signal(signal.SIGCONT)
        assert story.end()[-1]["type"] == "turn_completed"
        story.goes_on()


def test_a_provider_that_hangs(tmp_path: Path, model: ScriptedModelServer) -> None:
    with RunningServer(tmp_path, api_base=model.base_url) as server:
        story = Story(server, model)
        assert story.end()[-1]["type"] == "turn_completed"
        model.reset()
        model.script(Hang(600), Say("It is 4711."))
        asked = {"message": "Tell me much", "sessionId": story.session}
        events = server.stream("chat/stream", asked)
        seen = [next(events)]
        model.wait_for(model.received(1))
        server.post(f"sessions/{story.session}/ops", {"type": "interrupt"})
        seen += events
        assert (seen[-1]["type"], seen[-1]["reason"]) == ("turn_aborted", "interrupted")
        reply = server.post("chat", {"message": "Which?", "sessionId": story.session})
        assert reply["reply"] == "It is 4711."
