"""Names the patterns that hostile texts slow down: ``python -m tests.patterns [MODULE …]``."""

from __future__ import annotations

import sys

# As for the processes that tests start: see tests/support/without.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

from tests.patterns.bounds import BOUNDED, BOUNDS, OURS  # noqa: E402
from tests.patterns.collected import Used, patterns  # noqa: E402
from tests.patterns.timed import LIMIT, SIZE, slow  # noqa: E402

FEWEST = 350
"""There are about 400: fewer, and the search for them has a fault."""


def _bound(used: Used) -> int:
    named = (most for name, most in BOUNDS.items() if used.place.startswith(name))
    return BOUNDED.get(used.pattern) or next(named, SIZE)


def main(modules: list[str]) -> int:
    every = patterns()
    assert len(every) >= FEWEST, f"Only {len(every)} patterns were found."
    failed = 0
    for used in every:
        if used.place.startswith((*OURS,)) or not used.place.startswith((*modules,) or ""):
            continue
        for method, shape, seconds in slow(used.pattern, used.methods, _bound(used)):
            failed += 1
            print(
                f"{used.place}: {used.pattern.pattern!r}\n"
                f"  {method} takes {seconds * 1000:.0f} ms and more (limit {LIMIT * 1000:.0f}) for "
                f"{shape.before!r} + {shape.run!r} * many + {shape.after!r}",
                flush=True,
            )
    return failed


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
