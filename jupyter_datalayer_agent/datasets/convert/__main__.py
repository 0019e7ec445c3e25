"""``python -m jupyter_datalayer_agent.datasets.convert``: one file, named on stdin, made Parquet.

The job has ``{source, target, work, name}``, and where the user chose them ``encoding``,
``delimiter`` and ``decimal``; see ``job.py``. The source may be changed or moved.
"""

from __future__ import annotations

from typing import Any

from .job import run_job
from .outcome import Progress


def convert(job: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """See ``conversion.convert``; imported late, so that a missing DuckDB can be reported."""
    from . import conversion

    return conversion.convert(job, progress)


if __name__ == "__main__":
    run_job(convert)
