"""Bytes of JavaScript that the installed extension brings, by when a page loads them."""

from __future__ import annotations

import gzip
from pathlib import Path

from benchmarks.table import show

BUILT = Path(__file__).parents[1] / "jupyter_datalayer_agent" / "labextension" / "static"


def main() -> None:
    """Print the table. The build must be the production one, as in the wheel."""
    files = sorted(BUILT.glob("*.js"), key=lambda path: -path.stat().st_size)
    sizes = [(path.name, path.read_bytes()) for path in files]
    rows = [
        [name, f"{len(data) / 1000:.1f} kB", f"{len(gzip.compress(data)) / 1000:.1f} kB"]
        for name, data in sizes
    ]
    whole = sum(len(data) for _, data in sizes)
    compressed = sum(len(gzip.compress(data)) for _, data in sizes)
    rows.append(["all", f"{whole / 1000:.1f} kB", f"{compressed / 1000:.1f} kB"])
    show("JavaScript of the extension", ["file", "size", "compressed"], rows)


if __name__ == "__main__":
    main()
