"""Faults around a running server: each is reported with what helps, nothing that was acknowledged
is lost, and the session goes on afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import requests

from jupyter_datalayer_agent.store.file.driver import BUSY_TIMEOUT_MS
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Gate, Hang, Say, ScriptedModelServer

LONG = " ".join(f"Sentence {number} of the answer." for number in range(4_000))
"""It does not repeat itself: such an answer is ended, so no turn would run when the fault comes."""
PIECE = 10_000
"""Characters of it that are shown before the fault."""
FOLDER = "home/data/datalayer-agent"
CLOCK = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
"""libfaketime, which gives one program a clock of the day that can be set."""
SIZE = 16
"""MiB of the file system that has the database alone."""
HOUR = 3600


class Story:
    """A session that has a number to remember, and an answer that streams when the fault comes."""

    def __init__(self, server: RunningServer, model: ScriptedModelServer) -> None:
        self.server = server
        self.model = model
        model.script(Say("Noted."), Gate(Say(LONG, chunk=PIECE), after=1), Say("It is 4711."))
        self.session = server.post("sessions", {})["id"]
        noted = server.post("chat", {"message": "remember 4711", "sessionId": self.session})
        assert noted["reply"] == "Noted."
        request = {"message": "Tell me much", "sessionId": self.session}
        self.events = server.stream("chat/stream", request)
        self.seen: list[Any] = []
        self._read(lambda event: event["type"] == "text_delta")
        running = server.get(f"sessions/{self.session}/turns")["turns"][-1]
        assert running["status"] == "running"

    @property
    def shown(self) -> str:
        """The text of the answer that came, and so is not lost."""
        return "".join(event["delta"] for event in self.seen if event["type"] == "text_delta")

    def breaks_off(self) -> None:
        """The server has ended, and the stream with it, wherever that was."""
        with suppress(requests.ConnectionError, requests.exceptions.ChunkedEncodingError):
            self._read(lambda event: False)

    def ends(self) -> list[tuple[str, str]]:
        """The ends of the turn that the session's events hold."""
        events = self.server.stream(f"sessions/{self.session}/events?after=0")
        turn = self.seen[0]["turnId"]
        found = []
        for event in events:
            if event.get("turnId") == turn and event["type"] in ("turn_completed", "turn_aborted"):
                found.append((event["type"], event.get("reason", "")))
            if event["type"] == "final_reply" and event["text"] == "It is 4711.":
                return found
        raise AssertionError("the events ended")

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

    def fails(self) -> str:
        """The turn ends since it cannot be kept; what the user is told."""
        assert (self.end()[-1]["type"], self.seen[-1]["reason"]) == ("turn_aborted", "error")
        (error,) = (event for event in self.seen if event["type"] == "error")
        message: str = error["message"]
        return message

    def goes_on(self) -> None:
        """The next message is answered, and the model is sent what was said before."""
        self.model.reset()
        self.model.script(Say("It is 4711."))
        reply = self.server.post("chat", {"message": "Which?", "sessionId": self.session})
        assert reply["reply"] == "It is 4711."
        text = self.model.requests[-1].text
        assert "remember 4711" in text
        assert "Tell me much" in text
        turns = self.server.get(f"sessions/{self.session}/turns")["turns"]
        assert [turn["message"] for turn in turns] == ["remember 4711", "Tell me much", "Which?"]
        assert turns[0]["reply"] == "Noted."
        assert turns[1]["reply"].startswith(self.shown)
        assert len(self.shown) >= PIECE


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
        message = story.fails()
        assert "The disk that holds the conversation database" in message
        assert "is full. Free some space and try again" in message
        filler.unlink()
        story.goes_on()


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


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL], ids=["SIGTERM", "SIGKILL"])
def test_a_server_that_is_ended_while_an_answer_streams(
    tmp_path: Path, model: ScriptedModelServer, sent: signal.Signals
) -> None:
    with RunningServer(tmp_path, api_base=model.base_url) as server:
        story = Story(server, model)
        assert server.process is not None
        server.process.send_signal(sent)
        story.breaks_off()
        server.process.wait(20)
        if sent == signal.SIGTERM:
            last = story.seen[-1]
            assert (last["type"], last["reason"]) == ("turn_aborted", "shutdown")
            with closing(sqlite3.connect(tmp_path / FOLDER / "agent.db")) as database:
                (kept,) = database.execute(
                    "SELECT status FROM turns ORDER BY position DESC LIMIT 1"
                )
            assert kept == ("aborted",), "it was kept before the server ended"
        server.start()
        story.goes_on()
        assert story.ends() == [("turn_aborted", "shutdown")]
        assert "The server stopped here" in model.requests[-1].text


def test_a_database_that_another_program_locks(tmp_path: Path, model: ScriptedModelServer) -> None:
    """By hand: FAULT_SECONDS=60."""
    with RunningServer(tmp_path, api_base=model.base_url) as server:
        story = Story(server, model)
        path = tmp_path / FOLDER / "agent.db"
        with closing(sqlite3.connect(path, isolation_level=None, timeout=20)) as other:
            other.execute("BEGIN EXCLUSIVE")
            until = time.monotonic() + float(os.environ.get("FAULT_SECONDS", "0"))
            model.release()
            # What is needed no longer than the wait for a lock is refused in words, and at once.
            began = time.monotonic()
            assert server.get("health")["status"] == "ok"
            assert time.monotonic() - began < BUSY_TIMEOUT_MS / 1000
            message = story.fails()
            assert "is locked by another program. Close what holds it" in message
            late = {"message": "Are you there?", "sessionId": story.session}
            refused = server.request("POST", "chat", json=late)
            assert not refused.ok
            assert "is locked by another program. Close what holds it" in refused.text
            while time.monotonic() < until:
                assert server.get("health")["status"] == "ok"
                time.sleep(1)
            other.execute("ROLLBACK")
        story.goes_on()


class SettableClock:
    """A clock of the day for a server, ahead of the machine's by ``seconds``."""

    # The library reads the file again when more whole seconds than these have passed. Without this
    # cache it reads it at each wait of a thread for Python's lock: on a slow machine that takes
    # longer than the wait, and the threads keep the lock from each other for ever.
    _CACHE = 1

    def __init__(self, path: Path, library: Path) -> None:
        self._path = path
        self._write(0)
        self.environment = {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(path),
            "FAKETIME_CACHE_DURATION": str(self._CACHE),
            # As when the machine's clock is set.
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }

    def set(self, seconds: int) -> None:
        """Set it, and wait until the server has the new time."""
        self._write(seconds)
        time.sleep(self._CACHE + 1.5)

    def _write(self, seconds: int) -> None:
        # At once: the server may be reading it.
        new = self._path.with_suffix(".new")
        new.write_text(f"{seconds:+d}\n")
        new.replace(self._path)


@pytest.mark.timeout(300)  # It starts two servers that import everything themselves.
@pytest.mark.skipif(CLOCK is None, reason="libfaketime is not installed (scripts/faketime.sh)")
def test_a_clock_that_jumps(tmp_path: Path, model: ScriptedModelServer) -> None:
    assert CLOCK is not None
    clock = SettableClock(tmp_path / "clock", CLOCK)
    environment = clock.environment
    # A process that is forked already has its clock.
    with RunningServer(
        tmp_path, api_base=model.base_url, environment=environment, own_interpreter=True
    ) as server:
        story = Story(server, model)

        def answer(message: str) -> str:
            model.script(Say(f"Re: {message}"))
            asked = server.post("chat", {"message": message, "sessionId": story.session})
            assert asked["reply"] == f"Re: {message}"
            return str(asked["turnId"])

        def kept() -> list[Any]:
            found: list[Any] = server.get(f"sessions/{story.session}/turns")["turns"]
            return found

        # Forward in a turn.
        clock.set(HOUR)
        end = story.end()[-1]
        assert end["type"] == "turn_completed"
        assert abs(end["at"] / 1000 - time.time() - HOUR) < 60, "the server has the new time"
        assert 0 < end["durationMs"] < 60_000
        assert kept()[-1]["durationMs"] == end["durationMs"]
        story.goes_on()
        # Back between turns: the fork has no turn that the user went back behind.
        withdrawn = answer("Withdrawn")
        back = {"type": "go_back", "turnId": withdrawn, "includeTurn": True}
        assert server.request("POST", f"sessions/{story.session}/ops", json=back).ok
        clock.set(0)
        instead = answer("Instead")
        fork = server.post(f"sessions/{story.session}/fork", {"turnId": instead})["id"]
        copied = server.get(f"sessions/{fork}/turns")["turns"]
        begin = ["remember 4711", "Tell me much", "Which?"]
        assert [turn["message"] for turn in copied] == [*begin, "Instead"]
        # Back in a turn whose server dies then: it worked for as long as it worked.
        model.script(Gate(Call("listFiles", {}), after=0), Gate(Say(LONG)))
        request = {"message": "Search", "sessionId": story.session}
        events = server.stream("chat/stream", request)
        assert next(event for event in events if event["type"] == "model_started")
        clock.set(-HOUR)
        model.release()
        assert next(event for event in events if event["type"] == "text_delta")
        server.kill()
        # Forward while no server runs.
        clock.set(HOUR)
        server.start()
        last = answer("After a restart?")
        asked = [*begin, "Withdrawn", "Instead", "Search", "After a restart?"]
        turns = kept()
        assert [turn["message"] for turn in turns] == asked
        assert turns[-1]["id"] == last
        assert turns[-2]["status"] == "aborted"
        assert 0 < turns[-2]["durationMs"] < 60_000
        text = model.requests[-1].text
        asked.remove("Withdrawn")
        assert sorted(asked, key=text.index) == asked, "the model reads them in their order"
        numbers = [turn["firstSeq"] for turn in turns]
        assert numbers == sorted(numbers)
