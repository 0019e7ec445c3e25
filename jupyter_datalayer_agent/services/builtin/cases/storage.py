"""Benchmark cases of ``/storage`` as it is without its package: learning and ideas."""

from __future__ import annotations

from ...benchmarks import CasesOf

_OF = CasesOf("storage", ("cars.ipynb", "cars.csv"))

CASES = [
    _OF.case("storage-names", "routing", "/storage how may a container be called?", "learn"),
    _OF.case("storage-folders", "routing", "/storage are there folders in a container?", "learn"),
    _OF.case("storage-sas", "routing", "/storage what is a shared access signature?", "learn"),
    _OF.case("storage-archive", "routing", "/storage explain the archive tier", "learn"),
    _OF.case("storage-ideas", "routing", "/storage help me choose an access tier", "brainstorm"),
    _OF.case(
        "storage-redundancy",
        "routing",
        "/storage which redundancy should I use for backups?",
        "brainstorm",
    ),
    _OF.case("storage-sharing", "routing", "/storage ideas for sharing a container", "brainstorm"),
    _OF.case("storage-misspelt", "misspelt", "/storage waht is a blob contianer?", "learn"),
    _OF.case(
        "storage-misspelt-ideas", "misspelt", "/storage wich tier is better for old blbos?",
        "brainstorm",
    ),
    _OF.case("storage-german", "language", "/storage was kostet die Archivstufe?", "learn"),
    _OF.case(
        "storage-german-ideas", "language", "/storage welche Stufe ist besser für alte Blobs?",
        "brainstorm",
    ),
    _OF.case("storage-french", "language", "/storage comment nommer un conteneur ?", "learn"),
    _OF.case(
        "storage-two",
        "two",
        "/storage what is rehydration, and then convert cars.csv to Parquet",
        "learn",
    ),
    _OF.case(
        "storage-history",
        "history",
        "/storage and which one would be cheaper?",
        "brainstorm",
        history=["/storage what are LRS and ZRS?"],
    ),
    _OF.ordinary("storage-dict", "What is in the dictionary containers?"),
    _OF.ordinary("storage-memory", "How much memory does df use for storage?"),
    _OF.ordinary("storage-blob-plot", "Plot the blobs that make_blobs returns"),
    _OF.ordinary("storage-key", "Delete the key old from the dictionary"),
    _OF.ordinary("storage-upload", "Why does the upload cell fail?"),
]  # fmt: skip
