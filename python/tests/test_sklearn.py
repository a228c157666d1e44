"""What scikit-learn asks of an estimator, as far as labels can be its data."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold

import crowdfold as cf
from crowdfold import methods

CLASSES = [getattr(cf, name) for name in [*methods.__all__, "GoldMajorityVote"]]
ASKS_FOR_TAGS = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 6)


@pytest.mark.skipif(not ASKS_FOR_TAGS, reason="tags as objects came with scikit-learn 1.6")
@pytest.mark.parametrize("cls", CLASSES)
def test_estimator_checks_that_apply_pass(cls: Any) -> None:
    from sklearn.utils import get_tags
    from sklearn.utils.estimator_checks import check_estimator

    tags = get_tags(cls())
    assert tags.no_validation and not tags.input_tags.two_d_array and not tags.target_tags.required
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks that need a matrix of numbers are left out, with a warning
        check_estimator(cls())


def test_score_is_the_accuracy_of_predict(frame: pd.DataFrame, truth: pd.Series) -> None:
    model = cf.TwoPass().fit(frame)
    wanted = cf.metrics.accuracy(model.predict(frame), truth)
    by_row = frame["task"].map(truth)
    assert model.score(frame, truth) == model.score(frame, by_row.to_numpy()) == model.score(frame, by_row.tolist()) == wanted
    assert model.score(frame, truth.iloc[:7]) == cf.metrics.accuracy(model.predict(frame), truth.iloc[:7])


def test_truths_may_come_by_row(frame: pd.DataFrame, truth: pd.Series) -> None:
    some = truth.iloc[:50]
    by_row = frame["task"].map(some)
    pd.testing.assert_series_equal(cf.TwoPass().fit(frame, by_row.to_numpy()).labels_, cf.TwoPass().fit(frame, some).labels_)
    with pytest.raises(cf.UsageError, match="3 of them for .* rows"):
        cf.TwoPass().fit(frame, np.array(["x", "y", "z"]))
    with pytest.raises(cf.UsageError, match="by row are for tables"):
        cf.TwoPass().fit(iter([frame]), np.array(["x"]))


def test_a_grid_search_finds_a_setting(frame: pd.DataFrame, truth: pd.Series) -> None:
    by_row = frame["task"].map(truth).to_numpy()
    search = GridSearchCV(cf.ThreePass(), {"soften": [0.5, 1.0]}, cv=GroupKFold(3), error_score="raise")
    search.fit(frame, by_row, groups=frame["task"])
    assert search.best_params_["soften"] in (0.5, 1.0) and 0.5 < search.best_score_ <= 1
    assert len(search.predict(frame)) == frame["task"].nunique()


def test_results_come_in_the_library_that_is_asked_for(frame: pd.DataFrame) -> None:
    import polars

    columns = {name: frame[name].to_numpy() for name in frame}
    wanted = cf.TwoPass().fit(frame)
    model = cf.TwoPass().set_output(transform="pandas")
    assert model.fit(columns).labels_.to_dict() == wanted.labels_.to_dict()
    assert isinstance(clone(model).fit(columns).workers_, pd.DataFrame)
    assert isinstance(model.set_output(transform="polars").predict(frame), polars.DataFrame)
    assert isinstance(model.set_output().fit(frame).labels_, polars.DataFrame)
    assert isinstance(model.set_output(transform="default").fit(frame).labels_, pd.Series)
    with pytest.raises(cf.UsageError, match="default | pandas | polars"):
        model.set_output(transform="arrow")
