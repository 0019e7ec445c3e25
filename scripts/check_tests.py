"""Fails where a test configuration, or a command that runs tests, lists no test, and where a test
file is in no configuration.

    python scripts/check_tests.py [folder]

Nothing is listed here by hand. The configurations are the files of Playwright and jest in the
repository; the commands are those of pytest in the Makefile and in scripts/. Each is asked by the
program that runs it, without running a test.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PYTEST = re.compile(r"(?:-m\s+|^\s*)pytest\s(?P<arguments>[^|;&>]*)", re.MULTILINE)


def files(root: Path, *patterns: str) -> list[Path]:
    """The repository's files, those not yet committed included."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return sorted({root / line for line in done.stdout.splitlines() if (root / line).is_file()})


def listed(folder: Path, *command: str | Path) -> str:
    """What a test program lists; it fails where it finds nothing, which the list shows as well."""
    done = subprocess.run([*command], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout


def package_of(config: Path) -> Path:
    """The folder of the package.json that the configuration belongs to."""
    return next(folder for folder in config.parents if (folder / "package.json").is_file())


def by_playwright(config: Path) -> set[Path]:
    """The files in which this configuration has tests."""
    folder = package_of(config)
    program = folder / "node_modules" / ".bin" / "playwright"
    report = json.loads(listed(folder, program, "test", "--list", "--reporter=json", "-c", config))
    root = Path(report["config"]["rootDir"])
    return {root / spec["file"] for suite in report["suites"] for spec in specs(suite)}


def specs(suite: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from suite.get("specs", ())
    for inner in suite.get("suites", ()):
        yield from specs(inner)


def by_jest(config: Path) -> set[Path]:
    """The test files of this configuration."""
    folder = package_of(config)
    program = folder / "node_modules" / ".bin" / "jest"
    return {Path(line) for line in listed(folder, program, "--listTests", "-c", config).split("\n")}


def commands(root: Path) -> Iterator[tuple[Path, list[str]]]:
    """Where pytest is called with files or folders, and which."""
    for script in files(root, "Makefile", "scripts/*"):
        for call in PYTEST.finditer(script.read_text(encoding="utf-8").replace("\\\n", " ")):
            words = shlex.split(call["arguments"], comments=True)
            if paths := [word for word in words if word.startswith("tests/")]:
                yield script, paths


def problems(root: Path) -> Iterator[str]:
    """What runs nothing, a line each."""
    for name, of, tests in (
        ("playwright*.config.ts", by_playwright, "ui-tests/**/*.spec.ts"),
        ("jest*.config.js", by_jest, "src/**/*.spec.ts*"),
    ):
        reached: dict[Path, set[Path]] = {}
        for config in files(root, f":(glob)**/{name}"):
            found = of(config) & set(files(root, "*.spec.ts", "*.spec.tsx"))
            if not found:
                yield f"{config.relative_to(root)} lists no test."
            reached.setdefault(package_of(config), set()).update(found)
        for folder, found in reached.items():
            for file in files(root, f":(glob){folder.relative_to(root)}/{tests}"):
                if file not in found:
                    yield f"{file.relative_to(root)} is in no configuration: nothing runs it."
    calls = list(commands(root))
    # One that is not there would keep pytest from listing the others.
    paths = sorted({path for _, given in calls for path in given if (root / path).exists()})
    asked = (sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider")
    ids = listed(root, *asked, *paths) if paths else ""
    for script, given in calls:
        for path in given:
            if not re.search(rf"^{re.escape(path.rstrip('/'))}(/|::)", ids, re.MULTILINE):
                yield f"{script.relative_to(root)} runs {path}, which has no test."


def main(root: Path) -> int:
    lines = list(problems(root))
    print("\n".join(lines), end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve() if sys.argv[1:] else ROOT))
