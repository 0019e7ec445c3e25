"""Search: what is found, what is not, in which order, at which cost, and what the index keeps."""

from __future__ import annotations

import sqlite3
import string
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_datalayer_agent.protocol.history import SearchHit
from jupyter_datalayer_agent.protocol.tools import Change
from jupyter_datalayer_agent.store import Store
from jupyter_datalayer_agent.store import search as search
from jupyter_datalayer_agent.store.migrations import MIGRATIONS
from jupyter_datalayer_agent.store.queries import upkeep
from jupyter_datalayer_agent.store.search import BLOCK, fold, snippet, spellings

from ..chats import Chat, execute, open_store, rows
from ..crashing import crash
from ..query_plans import plan_of_a_look_up, search_plans
from ..test_migrations import database_at

INDEXED = "SELECT count(*) FROM search_index_docsize"


async def say(chat: Chat, message: str, reply: str = "Done.") -> str:
    """A finished turn; its id."""
    await chat.start(message)
    await chat.finish(reply)
    return chat.turn_id


async def found(store: Store, query: str, session_id: str | None = None) -> list[str]:
    return [hit.snippet for hit in await store.past.search(query, 20, session_id)]


def marked(hit: SearchHit) -> list[str]:
    """The marked parts, cut as JavaScript cuts."""
    units = hit.snippet.encode("utf-16-le")
    return [units[2 * mark.start : 2 * mark.end].decode("utf-16-le") for mark in hit.marks]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Fit on df_train, then score", "df_train"),
        ("Fit on df_train, then score", "f_tr"),
        ("draw sns.heatmap(corr)", "sns.heatmap"),
        ("draw sns.heatmap(corr)", "SNS.Heat"),
        ("平均気温を計算する", "気温を"),
        ("平均気温を計算する", "気温"),
        ("平均気温を計算する", "温"),
        ("Средняя температура", "ТЕМПЕР"),
        ("the pH is 7", "pH"),
        ("the pH is 7", "7"),
        ("done to 100%", "100%"),
        ("done to 100%", "%"),
        ('say "cheese" now', '"cheese"'),
        ('a 3.5" disk', '"'),
        ("a*b - c", "a*b -"),
        ("a*b - c", "*"),
        ("x AND y OR NOT z", "AND y OR NOT"),
        ("C:\\data\\cars.csv", "\\data\\"),
        ("line one\nline two", "one\nline"),
        ("cafe\u0301 sales", "caf\u00e9"),
        ("caf\u00e9 sales", "cafe\u0301"),
        ("😀 emoji", "😀"),
    ],
)
async def test_any_part_of_a_text_is_found_literally(tmp_path: Path, text: str, query: str) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        turn_id = await say(chat, text, "ok")
        await say(chat, "something else", "nothing")
        (hit,) = await store.past.search(query)
        assert (hit.turn_id, hit.role, hit.session_id) == (turn_id, "user", chat.session_id)
        (mark,) = marked(hit)
        assert set(spellings(mark)) & set(spellings(query.replace("\n", " ")))
        assert await found(store, query, chat.session_id) == [hit.snippet]


@pytest.mark.parametrize(
    "query", ["%", "_", "*", '"', "-", "a*", "x OR y", "NEAR(a b)", "col:x", "^"]
)
async def test_no_character_of_a_query_is_an_operator(tmp_path: Path, query: str) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        await say(chat, "abc x y", "plain words")
        assert await store.past.search(query) == []


@pytest.mark.parametrize(
    "query", ["", "  ", "\0", "a\0b", "\ud83d", '""', "' OR 1=1 --", "𝒳" * 300]
)
async def test_odd_queries_find_nothing_and_break_nothing(tmp_path: Path, query: str) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        await say(await Chat.new(store), "abc", "def")
        assert await store.past.search(query) == []


async def test_the_newest_come_first_and_the_limit_holds(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        first, second = await Chat.new(store, "A"), await Chat.new(store, "B")
        for n in range(5):
            await say(first, f"plot {n}", f"plotted {n}")
            await say(second, f"no {n}", f"plot again {n}")
        hits = await store.past.search("plot", 4)
        assert [(hit.session_title, hit.role, hit.snippet) for hit in hits] == [
            ("B", "assistant", "plot again 4"),
            ("A", "assistant", "plotted 4"),
            ("A", "user", "plot 4"),
            ("B", "assistant", "plot again 3"),
        ]
        assert [hit.created_at for hit in hits] == sorted(
            (hit.created_at for hit in hits), reverse=True
        )
        assert len(await found(store, "p")) == 15
        assert len(await found(store, "plot", first.session_id)) == 10


async def test_words_are_looked_for_one_by_one_where_nothing_has_the_whole(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store)
        await say(chat, "a heatmap of the correlation", "ok")
        await say(chat, "the correlation is 0.5 of x", "ok")
        assert await found(store, "correlation heatmap") == ["a heatmap of the correlation"]
        assert await found(store, "correlation of x") == ["the correlation is 0.5 of x"]
        assert await found(store, "the correlation") == [
            "the correlation is 0.5 of x",
            "a heatmap of the correlation",
        ]


async def test_a_running_turn_is_found_by_its_message_and_an_aborted_one_by_both(
    tmp_path: Path,
) -> None:
    path = tmp_path / "agent.db"
    session_id = crash(path, "speaks")
    async with open_store(path) as store:
        await store.open()
        execute(path, "INSERT INTO search_index (search_index) VALUES ('integrity-check')")
        assert rows(path, INDEXED) == rows(path, "SELECT count(*) FROM search_texts") == [(2,)]
        assert await found(store, "Second, cut") == ["First.  Second, cut"]
        (answer,) = await store.past.responses_of(
            (await store.turn_reader.list_page(session_id)).turns[0].id
        )
        assert answer.response_type == "batch"
        chat = await Chat.new(store)
        await chat.start("still running")
        assert await found(store, "still run") == ["still running"]


async def test_what_is_deleted_or_reset_is_found_no_more_and_leaves_no_row(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        kept, reset, gone = [await Chat.new(store) for _ in range(3)]
        for chat in (kept, reset, gone):
            for _ in range(BLOCK):
                await say(chat, "plot the pH", "here")
        await store.sessions.reset(reset.session_id)
        await store.sessions.delete(gone.session_id)
        for query in ("plot the", "pH"):
            hits = await store.past.search(query, 500)
            assert {hit.session_id for hit in hits} == {kept.session_id}
            assert len(hits) == BLOCK
        await say(reset, "plot again", "here")
        assert await found(store, "plot ag") == ["plot again"]
    assert rows(path, INDEXED) == rows(path, "SELECT count(*) FROM search_texts")
    execute(path, "INSERT INTO search_index (search_index) VALUES ('integrity-check')")


async def test_the_index_is_whole_after_a_change_past_the_store(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        await say(await Chat.new(store), "the first", "blue")
    execute(path, "UPDATE turns SET reply = 'green', message = 'the second'")
    async with open_store(path) as store:
        assert await found(store, "blue") == []
        assert await found(store, "gree") == ["green"]
        assert await found(store, "second") == ["the second"]


async def test_what_was_written_into_documents_is_found_too(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await Chat.new(store)
        await chat.start("Draw it")
        await chat.emit(
            changes=[
                Change(path="a.ipynb", op="insert", cell_id="c", after="sns.heatmap(df) # \ud83d"),
                Change(path="a.ipynb", op="update", cell_id="c", before="x", after="ax.µ(1)"),
                Change(path="a.ipynb", op="move", cell_id="c", before="zyx", after="zyx"),
                Change(path="a.ipynb", op="delete", cell_id="c", before="zyx"),
            ]
        )
        await chat.finish("Done.")
        for query in ("sns.heat", "µ"):
            (hit,) = await store.past.search(query)
            assert (hit.turn_id, hit.role, hit.path) == (chat.turn_id, "assistant", "a.ipynb")
        assert await found(store, "zyx") == []
        fork = await store.forks.fork(chat.session_id, None, [])
        assert len(await found(store, "sns.heat")) == 1
        await store.sessions.delete(chat.session_id)
        assert len(await found(store, "sns.heat")) == 1
        await store.sessions.reset(fork.id)
        assert await found(store, "sns.heat") == []
    assert rows(path, INDEXED) == rows(path, "SELECT count(*) FROM search_texts") == [(0,)]
    execute(path, "INSERT INTO search_index (search_index) VALUES ('integrity-check')")


async def test_a_fork_is_found_once_and_by_itself(tmp_path: Path) -> None:
    async with open_store(tmp_path / "agent.db") as store:
        chat = await Chat.new(store, "Original")
        await say(chat, "plot the cars", "plotted")
        fork = await store.forks.fork(chat.session_id, None, [])
        hits = await store.past.search("plot the")
        assert [hit.session_id for hit in hits] == [chat.session_id]
        assert await found(store, "plot the", fork.id) == ["plot the cars"]
        copy = (await store.turn_reader.list_page(fork.id)).turns[0]
        (key,) = await store.past.responses_of(copy.id)
        assert (await store.past.response(key)).text == "plotted"
        await store.sessions.delete(chat.session_id)
        assert [hit.session_id for hit in await store.past.search("plot the")] == [fork.id]


def fill(path: Path, turns: int) -> None:
    """Turns written as an older version wrote them: with no index to keep."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO sessions (id, title, settings, created_at, updated_at, session_tokens, "
            "seq_base) VALUES ('s', 'Old', '{}', 0, 0, 0, 0)"
        )
        add_turns(connection, [(f"question {n} of pH", f"the answer {n}") for n in range(turns)])


def add_turns(connection: sqlite3.Connection, said: list[tuple[str, str]]) -> None:
    """Finished turns of the session ``s``."""
    connection.executemany(
        "INSERT INTO turns (id, session_id, position, status, mode, notebook_mode, location, "
        "model, server_id, request, message, reply, first_seq, started_at, ended_at) VALUES "
        "(?, 's', ?, 'completed', 'edit', 'off', 'panel', 'anthropic/claude', '', '{}', ?, ?, "
        "1, ?, ?)",
        (
            (f"t{n}", n, message, reply, n * 10, n * 10 + 5)
            for n, (message, reply) in enumerate(said)
        ),
    )


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2,000 turns of before the index."""
    path = tmp_path_factory.mktemp("older") / "agent.db"
    database_at(path, [step.name for step in MIGRATIONS].index("0007_search"))
    fill(path, 2_000)
    execute(
        path,
        "INSERT INTO changes (turn_id, path, data) VALUES ('t7', 'old.ipynb', "
        """'{"path": "old.ipynb", "op": "insert", "after": "df_old.plot()"}')""",
    )
    return path


async def test_older_turns_are_indexed_and_their_answers_named(older: Path) -> None:
    async with open_store(older) as store:
        assert await found(store, "question 17 of") == ["question 17 of pH"]
        assert (await found(store, "pH"))[:2] == ["question 1999 of pH", "question 1998 of pH"]
        (key,) = await store.past.responses_of("t17")
        assert (key.provider_id, key.response_type) == ("anthropic", "batch")
        assert (await store.past.response(key)).text == "the answer 17"
        assert [hit.path for hit in await store.past.search("df_old")] == ["old.ipynb"]
        chat = await Chat.new(store)
        await say(chat, "question of now")
        assert (await found(store, "question"))[0] == "question of now"


async def test_no_query_reads_a_table_or_an_index_from_end_to_end(older: Path) -> None:
    async with open_store(older) as store:
        plan = await (await store._open()).database.look(plan_of_a_look_up)
        assert plan[0] == (
            "SEARCH responses USING INDEX responses_by_key (ai_turn_id=? AND provider_id=? AND "
            "response_type=? AND response_index=?)"
        )
        assert all(step.startswith("SEARCH") for step in plan)
    with closing(sqlite3.connect(older)) as connection:
        plans = search_plans(connection)
        tables = connection.execute("SELECT count(*) FROM search_texts").fetchone()[0]
    assert tables == 4_000 + 3
    for name, plan in plans.items():
        scans = [step for step in plan if step.startswith("SCAN")]
        # SQLite calls every reading of FTS5 a scan; M is a look-up by a MATCH.
        assert all("VIRTUAL TABLE INDEX" in step and ":M" in step for step in scans), name
        assert not any("TEMP B-TREE" in step for step in plan), f"{name} is sorted: {plan}"


async def test_a_search_stops_at_its_limit(older: Path) -> None:
    """Of a query that thousands of texts match, a few hundred steps are taken, and not all."""
    async with open_store(older) as store:
        await store.open()
    for query in ("question", "of", "the answer", "s"):
        with closing(sqlite3.connect(older)) as connection:
            steps = 0

            def count() -> None:
                nonlocal steps
                steps += 1

            connection.set_progress_handler(count, 10)
            assert len(search.search(connection, query, 20, None)) == 20
            assert steps < 2_000, query


async def test_texts_go_into_blocks_as_turns_end(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    async with open_store(path) as store:
        chat = await Chat.new(store)
        for n in range(BLOCK + 4):
            await say(chat, f"question {n}", "µ" if n == 3 else "nothing")
        await (await store._open()).upkeep.close()
        assert rows(path, "SELECT blocks FROM search_sealed") == [(2,)]
        assert await found(store, "µ") == ["µ"]
        assert await found(store, "zq") == []


def test_a_snippet_shows_the_first_hit_in_a_line_and_marks_every_one() -> None:
    text = "x" * 500 + "\nfind ME and me too\n" + "y" * 500
    shown, marks = snippet(text, ["me"])
    assert (shown[:2], shown[-2:]) == ("…x", "y…")
    assert "\n" not in shown
    assert [shown[mark.start : mark.end] for mark in marks] == ["ME", "me"]
    assert len(shown) < 250


LETTERS = string.ascii_letters[:6] + "ÄäßİıΣσς\u0301é \n漢字%_\"*'"
letters = st.text(st.sampled_from(LETTERS), max_size=40)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of this version with one session and no turn."""
    path = tmp_path_factory.mktemp("empty") / "agent.db"
    database_at(path, len(MIGRATIONS))
    fill(path, 0)
    return path


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(letters, min_size=1, max_size=8), data=st.data())
def test_every_part_of_every_text_is_found_newest_first(
    empty: Path, texts: list[str], data: st.DataObject
) -> None:
    """Compared with a plain search through all texts."""
    text = data.draw(st.sampled_from(texts))
    start = data.draw(st.integers(0, max(0, len(text) - 1)))
    query = text[start : start + data.draw(st.integers(1, 6))]
    wanted = fold(query.strip())
    expected = [f"t{n}" for n, each in enumerate(texts) if wanted and wanted in fold(each)][::-1]
    with closing(sqlite3.connect(empty)) as template, closing(sqlite3.connect(":memory:")) as copy:
        template.backup(copy)
        add_turns(copy, [(each, "") for each in texts])
        for step in (upkeep.tidy, lambda _: None):
            hits = [hit.turn_id for hit in search.search(copy, query, 100, None)]
            assert [hit for hit in hits if hit in expected] == expected
            assert search.search(copy, query, 100, "s") or not expected
            step(copy)
