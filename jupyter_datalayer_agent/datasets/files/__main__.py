"""``python -m jupyter_datalayer_agent.datasets.files``: a new data file made of others.

The job has ``operation`` (``convert``, ``sample`` or ``join``), ``{name, work, output, format}``
and what the operation needs; see ``operations.py`` and ``convert/job.py``.
"""

from __future__ import annotations

from typing import Any

from ..convert.job import run_job
from ..convert.outcome import Progress


def operate(job: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """See ``operations``; imported late, so that a missing DuckDB can be reported."""
    from . import operations

    return operations.operate(job, progress)


if __name__ == "__main__":
    run_job(operate)
