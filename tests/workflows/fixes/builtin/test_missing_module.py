"""ModuleNotFoundError, on a real kernel with a real pip that knows only wheels built here."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_datalayer_agent.workflows.fixes.distributions import (
    DISTRIBUTIONS,
    FORMER_STDLIB,
    OWN_NAMES,
    SAME_NAME,
    distribution_of,
    is_stdlib,
    looks_like_a_popular_name,
)
from tests.support.wheels import wheel

from .support import bench, titles


@pytest.fixture
def own_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """pip installs from wheels built here into a folder of the test's."""
    target = tmp_path / "installed"
    target.mkdir()
    wheels = tmp_path / "wheels"
    for distribution, module in [("opencv-python-headless", "cv2"), ("pyserial", "serial"),
                                 ("qwertzuiop-lib", "qwertzuiop_lib")]:  # fmt: skip
        wheel(wheels, distribution, module)
    for name, value in {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "PIP_TARGET": str(target),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_CONFIG_FILE": "/dev/null",
        "PYTHONPATH": str(target),
    }.items():
        monkeypatch.setenv(name, value)
    return target


async def test_the_right_distribution_is_installed_by_a_cell_before(
    tmp_path: Path, own_pip: Path
) -> None:
    async with bench(tmp_path, ["import cv2\nprint(cv2.answer)", "import serial"]) as b:
        (fix,) = await b.fails("a", "ModuleNotFoundError")
        assert fix.title == "Install opencv-python-headless"
        assert fix.safe
        await b.apply(fix)
        assert (own_pip / "cv2.py").exists()
        assert (await b.state())["a"][1] == "ok"
        # The next one goes to the same cell.
        (fix,) = await b.fails("b", "ModuleNotFoundError")
        await b.apply(fix)
        assert await b.sources() == [
            "%pip install opencv-python-headless\n%pip install pyserial",
            "import cv2\nprint(cv2.answer)",
            "import serial",
        ]
        assert (await b.state())["b"][1] == "ok"


async def test_an_install_cell_that_was_not_run_is_run(tmp_path: Path, own_pip: Path) -> None:
    async with bench(tmp_path, ["%pip install pyserial", "import serial"]) as b:
        (fix,) = await b.fails("b", "ModuleNotFoundError")
        await b.apply(fix)
        assert await b.sources() == ["%pip install pyserial", "import serial"]
        assert (await b.state())["b"][1] == "ok"


async def test_a_package_that_is_not_known_is_offered_never_applied(
    tmp_path: Path, own_pip: Path
) -> None:
    async with bench(tmp_path, ["import qwertzuiop_lib as q\nq.answer"]) as b:
        (fix,) = await b.fails("a", "ModuleNotFoundError")
        assert fix.title == "Install qwertzuiop-lib"
        assert not fix.safe
        assert "before you install it" in fix.explanation
        await b.apply(fix)
        assert (await b.state())["a"][1] == "ok"


async def test_a_misspelt_module_is_corrected_and_never_installed(tmp_path: Path) -> None:
    cases = [
        ("import pandsa as pd\npd.Series([1])", "import pandas as pd\npd.Series([1])"),
        ("import jsno\njsno.dumps('jsno')", "import json\njson.dumps('jsno')"),
        ("from colections import Counter", "from collections import Counter"),
        ("import numpy.linalgg as la", "import numpy.linalg as la"),
    ]
    async with bench(tmp_path, [source for source, _ in cases]) as b:
        for place, (_, fixed) in enumerate(cases):
            cell_id = chr(ord("a") + place)
            fix = (await b.fails(cell_id, "ModuleNotFoundError"))[0]
            assert fix.safe, fix
            await b.apply(fix)
            assert (await b.state())[cell_id] == (fixed, "ok")
        assert "install" not in "".join(await b.sources())


async def test_what_must_not_be_installed_is_not_offered(tmp_path: Path) -> None:
    sources = [
        "import numpy.nothing_like_this",  # numpy is there, and has no such part
        "import utils",  # somebody's own
        "import urllib2",  # Python 2
        "import torchvison",  # nearly torchvision
        "import mine",  # a file in another folder
        "from numpy import aray",  # an ImportError: a name, no module
    ]
    async with bench(tmp_path, sources, path="nb/a.ipynb") as b:
        (b.world.root / "lib").mkdir()
        (b.world.root / "lib" / "mine.py").write_text("answer = 42\n")
        assert titles(await b.fails("a", "ModuleNotFoundError")) == []
        assert titles(await b.fails("b", "ModuleNotFoundError")) == []
        assert titles(await b.fails("c", "ModuleNotFoundError")) == []
        offered = await b.fails("d", "ModuleNotFoundError")
        assert [call.arguments.get("content") for fix in offered for call in fix.calls] == [
            "%pip install torchvision",
            None,
        ]
        assert not any(fix.safe for fix in offered)
        (own,) = await b.fails("e", "ModuleNotFoundError")
        assert own.title == "Add ../lib to the import path"
        assert not own.safe
        assert "not a package to install" in own.explanation
        await b.apply(own)
        assert (await b.state())["e"][1] == "ok"
        assert titles(await b.fails("f", "ImportError")) == []


@pytest.mark.parametrize(
    ("module", "distribution"),
    [
        ("cv2", "opencv-python-headless"), ("sklearn.svm", "scikit-learn"), ("PIL", "pillow"),
        ("yaml", "PyYAML"), ("bs4", "beautifulsoup4"), ("skimage.io", "scikit-image"),
        ("dateutil", "python-dateutil"), ("Crypto.Cipher", "pycryptodome"),
        ("dotenv", "python-dotenv"), ("serial", "pyserial"), ("OpenSSL", "pyOpenSSL"),
        ("google.cloud.bigquery", "google-cloud-bigquery"), ("google.cloud", None),
        ("google.cloud.storage", "google-cloud-storage"), ("mpl_toolkits.mplot3d", "matplotlib"),
        ("attr", "attrs"), ("jwt", "PyJWT"), ("fitz", "PyMuPDF"), ("docx", "python-docx"),
        ("pptx", "python-pptx"), ("win32com.client", "pywin32"), ("usb", "pyusb"),
        ("zmq", "pyzmq"), ("pandas", "pandas"), ("plotly.express", "plotly"),
        ("huggingface_hub", "huggingface-hub"), ("nothing_known", None),
    ],
)  # fmt: skip
def test_distribution_of(module: str, distribution: str | None) -> None:
    assert distribution_of(module) == distribution


def test_names_near_popular_ones_are_suspected() -> None:
    for name in ("pandsa", "reqeusts", "numpyy", "sklern", "beautifulsoup", "opencv_pyton", "jsn"):
        assert looks_like_a_popular_name(name), name
    assert not looks_like_a_popular_name("qwertzuiop_lib")


def test_the_lists_do_not_contradict_each_other() -> None:
    known = SAME_NAME | set(DISTRIBUTIONS)
    assert not known & OWN_NAMES
    assert not SAME_NAME & set(DISTRIBUTIONS)
    assert not {each for each in SAME_NAME if is_stdlib(each)}
    assert FORMER_STDLIB & known <= {"distutils"}
