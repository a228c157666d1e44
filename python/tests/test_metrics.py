"""Metrics, data sets and pictures."""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib
import pandas as pd
import polars as pl
import pytest

import crowdfold as cf

matplotlib.use("Agg")


def test_values_by_hand() -> None:
    labels = {"a": "x", "b": "y", "c": "x", "d": "y"}
    truth = pd.Series({"a": "x", "b": "x", "c": "x", "e": "y"})
    assert cf.metrics.accuracy(labels, truth) == pytest.approx(2 / 3)
    classes, counts = cf.metrics.confusion(labels, truth)
    assert classes == ["x", "y"] and counts.tolist() == [[2, 1], [0, 0]]
    confidence = {"a": 0.9, "b": 0.6, "c": 0.8, "d": 0.5}
    expected = -(math.log(0.9) + math.log(0.4) + math.log(0.8)) / 3
    assert cf.metrics.log_loss(labels, confidence, truth) == pytest.approx(expected)
    assert sum(b.tasks for b in cf.metrics.calibration(labels, confidence, truth)) == 3
    assert 0 <= cf.metrics.calibration_error(labels, confidence, truth) <= 1
    with pytest.raises(cf.UsageError, match="confidence: none for task 'd'"):
        cf.metrics.log_loss(labels, {"a": 1, "b": 1, "c": 1}, truth)


def test_tables_of_any_library_are_understood(frame: pd.DataFrame, truth: pd.Series) -> None:
    wanted = cf.metrics.accuracy(cf.TwoPass().fit_predict(frame), truth)
    found = cf.TwoPass().fit_predict(pl.from_pandas(frame))
    assert cf.metrics.accuracy(found, truth) == wanted
    assert cf.metrics.accuracy(found, truth.to_dict()) == wanted
    assert cf.metrics.accuracy(found, pl.DataFrame({"task": truth.index.tolist(), "label": truth.tolist()})) == wanted


def test_integers_and_their_texts_are_the_same_task() -> None:
    assert cf.metrics.accuracy({1: True, 2: False}, {"1": "True", "2": "True"}) == 0.5


def test_agreement_of_those_who_agree() -> None:
    data = {"task": [1, 1, 2, 2], "worker": [1, 2, 1, 2], "label": ["x", "x", "y", "y"]}
    assert cf.metrics.krippendorff_alpha(data) == 1
    assert cf.metrics.fleiss_kappa(data) == 1
    assert cf.metrics.cohen_kappa(data) == 1
    assert cf.metrics.percent_agreement(data) == 1


def test_agreement_on_one_class_is_no_more_than_chance_gives() -> None:
    found = cf.metrics.agreement({"task": [1, 1], "worker": [1, 2], "label": ["x", "x"]})
    assert found.percent == 1
    assert all(math.isnan(x) for x in (found.cohen_kappa, found.fleiss_kappa, found.krippendorff_alpha))


def test_a_data_set_is_loaded_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "some"
    folder.mkdir()
    (folder / "labels.csv").write_text('task,worker,label\n01,u,"a, b"\n01,u,c\n2,v,c\n')
    data = cf.datasets.load(folder)
    assert data.name == "some" and data.truth is None
    assert data.data["task"].tolist() == ["01", "01", "2"] and data.data["label"][0] == "a, b"
    (folder / "truth.csv").write_text("task,label\n01,c\n")
    assert cf.datasets.load(folder).truth["01"] == "c"
    assert cf.OnePass().fit(data.data).labels_["01"] == "c"
    with pytest.raises(cf.FileError, match="no labels.csv"):
        cf.datasets.load(tmp_path)
    (folder / "labels.csv").write_text("task,label\n1,x\n")
    with pytest.raises(cf.FileError, match="not a table with the columns"):
        cf.datasets.load(folder)


def test_compare_leaves_out_what_does_not_fit(frame: pd.DataFrame, truth: pd.Series) -> None:
    with pytest.warns(UserWarning, match="kos is left out"):
        table = cf.compare(frame, truth, methods=["kos", "mv"], runs=1)
    assert table.index.tolist() == ["mv"]
    with pytest.raises(cf.UsageError, match="no method 'none'"):
        cf.compare(frame, truth, methods="none")
    with pytest.warns(UserWarning, match="kos is left out"):
        table = cf.compare(frame, truth, methods=["KOS", "majority", "dawid-skene", "MajorityVote"], runs=1)
    assert table.index.tolist() == ["mv", "ds", "mv"]


def test_pictures_are_drawn(frame: pd.DataFrame, truth: pd.Series) -> None:
    model = cf.ThreePass().fit(frame)
    assert cf.plot.workers(model, most=10).get_xlabel().startswith("quality")
    assert cf.plot.calibration(model, truth).lines
    assert cf.plot.confusion(model).get_ylabel() == "truth"
    assert cf.plot.confusion(model, worker=frame["worker"][0]).images
    with pytest.raises(cf.UsageError, match="no worker"):
        cf.plot.confusion(model, worker="nobody")
    with pytest.raises(cf.UsageError, match="TwoPass has no confusion"):
        cf.plot.confusion(cf.TwoPass().fit(frame))
