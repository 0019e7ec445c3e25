"""Files are opened first and checked then, and each call that opens one is known."""

from __future__ import annotations

import ast
import os
import threading
from pathlib import Path

import pytest

from jupyter_datalayer_agent.opening import NotRead, opened, read

PACKAGE = Path(__file__).parents[1] / "jupyter_datalayer_agent"


def test_a_link_that_leads_out_is_refused_and_one_that_stays_is_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "a.txt").write_text("inside")
    (tmp_path / "b.txt").write_text("outside")
    (root / "in").symlink_to("sub/a.txt")
    (root / "out").symlink_to("../b.txt")
    (root / "folder").symlink_to("..")
    assert read(root / "in", 10, str(root)) == b"inside"
    for name in ("out", "folder/b.txt", "../b.txt"):
        with pytest.raises(NotRead, match="leads out"):
            read(root / name, 10, str(root))
    # The root itself may be a link.
    (tmp_path / "link").symlink_to("root")
    assert read(tmp_path / "link" / "in", 10, str(tmp_path / "link")) == b"inside"
    with pytest.raises(FileNotFoundError):
        read(root / "none", 10, str(root))


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="Linux only")
def test_files_of_the_system_are_refused_under_any_root(tmp_path: Path) -> None:
    with pytest.raises(NotRead, match="file of the system"):
        read("/proc/self/environ", 1_000_000, "/")
    (tmp_path / "a").symlink_to("/proc/self/environ")
    with pytest.raises(NotRead, match="file of the system"):
        read(tmp_path / "a", 1_000_000)


def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", tmp_path, Path("/dev/zero")):
        with pytest.raises(NotRead, match="not a regular file"):
            read(path, 10)


def test_no_more_is_read_than_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "big").touch()
    os.truncate(tmp_path / "big", 50_000_000_000)
    with pytest.raises(NotRead, match="at most 10 are read"):
        read(tmp_path / "big", 10)


def test_a_file_that_is_replaced_while_it_is_opened_never_leads_out(tmp_path: Path) -> None:
    """A check of the path before it is opened fails this within some hundred tries."""
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_text("outside")
    (root / "good").write_text("inside")
    os.mkfifo(root / "fifo")
    path, ended = root / "a.txt", threading.Event()

    def swap() -> None:
        while not ended.is_set():
            for target in ("good", "../secret", "fifo"):
                (root / "new").symlink_to(target)
                (root / "new").replace(path)

    (root / "new").symlink_to("good")
    (root / "new").replace(path)
    thread = threading.Thread(target=swap)
    thread.start()
    found: list[bytes | str] = []
    try:
        # The other thread may not get to run for a while.
        while len(found) < 3_000 or found.count(b"inside") <= 10 or len(set(found)) == 1:
            try:
                with opened(path, str(root)) as file:
                    found.append(file.read(100))
            except NotRead as error:
                found.append(str(error))
    finally:
        ended.set()
        thread.join()
    assert b"outside" not in found


OURS = "a file of the package, or that the agent itself wrote"
USER = "a file in a directory of the user's own, or that the user names on the command line"
SYSTEM = "what the operating system says"
APART = "in a process of its own or in a kernel, of a path that was checked; Stop ends it"

# Each module that opens files but by `opening`, and what it opens. A module that opens what others
# may have put into the server's root does so by `opening.opened` or `opening.read`.
OTHERS = {
    "agent/context/system_prompt.py": OURS,
    "benchmark/cases.py": OURS,
    "benchmark/tasks/task.py": OURS,
    "benchmark/tasks/runner.py": OURS,
    "cli/benchmark.py": USER,
    "cli/commands.py": USER,
    "cli/private_server.py": SYSTEM,
    "datasets/conversion_process.py": OURS,
    "datasets/convert/conversion.py": APART,
    "datasets/convert/tables.py": APART,
    "datasets/convert/text.py": APART,
    "datasets/dialect/__init__.py": OURS,
    "datasets/dialect/file.py": APART,
    "datasets/files/operations.py": APART,
    "datasets/folder.py": OURS,
    "datasets/in_kernel/__init__.py": OURS,
    "datasets/in_kernel/load.py": APART,
    "datasets/incoming.py": OURS,
    "magic/startup.py": USER,
    "models/connections/registry.py": USER,
    "models/connections/key_store.py": USER,
    "models/local/added_models.py": USER,
    "models/local/gguf.py": USER,
    "models/local/hub.py": USER,
    "models/local/llama_process/__main__.py": SYSTEM,
    "models/local/servers.py": SYSTEM,
    "notebook/kernel/acts.py": OURS,
    "notebook/kernel/acts_in_kernel.py": APART,
    "notebook/kernel/confinement.py": SYSTEM,
    "notebook/kernel/libraries/__init__.py": OURS,
    "notebook/kernel/process.py": SYSTEM,
    "notebook/kernel/process_tree.py": SYSTEM,
    "notebook/kernel/scratch.py": OURS,
    "notebook/kernel/variables/__init__.py": OURS,
    "opening.py": OURS,
    "running_servers.py": USER,
    "services/benchmarks.py": OURS,
    "settings/docs_table.py": OURS,
    "settings/layers.py": USER,
    "store/file/database.py": USER,
    "store/file/file_system.py": SYSTEM,
    "store/file/servers.py": USER,
    "tools/mcp/state_file.py": USER,
    "tools/mcp/server_log.py": OURS,
    "tools/scaled_picture.py": APART,
    "workflows/templates/builtin/in_kernel/__init__.py": OURS,
    "workflows/tutorials/in_kernel/__init__.py": OURS,
    "workflows/tutorials/lesson.py": OURS,
    "workflows/tutorials/starting.py": OURS,
}


def test_every_module_that_opens_files_in_another_way_is_known() -> None:
    found = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if "labextension" not in path.parts and _opens(ast.parse(path.read_text("utf-8")))
    }
    new = sorted(found - set(OTHERS))
    assert not new, f"Open files by jupyter_datalayer_agent.opening, or list what these open: {new}"
    assert not set(OTHERS) - found, "These open none any more."


def _opens(tree: ast.AST) -> bool:
    """Whether the code has a call, or hands over a method, that opens a file for reading."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in ("read_text", "read_bytes"):
            return True
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id == "open":
            return True
        if isinstance(called, ast.Attribute) and called.attr in ("open", "fdopen"):
            on = called.value.id if isinstance(called.value, ast.Name) else ""
            if on in ("os", "io", "gzip", "bz2", "lzma", "Image") or _is_mode(node):
                return True
    return False


def _is_mode(call: ast.Call) -> bool:
    return any(
        isinstance(each, ast.Constant) and each.value in ("r", "rb", "r+b", "w", "wb")
        for each in call.args[:1]
    ) or any(each.arg in ("encoding", "newline") for each in call.keywords)
