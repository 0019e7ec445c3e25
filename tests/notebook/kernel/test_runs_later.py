"""Which files something runs, or follows, by itself later."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.notebook.kernel.acts_in_kernel import runs_later, shadowed_module


@pytest.mark.parametrize(
    "path",
    [
        "tests/conftest.py", "sitecustomize.py", "AGENTS.md", "docs/agents.md", "CLAUDE.md",
        "jupyter_server_config.py", ".git/hooks/pre-commit", "a/.git/hooks/x", "a/.git/config",
        "/home/u/.ipython/profile_default/startup/00.py", "/home/u/.bashrc", ".mcp.json",
        ".github/workflows/ci.yml", "/usr/lib/python3/dist-packages/x.pth",
        "etc/jupyter/jupyter_server_config.d/x.json",
    ],
)  # fmt: skip
def test_something_runs_it(path: str) -> None:
    assert runs_later(path)


@pytest.mark.parametrize(
    "path",
    [
        "notes.md", "test_conftest.py", "conftest.py.bak", "hooks/pre-commit", "config",
        "startup/00.py", "x.pth", "workflows/ci.yml", "claude.txt", "git/hooks/x",
    ],
)  # fmt: skip
def test_nothing_runs_it(path: str) -> None:
    assert runs_later(path) is None


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("random.py", "random"),
        ("src/pandas.py", "pandas"),
        ("pandas.txt", None),
        ("no_such_module_anywhere.py", None),
    ],
)
def test_a_file_named_like_a_module_takes_its_place(path: str, module: str | None) -> None:
    assert shadowed_module(path) == module
