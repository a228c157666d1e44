"""Crowds that tests work on, and where the command line is."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import crowdfold

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def cli() -> str:
    path = os.environ.get("CROWDFOLD_CLI", str(ROOT / "build" / "crowdfold"))
    if not Path(path).exists():
        pytest.skip("the command line is not built (make build)")
    return path


@pytest.fixture(scope="session")
def run(cli: str) -> Any:
    def run(*arguments: Any) -> str:
        return subprocess.run([cli, *map(str, arguments)], check=True, text=True, capture_output=True).stdout

    return run


@pytest.fixture(scope="session")
def crowd() -> crowdfold.Crowd:
    """Three classes, workers of all kinds, a different number of labels for every task."""
    return crowdfold.simulate(tasks=300, workers=25, classes=3, labels_per_task=(3, 8), spammers=0.2,
                              quality="uniform:.5,.95", random_state=3)


@pytest.fixture(scope="session")
def two_classes() -> crowdfold.Crowd:
    return crowdfold.simulate(tasks=300, workers=25, classes=2, labels_per_task=6, quality="uniform:.5,.95",
                              random_state=5)


@pytest.fixture(scope="session")
def frame(crowd: crowdfold.Crowd) -> pd.DataFrame:
    return crowd.to_pandas().sample(frac=1, random_state=0, ignore_index=True)


@pytest.fixture(scope="session")
def truth(crowd: crowdfold.Crowd) -> pd.Series:
    return crowd.truth.to_pandas()
