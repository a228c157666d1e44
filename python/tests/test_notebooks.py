"""Notebooks run from the first cell to the last."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "python" / "notebooks"
sys.path.append(str(ROOT / "tools"))  # last: tools/markdown.py must not hide a package


@pytest.mark.parametrize("name", sorted(path.name for path in NOTEBOOKS.glob("*.ipynb")))
def test_a_notebook_runs(name: str) -> None:
    from notebooks import run

    run(NOTEBOOKS / name)
