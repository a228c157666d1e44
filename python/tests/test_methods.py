"""Classes are made from the registry and behave as scikit-learn's do."""

from __future__ import annotations

import inspect
import pickle
import threading
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import crowdfold as cf
from crowdfold import _native, methods
from crowdfold._build import METHODS

CLASSES = [getattr(cf, name) for name in methods.__all__]
REGISTRY = {method["name"]: method for method in _native.registry()}


@pytest.fixture
def data(two_classes: cf.Crowd) -> pd.DataFrame:
    return two_classes.to_pandas()


def test_there_is_a_class_for_every_method() -> None:
    assert {cls._method for cls in CLASSES} == set(REGISTRY)


@pytest.mark.parametrize("cls", CLASSES)
def test_parameters_and_defaults_are_those_of_the_registry(cls: Any) -> None:
    signature = inspect.signature(cls)
    options = {option["name"]: option for option in REGISTRY[cls._method]["options"]}
    assert set(cls._options.values()) == set(options)
    for parameter, option in cls._options.items():
        default = signature.parameters[parameter].default
        words = {engine: word for word, engine in cls._values.get(parameter, {}).items()}
        assert options[option]["help"] in cls.__doc__ or parameter == "ties"
        if parameter in cls._own_defaults:
            assert default == METHODS[cls._method].defaults[parameter]
            continue
        if options[option]["fitted"]:
            assert default is None and f"None: {options[option]['default']} without" in cls.__doc__
            continue
        wanted = words.get(options[option]["default"], options[option]["default"])
        assert str(default) in (wanted, wanted + ".0") or float(default) == float(wanted)
    assert REGISTRY[cls._method]["citation"] in cls.__doc__
    by_position = METHODS[cls._method].positional
    assert list(signature.parameters)[:len(by_position)] == list(by_position)
    kinds = {p.kind for n, p in signature.parameters.items() if n not in by_position}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("cls", CLASSES)
def test_init_only_keeps_what_it_is_given(cls: Any) -> None:
    model = cls(random_state="nonsense", duplicates=17)
    assert model.get_params()["random_state"] == "nonsense"
    with pytest.raises(ValueError):
        model.fit({"task": ["a"], "worker": ["u"], "label": ["x"]})


@pytest.mark.parametrize("cls", CLASSES)
def test_clone_set_params_repr(cls: Any) -> None:
    model = cls(random_state=7)
    assert clone(model).get_params() == model.get_params()
    assert repr(model) == f"{cls.__name__}(random_state=7)"
    assert model.set_params(random_state=8) is model and model.random_state == 8
    with pytest.raises(cf.UsageError, match="has no parameter 'nothing'"):
        model.set_params(nothing=1)


def test_numbers_that_do_not_fit_are_refused(data: pd.DataFrame) -> None:
    for jobs in (1025, 2**31, 2**70):
        with pytest.raises(cf.UsageError, match="there can be at most 1024"):
            cf.OnePass(n_jobs=jobs).fit(data)
    for seed in (-1, 2**64):
        with pytest.raises(cf.UsageError, match="random_state="):
            cf.OnePass(random_state=seed).fit(data)


@pytest.mark.parametrize("cls", CLASSES)
def test_results_have_their_shapes(cls: Any, data: pd.DataFrame, two_classes: cf.Crowd) -> None:
    model = cls().fit(data)
    tasks, workers = data["task"].unique(), data["worker"].unique()
    assert model.labels_.name == "agg_label" and model.labels_.index.name == "task"
    assert model.labels_.index.tolist() == list(tasks)
    assert model.skills_.name == "skill" and model.skills_.index.name == "worker"
    assert model.skills_.index.tolist() == (sorted(workers) if cls is cf.MajorityVote else list(workers))
    assert model.probas_.shape == (len(tasks), 2)
    assert np.allclose(model.probas_.sum(axis=1), 1)
    assert (model.probas_.idxmax(axis=1) == model.labels_).mean() > 0.9  # a vote decides for some, and ties
    assert np.allclose(model.confidence_, model.posterior_.to_numpy()[
        np.arange(len(tasks)), model.posterior_.columns.get_indexer(model.labels_)])
    assert model.workers_["labels"].dtype == np.int64
    assert list(model.workers_.columns) == ["quality", "lower", "upper", "labels"]
    assert (model.workers_["lower"] <= model.workers_["quality"]).all()
    assert (model.workers_["quality"] <= model.workers_["upper"]).all()
    assert model.priors_.name == "prior" and abs(model.priors_.sum() - 1) < 1e-9
    assert isinstance(model.loss_history_, list)
    assert cf.metrics.accuracy(model.labels_, two_classes.truth) > 0.8
    if REGISTRY[cls._method]["has_confusion"]:
        assert model.errors_.index.names == ["worker", "label"]
        sums = model.errors_.groupby(level="worker").sum()
        assert np.allclose(sums, 1)
    else:
        with pytest.raises(cf.NotFittedError):
            model.errors_


@pytest.mark.parametrize("cls", CLASSES)
def test_pickle_keeps_everything(cls: Any, data: pd.DataFrame) -> None:
    model = cls(random_state=2).fit(data)
    again = pickle.loads(pickle.dumps(model))
    pd.testing.assert_series_equal(again.labels_, model.labels_)
    pd.testing.assert_frame_equal(again.probas_, model.probas_)
    pd.testing.assert_frame_equal(again.workers_, model.workers_)
    pd.testing.assert_series_equal(again.predict(data), model.predict(data))
    assert pickle.loads(pickle.dumps(cls(random_state=3))).random_state == 3


@pytest.mark.parametrize("cls", CLASSES)
def test_predict_judges_new_tasks_with_known_workers(cls: Any, two_classes: cf.Crowd) -> None:
    frame = two_classes.to_pandas()
    tasks = frame["task"].unique()
    old, new = frame[frame["task"].isin(tasks[:200])], frame[frame["task"].isin(tasks[200:])]
    model = cls().fit(old)
    before = model.skills_
    found = model.predict(new)
    assert found.index.tolist() == list(tasks[200:])
    assert cf.metrics.accuracy(found, two_classes.truth) > 0.8
    probabilities = model.predict_proba(new)
    assert np.allclose(probabilities.sum(axis=1), 1)
    pd.testing.assert_series_equal(model.skills_, before)
    assert model.labels_.index.tolist() == list(tasks[:200])
    strangers = new.assign(worker="nobody " + new["worker"])
    assert len(model.predict(strangers)) == 100


def test_what_was_not_fitted_says_so() -> None:
    for name in ("labels_", "probas_", "skills_", "workers_", "errors_", "priors_", "loss_history_"):
        with pytest.raises(cf.NotFittedError, match="call fit"):
            getattr(cf.TwoPass(), name)
        assert not hasattr(cf.TwoPass(), name)
    with pytest.raises(cf.NotFittedError):
        cf.TwoPass().predict({"task": ["a"], "worker": ["u"], "label": ["x"]})


def test_bad_parameters_have_the_message_of_the_command_line(cli: str, data: pd.DataFrame, tmp_path: Any) -> None:
    import subprocess

    path = tmp_path / "labels.csv"
    data.to_csv(path, index=False)
    said = subprocess.run([cli, "aggregate", path, "-m", "twopass", "--set", "alpha=0.5"], text=True, capture_output=True)
    with pytest.raises(cf.UsageError) as error:
        cf.TwoPass(alpha=0.5).fit(data)
    assert said.stderr.strip() == f"crowdfold: {error.value}"
    assert isinstance(error.value, ValueError)
    said = subprocess.run([cli, "aggregate", tmp_path / "nowhere.csv"], text=True, capture_output=True)
    with pytest.raises(OSError) as missing:
        cf.TwoPass().fit(tmp_path / "nowhere.csv")
    assert said.stderr.strip() == f"crowdfold: {missing.value}"
    path.write_text("task,worker,label\na,u,x\na,u\n")
    said = subprocess.run([cli, "aggregate", path], text=True, capture_output=True)
    with pytest.raises(cf.DataError) as bad:
        cf.TwoPass().fit(path)
    assert said.stderr.strip().endswith(f"crowdfold: {bad.value}")
    assert (bad.value.file, bad.value.line) == (str(path), 3)


def test_bad_parameters_are_called_what_they_are_called_here(data: pd.DataFrame) -> None:
    for model, said in ((cf.DawidSkene(-1), "^n_iter=-1: ds takes 0 to"), (cf.MACE(alpha=0), "^alpha=0: mace takes"),
                        (cf.TwoPass(n_jobs="all"), "^n_jobs='all': a number of threads")):
        with pytest.raises(cf.UsageError, match=said):
            model.fit(data)


def test_truths_are_taken_over_from_anything_that_holds_them(data: pd.DataFrame, two_classes: cf.Crowd,
                                                            tmp_path: Any) -> None:
    truth = two_classes.truth.to_pandas().iloc[:50]
    path = tmp_path / "truth.csv"
    truth.rename("label").to_csv(path)
    table = pd.DataFrame({"task": truth.index, "label": truth.to_numpy()})
    wanted = cf.TwoPass().fit(data, truth)
    assert (wanted.labels_[truth.index] == truth).all()
    assert (wanted.confidence_[truth.index] == 1).all()
    for given in (truth.to_dict(), table, path, cf.Series(truth.to_numpy(), truth.index, "truth", "task")):
        pd.testing.assert_series_equal(cf.TwoPass().fit(data, given).labels_, wanted.labels_)
    with pytest.raises(cf.DataError, match="none of their tasks has a label"):
        cf.TwoPass().fit(data, {"elsewhere": "class_0"})
    named = cf.TwoPass().fit(data, {data["task"][0]: "a class that nobody named"})
    assert named.labels_[data["task"][0]] == "a class that nobody named"


def test_eight_threads_at_once(frame: pd.DataFrame) -> None:
    wanted = {cls: cls().fit(frame).labels_ for cls in (cf.TwoPass, cf.DawidSkene, cf.ThreePass)}
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for _ in range(10):
                for cls, labels in wanted.items():
                    pd.testing.assert_series_equal(cls().fit(frame).labels_, labels)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_verbose_shows_progress(frame: pd.DataFrame, capfd: Any) -> None:
    cf.DawidSkene().fit(frame)
    assert capfd.readouterr().err == ""
    cf.DawidSkene(verbose=True).fit(pd.concat([frame] * 20))
    assert "reading" in capfd.readouterr().err


def test_parameters_that_truths_are_fitted_to_can_be_set_to_their_usual_value() -> None:
    assert cf.ThreePass()._settings() == []
    assert cf.ThreePass(soften=.7)._settings() == [("soften", "0.7")]
    assert clone(cf.ThreePass())._settings() == []
    assert clone(cf.ThreePass(doubt=.05))._settings() == [("doubt", "0.05")]


def test_a_softening_that_is_set_is_not_fitted_to_truths(data: pd.DataFrame, two_classes: cf.Crowd) -> None:
    truths = dict(list(two_classes.truth.items())[:100])
    highest = 1 - .05 / 2  # with two classes and a doubt of .05

    def of_the_others(model: Any) -> Any:
        return model.fit(data, truths).confidence_.drop(list(truths))

    assert of_the_others(cf.ThreePass()).max() > highest
    assert of_the_others(cf.ThreePass(doubt=.05)).max() <= highest
    both = of_the_others(cf.ThreePass(soften=.7, doubt=.05))
    assert not np.array_equal(both, of_the_others(cf.ThreePass(doubt=.05)))
