"""Functions of native code that the guard replaces while a run of the agent's lasts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.notebook.kernel.test_acts_in_kernel import GuardedKernel

USER = """
import sys, pyarrow as pa, pyarrow.parquet as pq, duckdb
from pyarrow.csv import write_csv
def seen():
    return [
        write_csv, pa.OSFile, vars(pq.ParquetWriter)['__init__'],
        vars(duckdb.DuckDBPyConnection)['execute'], duckdb.execute, *sys.meta_path,
    ]
before = seen()
table = pa.table({'a': [1]})
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedKernel]:
    folder = tmp_path_factory.mktemp("native")
    (folder / "cars.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    kernel = GuardedKernel(folder, before=USER)
    yield kernel
    kernel.close()


def test_names_that_the_user_imported_before_the_agent_ran_ask_too(kernel: GuardedKernel) -> None:
    assert kernel.agent("write_csv(table, 'cars.csv')") == ["overwrite cars.csv"]
    assert "Not allowed to overwrite cars.csv" in kernel.error


def test_all_is_as_it_was_in_the_users_runs(kernel: GuardedKernel) -> None:
    assert kernel.agent("during = seen(); from pyarrow.csv import write_csv as mine") == []
    assert kernel.user("assert all(a is b for a, b in zip(before, seen(), strict=True))") == []
    assert kernel.error == ""
    assert kernel.user("assert mine is write_csv and during[-1] is before[-1]") == []
    assert kernel.error == ""


def test_the_users_code_writes_by_native_code_unasked(kernel: GuardedKernel) -> None:
    code = "write_csv(table, 'cars.csv'); pq.write_table(table, 'cars.csv')"
    assert kernel.user(code + "; duckdb.sql(\"copy (select 1) to 'cars.csv'\")") == []
    assert kernel.error == ""


def test_what_the_agent_kept_asks_nothing_in_a_run_of_the_users(kernel: GuardedKernel) -> None:
    assert kernel.agent("kept = [pq.ParquetWriter.__init__, write_csv]") == []
    assert kernel.user("kept[1](table, 'cars.csv')") == []
    assert kernel.error == ""
    assert kernel.agent("kept[1](table, 'cars.csv')") == ["overwrite cars.csv"]


def test_a_file_database_that_exists_asks_before_rows_are_lost(kernel: GuardedKernel) -> None:
    kernel.user("c = duckdb.connect('d.duckdb'); c.execute('create table t as select 1 as a')")
    for verb, statement in {
        "delete rows of a table in": "delete from t",
        "change rows of a table in": "update t set a = 2",
        "drop a part of": "drop table t",
        "replace a part of": "create or replace table t as select 3 as a",
    }.items():
        assert kernel.agent(f"c.execute({statement!r})") == [f"{verb} d.duckdb"]
    assert kernel.agent("assert c.execute('select a from t').fetchall() == [(1,)]") == []
    assert kernel.error == ""


def test_a_writer_that_was_denied_and_removes_the_file_asks_nothing_more(
    kernel: GuardedKernel,
) -> None:
    assert kernel.agent("pq.write_table(table, 'cars.csv')") == ["overwrite cars.csv"]
    assert (kernel.folder / "cars.csv").exists()


INTERPRETERS = """
import sys
modules = __import__('_xxsubinterpreters' if sys.version_info < (3, 13) else '_interpreters')
other = modules.create()
"""


def test_code_in_another_interpreter_asks_also_in_one_that_the_user_made(
    kernel: GuardedKernel,
) -> None:
    """Hooks are an interpreter's own: what is done in there raises no event here."""
    assert kernel.user(INTERPRETERS) == []
    assert kernel.error == ""
    delete = "modules.run_string(other, \"import os; os.remove('cars.csv')\")"
    assert kernel.agent(delete) == ["use another Python interpreter"]
    assert kernel.error.startswith("PermissionError: Not allowed to use another Python interpreter")
    assert (kernel.folder / "cars.csv").exists()
    create = "modules.run_string(modules.create(), 'x = 1')"
    assert kernel.agent(create, approve=True) == ["use another Python interpreter"]
    assert kernel.error == ""


LONG = """
import time
def execute(statement):
    began = time.thread_time()
    try:
        duckdb.connect().execute(statement)
    finally:
        print(time.thread_time() - began)
"""


def test_sql_that_is_too_long_to_check_asks_at_once(kernel: GuardedKernel) -> None:
    kernel.user(LONG)
    much = "\"select 'from' in (\" + \"'a', \" * 10_000_000 + \"'b')\""
    asks = "execute SQL of 50,000,022 characters which is too long to check"
    assert kernel.agent(f"execute({much})") == [asks]
    assert "Not allowed to execute SQL of 50,000,022 characters" in kernel.error
    assert float(kernel.text) < 4  # to divide it takes a minute and more


def test_to_allow_long_sql_allows_no_other_of_that_length(kernel: GuardedKernel) -> None:
    kernel.user("long = \"copy (select '\" + 'x' * 300_000 + \"') to 'new{}.csv'\"")
    code = "duckdb.sql(long.format(1)); duckdb.sql(long.format(2)); duckdb.sql(long.format(2))"
    asked = kernel.agent(code, approve=True)
    assert len(asked) == 3
    assert len(set(asked)) == 1
    assert kernel.error == ""
