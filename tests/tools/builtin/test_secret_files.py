"""Files that hold secrets are closed to the file tools, and near misses are not."""

from __future__ import annotations

import pytest

from tests.tools.builtin.conftest import Files

SECRETS = [
    ".env", "prod.env", "server.pem", "tls.KEY", "id_rsa", "id_ed25519_work", "kubeconfig",
    "credentials.json", "service-account-prod.json", "secrets.toml", "jupyter_server_config.json",
    "jupyter_cookie_secret", "jpserver-12.json", "kaggle.json", "mcp.json",
]  # fmt: skip
NEAR = [
    "environment.yml", "key_metrics.csv", "monkey.py", "id_rsa.pub", "keys.md", "tokenizer.json",
    "env.py", "secret_santa.csv", "credentials.md", "kernel.json", "config.json", "kernel-1.json",
]  # fmt: skip


@pytest.mark.parametrize("name", [each for each in SECRETS if not each.startswith(".")])
def test_secrets_are_neither_read_nor_changed(files: Files, name: str) -> None:
    path = files.write(name, "PASSWORD=hunter2\n")
    for tool, more in (
        ("readFile", {}),
        ("writeFile", {"content": "x"}),
        ("editFile", {"edits": [{"oldString": "hunter2", "newString": "x"}]}),
    ):
        result = files.call(tool, name, **more)
        assert result["error"]["code"] == "not_allowed"
        assert "hunter2" not in str(result)
    assert path.read_text() == "PASSWORD=hunter2\n"
    entry = files.call("listFiles", "")["output"]["entries"]
    assert entry == [{"name": name, "closed": "holds secrets"}]


@pytest.mark.parametrize("name", NEAR)
def test_near_misses_are_no_secrets(files: Files, name: str) -> None:
    files.write(name, "hello\n")
    assert files.read(name)["content"] == "hello\n"
    assert files.edit(name, ("hello", "bye"))["ok"]


def test_a_secret_by_a_link_and_a_key_under_another_name_are_closed(files: Files) -> None:
    files.write("tls.pem", "hunter2")
    (files.folder / "notes.txt").symlink_to("tls.pem")
    files.write("mine.txt", "my key\n-----BEGIN RSA PRIVATE KEY-----\nhunter2\n")
    files.write("doc.md", "A file begins with `-----BEGIN PRIVATE KEY-----`.\n")
    for name in ("notes.txt", "mine.txt"):
        error = files.refused("readFile", name)
        assert "holds secrets" in error["message"]
    assert files.read("doc.md")["content"].startswith("A file")


def test_a_secret_that_the_caller_names_is_open(files: Files) -> None:
    files.write("tls.pem", "hunter2")
    path = f"{files.name}/tls.pem"
    body = {"arguments": {"path": path}, "path": path}
    assert files.server.post("tools/readFile", body)["output"]["content"] == "hunter2"
    other = {"arguments": {"path": path}, "path": f"{files.name}/other.txt"}
    assert not files.server.post("tools/readFile", other)["ok"]
