"""Spark for tests, and what `crowdfold aggregate` says of the same labels."""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional

import pandas as pd
import pytest

os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable

SETTINGS = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", "spark.driver.host": "127.0.0.1",
            "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false", "spark.ui.showConsoleProgress": "false"}


def start(master: str, warehouse: Path, **more: str) -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("crowdfold tests").config("spark.sql.warehouse.dir", str(warehouse))
    for name, value in {**SETTINGS, **more}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    session = start("local[2]", tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


class Aggregate:
    """`crowdfold aggregate` on the same labels, with tasks, workers and classes numbered by their names.

    Rows come by task and worker. Before them, abstentions let all tasks and workers appear in order, and a worker gives a task all
    classes, of which the last row takes the place.
    """

    def __init__(self, run: Any, folder: Path) -> None:
        self._run, self._folder = run, folder

    def __call__(self, frame: pd.DataFrame, method: str, *, settings: Optional[Mapping[str, Any]] = None, seed: int = 0,
                 truths: Optional[Mapping[str, str]] = None) -> pd.DataFrame:
        texts = frame[["task", "worker", "label"]].astype(str).where(frame[["task", "worker", "label"]].notna(), "")
        tasks, workers = (sorted(set(texts[name]), key=str.encode) for name in ("task", "worker"))
        classes = sorted({label for label in texts["label"] if label} | set((truths or {}).values()), key=str.encode)
        rows = sorted(texts.itertuples(index=False, name=None), key=lambda row: (row[0].encode(), row[1].encode()))
        pair = next(row[:2] for row in rows if row[2])
        labels, answers, truth_file = (self._folder / name for name in ("labels.csv", "answers.csv", "truths.csv"))
        with open(labels, "w", newline="", encoding="utf-8") as file:
            write = csv.writer(file)
            write.writerow(["task", "worker", "label"])
            write.writerows([task, workers[0], ""] for task in tasks)
            write.writerows([tasks[0], worker, ""] for worker in workers)
            write.writerows([*pair, name] for name in classes)
            write.writerows(rows)
        flags = [f"--set={name}={value}" for name, value in (settings or {}).items()]
        if truths:
            with open(truth_file, "w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([["task", "label"], *truths.items()])
            flags += ["--truth", truth_file]
        self._run("aggregate", labels, "--method", method, "--posterior", "--seed", seed, "-o", answers,
                  "--workers-out", self._folder / "workers.csv", "--header", *flags)
        self.workers = pd.read_csv(self._folder / "workers.csv", dtype={"worker": str}, float_precision="round_trip").set_index("worker")
        return pd.read_csv(answers, dtype={"task": str, "label": str}, float_precision="round_trip",
                           keep_default_na=False, na_values=[""]).set_index("task").sort_index()


@pytest.fixture
def aggregate(run: Any, tmp_path: Path) -> Aggregate:
    return Aggregate(run, tmp_path)
