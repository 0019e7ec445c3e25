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
from jupyter_client.manager import KernelManager

from jupyter_datalayer_agent.notebook.kernel import acts_in_kernel
from jupyter_datalayer_agent.notebook.kernel.acts_in_kernel import ASK, DECISION, METADATA
from jupyter_datalayer_agent.notebook.kernel.expressions import expression

SOURCE = Path(acts_in_kernel.__file__).read_text(encoding="utf-8")
# No name is looked up, and no machine reached: what asks is denied before.
ELSEWHERE = "data.example.invalid"


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
HEX = b"import os; os.remove('cars.csv')".hex()
ACTS = {
    # files, plainly
    "import os; os.remove('cars.csv')": DELETE,
    "import pathlib; pathlib.Path('cars.csv').unlink()": DELETE,
    "import shutil; shutil.rmtree('out')": "delete the folder out",
    "import os; os.rename('cars.csv', 'new.csv')": "move cars.csv",
    "import shutil; shutil.move('cars.csv', 'out')": "move cars.csv",
    "open('cars.csv', 'w')": "overwrite cars.csv",
    "open('notes.txt', 'a')": "change notes.txt",
    "open('cars.csv', 'r+b')": "change cars.csv",
    "import os; os.truncate('cars.csv', 0)": "truncate cars.csv",
    "import os; os.chmod('cars.csv', 0)": "change the permissions of cars.csv",
    "import shutil; shutil.copy('notes.txt', 'cars.csv')": "overwrite cars.csv",
    "open('conftest.py', 'w')": "create conftest.py",
    # files, by ways that a list of names misses
    "import os; os.open('cars.csv', os.O_TRUNC | os.O_WRONLY)": "overwrite cars.csv",
    "vars(__import__('os'))['re' + 'move']('cars.csv')": DELETE,
    f"exec(bytes.fromhex({HEX!r}))": DELETE,
    "import pickle; pickle.loads(b\"cposix\\nremove\\n(S'cars.csv'\\ntR.\")": DELETE,
    "import os\nfor n in [n for n in os.listdir() if n.startswith('cars')]: os.unlink(n)": DELETE,
    "import zipfile\nwith zipfile.ZipFile('z.zip', 'w') as z: z.writestr('cars.csv', '')\n"
    "zipfile.ZipFile('z.zip').extractall()": "overwrite cars.csv",
    "import fileinput\nfor line in fileinput.input('notes.txt', inplace=True): pass": "move notes.txt",
    "import logging; logging.FileHandler('notes.txt', 'w')": "overwrite notes.txt",
    "import os; os.symlink('cars.csv', 'link'); open('link', 'w')": "overwrite cars.csv",
    "import os; os.chdir('out'); open('../cars.csv', 'w')": "overwrite",
    "import os; d = os.open('.', os.O_RDONLY); os.unlink('cars.csv', dir_fd=d)": DELETE,
    "import threading, os\nt = threading.Thread(target=os.remove, args=['cars.csv']); t.start(); t.join()": DELETE,
    "import asyncio, os\nawait asyncio.to_thread(os.remove, 'cars.csv')": DELETE,
    # programs
    "import subprocess; subprocess.run(['ls', '-l'])": "run ls -l",
    "import subprocess; subprocess.run('ls | wc', shell=True)": "run ls | wc",
    "import os; os.system('ls')": "run ls",
    "import os; os.popen('ls')": "run ls",
    "import os; os.execvp('ls', ['ls'])": "run ls",
    "import os; os.posix_spawn('/bin/ls', ['ls'], {})": "run ls",
    "!ls": "run ls",
    "get_ipython().system('ls')": "run ls",
    "import psutil; psutil.Popen(['ls'])": "run ls",
    "import asyncio; await asyncio.create_subprocess_exec('ls')": "run ls",
    "import os; os.kill(os.getppid(), 15)": "send a signal to process",
    # other machines
    f"import urllib.request; urllib.request.urlopen('http://{ELSEWHERE}/?d=1')": f"connect to {ELSEWHERE}",
    f"import http.client; http.client.HTTPConnection('{ELSEWHERE}').request('GET', '/')": f"connect to {ELSEWHERE}",
    f"import requests; requests.get('http://{ELSEWHERE}')": f"connect to {ELSEWHERE}",
    f"import httpx; httpx.get('http://{ELSEWHERE}')": f"connect to {ELSEWHERE}",
    f"import pandas as pd; pd.read_csv('http://{ELSEWHERE}/x?d=secret')": f"connect to {ELSEWHERE}",
    "import socket; socket.create_connection(('192.0.2.1', 80), 1)": "connect to 192.0.2.1",
    "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 9))": "connect to 192.0.2.1",
    "import socket; socket.gethostbyname('secret.example.invalid')": "connect to secret.example.invalid",
    "import socket; socket.create_connection(('127.0.0.1', 9), 1)": "connect to port 9",
    "import socket; s = socket.socket(); s.bind(('0.0.0.0', 18999))": "accept connections at 0.0.0.0:18999",
    # databases, native code and secrets
    "import sqlite3; sqlite3.connect('t.db').execute('DELETE FROM cars')": "delete rows of cars in t.db",
    "import sqlite3; sqlite3.connect('t.db').execute('UPDATE cars SET a = 1 WHERE 1')": "change rows of cars in t.db",
    "import sqlite3; sqlite3.connect('t.db').execute('DROP TABLE cars')": "drop the table cars in t.db",
    "import ctypes; ctypes.CDLL('libc.so.6')": "load libc.so.6",
    "open('/proc/self/environ').read()": "read /proc/self/environ",
    "open('runtime/jpserver-1.json').read()": "read",
}


@pytest.mark.parametrize("code", ACTS)
def test_an_act_asks_with_its_real_target_and_denied_does_not_happen(
    kernel: GuardedKernel, code: str
) -> None:
    before = sorted(
        (each.name, each.stat().st_size) for each in kernel.folder.glob("*.[ct][sx][vt]")
    )
    asked = kernel.agent(code)
    error = kernel.error
    kernel.user(f"import os; os.chdir({str(kernel.folder)!r})")
    assert asked, error
    assert asked[0].startswith(ACTS[code])
    # A thread's error ends the thread only.
    assert error or "Thread(" in code
    after = sorted(
        (each.name, each.stat().st_size) for each in kernel.folder.glob("*.[ct][sx][vt]")
    )
    assert after == before


ORDINARY = [
    "open('cars.csv').read(); open('new1.csv', 'w').write('x'); open('new1.csv', 'a').write('y')",
    "import pandas as pd; f = pd.read_csv('cars.csv'); f.to_csv('new2.csv'); f.to_csv('new2.csv'); f.describe()",
    "import os; os.makedirs('plots/a', exist_ok=True); open('plots/a/1', 'w'); os.remove('plots/a/1'); os.rmdir('plots/a')",
    "import tempfile, shutil; d = tempfile.mkdtemp(); open(d + '/x', 'w'); shutil.rmtree(d)",
    "import matplotlib; matplotlib.use('agg'); import matplotlib.pyplot as plt; plt.plot([1]); plt.savefig('p1.png'); plt.savefig('p1.png')",
    "from concurrent.futures import ThreadPoolExecutor as T; list(T(2).map(abs, [1, -2]))",
    "import multiprocessing as m\nwith m.Pool(2) as pool: print(pool.map(abs, [1, -2]))",
    "import joblib; joblib.Parallel(2)(joblib.delayed(abs)(i) for i in [1, -2])",
    "import sqlite3; c = sqlite3.connect(':memory:'); c.execute('create table t(a)'); c.execute('drop table t')",
    "import sqlite3; c = sqlite3.connect('mine.db'); c.execute('create table t(a)'); c.execute('delete from t'); c.commit()",
    "import sqlite3; print(sqlite3.connect('t.db').execute('select * from cars').fetchall())",
    "import numpy as np; np.save('a1.npy', np.arange(3)); np.load('a1.npy', mmap_mode='r+')[0] = 1",
    "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); socket.create_connection(s.getsockname())",
    "open('mine_module.py', 'w').write('x = 1'); import sys; sys.path.insert(0, ''); import mine_module",
    "import platform, getpass, locale; platform.platform(); open('/dev/null', 'w')",
    "from sklearn.datasets import load_iris; from sklearn.linear_model import LogisticRegression as L; X, y = load_iris(return_X_y=True); L(max_iter=500).fit(X, y)",
]


@pytest.mark.parametrize("code", ORDINARY)
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
    fork = "import os, multiprocessing as m\nwith m.get_context('fork').Pool(1) as p: p.map(os.remove, ['cars.csv'])"
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
