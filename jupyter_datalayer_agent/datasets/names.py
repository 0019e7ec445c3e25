"""Names of data sets: safe as the name of a file, in an address and in a sentence."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

LONGEST = 80
_UNSAFE = re.compile(r"[^\w\-]+")
# Windows device names, reserved with any suffix.
_DEVICES = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)$", re.IGNORECASE)
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,10}$")


def safe_name(given: str, *, is_file: bool = True) -> str:
    """A name of letters, digits, ``_`` and ``-`` from any text.

    ``is_file``: of the name of a file; folders before it and the suffix are left out.
    """
    name = given
    if is_file:
        name = _SUFFIX.sub("", re.split(r"[/\\]", given)[-1])
    name = _UNSAFE.sub("_", unicodedata.normalize("NFKC", name)).strip("_-")
    name = _cut(name) or "dataset"
    return f"{name}_data" if _DEVICES.match(name) else name


def numbered(name: str) -> Iterator[str]:
    """The name, and then ``name_2``, ``name_3`` and so on."""
    yield name
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1


def _cut(name: str) -> str:
    # File systems count bytes.
    return name.encode()[: LONGEST * 2].decode(errors="ignore")[:LONGEST].rstrip("_-")
