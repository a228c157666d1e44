"""The code in docs/python.md runs, from top to bottom."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

import crowdfold as cf

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


def blocks() -> list[str]:
    """Indented blocks; the first is a command."""
    found = re.findall(r"\n\n((?:    .*\n|\n(?=    ))+)", PAGE.read_text(encoding="utf-8"))
    return [textwrap.dedent(block) for block in found][1:]


@pytest.mark.filterwarnings("ignore:.* is left out")  # methods for two classes
def test_the_code_on_the_page_runs(crowd: cf.Crowd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    frame, truth = crowd.to_pandas(), crowd.truth.to_pandas()
    Path("folder").mkdir()
    for path in ("labels.csv", "folder/labels.csv"):
        frame.to_csv(path, index=False)
    truth.rename("label").to_csv("folder/truth.csv")
    old, new = (frame[frame["task"].isin(tasks)] for tasks in (truth.index[:200], truth.index[200:]))
    scope: dict[str, Any] = {"truth": truth, "chunks": [old], "more": new, "another": cf.OnePass().partial_fit(new),
                             "OnePass": cf.OnePass, "LiveStream": cf.LiveStream}
    assert len(blocks()) == 5
    for block in blocks():
        if "metrics.calibration" in block:
            scope["model"] = cf.ThreePass().fit(frame)
        exec(block, scope)
    assert scope["answers"].name == "agg_label"
