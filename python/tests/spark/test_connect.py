"""Spark Connect: a client that has no Spark in its process. Run on its own: a process has one kind of session."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Iterator

import pandas as pd
import pytest

pytest.importorskip("grpc", reason="pip install 'pyspark[connect]'")

from .conftest import SETTINGS
from .test_estimators import answers_of, cs, expect_same


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.remote("local[2]")
    for name, value in {**SETTINGS, "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("spark"))}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def test_the_same_answers_come_over_spark_connect(spark: Any, frame: pd.DataFrame, aggregate: Any, tmp_path: Path) -> None:
    assert type(spark).__module__.startswith("pyspark.sql.connect")
    expected = aggregate(frame, "fivepass")
    labels = spark.createDataFrame(frame.astype(str))
    model = cs.FivePass(partitions=3).fit(labels)
    expect_same(answers_of(model.transform(labels)), expected)
    assert model.workers.count() == frame["worker"].nunique()
    model.save(str(tmp_path / "model"))
    loaded = cs.FivePassModel.load(str(tmp_path / "model"))
    expect_same(answers_of(loaded.transform(labels)), expected)
    model.write().overwrite().save(str(tmp_path / "model"))


@pytest.mark.parametrize("limit", [1 << 30, 0])
def test_large_models_go_over_spark_connect(spark: Any, frame: pd.DataFrame, aggregate: Any, limit: int, monkeypatch: Any) -> None:
    monkeypatch.setattr("crowdfold.spark._driver.MOST_IN_FUNCTION", 0)
    expected = aggregate(frame, "ds", settings={"iterations": 2})
    labels = spark.createDataFrame(frame.astype(str))
    model = cs.DawidSkene(maxIter=2, partitions=3, modelLimit=limit).fit(labels)
    expect_same(answers_of(model.transform(labels)), expected)
