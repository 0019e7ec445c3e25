"""Files that other tools are for, and files that are no text, by their names."""

from __future__ import annotations

from pathlib import PurePosixPath

from ..document import DocumentError

LEXICAL = frozenset([".dlex", ".lexical"])
_TABLES = {
    ".parquet": "pandas.read_parquet", ".feather": "pandas.read_feather", ".arrow": "pyarrow.ipc",
    ".xlsx": "pandas.read_excel", ".xls": "pandas.read_excel", ".xlsm": "pandas.read_excel",
    ".ods": "pandas.read_excel", ".h5": "h5py.File", ".hdf5": "h5py.File",
    ".nc": "xarray.open_dataset",
    ".npy": "numpy.load", ".npz": "numpy.load", ".sas7bdat": "pandas.read_sas",
    ".dta": "pandas.read_stata",
    ".sav": "pandas.read_spss", ".sqlite": "sqlite3.connect", ".db": "sqlite3.connect",
    ".duckdb": "duckdb.connect", ".orc": "pandas.read_orc", ".mat": "scipy.io.loadmat",
}  # fmt: skip
_PICTURES = frozenset(
    [".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".ico", ".pdf"]
)


def is_lexical(path: str) -> bool:
    """Whether this is the name of a Lexical document."""
    return PurePosixPath(path).suffix.lower() in LEXICAL


def noun(path: str) -> str:
    """What the parts of the document at a path are called."""
    return "block" if is_lexical(path) else "cell"


def document_noun(path: str) -> str:
    """What the document at a path is called."""
    return "document" if is_lexical(path) else "notebook"


def refuse_other_tools(path: str) -> None:
    """Raise ``DocumentError`` for documents that are read and changed by tools of their own."""
    suffix = PurePosixPath(path).suffix.lower()
    if suffix == ".ipynb":
        raise DocumentError(
            "invalid_arguments",
            f"{path} is a notebook: the file tools do not read or change it.",
            "Use the notebook tools, on the attached, active notebook. Where it is not, ask the "
            "user to open and attach it.",
        )
    if is_lexical(path):
        raise DocumentError(
            "invalid_arguments",
            f"{path} is a Lexical document: the file tools do not read or change it.",
            "Lexical documents are read and changed by blocks, by the tools of that group.",
        )


def not_text(path: str, size: int) -> DocumentError:
    """The failure of reading or editing what is no text, with the way that does it."""
    suffix = PurePosixPath(path).suffix.lower()
    what = f"{path} is binary ({size:,} bytes), not text."
    if suffix in _TABLES:
        hint = f"Load it with code: {_TABLES[suffix]}; show its columns and a few rows."
    elif suffix in _PICTURES:
        hint = "Show it with code, as a cell's output, or ask the user to open it."
    else:
        hint = "Read it with code, by a library for this kind of file."
    return DocumentError("invalid_arguments", what, hint)
