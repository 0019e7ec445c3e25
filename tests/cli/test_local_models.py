"""``jupyter datalayer-agent models``, with the user's files and a server in place of the hub."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.test_cli import environment
from tests.support.hub_server import HubServer
from tests.support.tiny_model import tiny_model

REPOSITORY = "makers/tiny-GGUF"


def models(
    folder: Path, *arguments: str, hub: HubServer | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``models`` with these arguments, with a home of its own."""
    nowhere = "http://127.0.0.1:9"
    env = environment(folder) | {
        "HF_HOME": str(folder / "hf"),
        "HF_ENDPOINT": nowhere if hub is None else hub.address,
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }
    return subprocess.run(
        [sys.executable, "-m", "jupyter_datalayer_agent.cli", "models", *arguments],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def test_a_file_is_added_listed_and_removed(tmp_path: Path) -> None:
    file = tiny_model(tmp_path / "tiny.gguf")
    added = models(tmp_path, "add", "tiny.gguf", "--name", "mine", "--context", "1024")
    assert added.returncode == 0, added.stderr
    assert "Added local/mine: Tiny random Llama, 0.4 MB." in added.stdout
    assert str(file) in added.stdout
    assert "of memory with a context window of 1,024 tokens; " in added.stdout
    again = models(tmp_path, "add", "tiny.gguf", "--name", "mine")
    assert again.returncode == 2
    assert "The name mine is already used" in again.stderr
    file.rename(tmp_path / "moved.gguf")
    listed = models(tmp_path, "list")
    assert "local/mine  On this computer, mine (needs 1.0 MB)\n  The file of mine is missing" in (
        listed.stdout
    )
    removed = models(tmp_path, "remove", "mine")
    assert removed.returncode == 0
    assert (tmp_path / "moved.gguf").exists()
    assert "No local model is called mine" in models(tmp_path, "remove", "mine").stderr


def test_what_is_no_model_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "page.gguf").write_text("<html>Log in to download</html>")
    for arguments, reason in (
        (("add", "page.gguf"), "is not a GGUF file"),
        (("add", "none.gguf"), "none.gguf does not exist"),
        (("add", "."), "is a folder"),
        (("remove", "none"), "No local model is called none"),
        (("add", "hf:makers/tiny-GGUF"), "Write it as hf:OWNER/REPOSITORY/FILE.gguf"),
        (("add", "hf:makers/tiny/../secrets.gguf"), "Write it as hf:OWNER/REPOSITORY/FILE.gguf"),
        (("add", "hf:makers/tiny/file.safetensors"), "Write it as hf:OWNER/REPOSITORY/FILE.gguf"),
    ):
        failed = models(tmp_path, *arguments)
        assert failed.returncode == 2
        assert reason in failed.stderr
        assert "Traceback" not in failed.stderr


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[HubServer]:
    content = tiny_model(tmp_path / "source.gguf").read_bytes()
    with HubServer({f"{REPOSITORY}/q4/tiny.gguf": content}) as hub:
        yield hub


def test_a_file_of_the_hub_is_fetched_compared_and_added(tmp_path: Path, hub: HubServer) -> None:
    name = f"hf:{REPOSITORY}/q4/tiny.gguf"
    added = models(tmp_path, "add", name, "--json", hub=hub)
    assert added.returncode == 0, added.stderr
    assert "Downloading q4/tiny.gguf (0.4 MB) from makers/tiny-GGUF" in added.stderr
    model = json.loads(added.stdout)
    assert model["id"] == "local/tiny"
    fetched, source = Path(model["path"]), tmp_path / "source.gguf"
    assert tmp_path / "hf" in fetched.parents
    assert hashlib.sha256(fetched.read_bytes()).digest() == (
        hashlib.sha256(source.read_bytes()).digest()
    )
    # From the cache, this time.
    assert models(tmp_path, "add", name, "--name", "twice", hub=hub).returncode == 0
    assert hub.ranges == [None]


def test_a_connection_that_breaks_goes_on_where_it_was(tmp_path: Path, hub: HubServer) -> None:
    # The library writes 10 MB at a time. What follows the last tensor is of no account.
    hub.files[f"{REPOSITORY}/q4/tiny.gguf"] += bytes(24_000_000)
    hub.breaks_at = 15_000_000
    added = models(tmp_path, "add", f"hf:{REPOSITORY}/q4/tiny.gguf", hub=hub)
    assert added.returncode == 0, added.stderr
    assert hub.ranges[0] is None
    assert hub.ranges[1] is not None
    assert 0 < int(hub.ranges[1].removeprefix("bytes=").partition("-")[0]) <= 15_000_000


def test_other_content_than_the_hub_names_is_deleted(tmp_path: Path, hub: HubServer) -> None:
    hub.flips = True
    refused = models(tmp_path, "add", f"hf:{REPOSITORY}/q4/tiny.gguf", hub=hub)
    assert refused.returncode == 2
    assert "its size or SHA-256 differs from the hub's" in refused.stderr
    assert not [each for each in (tmp_path / "hf").rglob("*.gguf") if each.exists()]
    hub.flips = False
    assert models(tmp_path, "add", f"hf:{REPOSITORY}/q4/tiny.gguf", hub=hub).returncode == 0


def test_what_the_hub_does_not_have_and_no_hub_at_all_are_named(
    tmp_path: Path, hub: HubServer
) -> None:
    no_file = models(tmp_path, "add", f"hf:{REPOSITORY}/other.gguf", hub=hub)
    assert "makers/tiny-GGUF has no file other.gguf on the hub" in no_file.stderr
    none = models(tmp_path, "add", "hf:nobody/nothing/tiny.gguf", hub=hub)
    assert "The hub has no public repository nobody/nothing" in none.stderr
    unreachable = models(tmp_path, "add", f"hf:{REPOSITORY}/q4/tiny.gguf")
    assert "tiny.gguf could not be downloaded" in unreachable.stderr
    for failed in (no_file, none, unreachable):
        assert failed.returncode == 2
        assert "Traceback" not in failed.stderr
    assert not list((tmp_path / "hf").rglob("*.gguf"))
