"""What code in a real kernel asks before it does, by the interpreter's audit events."""

from __future__ import annotations

import itertools
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
import yaml
from jupyter_client.manager import KernelManager

from jupyter_datalayer_agent.notebook.kernel import acts_in_kernel
from jupyter_datalayer_agent.notebook.kernel.acts_in_kernel import ASK, DECISION, METADATA
from jupyter_datalayer_agent.notebook.kernel.expressions import expression

SOURCE = Path(acts_in_kernel.__file__).read_text(encoding="utf-8")


class GuardedKernel:
    """A kernel with the guard; runs code as the agent's, or as the user's, and denies all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(cwd=str(folder))
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)
        self.later: list[dict[str, Any]] = []
        self.error = ""
        self.text = ""
        self.answers = True
        self.numbers = itertools.count()
        private = [os.path.join(folder, "runtime", "")]
        install = expression(SOURCE, f"install({[str(folder)]!r}, {private!r}, [])")
        reply = self._request({"code": "", "silent": True, "user_expressions": {"it": install}})
        assert "installed" in reply["user_expressions"]["it"]["data"]["text/plain"]

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def agent(self, code: str, approve: bool = False) -> list[str]:
        """What the agent's code asked: ``delete cars.csv``."""
        return self._run(code, {METADATA: {"run": f"r{next(self.numbers)}"}}, approve)

    def user(self, code: str) -> list[str]:
        return self._run(code, {}, False)

    def _run(self, code: str, metadata: dict[str, Any], approve: bool) -> list[str]:
        self.error = self.text = ""
        self.approve = approve
        self.asked: list[dict[str, Any]] = []
        self._request({"code": code, "silent": False}, metadata)
        return [f"{each['verb']} {each['target']}" for each in self.asked]

    def _request(
        self, content: dict[str, Any], metadata: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        whole = {"allow_stdin": False, "stop_on_error": False, "user_expressions": {}, **content}
        message = self.client.session.msg("execute_request", whole, metadata=metadata)
        self.client.shell_channel.send(message)
        while not self._hear(message["header"]["msg_id"]):
            pass
        while True:
            reply = self.client.get_shell_msg(timeout=60)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                return dict(reply["content"])

    def _hear(self, msg_id: str) -> bool:
        """Answer what the kernel asks; whether the request has ended."""
        heard = self.client.get_iopub_msg(timeout=60)
        kind, content = heard["header"]["msg_type"], heard["content"]
        if kind == ASK and self.answers and not content.get("done"):
            self.asked.append(content)
            answer = {"ask_id": content["ask_id"], "approved": self.approve, "reason": None}
            self.client.control_channel.send(self.client.session.msg(DECISION, answer))
        if heard["parent_header"].get("msg_id") != msg_id:
            return False
        if kind == "error":
            self.error = f"{content['ename']}: {content['evalue']}"
        if kind == "stream":
            self.text += content["text"]
        return kind == "status" and content["execution_state"] == "idle"

    def listen(self, seconds: float) -> list[str]:
        """What is asked in this time, after the requests have ended."""
        self.asked = []
        try:
            while True:
                heard = self.client.get_iopub_msg(timeout=seconds)
                if heard["header"]["msg_type"] == ASK and not heard["content"].get("done"):
                    content = heard["content"]
                    self.asked.append(content)
                    answer = {"ask_id": content["ask_id"], "approved": False, "reason": None}
                    self.client.control_channel.send(self.client.session.msg(DECISION, answer))
        except Empty:
            return [f"{each['verb']} {each['target']}" for each in self.asked]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedKernel]:
    kernel = GuardedKernel(tmp_path_factory.mktemp("acts"))
    yield kernel
    kernel.close()


@pytest.fixture
def kernel(shared: GuardedKernel) -> GuardedKernel:
    """A guarded kernel in a folder with ``cars.csv``, ``notes.txt``, ``out/p.png`` and ``t.db``."""
    for name in ("cars.csv", "notes.txt"):
        (shared.folder / name).write_text("a,b\n1,2\n", encoding="utf-8")
    for name in ("out", "runtime"):
        (shared.folder / name).mkdir(exist_ok=True)
    (shared.folder / "out" / "p.png").write_bytes(b"x")
    (shared.folder / "runtime" / "jpserver-1.json").write_text("{}", encoding="utf-8")
    (shared.folder / "t.db").unlink(missing_ok=True)
    connection = sqlite3.connect(shared.folder / "t.db")
    connection.execute("CREATE TABLE cars (a)")
    connection.execute("INSERT INTO cars VALUES (1)")
    connection.commit()
    connection.close()
    return shared


DELETE = "delete cars.csv"
CASES = yaml.safe_load(Path(__file__).with_name("acts.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("asks", "code"), [(each["asks"], each["code"]) for each in CASES["acts"]])
def test_an_act_asks_with_its_real_target_and_denied_does_not_happen(
    kernel: GuardedKernel, asks: str, code: str
) -> None:
    before = sorted(
        (each.name, each.stat().st_size) for each in kernel.folder.glob("*.[ct][sx][vt]")
    )
    asked = kernel.agent(code)
    error = kernel.error
    kernel.user(f"import os; os.chdir({str(kernel.folder)!r})")
    assert asked, error
    assert asked[0].startswith(asks)
    # A thread's error ends the thread only.
    assert error or "Thread(" in code
    after = sorted(
        (each.name, each.stat().st_size) for each in kernel.folder.glob("*.[ct][sx][vt]")
    )
    assert after == before


@pytest.mark.parametrize("code", CASES["ordinary"])
def test_ordinary_code_asks_nothing(kernel: GuardedKernel, code: str) -> None:
    assert kernel.agent(code) == []
    assert kernel.error == ""


def test_the_users_code_does_all_of_it_unasked(kernel: GuardedKernel) -> None:
    assert kernel.user("import os; os.remove('cars.csv'); open('notes.txt', 'w')") == []
    assert kernel.error == ""
    assert not (kernel.folder / "cars.csv").exists()


def test_what_is_allowed_is_not_asked_again_in_the_run_and_what_is_denied_neither(
    kernel: GuardedKernel,
) -> None:
    twice = "for _ in range(2):\n    try: open('cars.csv', 'a').close()\n    except OSError: pass"
    assert kernel.agent(twice, approve=True) == ["change cars.csv"]
    assert kernel.agent(twice) == ["change cars.csv"]


def test_a_thread_and_a_task_that_outlive_the_run_still_ask(kernel: GuardedKernel) -> None:
    timer = "import os, threading; threading.Timer(1, os.remove, ['cars.csv']).start()"
    assert kernel.agent(timer) == []
    assert kernel.listen(4) == [DELETE]
    task = "async def f():\n    await asyncio.sleep(1); os.remove('cars.csv')\n"
    kernel.agent(f"import asyncio, os\n{task}\ng = asyncio.get_running_loop().create_task(f())")
    assert kernel.listen(4) == [DELETE]
    assert (kernel.folder / "cars.csv").exists()


def test_a_forked_process_is_denied_without_a_question(kernel: GuardedKernel) -> None:
    pool = "with m.get_context('fork').Pool(1) as pool:\n    pool.map(os.remove, ['cars.csv'])"
    fork = f"import os, multiprocessing as m\n{pool}"
    assert kernel.agent(fork) == []
    assert "A worker process may not delete cars.csv" in kernel.error
    assert (kernel.folder / "cars.csv").exists()


def test_the_line_is_the_cells(kernel: GuardedKernel) -> None:
    kernel.agent("import os\ndef clean():\n    os.remove('cars.csv')\n\nclean()")
    assert kernel.asked[0]["line"] == 5


def test_where_nobody_answers_the_act_is_denied(kernel: GuardedKernel) -> None:
    kernel.answers = False
    kernel.agent("import os; os.remove('cars.csv')")
    kernel.answers = True
    assert "nobody is there who could be asked" in kernel.error
    assert (kernel.folder / "cars.csv").exists()
