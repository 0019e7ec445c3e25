"""Run the benchmarks that are named, or all of them."""

from __future__ import annotations

import importlib
import sys

NAMES = [
    "conversation",
    "start",
    "streaming",
    "growth",
    "history",
    "store_append",
    "javascript",
    "first_paint",
    "page",
    "inline_latency",
    "stale_cells",
    "lexical",
    "search",
    "upload",
    "questions",
    "tables",
    "trace",
]


def main(names: list[str]) -> None:
    """Print the table of each."""
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise SystemExit(f"There is no benchmark {unknown[0]}. There are: {', '.join(NAMES)}.")
    for name in names or NAMES:
        importlib.import_module(f"benchmarks.{name}").main()
        print(flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
