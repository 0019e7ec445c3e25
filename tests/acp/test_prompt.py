"""Content blocks as messages with attachments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from acp.schema import (
    AudioContentBlock,
    BlobResourceContents,
    EmbeddedResourceContentBlock,
    ResourceContentBlock,
    TextResourceContents,
)

from jupyter_datalayer_agent.acp.session import PromptRefused, file_of, read_prompt
from tests.acp.editor import link, text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    for name in ("one.ipynb", "two.ipynb", "a file.csv"):
        (root / name).touch()
    return root


def embedded(resource: Any) -> EmbeddedResourceContentBlock:
    return EmbeddedResourceContentBlock(type="resource", resource=resource)


def test_links_are_attachments_and_stand_in_the_text_by_their_paths(root: Path) -> None:
    blocks = [text("Compare "), link(root / "one.ipynb"), text(" with "), link(root / "a file.csv")]
    prompt = read_prompt([*blocks, link(root / "one.ipynb")], root)
    assert prompt.message == "Compare one.ipynb with a file.csv one.ipynb"
    assert prompt.attachments == [
        {"kind": "notebook", "path": "one.ipynb"},
        {"kind": "file", "path": "a file.csv"},
    ]
    assert prompt.notebooks == ["one.ipynb"]


def test_a_part_of_a_file_is_named_and_an_address_is_a_link(root: Path) -> None:
    part = ResourceContentBlock(
        type="resource_link", name="a", uri=f"{(root / 'a file.csv').as_uri()}#L3-L5"
    )
    page = ResourceContentBlock(
        type="resource_link", name="the docs", uri="https://example.org/docs"
    )
    prompt = read_prompt([part, text(" and "), page], root)
    assert prompt.message == "a file.csv#L3-L5 and [the docs](https://example.org/docs)"
    assert prompt.attachments == [{"kind": "file", "path": "a file.csv"}]


def test_what_is_embedded_is_text_and_a_notebook_is_attached_all_the_same(root: Path) -> None:
    draft = TextResourceContents(uri=(root / "draft.md").as_uri(), text="```py\n1\n```")
    notebook = TextResourceContents(uri=(root / "two.ipynb").as_uri(), text='{"cells": []}')
    prompt = read_prompt([text("See "), embedded(draft), text(", "), embedded(notebook)], root)
    assert prompt.message == "See draft.md, two.ipynb\n\ndraft.md:\n````\n```py\n1\n```\n````"
    assert prompt.attachments == [{"kind": "notebook", "path": "two.ipynb"}]


def test_a_notebook_that_the_text_mentions_counts_if_it_is_there(root: Path) -> None:
    prompt = read_prompt([text("@gone.ipynb @two.ipynb, then "), link(root / "one.ipynb")], root)
    assert prompt.notebooks == ["one.ipynb", "two.ipynb"]
    assert read_prompt([text("Fill @two.ipynb")], root).notebooks == ["two.ipynb"]


@pytest.mark.parametrize("name", ["../outside.csv", "../root-too/x.csv", "link.csv"])
def test_nothing_outside_the_root_is_sent(root: Path, name: str) -> None:
    (root.parent / "outside.csv").touch()
    (root / "link.csv").symlink_to(root.parent / "outside.csv")
    uri = f"{root.as_uri()}/{name}"
    block = ResourceContentBlock(type="resource_link", name="x", uri=uri)
    if name == "link.csv":
        # The server, which follows links, refuses it.
        assert read_prompt([block], root).attachments == [{"kind": "file", "path": "link.csv"}]
        return
    with pytest.raises(PromptRefused, match="is outside the root folder"):
        read_prompt([block], root)


def test_what_is_no_text_is_refused_unless_it_is_a_file_of_the_project(root: Path) -> None:
    blob = BlobResourceContents(uri=(root / "a file.csv").as_uri(), blob="AAAA")
    assert read_prompt([embedded(blob)], root).attachments == [
        {"kind": "file", "path": "a file.csv"}
    ]
    with pytest.raises(PromptRefused, match="is not text"):
        read_prompt([embedded(BlobResourceContents(uri="zed:///x", blob="AAAA"))], root)
    with pytest.raises(PromptRefused, match="not audio content"):
        read_prompt([AudioContentBlock(type="audio", data="", mime_type="audio/wav")], root)


def test_only_files_of_this_machine_are_files() -> None:
    assert file_of("file:///a%20b/c%2520d") == Path("/a b/c%20d")
    assert file_of("file://localhost/a/../b") == Path("/b")
    assert file_of("/a/b") == Path("/a/b")
    assert file_of("file://elsewhere/a") is None
    assert file_of("https://example.org/a") is None
    assert file_of("a/b") is None
