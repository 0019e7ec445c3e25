"""The file tools over HTTP: what they list, read, change and refuse."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.tools.builtin.conftest import Files

# -- reading


def test_a_file_is_read_whole(files: Files) -> None:
    files.write("a.py", "x = 1\ny = 2\n")
    path = f"{files.name}/a.py"
    assert files.read("a.py") == {
        "path": path, "totalLines": 2, "bytes": 12, "content": "x = 1\ny = 2\n",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("data", "content", "about"),
    [
        (b"", "", {"totalLines": 0}),
        (b"x", "x", {"totalLines": 1}),
        (b"\n", "\n", {"totalLines": 1}),
        (b"a\r\nb\r\n", "a\nb\n", {"lineEnds": "CRLF"}),
        (b"a\r\nb\n", "a\nb\n", {"lineEnds": "mixed"}),
        (b"\xef\xbb\xbfa\n", "a\n", {"encoding": "utf-8 with a byte order mark"}),
        ("größer".encode("latin-1"), "größer", {"encoding": "windows-1252 (not UTF-8; guessed)"}),
        ("a€\n".encode("utf-16"), "a€\n", {"encoding": "utf-16-le"}),
    ],
)
def test_encoding_and_line_ends_are_said(
    files: Files, data: bytes, content: str, about: dict[str, Any]
) -> None:
    files.write("t.txt", data)
    output = files.read("t.txt")
    assert output["content"] == content
    assert about.items() <= output.items()


def test_a_long_file_is_read_in_parts(files: Files) -> None:
    lines = [f"line {number} {'x' * 40}" for number in range(1, 3001)]
    files.write("long.txt", "\n".join(lines) + "\n")
    read, start = "", 1
    for _ in range(20):
        output = files.read("long.txt", startLine=start)
        assert len(output["content"]) <= 32_000
        read += output["content"] if read == "" else "\n" + output["content"]
        if "nextStartLine" not in output:
            break
        start = output["nextStartLine"]
    assert read == "\n".join(lines) + "\n"
    part = files.read("long.txt", startLine=10, limit=2)
    assert (part["content"], part["lines"]) == ("\n".join(lines[9:11]), "10-11")
    assert "past the end" in files.refused("readFile", "long.txt", startLine=3001)["message"]


def test_a_line_that_is_too_long_is_cut_and_said(files: Files) -> None:
    files.write("one.json", '"' + "x" * 100_000 + '"')
    output = files.read("one.json")
    assert len(output["content"]) == 32_000
    assert "too long to show" in output["cut"]


@pytest.mark.parametrize(
    ("name", "data", "hint"),
    [
        ("cars.parquet", b"PAR1\x00\x01", "pandas.read_parquet"),
        ("plot.png", b"\x89PNG\r\n\x1a\n\x00", "a cell's output"),
        ("x.bin", b"\x00\x01\x02", "a library"),
    ],
)
def test_what_is_no_text_is_refused_with_the_way_that_works(
    files: Files, name: str, data: bytes, hint: str
) -> None:
    files.write(name, data)
    error = files.refused("readFile", name)
    assert f"binary ({len(data)} bytes)" in error["message"]
    assert hint in error["hint"]
    assert "binary" in files.refused("writeFile", name, content="x")["message"]
    assert (files.folder / name).read_bytes() == data


def test_50_megabytes_are_refused_unread(files: Files) -> None:
    path = files.write("big.csv", "")
    os.truncate(path, 50_000_000)
    error = files.refused("readFile", "big.csv")
    assert error["code"] == "too_large"
    assert "50,000,000 bytes" in error["message"]
    assert files.refused("writeFile", "big.csv", content="x")["code"] == "too_large"


@pytest.mark.parametrize("tool", ["readFile", "editFile", "writeFile"])
@pytest.mark.parametrize(
    ("name", "said"), [("a.ipynb", "notebook"), ("a.lexical", "Lexical"), ("a.DLEX", "Lexical")]
)
def test_notebooks_and_lexical_documents_have_tools_of_their_own(
    files: Files, tool: str, name: str, said: str
) -> None:
    more = {"editFile": {"edits": [{"oldString": "a", "newString": "b"}]},
            "writeFile": {"content": "{}"}}  # fmt: skip
    error = files.refused(tool, name, **more.get(tool, {}))
    assert said in error["message"]
    assert not (files.folder / name).exists()


def test_a_missing_file_and_a_directory_are_said(files: Files) -> None:
    files.write("data.csv", "a\n1\n")
    error = files.refused("readFile", "date.csv")
    assert error["code"] == "not_found"
    assert f"Near: {files.name}/data.csv." in error["hint"]
    assert "listFiles" in files.refused("readFile", "nowhere/x.csv")["hint"]
    assert "is a directory" in files.refused("readFile", "")["message"]


# -- where


def test_paths_and_links_out_of_the_root_are_refused(files: Files, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("not yours")
    (files.folder / "link.txt").symlink_to(outside)
    (files.folder / "link").symlink_to(tmp_path, target_is_directory=True)
    for path in ("link.txt", "link/outside.txt", "../../../etc/passwd", "link/new.txt"):
        for tool, more in (
            ("readFile", {}),
            ("writeFile", {"content": "x"}),
            ("editFile", {"edits": [{"oldString": "not", "newString": "x"}]}),
        ):
            assert files.refused(tool, path, **more)["code"] == "not_allowed"
    assert files.refused("listFiles", "link")["code"] == "not_allowed"
    assert outside.read_text() == "not yours"
    assert not (tmp_path / "new.txt").exists()
    assert files.call("listFiles", "")["output"]["entries"] == [
        {"name": "link", "closed": "is outside the root"},
        {"name": "link.txt", "closed": "is outside the root"},
    ]


def test_a_link_inside_the_root_is_followed_and_stays_one(files: Files) -> None:
    target = files.write("real/a.txt", "one\n")
    link = files.folder / "a.txt"
    link.symlink_to("real/a.txt")
    assert files.read("a.txt")["content"] == "one\n"
    assert files.edit("a.txt", ("one", "two"))["ok"]
    assert link.is_symlink()
    assert target.read_text() == "two\n"


def test_hidden_files_and_links_to_them_follow_the_server(files: Files) -> None:
    files.write(".hidden/a.txt", "h")
    (files.folder / "seen.txt").symlink_to(".hidden/a.txt")
    for path in (".hidden/a.txt", "seen.txt"):
        error = files.refused("readFile", path)
        assert error["code"] in ("not_allowed", "not_found")
    assert files.refused("writeFile", ".new", content="x")["code"] == "not_allowed"
    assert files.refused("listFiles", ".hidden")["code"] == "not_allowed"
    assert ".hidden/" not in files.listed()


# -- listing


def test_a_listing_has_directories_first_with_sizes_and_times(files: Files) -> None:
    files.write("b.txt", "12345")
    files.write("sub/deep/c.csv", "x")
    files.write("A.csv", "x")
    output = files.call("listFiles", "")["output"]
    assert [each["name"] for each in output["entries"]] == ["sub/", "A.csv", "b.txt"]
    assert output["entries"][2]["bytes"] == 5
    assert output["entries"][2]["modified"].startswith("20")
    assert files.listed(pattern="*.csv") == ["A.csv", "sub/deep/c.csv"]
    assert files.listed(pattern="sub/*") == ["sub/deep/", "sub/deep/c.csv"]
    assert files.listed(depth=2) == ["sub/", "A.csv", "b.txt", "sub/deep/"]
    assert files.listed("sub", depth=99, limit=0) == ["deep/", "deep/c.csv"]


@pytest.mark.parametrize("arguments", [{}, {"path": ""}, {"path": "."}, {"path": "/"}])
def test_without_a_path_the_root_is_listed(files: Files, arguments: dict[str, str]) -> None:
    output = files.call("listFiles", **arguments)["output"]
    assert output["path"] == "/"
    assert {"name": f"{files.name}/"} in output["entries"]


def test_a_long_listing_says_how_to_go_on(files: Files) -> None:
    for number in range(230):
        files.write(f"f{number:03}.txt", "")
    output = files.call("listFiles", "")["output"]
    assert len(output["entries"]) == 200
    assert "30 more entries" in output["more"]
    assert "more" not in files.call("listFiles", "", limit=300)["output"]


def test_a_directory_that_links_to_itself_is_listed_once_a_level(files: Files) -> None:
    files.write("sub/a.txt", "")
    (files.folder / "sub" / "again").symlink_to(files.folder, target_is_directory=True)
    assert len(files.listed(depth=10, limit=1000)) < 30


# -- changing


def test_edits_are_made_all_or_none(files: Files) -> None:
    path = files.write("a.py", "x = 1\ny = 2\nx2 = 3\n")
    result = files.edit("a.py", ("x = 1", "x = 10"), ("y = 2", "y = 20"))
    assert result["ok"]
    assert path.read_text() == "x = 10\ny = 20\nx2 = 3\n"
    [change] = result["changes"]
    assert (change["op"], change["before"], change["after"]) == (
        "update", "x = 1\ny = 2\nx2 = 3\n", "x = 10\ny = 20\nx2 = 3\n",
    )  # fmt: skip
    failed = files.edit("a.py", ("x = 10", "x = 0"), ("y = 200", "y = 0"))
    assert failed["error"]["code"] == "invalid_arguments"
    assert "edits[1]" in failed["error"]["message"]
    assert failed["output"]["closest"] == {"line": 2, "content": "y = 20"}
    several = files.edit("a.py", ("x", "z"))
    assert "occurs 2 times" in several["error"]["message"]
    assert "lines 1, 3" in several["error"]["message"]
    assert path.read_text() == "x = 10\ny = 20\nx2 = 3\n"
    assert files.edit("a.py", ("x", "z"), replaceAll=True)["ok"]
    assert path.read_text() == "z = 10\ny = 20\nz2 = 3\n"


def test_an_edit_that_changes_nothing_says_so(files: Files) -> None:
    path = files.write("a.txt", "a\n")
    before = path.stat().st_mtime_ns
    result = files.edit("a.txt", ("a", "a"))
    assert result["output"]["unchanged"] is True
    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbfone\r\ntwo\r\n", b"\xef\xbb\xbfone\r\n2\r\n2b\r\n"),
        (b"one\r\ntwo\n", b"one\r\n2\r\n2b\n"),
        (b"one\rtwo", b"one\r2\r2b"),
        ("größe\none\ntwo".encode("latin-1"), "größe\none\n2\n2b".encode("latin-1")),
        ("one\r\ntwo\r\n".encode("utf-16"), "one\r\n2\r\n2b\r\n".encode("utf-16")),
    ],
)
def test_an_edit_keeps_encoding_line_ends_and_the_missing_last_one(
    files: Files, before: bytes, after: bytes
) -> None:
    path = files.write("a.txt", before)
    assert files.edit("a.txt", ("two", "2\n2b"))["ok"]
    assert path.read_bytes() == after


def test_a_character_that_the_encoding_lacks_is_refused(files: Files) -> None:
    path = files.write("a.txt", "größe".encode("latin-1"))
    error = files.edit("a.txt", ("größe", "größe →"))["error"]
    assert "'→'" in error["message"]
    assert path.read_bytes() == "größe".encode("latin-1")


def test_a_new_file_is_created_in_a_directory_that_exists(files: Files) -> None:
    result = files.call("writeFile", "notes.md", content="# Notes\n")
    assert result["ok"]
    assert result["changes"][0]["op"] == "create"
    assert (files.folder / "notes.md").read_text() == "# Notes\n"
    assert "no directory" in files.refused("writeFile", "no/where.md", content="")["message"]
    assert files.call("writeFile", "empty.txt", content="")["ok"]
    assert (files.folder / "empty.txt").read_bytes() == b""


def test_overwriting_keeps_line_ends_and_permissions(files: Files) -> None:
    path = files.write("run.sh", "#!/bin/sh\r\n")
    path.chmod(0o750)
    assert files.call("writeFile", "run.sh", content="#!/bin/bash\nls\n")["ok"]
    assert path.read_bytes() == b"#!/bin/bash\r\nls\r\n"
    assert path.stat().st_mode & 0o777 == 0o750


def test_a_file_that_cannot_be_written_is_not_said_to_be(files: Files) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everything")
    path = files.write("a.txt", "a")
    path.chmod(0o444)
    assert files.edit("a.txt", ("a", "b"))["error"]["code"] == "internal"
    assert path.read_text() == "a"


def test_many_edits_at_once_lose_none(files: Files) -> None:
    names = [f"n{number}" for number in range(12)]
    path = files.write("a.txt", "\n".join(f"{name}=0" for name in names) + "\n")
    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(lambda name: files.edit("a.txt", (f"{name}=0", f"{name}=1")), names))
    assert all(each["ok"] for each in done)
    assert path.read_text() == "\n".join(f"{name}=1" for name in names) + "\n"


@pytest.mark.parametrize("name", ["rows.csv", "rows.TSV", "rows.jsonl"])
def test_of_a_file_of_data_the_beginning_is_read_and_how_to_read_on(
    files: Files, name: str
) -> None:
    lines = [f"{number},a,b" for number in range(1, 1001)]
    files.write(name, "\n".join(lines) + "\n")
    output = files.read(name)
    assert output["content"].split("\n") == lines[:50]
    assert (output["lines"], output["nextStartLine"]) == ("1-50", 51)
    assert output["totalLines"] == 1000
    assert "in code" in output["note"]
    assert files.read(name, startLine=51)["nextStartLine"] == 101
    assert "note" not in files.read(name, limit=100)
    assert len(files.read(name, limit=1000)["content"].splitlines()) == 1000


def test_a_short_file_of_data_is_read_whole_and_a_wide_one_is_bounded(files: Files) -> None:
    files.write("short.csv", "a,b\n1,2\n")
    assert files.read("short.csv")["content"] == "a,b\n1,2\n"
    assert "note" not in files.read("short.csv")
    files.write("wide.csv", "\n".join(",".join("x" * 10 for _ in range(200)) for _ in range(60)))
    wide = files.read("wide.csv")
    assert len(wide["content"]) < 10_000
    assert wide["nextStartLine"] == 5
    files.write("notes.txt", "\n".join(f"line {number}" for number in range(200)))
    assert "nextStartLine" not in files.read("notes.txt")


@pytest.mark.parametrize("mode", ["ask", "edit"])
def test_ask_and_edit_only_read(files: Files, mode: str) -> None:
    path = files.write("a.txt", "a")
    listing = files.server.get("tools", mode=mode)["tools"]
    enabled = {each["name"] for each in listing if each["group"] == "file" and each["enabled"]}
    assert enabled == {"listFiles", "readFile"}
    body = {"arguments": {"path": f"{files.name}/a.txt", "content": "b"}, "mode": mode}
    result = files.server.post("tools/writeFile", body)
    assert "Agent mode" in result["error"]["message"]
    assert path.read_text() == "a"


@pytest.fixture(autouse=True)
def nothing_is_left_open(files: Files) -> Iterator[None]:
    yield
    # Every write goes by a file beside the target, which is gone afterwards.
    assert not [each for each in files.folder.rglob("*") if each.name.startswith(".~")]
