"""Notebooks run from the first cell to the last."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb")))
def test_a_notebook_runs(name: str) -> None:
    from notebooks import run

    run(ROOT / "notebooks" / name)
