"""Which names and places hold secrets, and which only look like it."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.app import database_files
from jupyter_datalayer_agent.notebook.files.text_files import (
    holds_private_key,
    is_secret_name,
    is_within,
    jupyter_places,
)


@pytest.mark.parametrize(
    "path",
    [
        ".env", "app/.env.local", ".envrc", ".ENV", "prod.env", "a/id_rsa", "id_ed25519.old",
        "tls/server.key", "server.PEM", ".ssh/config", "home/.ssh", ".aws/credentials",
        ".kube/config", ".netrc", ".pypirc", ".npmrc", ".git-credentials", ".git/config",
        ".docker/config.json", ".cache/huggingface/token", "kubeconfig", "dev.kubeconfig",
        "client_secret_12.json", "service_account.json", "jupyter_notebook_config.py",
    ],
)  # fmt: skip
def test_these_hold_secrets(path: str) -> None:
    assert is_secret_name(path)


@pytest.mark.parametrize(
    "path",
    [
        "environment.yml", "env.yaml", "key_metrics.csv", "monkey.py", "keyboard.md", "id_rsa.pub",
        ".env.example", ".env.template", "docker/config.json", "ssh/config", "tokens.csv", "token",
        "git/config", "secrets.py", "my_service_accounts.csv", "jupyter_config_notes.md", "",
        "credentials_demo.ipynb", "donkey", "turkey.csv", "envelope.env.txt", ".environment",
    ],
)  # fmt: skip
def test_these_do_not(path: str) -> None:
    assert not is_secret_name(path)


def test_places_of_jupyter_and_the_agent() -> None:
    runtime, ours = jupyter_places()
    assert is_within(str(runtime / "jpserver-1.json"), [runtime, ours])
    assert is_within(str(ours / "agent.db"), [runtime, ours])
    assert not is_within(str(ours.parent / "kernels" / "x.json"), [runtime, ours])


def test_the_files_of_a_database_elsewhere() -> None:
    names = [path.name for path in database_files("sqlite:////srv/mine.db")]
    assert names == ["mine.db", "mine.db-wal", "mine.db-shm", "mine.db-journal"]


def test_a_private_key_is_recognised_at_the_beginning_of_a_line() -> None:
    assert holds_private_key("x\n-----BEGIN OPENSSH PRIVATE KEY-----\n")
    assert holds_private_key("-----BEGIN PRIVATE KEY-----\n")
    assert not holds_private_key("-----BEGIN PUBLIC KEY-----\n")
    assert not holds_private_key("it says `-----BEGIN PRIVATE KEY-----`\n")
