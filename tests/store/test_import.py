"""The store costs a server start nothing."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from jupyter_datalayer_agent.store import Store
Store(None)
heavy = {"sqlalchemy", "aiosqlite", "sqlite3", "greenlet"} & set(sys.modules)
assert not heavy, heavy
"""


def test_importing_and_making_a_store_imports_no_sqlalchemy() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


EXIT = """
import asyncio, sys
from jupyter_datalayer_agent.store import Store
store = Store(sys.argv[1])
asyncio.run(store.sessions.create())
"""


def test_a_process_that_does_not_close_its_store_ends_all_the_same(tmp_path: object) -> None:
    database_url = f"sqlite:///{tmp_path}/agent.db"
    subprocess.run([sys.executable, "-c", EXIT, database_url], check=True, timeout=60)
