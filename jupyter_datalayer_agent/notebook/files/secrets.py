"""Which files hold secrets, by their names and places: keys, tokens, passwords.

Names are compared without regard to case, and so is each directory on the way. A file whose name
gives nothing away is recognised by a private key at the beginning of a line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

_NAMES = frozenset(
    [
        ".bash_history", ".env", ".envrc", ".git-credentials", ".htpasswd", ".my.cnf", ".netrc",
        ".npmrc", ".pgpass", ".pypirc", ".python_history", ".renviron", ".vault-token", "_netrc",
        "application_default_credentials.json", "credentials.json", "jupyter_cookie_secret",
        "kaggle.json", "kubeconfig", ".mcp.json", "mcp.json", "notebook_secret", "secrets.json",
        "secrets.toml", "secrets.yaml", "secrets.yml",
    ]
)  # fmt: skip
_DIRECTORIES = frozenset([".aws", ".azure", ".gnupg", ".kube", ".ssh"])
_ENDS = (
    ".env", ".jks", ".kdbx", ".key", ".keystore", ".kubeconfig", ".p12", ".pem", ".pfx", ".ppk",
)  # fmt: skip
_PLACES = (
    (".cargo", "credentials.toml"),
    (".config", "gcloud"),
    (".config", "gh"),
    (".config", "rclone"),
    (".docker", "config.json"),
    (".git", "config"),
    (".huggingface", "token"),
    ("huggingface", "token"),
)
_PATTERN = re.compile(
    r"\.env[._-].*"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:[._-].*)?"
    r"|client_secrets?(?:[._-].*)?\.json"
    r"|service[_-]account(?:[._-].*)?\.json"
    r"|(?:jpserver|nbserver)-.*\.(?:json|html)"
    r"|jupyter_\w*config\.(?:py|json)"
)
_HARMLESS = re.compile(r"\.env[._-](?:example|sample|template|dist|defaults?|schema)|id_\w+\.pub")
_PRIVATE_KEY = re.compile(r"^-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY", re.MULTILINE)


def is_secret_name(path: str) -> bool:
    """Whether a file at this path (``/`` between its parts) holds secrets, by its name."""
    *folders, name = [part.lower() for part in PurePosixPath(path).parts] or [""]
    if not _DIRECTORIES.isdisjoint([*folders, name]):
        return True
    if any(_within(place, [*folders, name]) for place in _PLACES):
        return True
    if _HARMLESS.fullmatch(name):
        return False
    return name in _NAMES or name.endswith(_ENDS) or _PATTERN.fullmatch(name) is not None


def _within(place: tuple[str, ...], parts: list[str]) -> bool:
    size = len(place)
    return any(tuple(parts[at : at + size]) == place for at in range(len(parts) - size + 1))


def is_within(real: str, places: Iterable[Path]) -> bool:
    """Whether this real, absolute path is one of the places, or below one."""
    path = Path(real)
    return any(path == place or place in path.parents for place in places)


def jupyter_places() -> list[Path]:
    """Where Jupyter and the agent keep secrets: tokens of running servers and keys of kernels,
    conversations, keys of model providers."""
    from jupyter_core.paths import jupyter_data_dir, jupyter_runtime_dir

    return [
        Path(os.path.realpath(jupyter_runtime_dir())),
        Path(os.path.realpath(jupyter_data_dir())) / "datalayer-agent",
    ]


def holds_private_key(content: str) -> bool:
    """Whether the text has a private key in it."""
    return "PRIVATE KEY" in content and _PRIVATE_KEY.search(content) is not None
