"""Copies a notebook for use, once: ``own_notebook.py SOURCE COPY``.

The copy names this environment's Python, as JupyterLab would write it when the kernel starts, so
that a notebook which was only opened is not marked as changed.
"""

import sys
from pathlib import Path

import nbformat
from ipykernel.ipkernel import IPythonKernel

source, copy = map(Path, sys.argv[1:])
if not copy.exists():
    notebook = nbformat.read(source, as_version=4)
    notebook.metadata["language_info"] = IPythonKernel.language_info
    nbformat.write(notebook, copy)
    print(f"{copy} is your own copy of {source.name}; git ignores it.")
