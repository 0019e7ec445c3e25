"""Tables in Markdown, printed as they are in ``docs/performance.md``."""

from __future__ import annotations

from collections.abc import Sequence


def show(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a title and a table."""
    print(f"### {title}\n")
    print(f"| {' | '.join(heads)} |")
    print(f"|{'|'.join(' --- ' for _ in heads)}|")
    for row in rows:
        print(f"| {' | '.join(str(cell) for cell in row)} |")
    print(flush=True)


def ms(seconds: float) -> str:
    """Seconds as milliseconds."""
    return f"{seconds * 1000:.1f} ms"
