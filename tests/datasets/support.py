"""A conversion as the server has it done, in a process of its own."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_datalayer_agent.datasets.conversion_process import Converter
from jupyter_datalayer_agent.protocol.datasets import UploadProgress


@dataclass
class Converted:
    """The facts of a table, and where it is."""

    facts: dict[str, Any]
    path: Path
    steps: list[UploadProgress]

    @property
    def types(self) -> dict[str, str]:
        return {each["name"]: each["type"] for each in self.facts["columns"]}

    @property
    def report(self) -> dict[str, Any]:
        return dict(self.facts["report"])

    @property
    def rejected(self) -> dict[int, str]:
        return {each["line"]: each["reason"] for each in self.report["rejected"]}

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows, as another program than the converter reads them."""
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(self.path)
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def convert(folder: Path, name: str, content: bytes | str, **choices: str) -> Converted:
    """The content made a table of, with the user's ``choices``; ``AgentError`` where it is none."""
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    source, target = work / "upload", work / "table.parquet"
    source.write_bytes(content.encode() if isinstance(content, str) else content)
    steps: list[UploadProgress] = []

    async def on_progress(step: UploadProgress) -> None:
        steps.append(step)

    facts = asyncio.run(Converter().convert(source, target, work, name, on_progress, choices))
    return Converted(facts, target, steps)
