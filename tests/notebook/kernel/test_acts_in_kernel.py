"""What code in a real kernel asks before it does, by the interpreter's audit events."""

from __future__ import annotations

import itertools
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
import yaml
from jupyter_client.manager import KernelManager

from jupyter_datalayer_agent.notebook.kernel.acts import installation
from jupyter_datalayer_agent.notebook.kernel.acts_in_kernel import ASK, DECISION, METADATA

# Another interpreter, which has ipykernel.
PYTHON = os.environ.get("ACTS_PYTHON")


class GuardedKernel:
    """A kernel with the guard; runs code as the agent's, or as the user's, and denies all.
    ``before`` runs as the user's before the guard is installed."""

    def __init__(self, folder: Path, before: str = "") -> None:
        self.folder = folder
        self.manager = KernelManager(kernel_name="python3")
        if PYTHON is not None:
            self.manager.kernel_spec.argv[0] = PYTHON
        self.manager.start_kernel(cwd=str(folder))
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)
        self.later: list[dict[str, Any]] = []
        self.error = ""
        self.text = ""
        self.answers = True
        self.numbers = itertools.count()
        if before:
            self.user(before)
        private = [os.path.join(folder, "runtime", "")]
        install = installation([str(folder)], private, [])
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
        return [f"{each['verb']} {each['target']} {each['more']}".strip() for each in self.asked]

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


def test_a_folder_that_is_open_does_not_make_other_names_ask(kernel: GuardedKernel) -> None:
    code = "import os; d = os.open('runtime', os.O_RDONLY); os.makedirs('a/kernel-1'); "
    assert (
        kernel.agent(code + "os.open('a/kernel-1', os.O_RDONLY); os.removedirs('a/kernel-1')") == []
    )
    assert kernel.error == ""


def test_events_that_a_library_makes_up_do_no_harm(kernel: GuardedKernel) -> None:
    assert kernel.user("import sys; sys.audit('open'); sys.audit('open', 'x', None, None)") == []
    assert kernel.error == ""


def test_what_is_allowed_is_not_asked_again_in_the_run_and_what_is_denied_neither(
    kernel: GuardedKernel,
) -> None:
    twice = "for _ in range(2):\n    try: open('cars.csv', 'a').close()\n    except OSError: pass"
    assert kernel.agent(twice, approve=True) == ["change cars.csv"]
    assert kernel.agent(twice) == ["change cars.csv"]


MANY = """import os
for i in range(300):
    path = f'many/{i % 3}/{i:03}'
    try: os.remove(path)
    except PermissionError: pass
"""


def _many(kernel: GuardedKernel) -> list[Path]:
    files = [kernel.folder / "many" / str(i % 3) / f"{i:03}" for i in range(300)]
    for each in files:
        each.parent.mkdir(parents=True, exist_ok=True)
        each.write_text("x", encoding="utf-8")
    return files


@pytest.mark.parametrize("approve", [True, False])
def test_hundreds_of_files_are_a_few_questions(kernel: GuardedKernel, approve: bool) -> None:
    files = _many(kernel)
    others = "delete many/0/003 and other files in many/"
    assert kernel.agent(MANY, approve=approve) == [
        *(f"delete many/{i}/00{i}" for i in range(3)),
        others,
    ]
    assert [each.exists() for each in files] == [not approve] * 300
    # What is not in that folder is another question.
    _many(kernel)
    asked = kernel.agent(MANY + "os.remove('cars.csv')\nos.remove('notes.txt')", approve=True)
    assert asked[4:] == ["delete cars.csv and other files in the working folder"]


def test_many_threads_ask_one_question_at_a_time(kernel: GuardedKernel) -> None:
    files = _many(kernel)
    pool = "from concurrent.futures import ThreadPoolExecutor as T\nimport os, glob\n"
    run = "with T(16) as t: list(t.map(os.remove, glob.glob('many/*/*')))"
    asked = kernel.agent(pool + run, approve=True)
    assert len(asked) <= 5
    assert not any(each.exists() for each in files)


def test_many_commands_are_a_few_questions(kernel: GuardedKernel) -> None:
    run = "import subprocess\nfor i in range(9): subprocess.run(['echo', str(i)])"
    commands = [f"run echo {i}" for i in range(3)]
    assert kernel.agent(run, approve=True) == [*commands, "run echo 3 and other commands"]


def test_where_nobody_answered_once_the_run_does_not_wait_again(kernel: GuardedKernel) -> None:
    _many(kernel)
    kernel.answers = False
    began = time.monotonic()
    kernel.agent(MANY)
    kernel.answers = True
    assert time.monotonic() - began < 15


def test_an_approved_overwrite_is_one_question(kernel: GuardedKernel) -> None:
    copy = "import shutil; shutil.copy('notes.txt', 'cars.csv')"
    assert kernel.agent(copy, approve=True) == ["overwrite cars.csv"]
    assert kernel.agent("import shutil; shutil.rmtree('out')", approve=True) == [
        "delete the folder out"
    ]
    # To approve an append is not to approve that the file is emptied.
    both = "open('notes.txt', 'a').close(); open('notes.txt', 'w')"
    assert kernel.agent(both, approve=True) == ["change notes.txt", "overwrite notes.txt"]


def test_the_caches_in_the_servers_folder_are_caches(kernel: GuardedKernel) -> None:
    """Most people start the server in their home, where the caches are, too."""
    kernel.user(
        "import os, sys; guard = sys.modules['_datalayer_agent_acts'].guard; before = guard.free\n"
        "os.makedirs('.cache/mpl', exist_ok=True); open('.cache/mpl/fonts.json', 'w').close()\n"
        "guard.free += (os.path.realpath('.cache') + os.sep,)"
    )
    assert kernel.agent("open('.cache/mpl/fonts.json', 'w').close()") == []
    assert kernel.agent("open('cars.csv', 'w').close()") == ["overwrite cars.csv"]
    kernel.user("guard.free = before")


def test_an_allowed_name_covers_the_addresses_that_its_look_up_gave(kernel: GuardedKernel) -> None:
    """Many names give other addresses with each look-up."""
    kernel.user(
        "import _socket, socket, itertools\n"
        "class Fake:\n"
        "    numbers = itertools.count(1)\n"
        "    def __call__(self, host, port, *_):\n"
        "        import sys; sys.audit('socket.getaddrinfo', host, port)\n"
        "        return [(2, 1, 6, '', (f'192.0.2.{next(self.numbers)}', port))]\n"
        "real = _socket.getaddrinfo; _socket.getaddrinfo = Fake()"
    )
    reach = (
        "import socket\n"
        "[(*_, found)] = socket.getaddrinfo('data.example.invalid', 80)\n"
        "s = socket.socket(); s.setblocking(False)\n"
        "try: s.connect(found)\nexcept BlockingIOError: pass\nexcept OSError as error: print(error)"
    )
    for _ in range(2):
        asked = kernel.agent(reach, approve=True)
        assert asked == ["connect to data.example.invalid"], kernel.error
    kernel.user("_socket.getaddrinfo = real")
    other = "s = socket.socket(); s.settimeout(0.1); s.connect(('192.0.2.200', 80))"
    assert kernel.agent(other) == ["connect to 192.0.2.200"]


def test_the_user_in_a_subshell_is_not_asked_while_the_agents_code_runs(
    kernel: GuardedKernel,
) -> None:
    client = kernel.client
    client.control_channel.send(client.session.msg("create_subshell_request"))
    while "subshell_id" not in (reply := client.get_control_msg(timeout=20))["content"]:
        pass
    theirs = client.session.msg(
        "execute_request",
        {"code": "import os; os.remove('notes.txt'); open('go', 'w').close()", "silent": False},
    )
    theirs["header"]["subshell_id"] = reply["content"]["subshell_id"]
    client.shell_channel.send(theirs)
    code = (
        "import os, threading, time\n"
        "while not os.path.exists('go'): time.sleep(0.05)\n"
        "time.sleep(0.3)\n"
        "t = threading.Thread(target=os.remove, args=['cars.csv']); t.start(); t.join()"
    )
    assert kernel.agent(code) == [DELETE]
    assert not (kernel.folder / "notes.txt").exists()
    assert (kernel.folder / "cars.csv").exists()


def test_what_sqlite_denies_says_why(kernel: GuardedKernel) -> None:
    kernel.agent("import sqlite3; sqlite3.connect('t.db').execute('DELETE FROM cars')")
    assert "Not allowed to delete rows of cars in t.db: the user declined." in kernel.text


@pytest.mark.parametrize(
    ("opened", "code", "asks"),
    [
        ("c = sqlite3.connect('t.db')", "c", "delete rows of cars in t.db"),
        ("c = sqlite3.connect(':memory:'); c.execute('attach \"t.db\" as x')", "c", None),
        ("import sqlalchemy as s; e = s.create_engine('sqlite:///t.db').connect()", "e", None),
        ("o = {'a': [sqlite3.connect('t.db')]}", "o['a'][0]", None),
        ("class C(sqlite3.Connection): pass\nc = sqlite3.connect('t.db', factory=C)", "c", None),
    ],
)
def test_a_database_that_the_user_opened_asks_in_the_agents_run_only(
    kernel: GuardedKernel, opened: str, code: str, asks: str | None
) -> None:
    table = "x.cars" if "attach" in opened else "cars"
    statement = f"'DELETE FROM {table}'" if code != "e" else f"s.text('DELETE FROM {table}')"
    # The statement is in SQLite's cache when the agent's code has its turn.
    theirs = f"import sqlite3\n{opened}\n{code}.execute({statement}); "
    theirs += f"{code}.rollback()"
    assert kernel.user(theirs) == []
    assert kernel.error == ""
    assert kernel.agent(f"{code}.execute({statement})") == [asks or "delete rows of cars in t.db"]
    assert "not authorized" in kernel.error
    assert kernel.user(f"{code}.execute({statement}); {code}.rollback(); {code}.close()") == []
    assert kernel.error == ""


def test_a_profiler_goes_on_where_a_database_is_opened(kernel: GuardedKernel) -> None:
    code = "import sqlite3\n%prun -q sqlite3.connect('t.db').execute('select 1')"
    kernel.agent(code, approve=True)
    assert kernel.error == ""


def test_an_interrupt_ends_the_wait(kernel: GuardedKernel) -> None:
    kernel.answers = False
    pid = kernel.manager.provisioner.pid
    timer = threading.Timer(2, os.kill, [pid, signal.SIGINT])
    timer.start()
    kernel.agent("import os; os.remove('cars.csv')")
    kernel.answers = True
    assert kernel.error.startswith("KeyboardInterrupt")
    assert (kernel.folder / "cars.csv").exists()
    assert kernel.agent("1") == []


def test_logging_that_is_locked_while_it_asks_does_not_keep_the_answer_out(
    kernel: GuardedKernel,
) -> None:
    code = "import logging; logging.basicConfig(filename='notes.txt', filemode='w', force=True)"
    assert kernel.agent(code, approve=True) == ["overwrite notes.txt"]
    assert kernel.error == ""


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


@pytest.mark.parametrize(
    "run",
    [
        "m.get_context('spawn').Pool(1).map(os.remove, ['cars.csv'])",
        "m.get_context('forkserver').Pool(1).map(os.remove, ['cars.csv'])",
        "P(1, mp_context=m.get_context('spawn')).submit(os.remove, 'cars.csv').result()",
        "joblib.Parallel(2)(joblib.delayed(os.remove)(each) for each in ['cars.csv'] * 2)",
        "joblib.Parallel(2)(joblib.delayed(open)(each, 'w') for each in ['cars.csv'] * 2)",
        "joblib.Parallel(2)(joblib.delayed(os.system)(each) for each in ['rm cars.csv'] * 2)",
    ],
)
def test_a_worker_process_that_is_started_anew_is_denied_what_would_ask(
    kernel: GuardedKernel, run: str
) -> None:
    imports = "import joblib, multiprocessing as m, os\n"
    imports += "from concurrent.futures import ProcessPoolExecutor as P\n"
    assert kernel.agent(imports + run) == []
    assert "A worker process may not" in kernel.error
    assert (kernel.folder / "cars.csv").read_text(encoding="utf-8")


def test_what_was_approved_before_a_worker_process_began_is_allowed_in_it(
    kernel: GuardedKernel,
) -> None:
    code = (
        "import multiprocessing as m, os\n"
        "open('cars.csv', 'w').close(); open('w1', 'w').close()\n"
        "with m.get_context('spawn').Pool(1) as pool:\n"
        "    pool.map(os.remove, ['w1'])\n"
        "    pool.apply(os.truncate, ['cars.csv', 0])\n"
    )
    assert kernel.agent(code, approve=True) == ["overwrite cars.csv"]
    assert kernel.error == ""


def test_workers_that_joblib_keeps_are_the_users_or_the_agents(kernel: GuardedKernel) -> None:
    remove = "import joblib, os\njoblib.Parallel(2)(joblib.delayed(os.remove)(each) for each in {})"
    assert kernel.agent("import joblib\njoblib.Parallel(2)([joblib.delayed(abs)(1)] * 2)") == []
    kernel.user(remove.format(["cars.csv", "notes.txt"]))
    assert kernel.error == ""
    assert not (kernel.folder / "cars.csv").exists()
    (kernel.folder / "cars.csv").write_text("x", encoding="utf-8")
    kernel.agent(remove.format(["cars.csv", "cars.csv"]))
    assert "A worker process may not delete cars.csv" in kernel.error


def test_the_line_is_the_cells(kernel: GuardedKernel) -> None:
    kernel.agent("import os\ndef clean():\n    os.remove('cars.csv')\n\nclean()")
    assert kernel.asked[0]["line"] == 5


@pytest.mark.parametrize(
    ("code", "is_line"),
    [
        ("!ls", True),
        ("x = !ls", True),
        ("%sx ls", True),
        ("%pip --version", True),
        ("import os; os.system('ls')", False),
        ("import subprocess; subprocess.run('ls')", False),
        ("import os; os.remove('cars.csv')", False),
    ],
)
def test_a_shell_line_is_known_from_other_code(
    kernel: GuardedKernel, code: str, is_line: bool
) -> None:
    kernel.agent(code)
    assert [each["by_shell_line"] for each in kernel.asked] == [is_line]


def test_where_nobody_answers_the_act_is_denied(kernel: GuardedKernel) -> None:
    kernel.answers = False
    kernel.agent("import os; os.remove('cars.csv')")
    kernel.answers = True
    assert "nobody is there who could be asked" in kernel.error
    assert (kernel.folder / "cars.csv").exists()


@pytest.mark.parametrize("event", ["post_execute", "post_run_cell"])
def test_what_code_registers_for_its_own_end_asks(kernel: GuardedKernel, event: str) -> None:
    code = f"""import os
act = lambda *a: os.remove('cars.csv')
ip = get_ipython()
ip.events.register({event!r}, act)"""
    try:
        assert kernel.agent(code) == [DELETE]
        assert (kernel.folder / "cars.csv").exists()
    finally:
        kernel.agent(f"ip.events.unregister({event!r}, act)")
    # The next run is the user's again.
    assert kernel.user("os.remove('cars.csv')") == []
    assert not (kernel.folder / "cars.csv").exists()


def test_a_task_that_the_user_started_before_the_guard_came_asks_nothing(tmp_path: Path) -> None:
    """It knows of no run, and goes on while the agent's cell waits."""
    (tmp_path / "cars.csv").write_text("a", encoding="utf-8")
    task = """import asyncio, os
async def later():
    await asyncio.sleep(2)
    os.remove('cars.csv')
task = asyncio.ensure_future(later())"""
    kernel = GuardedKernel(tmp_path, before=task)
    try:
        assert kernel.agent("await task") == []
        assert kernel.error == ""
    finally:
        kernel.close()
    assert not (tmp_path / "cars.csv").exists()
