"""What the tables say that the guard sees, it sees in a real kernel: nothing that was asked about
before the run is lost by asking while it runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from jupyter_datalayer_agent.tools.risky_code import Place, actions_in
from tests.notebook.kernel.test_acts_in_kernel import GuardedKernel

from .cases import FILES, GROUPS

# What the rows take for given, as other cells of a notebook would have it.
SET_UP = """
import asyncio, bz2, gzip, importlib, io, lzma, os, pathlib, pickle, shutil, subprocess, sys
import tempfile, urllib.request, zipfile
from pathlib import Path
import joblib, numpy as np, pandas as pd, requests, httpx
import matplotlib; matplotlib.use('agg')
import matplotlib.pyplot as plt
df = pd.DataFrame({'a': [1]}); x = [1]; d = b'1'; model = 1; c = ['ls']; i = 1; n = 1
fig = plt.figure(); files = ['cars.csv']; a, b, old = 'cars.csv', 'b.csv', 'cars.csv'
p = Path('out')
name, command, args, job = 'cars.csv', ['ls'], ['make'], 1
url = 'http://data.example.invalid'; how = 'w'; folder = 'out'; pid = os.getppid()
http = s = requests.Session()
from shutil import rmtree
"""
# They need a library that the kernel does not have, or lose nothing in the folder as it is.
WITHOUT = (
    "fig.write_image", "push_to_hub", "upload_file", "delete_object", "remotes", "s3:",
    "os.removedirs", "%save", "os.spawnlp", "json=d", "os.remove('b')", "def clean", "'new.csv'",
    "to_excel('cars.csv')", "f'{name}.csv'", "x/plot_1",
)  # fmt: skip


def _rows() -> list[str]:
    python = [code for g in GROUPS if g.language == "python" for code, _ in g.recognised]
    found = []
    for code in python:
        acts = list(actions_in(code, Place()))
        if acts and all(each.is_seen for each in acts) and not any(w in code for w in WITHOUT):
            found.append(code)
    return found


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedKernel]:
    folder = tmp_path_factory.mktemp("seen")
    for each in FILES:
        (folder / each).parent.mkdir(exist_ok=True)
        (folder / each).write_text("kept", encoding="utf-8")
    kernel = GuardedKernel(folder)
    kernel.user(SET_UP)
    assert kernel.error == ""
    yield kernel
    kernel.close()


@pytest.mark.parametrize("code", _rows())
def test_what_the_guard_is_said_to_see_asks_while_it_runs(kernel: GuardedKernel, code: str) -> None:
    kernel.user(f"{SET_UP}os.chdir({str(kernel.folder)!r})")
    assert kernel.agent(code), kernel.error


def test_in_a_cell_that_is_too_long_to_look_at_the_real_target_is_asked_about(
    kernel: GuardedKernel,
) -> None:
    kernel.user(f"import os; os.chdir({str(kernel.folder)!r})")
    padded = "# " + "x" * 200_001 + "\nvars(os)['re' + 'move']('cars.csv')"
    assert kernel.agent(padded) == ["delete cars.csv"]
    assert (kernel.folder / "cars.csv").exists()
