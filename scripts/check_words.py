"""Fails where a name in the code, or of a file, uses a word that was retired.

    python scripts/check_words.py [folder]

Names are read by each language's own parser, so strings and comments do not count. A name is split
where its words are: `_wasTold` and `was_told` both hold `told`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent

RETIRED_WORDS = {
    "board": "review",
    "conclude": "finish",
    "desk": "controller, service",
    "ghost": "suggestion, placeholder",
    "heed": "listen",
    "lack": "missing, unmet",
    "patience": "timeout",
    "person": "user",
    "persons": "users",
    "scribe": "summarizer",
    "stands": "is",
    "submission": "request",
    "telling": "emitting, notifying, reporting, sending",
    "tells": "emits, notifies, reports, sends",
    "told": "emitted, notified, reported, sent",
}
"""Not to be one of the words of any name, with what to use in its place. (`tell` itself is what
files call their position.)"""

RETIRED_NAMES = {
    "Asking": "ModelCaller, CallRef, InlineRequest",
    "CellWatch": "RunObserver",
    "Elsewhere": "OtherSessions",
    "Fixing": "FixRunner",
    "FrameValue": "FrameObservable",
    "FurtherCall": "RegenerateCall",
    "ISpot": "IChatAnchor",
    "IWays": "PanelServices",
    "Kept": "RetainedState",
    "OurTurn": "PendingTurn",
    "Outbox": "EventBuffer",
    "WaitingRoom": "PendingRequests",
    "atRest": "idle",
    "at_rest": "idle",
    "letGo": "unload",
    "let_go": "unload",
    "takeUp": "resume",
    "take_up": "resume",
}
"""Retired as a whole: their words are good ones in other names."""

WORDS = "words"
"""No name of a module and no end of a class's name: `format`, `Label`, `messages`."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_TYPESCRIPT = (".ts", ".tsx")


class Found(NamedTuple):
    where: str
    name: str
    instead: str


def instead_of(name: str) -> str | None:
    """What to use in place of a name, if it is retired."""
    words = [word.lower() for word in _WORD.findall(name)]
    retired = next((RETIRED_WORDS[word] for word in words if word in RETIRED_WORDS), None)
    if name[:1].isupper() and not name.isupper() and words[-1:] == [WORDS]:
        retired = retired or "Labels, Messages"
    return retired or RETIRED_NAMES.get(name)


def find(folder: Path, files: list[str]) -> Iterator[Found]:
    """The retired names in these files of a folder, each file's own among them."""
    for file in files:
        for part in Path(file).parts:
            stem = part.split(".")[0]
            instead = "format, messages" if stem == WORDS else instead_of(stem)
            if instead:
                yield Found(file, part, instead)
    for where, name in (*_python(folder, files), *_typescript(folder, files)):
        if instead := instead_of(name):
            yield Found(where, name, instead)


def _python(folder: Path, files: list[str]) -> Iterator[tuple[str, str]]:
    for file in files:
        if file.endswith(".py"):
            with tokenize.open(folder / file) as source:
                for token in tokenize.generate_tokens(source.readline):
                    if token.type == tokenize.NAME:
                        yield f"{file}:{token.start[0]}", token.string


def _typescript(folder: Path, files: list[str]) -> Iterator[tuple[str, str]]:
    ours = [file for file in files if file.endswith(_TYPESCRIPT)]
    lines = subprocess.run(
        ["node", ROOT / "labextension" / "identifiers.mjs"],
        cwd=folder,
        input="\n".join(ours),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for line in lines.splitlines():
        where, _, name = line.rpartition(" ")
        yield where, name


def sources(folder: Path) -> list[str]:
    """The files that git follows, by their paths in the folder."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    return [file for file in listed.split("\0") if file and (folder / file).exists()]


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0]) if arguments else ROOT
    found = list(find(folder, sources(folder)))
    for where, name, instead in found:
        print(f"{where}: {name}: use {instead}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
