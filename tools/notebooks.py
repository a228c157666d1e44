#!/usr/bin/env python3
"""Runs the notebooks, or writes their output into them.

    python tools/notebooks.py [--write] [NOTEBOOK...]

Tests run them; what is checked in has no output.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parents[1] / "python" / "notebooks"


def run(path: Path, write: bool = False) -> None:
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    if write:
        nbformat.write(notebook, path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, default=sorted(NOTEBOOKS.glob("*.ipynb")))
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    for each in args.notebooks:
        run(each, args.write)
