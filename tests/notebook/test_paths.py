"""No path leads out of the root."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_datalayer_agent.notebook.document import DocumentError
from jupyter_datalayer_agent.notebook.paths import resolve_path

from .support import code, world, write_notebook


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "a b.ipynb").touch()
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "s.ipynb").touch()
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "link.ipynb").symlink_to(tmp_path / "secret" / "s.ipynb")
    (root / "dangling").symlink_to(tmp_path / "nowhere")
    (root / "inner").symlink_to(root / "sub")
    return root


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a.ipynb", "a.ipynb"),
        ("/a.ipynb", "a.ipynb"),
        ("./sub//a b.ipynb", "sub/a b.ipynb"),
        ("sub/../a.ipynb", "a.ipynb"),
        ("RTC:sub/a.ipynb", "sub/a.ipynb"),
        ("inner/a b.ipynb", "inner/a b.ipynb"),
        ("new/deep/x.ipynb", "new/deep/x.ipynb"),
        ("file://{root}/sub/a%20b.ipynb", "sub/a b.ipynb"),
        ("{root}/sub/a b.ipynb", "sub/a b.ipynb"),
        ("http://localhost:8888/lab/tree/sub/a%20b.ipynb", "sub/a b.ipynb"),
        ("http://localhost:8888/user/x/lab/workspaces/auto-1/tree/a.ipynb", "a.ipynb"),
        ("jupyter://sub/a.ipynb", "sub/a.ipynb"),
        ("notes..txt", "notes..txt"),
    ],
)
def test_a_path_or_uri_becomes_relative_to_the_root(root: Path, given: str, expected: str) -> None:
    assert resolve_path(given.replace("{root}", str(root)), str(root)) == expected


@pytest.mark.parametrize(
    "given",
    [
        "../secret/s.ipynb",
        "sub/../../secret/s.ipynb",
        "/../secret/s.ipynb",
        "link/s.ipynb",
        "link/new.ipynb",
        "link.ipynb",
        "dangling",
        "dangling/x",
        "file:///etc/passwd",
        "file://{root}/../secret/s.ipynb",
        "file://elsewhere{root}/a.ipynb",
        "http://h/lab/tree/%2e%2e/secret/s.ipynb",
        "RTC:../secret/s.ipynb",
    ],
)
def test_a_path_out_of_the_root_is_refused(root: Path, given: str) -> None:
    with pytest.raises(DocumentError) as refused:
        resolve_path(given.replace("{root}", str(root)), str(root))
    assert refused.value.code == "not_allowed"
    assert "outside" in refused.value.message


@pytest.mark.parametrize("given", ["", "a\0b", "http://host/elsewhere"])
def test_what_is_no_path_is_refused(root: Path, given: str) -> None:
    with pytest.raises(DocumentError) as refused:
        resolve_path(given, str(root))
    assert refused.value.code == "invalid_arguments"


def test_an_absolute_path_elsewhere_is_taken_below_the_root(root: Path) -> None:
    assert resolve_path("/etc/passwd", str(root)) == "etc/passwd"


def test_a_root_that_is_itself_a_link_works(tmp_path: Path, root: Path) -> None:
    alias = tmp_path / "alias"
    alias.symlink_to(root)
    assert resolve_path(f"{root}/sub/a b.ipynb", str(alias)) == "sub/a b.ipynb"
    assert resolve_path("sub/a b.ipynb", str(alias)) == "sub/a b.ipynb"


def test_without_files_the_text_of_the_path_is_checked() -> None:
    assert resolve_path("a/b.ipynb", None) == "a/b.ipynb"
    with pytest.raises(DocumentError):
        resolve_path("../b.ipynb", None)


async def test_the_service_opens_nothing_outside_the_root_and_nothing_hidden(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        outside = write_notebook(tmp_path / "outside", [code("a", "1")])
        (w.root / "link.ipynb").symlink_to(outside)
        write_notebook(w.root, [code("a", "1")], ".hidden.ipynb")
        refusals = []
        for path in ("../outside/a.ipynb", "link.ipynb", ".hidden.ipynb"):
            with pytest.raises(DocumentError) as refused:
                await w.service.open(path)
            refusals.append(refused.value.code)
        with pytest.raises(DocumentError):
            await w.service.create("../outside/b.ipynb", None)

    assert refusals == ["not_allowed"] * 3
