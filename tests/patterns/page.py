"""The page's regular expressions, with hostile texts from the same generator."""

from __future__ import annotations

import json
import re
import subprocess
import warnings
from pathlib import Path
from typing import Any

from .hostile import shapes

FEWEST = 140
"""There are about 165."""
_SCRIPT = Path(__file__).with_name("page.mjs")
# What JavaScript writes otherwise.
_IN_PYTHON = (
    (re.compile(r"\(\?<(?=[A-Za-z])"), "(?P<"),
    (re.compile(r"\[((?:[^\]\\]|\\.)*)\\p\{L\}"), r"[\1a-zA-Z"),
    (re.compile(r"\\p\{L\}"), "[a-zA-Z]"),
    (re.compile(r"\[\^\]"), r"[\\s\\S]"),
)
_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}


def _node(what: str, given: Any = None) -> Any:
    ran = subprocess.run(
        ["node", str(_SCRIPT), what],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return json.loads(ran.stdout)


def _in_python(source: str, flags: str) -> re.Pattern[str]:
    for written, instead in _IN_PYTHON:
        source = written.sub(instead, source)
    with warnings.catch_warnings():
        # `[[` is no nested set in JavaScript either.
        warnings.simplefilter("ignore", FutureWarning)
        return re.compile(source, sum(_FLAGS.get(each, 0) for each in flags))


def slow_patterns() -> list[str]:
    """A line for each that is slow, with the text."""
    every = _node("list")
    assert len(every) >= FEWEST, f"Only {len(every)} patterns were found."
    texts = [
        [index, *shape]
        for index, each in enumerate(every)
        for shape in shapes(_in_python(each["source"], each["flags"]))
    ]
    return [
        f"{every[index]['place']}: /{every[index]['source']}/{every[index]['flags']} takes "
        f"{taken or 'too many'} ms for {before!r} + {run!r} * many + {after!r}"
        for index, taken, before, run, after in _node("time", texts)
    ]
