"""Stubs and pages that are made from the registry are those that are checked in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_stubs_are_up_to_date(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "tools" / "stubs.py", tmp_path], check=True)
    for name in ("_native.pyi", "methods.pyi"):
        assert (tmp_path / name).read_text() == (ROOT / "python" / "crowdfold" / name).read_text(), \
            f"{name}: run tools/stubs.py"


def test_pages_of_classes_are_up_to_date(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "tools" / "class_pages.py", tmp_path], check=True)
    made = {path.name: path.read_text() for path in tmp_path.iterdir()}
    there = {path.name: path.read_text() for path in (ROOT / "docs" / "python").glob("*.md")
             if path.name not in ("migrating.md", "rounds.md", "spark.md")}
    assert made == there, "run tools/class_pages.py"


def test_the_package_is_typed(tmp_path: Path) -> None:
    script = "import crowdfold as cf; model: cf.TwoPass = cf.TwoPass(alpha=3); reveal_type(model.alpha)"
    said = subprocess.run([sys.executable, "-m", "mypy", "--strict", "-c", script], text=True, capture_output=True,
                          cwd=tmp_path, env={**os.environ, "MYPYPATH": str(ROOT / "python")}, check=False).stdout
    assert 'Revealed type is "float"' in said.replace("builtins.float", "float"), said
