"""What ``make lab`` and ``make test`` are made of: steps that are shown, the example's copy."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "cars.ipynb"


def step(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / "scripts" / "step.sh", "test", "Trying it (a second)", *command],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": "/usr/bin:/bin", "STEP_EVERY": "1"},
    )


def own_notebook(copy: Path) -> None:
    script = ROOT / "scripts" / "own_notebook.py"
    subprocess.run([sys.executable, script, EXAMPLE, copy], check=True, timeout=60)


def test_a_step_says_what_it_does_and_what_it_is_at() -> None:
    done = step("sh", "-c", r"printf '\033[1mFetching\033[0m\n'; sleep 1.5")
    assert done.returncode == 0
    first, at, *_, last = done.stdout.splitlines()
    assert first == "Trying it (a second) …"
    assert at.strip().endswith("s: Fetching")
    assert "done in" in last


def test_a_step_that_fails_shows_all_that_it_printed_and_fails() -> None:
    done = step("sh", "-c", "echo one; echo two >&2; exit 3")
    assert done.returncode == 3
    assert "one\ntwo\n" in done.stderr
    assert "exit 3" in done.stderr


def test_the_copy_names_the_kernels_language_as_the_kernel_does(tmp_path: Path) -> None:
    """Else JupyterLab marks a notebook as changed that a user has only opened."""
    own_notebook(tmp_path / "my.ipynb")
    manager, client = start_new_kernel()
    try:
        info = client.kernel_info(reply=True, timeout=60)["content"]["language_info"]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.context.destroy(linger=100)
    copied = json.loads((tmp_path / "my.ipynb").read_text())
    assert copied["metadata"]["language_info"] == info
    assert copied["cells"] == json.loads(EXAMPLE.read_text())["cells"]


def test_what_a_user_made_of_the_copy_is_never_overwritten(tmp_path: Path) -> None:
    copy = tmp_path / "my.ipynb"
    copy.write_text("mine")
    own_notebook(copy)
    assert copy.read_text() == "mine"


def uv_settings(config: str) -> dict[str, str]:
    info: dict[str, str] = runpy.run_path(str(ROOT / "scripts/uv_settings.py"))["settings"](config)
    return info


def test_settings_of_pip_are_passed_to_uv_in_its_own_words() -> None:
    config = (
        "global.index-url='https://pypi.example/simple'\n"
        "global.extra-index-url='https://a.example/simple\\nhttps://b.example/simple'\n"
        "install.find-links='/one /two'\nglobal.cert='/etc/old.pem'\n:env:.cert='/etc/ca.pem'\n"
        "global.progress-bar='off'\n"
    )
    assert uv_settings(config) == {
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_DEFAULT_INDEX": "https://pypi.example/simple",
        "UV_INDEX": "https://a.example/simple https://b.example/simple",
        "UV_FIND_LINKS": "/one,/two",
        "SSL_CERT_FILE": "/etc/ca.pem",
    }
    assert uv_settings("") == {"UV_INDEX_STRATEGY": "unsafe-best-match"}


def test_what_only_pip_knows_leaves_it_to_pip() -> None:
    with pytest.raises(SystemExit, match=r"global\.client-cert"):
        uv_settings("global.client-cert='/etc/mine.pem'\n")
