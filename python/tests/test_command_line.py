"""Python and the command line say the same, byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import crowdfold as cf
from crowdfold import _native, methods
from crowdfold._input import read
from crowdfold._reading import Reading

# As the command line does it; the defaults of these classes are those of crowd-kit's.
HERE: dict[str, dict[str, Any]] = {"mv": {"ties": "first"}, "wawa": {"ties": "first"}, "zbs": {"ties": "first"}, "ds": {"start": 0.7}}
CLASSES = [getattr(cf, name) for name in methods.__all__]


@pytest.mark.parametrize("cls", CLASSES)
def test_estimates_and_workers_are_the_same_bytes(cls: Any, run: Any, two_classes: cf.Crowd, tmp_path: Path) -> None:
    frame = two_classes.to_pandas().sample(frac=1, random_state=1, ignore_index=True)
    labels = tmp_path / "labels.csv"
    frame.to_csv(labels, index=False)
    run("aggregate", labels, "-m", cls._method, "--seed", 5, "-q", "--posterior", "-o", tmp_path / "cli.csv",
        "--workers-out", tmp_path / "cli_workers.csv")

    model = cls(random_state=5, **HERE.get(cls._method, {})).fit(frame)
    model.save(tmp_path / "workers.csv")
    assert (tmp_path / "workers.csv").read_bytes() == (tmp_path / "cli_workers.csv").read_bytes()

    crowd = read(frame, Reading())
    result, _ = _native.fit(cls._method, model._settings(), crowd.labels, None, None, [], 5, 1, True, None)
    _native.write_estimates(crowd.labels, result, str(tmp_path / "python.csv"))
    assert (tmp_path / "python.csv").read_bytes() == (tmp_path / "cli.csv").read_bytes()

    told = pd.read_csv(tmp_path / "cli.csv").set_index("task")
    assert model.labels_.index.tolist() == told.index.tolist()
    assert model.labels_.tolist() == told["label"].tolist()
    assert model.confidence_.tolist() == told["confidence"].tolist()
    assert np.array_equal(model.posterior_.to_numpy(), told[model.posterior_.columns].to_numpy())


def test_confusion_and_objectives_are_the_same(run: Any, frame: pd.DataFrame, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    frame.to_csv(labels, index=False)
    run("aggregate", labels, "-m", "ds", "-q", "-o", tmp_path / "o.csv", "--confusion-out", tmp_path / "c.csv",
        "--trace-out", tmp_path / "t.csv")
    model = cf.DawidSkene(start=0.7).fit(frame)
    confusion = pd.read_csv(tmp_path / "c.csv")
    wide = confusion.pivot_table(index=["worker", "label"], columns="truth", values="probability")
    assert wide.equals(model.errors_.loc[wide.index, wide.columns].rename_axis(columns="truth"))
    trace = pd.read_csv(tmp_path / "t.csv")
    assert model.loss_history_ == trace["objective"].tolist()


def test_truths_and_workers_of_an_earlier_run_are_the_same(run: Any, frame: pd.DataFrame, truth: pd.Series,
                                                           tmp_path: Path) -> None:
    half = frame["task"].isin(frame["task"].unique()[:150])
    monday, tuesday, known = tmp_path / "mo.csv", tmp_path / "tu.csv", tmp_path / "truth.csv"
    frame[half].to_csv(monday, index=False)
    frame[~half].to_csv(tuesday, index=False)
    here = truth[truth.index.isin(frame[~half]["task"])].iloc[:20]
    here.rename("label").to_csv(known)
    run("aggregate", monday, "-q", "-m", "twopass", "-o", tmp_path / "o1.csv", "--workers-out", tmp_path / "w1.csv")
    run("aggregate", tuesday, "-q", "-m", "twopass", "-o", tmp_path / "o2.csv", "--workers-in", tmp_path / "w1.csv",
        "--workers-out", tmp_path / "w2.csv", "--truth", known)
    cf.TwoPass().fit(frame[half]).save(tmp_path / "p1.csv")
    assert (tmp_path / "p1.csv").read_bytes() == (tmp_path / "w1.csv").read_bytes()
    model = cf.TwoPass().fit(frame[~half], here, workers=tmp_path / "p1.csv")
    model.save(tmp_path / "p2.csv")
    assert (tmp_path / "p2.csv").read_bytes() == (tmp_path / "w2.csv").read_bytes()
    told = pd.read_csv(tmp_path / "o2.csv").set_index("task")
    assert model.labels_.tolist() == told["label"].tolist()
    assert model.confidence_.tolist() == told["confidence"].tolist()


def test_simulated_crowds_are_the_same(run: Any, tmp_path: Path) -> None:
    run("simulate", "--tasks", 120, "--workers", 30, "--classes", 5, "--labels-per-task", "2-6", "--spammers", ".1",
        "--model", "confusion", "--seed", 9, "-o", tmp_path / "l.csv", "--truth-out", tmp_path / "t.csv")
    crowd = cf.simulate(tasks=120, workers=30, classes=5, labels_per_task=(2, 6), spammers=0.1, confusion=True,
                        random_state=9)
    crowd.to_pandas().to_csv(tmp_path / "p.csv", index=False)
    assert (tmp_path / "p.csv").read_bytes() == (tmp_path / "l.csv").read_bytes()
    told = pd.read_csv(tmp_path / "t.csv").set_index("task")["label"]
    assert told.to_dict() == crowd.truth.to_dict()


def test_metrics_are_the_same(run: Any, frame: pd.DataFrame, truth: pd.Series, tmp_path: Path) -> None:
    import json

    frame.to_csv(tmp_path / "l.csv", index=False)
    truth.rename("label").to_csv(tmp_path / "t.csv")
    run("aggregate", tmp_path / "l.csv", "-q", "-o", tmp_path / "o.csv")
    told = json.loads(run("evaluate", tmp_path / "o.csv", tmp_path / "t.csv", "--json", "-q"))
    model = cf.ThreePass().fit(frame)
    found = cf.metrics.evaluate(model.labels_, truth, model.confidence_)
    for name in ("tasks", "correct", "accuracy", "macro_f1", "log_loss", "calibration_error"):
        assert getattr(found, name) == told[name], name
    agreement = json.loads(run("agreement", tmp_path / "l.csv", "--json", "-q"))
    assert cf.metrics.agreement(frame).__dict__ == agreement
    compared = json.loads(run("compare", tmp_path / "l.csv", "--truth", tmp_path / "t.csv", "--json", "-q", "--runs", 3,
                              "--methods", "mv,twopass,ds"))
    table = cf.compare(frame, truth, methods=["mv", "TwoPass", "ds"], runs=3)
    for row in compared:
        assert table.loc[row["method"], "accuracy"] == pytest.approx(row["accuracy"], abs=1e-12)
        assert table.loc[row["method"], "log_loss"] == pytest.approx(row["log_loss"], abs=1e-12)
