"""The code in docs/python/spark.md runs."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("crowdfold.spark", reason="no pyspark here: make spark installs it")

PAGE = Path(__file__).resolve().parents[3] / "docs" / "python" / "spark.md"


def test_the_quick_start_runs(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = [textwrap.dedent(block) for block in re.findall(r"\n\n((?:    .*\n|\n(?=    ))+)", PAGE.read_text(encoding="utf-8"))]
    script = next(block for block in blocks if "SparkSession" in block)
    found: dict[str, Any] = {}
    exec(script, found)
    assert {row["photo"]: row["prediction"] for row in found["answers"].collect()} == {"p1": "cat", "p2": "dog"}
    assert sorted(found["again"].collect()) == sorted(found["answers"].collect())
    assert "['cat', 'dog']" in capsys.readouterr().out


def test_all_params_of_the_page_exist() -> None:
    from crowdfold.spark import DawidSkeneModel

    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    names = [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert len(names) > 10
    assert all(DawidSkeneModel().hasParam(name) for name in names)
