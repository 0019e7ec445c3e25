"""Where data sets are: inside the root, without links, and without what dead servers left."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_datalayer_agent.datasets.folder import DatasetFolder
from jupyter_datalayer_agent.datasets.service import Datasets, no_datasets
from jupyter_datalayer_agent.protocol.errors import AgentError


@pytest.mark.parametrize(
    "link", [".datalayer", ".datalayer/datasets", ".datalayer/datasets/.incoming"]
)
def test_a_link_on_the_way_is_refused(tmp_path: Path, link: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    outside.mkdir()
    (root / link).parent.mkdir(parents=True)
    (root / link).symlink_to(outside, target_is_directory=True)
    with pytest.raises(AgentError, match="is a link") as raised:
        DatasetFolder(str(root)).new_work()
    assert raised.value.code == "forbidden"
    assert list(outside.iterdir()) == []


def test_a_link_in_the_place_of_a_data_set_is_none(tmp_path: Path) -> None:
    folder = DatasetFolder(str(tmp_path))
    (folder.open() / "secret.parquet").symlink_to("/etc/passwd")
    (tmp_path / "linked").symlink_to(folder.open(), target_is_directory=True)
    (folder.open() / "own.parquet").touch()
    assert folder.file_at(folder.relative("own")) == folder.open() / "own.parquet"
    for path in (folder.relative("secret"), "linked/own.parquet", "../../x", "a\0b", ""):
        assert folder.file_at(path) is None


def test_a_name_that_is_taken_is_never_overwritten(tmp_path: Path) -> None:
    folder = DatasetFolder(str(tmp_path))
    names = []
    for text in ("one", "two", "three"):
        table = folder.new_work() / "table"
        table.write_text(text)
        names.append(folder.place(table, "t"))
        assert not table.exists()
    assert names == ["t", "t_2", "t_3"]
    assert (folder.open() / "t.parquet").read_text() == "one"


def test_without_hard_links_it_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*paths: Path) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", link)
    test_a_name_that_is_taken_is_never_overwritten(tmp_path)


def test_what_a_killed_server_left_goes_with_the_next_upload(tmp_path: Path) -> None:
    folder = DatasetFolder(str(tmp_path))
    mine = folder.new_work()
    code = (
        "import sys; from jupyter_datalayer_agent.datasets.folder import DatasetFolder\n"
        f"work = DatasetFolder({str(tmp_path)!r}).new_work(); (work / 'upload').touch()\n"
        "print(work, flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with other:
        assert other.stdout is not None
        theirs = Path(other.stdout.readline().strip())
        folder.new_work()
        assert theirs.exists()
        other.kill()
    folder.new_work()
    assert not theirs.exists()
    assert mine.exists()


def test_a_server_without_files_says_why_it_takes_no_upload() -> None:
    with pytest.raises(AgentError, match="contents manager"):
        no_datasets().begin()
    with pytest.raises(AgentError, match="contents manager"):
        Datasets(None, None, lambda: 1).begin(5)
