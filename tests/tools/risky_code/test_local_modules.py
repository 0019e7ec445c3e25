"""What code imports from its folder is looked at, however the import is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_datalayer_agent.tools.risky_code import Place, local_modules, reason_of
from jupyter_datalayer_agent.tools.risky_code.local_modules import MOST_BYTES

REMOVE = "import os\nos.remove('cars.csv')\n"


@pytest.mark.parametrize(
    "code",
    [
        "import tidy",
        "from tidy import *",
        "x = __import__('tidy')",
        "import importlib\nimportlib.import_module('tidy')",
        ",print 1\nimport tidy",
        "%run tidy.py",
        "exec(open('tidy.py').read())",
        "import first",
        "from package import part",
        "import package.part",
        f"{'# padding' * 25_000}\nimport tidy",
    ],
)
def test_a_file_of_the_folder_is_read_as_the_code_is(tmp_path: Path, code: str) -> None:
    (tmp_path / "tidy.py").write_text(REMOVE, encoding="utf-8")
    (tmp_path / "first.py").write_text("import tidy", encoding="utf-8")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "package" / "part.py").write_text(REMOVE, encoding="utf-8")
    found = reason_of(local_modules([code], str(tmp_path)), Place(str(tmp_path)))
    assert found is not None
    assert "cars.csv (line 2)" in found.message


def test_a_file_that_is_too_long_to_read_asks(tmp_path: Path) -> None:
    (tmp_path / "tidy.py").write_text("#" * (MOST_BYTES + 1), encoding="utf-8")
    found = reason_of(local_modules(["import tidy"], str(tmp_path)), Place(str(tmp_path)))
    assert found is not None


def test_other_files_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "tidy.py").write_text(REMOVE, encoding="utf-8")
    assert list(local_modules(["import pandas"], str(tmp_path))) == []
    assert list(local_modules(["import tidy"], None)) == []


def test_links_that_lead_back_do_not_multiply_the_folders(tmp_path: Path) -> None:
    """Followed each time, thirty make 30 ** 4 folders: hours."""
    names = [f"again{number}" for number in range(30)]
    for name in names:
        (tmp_path / name).symlink_to(".", target_is_directory=True)
    (tmp_path / "tidy.py").write_text(REMOVE, encoding="utf-8")
    code = "\n".join(f"import {name}" for name in [*names, "tidy"])
    assert list(local_modules([code], str(tmp_path))) == [("tidy.py", REMOVE)]
