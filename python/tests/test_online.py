"""Learning chunk by chunk and task by task."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import crowdfold as cf
from crowdfold import _native, methods

ONLINE = [getattr(cf, name) for name in methods.__all__ if any(
    m["online"] and m["name"] == getattr(cf, name)._method for m in _native.registry())]
MERGING = [cls for cls in ONLINE if next(m for m in _native.registry() if m["name"] == cls._method)["can_merge"]]


@pytest.fixture
def grouped(two_classes: cf.Crowd) -> pd.DataFrame:
    return two_classes.to_pandas()


def chunks(frame: pd.DataFrame, size: int) -> list[pd.DataFrame]:
    tasks = frame["task"].unique()
    return [frame[frame["task"].isin(tasks[i:i + size])] for i in range(0, len(tasks), size)]


def test_chunks_give_what_the_whole_gives(grouped: pd.DataFrame) -> None:
    whole = cf.OnePass().fit(grouped)
    model = cf.OnePass()
    answers = [model.partial_fit(chunk).labels_ for chunk in chunks(grouped, 70)]
    pd.testing.assert_series_equal(pd.concat(answers), whole.labels_)
    pd.testing.assert_frame_equal(model.workers_, whole.workers_)


@pytest.mark.parametrize("cls", ONLINE)
def test_a_chunk_may_come_from_anywhere(cls: Any, grouped: pd.DataFrame, two_classes: cf.Crowd, tmp_path: Path) -> None:
    parts = chunks(grouped, 60)
    parts[1].to_csv(tmp_path / "part.csv", index=False)
    model = cls()
    model.partial_fit(parts[0]).partial_fit(tmp_path / "part.csv").partial_fit(pl.from_pandas(parts[2]))
    model.partial_fit(iter([parts[3], parts[4]]))
    assert cf.metrics.accuracy(model.labels_, two_classes.truth) > 0.8
    assert sum(model.workers_["labels"]) == len(grouped)
    only = cls()
    for part in parts[:3] + [pd.concat(parts[3:])]:
        only.partial_fit(part)
    assert dict(only.labels_) == dict(model.labels_)
    assert list(only.workers_["quality"]) == list(model.workers_["quality"])


@pytest.mark.parametrize("cls", ONLINE)
def test_one_task_at_a_time(cls: Any, grouped: pd.DataFrame) -> None:
    model, same = cls(), cls()
    for task, rows in list(grouped.groupby("task", sort=False))[:40]:
        model.learn_one(task, dict(zip(rows["worker"], rows["label"])))
        same.learn_one(task, list(zip(rows["worker"], rows["label"])))
        assert list(model.labels_) == list(same.labels_)
    rows = grouped[grouped["task"] == grouped["task"].iloc[-1]]
    said = dict(zip(rows["worker"], rows["label"]))
    probabilities = model.predict_proba_one(said)
    assert sum(probabilities.values()) == pytest.approx(1)
    assert model.predict_one(said) == max(probabilities, key=probabilities.__getitem__)
    assert model.predict_one({}) is None
    known = len(model.workers_)
    model.predict_one({**said, "a stranger": "class_0"})
    assert len(model.workers_) == known


@pytest.mark.parametrize("cls", [cf.Wawa, cf.DawidSkene, cf.OnePass, cf.ThreePass])
def test_predict_one_says_what_predict_says(cls: Any, grouped: pd.DataFrame) -> None:
    model = cls().fit(grouped)
    probabilities = model.predict_proba(grouped)
    for task, rows in list(grouped.groupby("task", sort=False))[:30]:
        one = model.predict_proba_one(dict(zip(rows["worker"], rows["label"])))
        assert one == pytest.approx(probabilities.loc[task].to_dict())


def test_learn_one_is_partial_fit_of_one_task(grouped: pd.DataFrame) -> None:
    by_one, by_chunk = cf.OnePass(), cf.OnePass()
    for task, rows in list(grouped.groupby("task", sort=False))[:50]:
        by_one.learn_one(task, zip(rows["worker"], rows["label"]))
        by_chunk.partial_fit(rows)
        assert dict(by_one.labels_.items()) == dict(by_chunk.labels_.items())
    assert list(by_one.workers_["quality"]) == list(by_chunk.workers_["quality"])
    assert list(by_one.workers_["worker"]) == list(by_chunk.workers_.index)


def test_integers_stay_integers_one_by_one() -> None:
    model = cf.OnePass().learn_one(1, {10: True, 11: True, 12: False})
    assert model.labels_[1] is True or model.labels_[1] == True  # noqa: E712
    model.learn_one(2, {10: False, 13: False}, truth=True)
    assert list(model.workers_["worker"]) == [10, 11, 12, 13]
    assert set(model.predict_proba_one({10: True})) == {True, False}


@pytest.mark.parametrize("cls", MERGING)
def test_merging_adds_up(cls: Any, grouped: pd.DataFrame) -> None:
    first, second = chunks(grouped, 150)
    left = cls().partial_fit(first)
    right = cls().partial_fit(second.iloc[::-1])  # other orders of workers and classes
    left.merge(right)
    table, parts = left.workers_, (cls().partial_fit(first).workers_, right.workers_)
    for worker, row in table.iterrows():
        seen = sum(part.loc[worker, "labels"] for part in parts if worker in part.index)
        assert row["labels"] == seen
    assert len(left.predict(grouped)) == 300
    with pytest.raises(cf.UsageError, match="cannot be merged with"):
        left.merge(cf.Wawa().fit(first))


def test_networks_do_not_merge(grouped: pd.DataFrame) -> None:
    model = cf.BiLA().partial_fit(grouped)
    with pytest.raises(cf.UsageError):
        model.merge(cf.BiLA().partial_fit(grouped))


@pytest.mark.parametrize("cls", ONLINE)
def test_pickle_goes_on_where_it_was(cls: Any, grouped: pd.DataFrame) -> None:
    first, second = chunks(grouped, 150)
    model = cls().partial_fit(first)
    again = pickle.loads(pickle.dumps(model))
    pd.testing.assert_series_equal(again.partial_fit(second).labels_, model.partial_fit(second).labels_)
    pd.testing.assert_frame_equal(again.workers_, model.workers_)


def test_save_and_load_go_on_where_it_was(grouped: pd.DataFrame, tmp_path: Path) -> None:
    first, second = chunks(grouped, 150)
    model = cf.OnePass().partial_fit(first)
    for name in ("workers.csv", "workers.jsonl"):
        model.save(tmp_path / name)
        again = cf.OnePass().load(tmp_path / name)
        pd.testing.assert_frame_equal(cf.OnePass().load(tmp_path / name).partial_fit(second).workers_,
                                      pickle.loads(pickle.dumps(model)).partial_fit(second).workers_)
        assert list(again.predict(second)) == list(model.predict(second))


def test_fit_then_partial_fit_goes_on(grouped: pd.DataFrame) -> None:
    first, second = chunks(grouped, 150)
    model = cf.OnePass().fit(first).partial_fit(second)
    pd.testing.assert_frame_equal(model.workers_, cf.OnePass().fit(grouped).workers_)


def test_methods_on_whole_data_sets_refuse(grouped: pd.DataFrame) -> None:
    for call in (lambda m: m.partial_fit(grouped), lambda m: m.learn_one("a", {"u": "x"})):
        with pytest.raises(cf.UsageError, match="ds works on whole data sets only.*onepass"):
            call(cf.DawidSkene())


@pytest.mark.parametrize("cls", [cf.ThreePass, cf.FivePass, cf.DawidSkene, cf.OnePass])
def test_a_pickled_model_judges_as_before(cls: Any, grouped: pd.DataFrame) -> None:
    model = cls().fit(grouped)
    again = pickle.loads(pickle.dumps(model))
    pd.testing.assert_frame_equal(again.predict_proba(grouped), model.predict_proba(grouped), check_exact=True)


def test_threepass_judges_further_tasks_as_softly_as_its_own(grouped: pd.DataFrame) -> None:
    model = cf.ThreePass().fit(grouped)
    assert (model.predict_proba(grouped) - model.probas_).abs().max().max() < .02


def test_a_loaded_model_has_the_qualities_that_were_saved(grouped: pd.DataFrame, tmp_path: Path) -> None:
    for cls in (cf.ThreePass, cf.DawidSkene):
        cls().fit(grouped).save(tmp_path / "workers.csv")
        first, second = (cls().load(tmp_path / "workers.csv").predict_proba(grouped) for _ in range(2))
        pd.testing.assert_frame_equal(first, second, check_exact=True)
