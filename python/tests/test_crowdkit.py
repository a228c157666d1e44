"""Scripts for crowd-kit run with the import line swapped: the same names, types and shapes, and nearly the same answers."""

from __future__ import annotations

import importlib
import inspect
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from crowdkit.aggregation.base import BaseClassificationAggregator
from sklearn.base import BaseEstimator, clone

import crowdfold as cf

# crowd-kit 1.4.2 was written for a scikit-learn that did not ask for tags; its `predict` fails without them.
BaseClassificationAggregator.__sklearn_tags__ = lambda self: BaseEstimator().__sklearn_tags__()

pytestmark = pytest.mark.filterwarnings("ignore")  # crowd-kit's, of numpy and pandas

# One script for every class; parameters by position, as crowd-kit takes them.
SCRIPTS = {
    "MajorityVote": """
        model = MajorityVote(None, "error")
        labels = model.fit_predict(frame)
        probas = model.fit_predict_proba(frame)
        weighted = MajorityVote().fit(frame, skills)""",
    "GoldMajorityVote": """
        model = GoldMajorityVote()
        labels = model.fit_predict(frame, truth)
        probas = model.fit_predict_proba(frame, truth)
        assert model.fit(frame, true_labels=truth) is model
        model.predict_proba(frame)""",
    "Wawa": """
        model = Wawa()
        labels = model.fit_predict(frame)
        predicted = model.fit(frame).predict(frame)
        assert (predicted == labels.reindex(predicted.index)).all()
        model.predict_proba(frame)
        probas = model.fit_predict_proba(frame)""",
    "ZeroBasedSkill": """
        model = ZeroBasedSkill(20, 1.0, 5, 0.6, 1e-4)
        labels = model.fit_predict(frame)
        probas = model.fit_predict_proba(frame)""",
    "DawidSkene": """
        model = DawidSkene(20, 1e-5, None)
        labels = model.fit_predict(frame)
        probas = model.fit_predict_proba(frame, truth)
        assert (probas.idxmax(axis=1)[truth.index] == truth).all()
        model.fit(frame, true_labels=None, initial_error=None)
        DawidSkene(1, 1e-5, "assign").fit(frame, initial_error=model.errors_)
        DawidSkene(1, 1e-5, "addition").fit(frame, None, 10 * model.errors_)""",
    "OneCoinDawidSkene": """
        model = OneCoinDawidSkene(20, 1e-5)
        labels = model.fit_predict(frame)
        probas = model.fit_predict_proba(frame)""",
    "GLAD": """
        model = GLAD(3, 1e-5, True, None, None, None, 25, 1e-2)
        labels = model.fit_predict(frame)
        probas = model.fit_predict_proba(frame)
        priors = pd.Series(0.5, index=pd.Index(frame.label.unique()))
        abilities = pd.Series(2.0, index=pd.Index(frame.worker.unique()))
        eases = pd.Series(0.5, index=pd.Index(frame.task.unique()))
        GLAD(2, labels_priors=priors, alphas_priors_mean=abilities, betas_priors_mean=eases).fit(frame)""",
    "MACE": """
        model = MACE(2, 10, "vb", 0.1, 0.5, 0.5, 0.5, 1, 0)
        labels = model.fit_predict(frame)
        probas = model.fit_predict_proba(frame)""",
    "MMSR": """
        model = MMSR(1000, 1e-5, 0)
        labels = model.fit_predict(frame)
        probas = model.fit_predict_score(frame)
        model.predict_score(frame)""",
    "KOS": """
        model = KOS(10, 3)
        labels = model.fit_predict(frame)""",
}
# What crowd-kit's GLAD keeps for itself, without documenting it; `workers_` and `priors_` mean something else here.
INNER = {"GLAD": {"alphas_priors_mean_", "betas_priors_mean_", "prior_labels_", "tasks_", "workers_", "priors_"}}
# The least share of tasks with the same label.
SAME = {"MajorityVote": 1.0, "GoldMajorityVote": 1.0, "Wawa": 1.0, "ZeroBasedSkill": 1.0, "DawidSkene": 0.97,
        "OneCoinDawidSkene": 0.97, "GLAD": 0.95, "MACE": 0.97, "MMSR": 0.95, "KOS": 0.95}


def run(package: str, name: str, crowd: cf.Crowd) -> dict[str, Any]:
    frame, truth = crowd.to_pandas(), crowd.truth.to_pandas()
    workers = sorted(frame["worker"].unique())
    skills = pd.Series(np.linspace(0.3, 0.9, len(workers)), index=pd.Index(workers, name="worker"))
    scope: dict[str, Any] = {"pd": pd, "frame": frame, "truth": truth.iloc[:40], "skills": skills}
    exec(f"from {package} import {name}\n" + inspect.cleandoc(SCRIPTS[name]), scope)
    return scope


def fitted(model: Any) -> dict[str, Any]:
    return {name: getattr(model, name) for name in dir(model)
            if name.endswith("_") and not name.startswith("_") and hasattr(model, name)}


def form(value: Any) -> Any:
    """Names, dtypes and shape."""
    if isinstance(value, pd.Series):
        return "Series", value.name, list(value.index.names), value.index.dtype, value.dtype, len(value)
    if isinstance(value, pd.DataFrame):
        return "DataFrame", list(value.index.names), value.columns.dtype, set(value.dtypes), value.shape
    if isinstance(value, np.ndarray):
        return "array", value.dtype, value.shape
    return type(value)


@pytest.fixture(scope="module")
def small() -> cf.Crowd:
    """Small, as crowd-kit takes its time; two classes and seven labels: no votes are tied, which both decide their own way."""
    return cf.simulate(tasks=100, workers=12, classes=2, labels_per_task=7, quality="uniform:.6,.95", random_state=4)


@pytest.fixture(scope="module")
def both(small: cf.Crowd) -> Any:
    made: dict[str, Any] = {}

    def both(name: str) -> Any:
        if name not in made:
            made[name] = run("crowdkit.aggregation", name, small), run("crowdfold", name, small)
        return made[name]

    return both


def test_there_is_a_script_for_every_class_of_crowdkit() -> None:
    module = importlib.import_module("crowdkit.aggregation.classification")
    theirs = {name for name, value in vars(module).items() if inspect.isclass(value)}
    assert theirs == set(SCRIPTS)


@pytest.mark.parametrize("name", list(SCRIPTS))
def test_the_same_script_gives_the_same_labels(name: str, both: Any) -> None:
    theirs, ours = both(name)
    assert form(ours["labels"]) == form(theirs["labels"])
    assert set(ours["labels"].index) == set(theirs["labels"].index)
    same = (ours["labels"] == theirs["labels"].reindex(ours["labels"].index)).mean()
    assert same >= SAME[name], same
    if "probas" in theirs:
        assert form(ours["probas"]) == form(theirs["probas"])
        assert ours["probas"].columns.name == "label"


@pytest.mark.parametrize("name", list(SCRIPTS))
def test_every_fitted_attribute_has_its_name_type_and_shape(name: str, both: Any) -> None:
    theirs, ours = (fitted(scope["model"]) for scope in both(name))
    for attribute, value in theirs.items():
        if attribute in INNER.get(name, ()):
            continue
        assert attribute in ours, attribute
        assert form(ours[attribute]) == form(value), attribute


@pytest.mark.parametrize("name", list(SCRIPTS))
def test_every_parameter_has_its_name_and_place(name: str) -> None:
    theirs = inspect.signature(getattr(importlib.import_module("crowdkit.aggregation"), name)).parameters
    working_memory = {"observation_matrix", "covariation_matrix", "n_common_tasks", "n_workers", "n_tasks", "n_labels",
                      "labels_mapping", "workers_mapping", "tasks_mapping"}  # of MMSR
    ours = inspect.signature(getattr(cf, name)).parameters
    wanted = [parameter for parameter in theirs if parameter not in working_memory]
    assert list(ours)[:len(wanted)] == wanted
    kinds = {parameter: ours[parameter].kind for parameter in ours}
    assert {kinds[parameter] for parameter in wanted} <= {inspect.Parameter.POSITIONAL_OR_KEYWORD}


@pytest.mark.parametrize("name", list(SCRIPTS))
def test_arguments_of_fit_have_their_names_and_places(name: str) -> None:
    crowdkit = getattr(importlib.import_module("crowdkit.aggregation"), name)
    for method in ("fit", "fit_predict", "fit_predict_proba", "predict", "predict_proba", "fit_predict_score",
                   "predict_score"):
        if hasattr(crowdkit, method):
            theirs = list(inspect.signature(getattr(crowdkit, method)).parameters)
            ours = list(inspect.signature(getattr(getattr(cf, name), method)).parameters)
            assert ours[:len(theirs)] == theirs, method


def close(ours: pd.DataFrame, theirs: pd.DataFrame, most: float) -> bool:
    return bool((ours.reindex(index=theirs.index, columns=theirs.columns) - theirs).abs().max().max() <= most)


def test_weighted_votes_have_the_same_numbers(both: Any) -> None:
    theirs, ours = both("MajorityVote")
    assert close(ours["probas"], theirs["probas"], 1e-12)
    assert close(ours["weighted"].probas_, theirs["weighted"].probas_, 1e-12)
    for name in ("GoldMajorityVote", "Wawa", "ZeroBasedSkill"):
        theirs, ours = both(name)
        assert close(ours["probas"], theirs["probas"], 1e-9), name
    theirs, ours = both("GoldMajorityVote")
    pd.testing.assert_series_equal(ours["model"].skills_.sort_index(), theirs["model"].skills_.sort_index())


def test_initial_errors_mean_the_same(both: Any) -> None:
    theirs, ours = both("DawidSkene")
    assert (ours["model"].errors_.sort_index() - theirs["model"].errors_.sort_index()).abs().mean().mean() < 0.02
    error = theirs["model"].errors_  # the same for both from here on
    for strategy in ("assign", "addition"):
        model = cf.DawidSkene(1, initial_error_strategy=strategy).fit(theirs["frame"], initial_error=7 * error)
        expected = theirs["DawidSkene"](1, 1e-5, strategy).fit(theirs["frame"], initial_error=7 * error)
        assert close(model.probas_, expected.probas_, 1e-6)


def test_inner_numbers_agree(both: Any) -> None:
    theirs, ours = (scope["model"] for scope in both("GLAD"))
    for name, least in (("alphas_", 0.9), ("betas_", 0.9)):
        together = pd.concat([getattr(ours, name), getattr(theirs, name)], axis=1)
        assert together.corr(method="spearman").iloc[0, 1] > least, name
    theirs, ours = (scope["model"] for scope in both("MACE"))
    assert np.corrcoef(ours.spamming_[:, 0], theirs.spamming_[:, 0])[0, 1] > 0.9
    assert np.allclose(ours.spamming_.sum(axis=1), 1) and np.allclose(ours.thetas_.sum(axis=1), 1)
    for name, most in (("MajorityVote", 1e-9), ("Wawa", 1e-9), ("ZeroBasedSkill", 1e-9), ("OneCoinDawidSkene", 0.01)):
        theirs, ours = (scope["model"] for scope in both(name))
        assert (ours.skills_.reindex(theirs.skills_.index) - theirs.skills_).abs().max() < most, name
    theirs, ours = (scope["model"] for scope in both("MMSR"))
    assert pd.concat([ours.skills_, theirs.skills_], axis=1).corr(method="spearman").iloc[0, 1] > 0.8


@pytest.mark.parametrize("kind", ["integers", "booleans"])
@pytest.mark.parametrize("name", ["MajorityVote", "Wawa", "DawidSkene"])
def test_dtypes_stay_as_they_do_there(name: str, kind: str, small: cf.Crowd) -> None:
    frame = small.to_pandas()
    for column in ("task", "worker", "label"):
        frame[column] = pd.factorize(frame[column])[0]
    if kind == "booleans":
        frame["label"] = frame["label"] == 1
    theirs = getattr(importlib.import_module("crowdkit.aggregation"), name)()
    ours = getattr(cf, name)()
    assert form(ours.fit_predict(frame)) == form(theirs.fit_predict(frame))
    assert form(ours.fit_predict_proba(frame)) == form(theirs.fit_predict_proba(frame))


# --- what crowd-kit's arguments do here -----------------------------------------------------


def test_skills_come_in_any_form_and_library(small: cf.Crowd) -> None:
    import polars
    import pyarrow

    frame = small.to_pandas()
    workers = frame["worker"].unique()
    skills = pd.Series(np.linspace(0.1, 2, len(workers)), index=workers)
    wanted = cf.MajorityVote().fit_predict(frame, skills)
    assert not wanted.equals(cf.MajorityVote().fit_predict(frame))
    table = {"worker": list(workers), "skill": skills.tolist()}
    for given in (skills.to_dict(), table, pd.DataFrame(table), polars.DataFrame(table), pyarrow.table(table),
                  cf.Series(skills.to_numpy(), workers, "skill", "worker")):
        pd.testing.assert_series_equal(cf.MajorityVote().fit_predict(frame, given), wanted)
    with pytest.raises(cf.UsageError, match="skills?.*number by worker"):
        cf.MajorityVote().fit(frame, dict.fromkeys(workers, "good"))
    with pytest.raises(cf.UsageError, match="skills in a float"):
        cf.MajorityVote().fit(frame, 0.5)
    for bad, said in ((skills * np.inf, "finite"), (pd.concat([skills, skills]), "several numbers for one worker"),
                      ({"somebody": 1}, "none of the workers has one .*true_labels=")):
        with pytest.raises(cf.UsageError, match=said):
            cf.MajorityVote().fit(frame, bad)
    truth = small.truth.to_pandas()
    assert (cf.MajorityVote().fit_predict(frame, true_labels=truth) == truth).all()


def test_workers_without_a_skill(small: cf.Crowd) -> None:
    frame = small.to_pandas()
    workers = frame["worker"].unique()
    some = dict.fromkeys(workers[1:], 1.0)
    with pytest.raises(cf.UsageError, match="1 of 12 workers have none; on_missing_skill='ignore'"):
        cf.MajorityVote().fit(frame, some)
    ignored = cf.MajorityVote(on_missing_skill="ignore").fit_predict_proba(frame, some)
    others = cf.MajorityVote(posterior="shares").fit_predict_proba(frame[frame["worker"] != workers[0]])
    assert close(ignored, others, 1e-12)
    valued = cf.MajorityVote(3.0, "value").fit_predict_proba(frame, some)
    assert close(valued, cf.MajorityVote().fit_predict_proba(frame, {**some, workers[0]: 3.0}), 1e-12)
    with pytest.raises(cf.UsageError, match="default_skill="):
        cf.MajorityVote(on_missing_skill="value").fit(frame, some)
    with pytest.raises(cf.UsageError, match="1 tasks have labels of workers without a skill only"):
        cf.MajorityVote(on_missing_skill="ignore").fit(
            {"task": ["a", "b"], "worker": ["u", "v"], "label": ["x", "y"]}, {"v": 1})


def test_gold_majority_vote(small: cf.Crowd) -> None:
    frame, truth = small.to_pandas(), small.truth.to_pandas().iloc[:40]
    model = cf.GoldMajorityVote()
    for attribute in ("skills_", "labels_", "probas_"):
        with pytest.raises(cf.NotFittedError, match="call fit"):
            getattr(model, attribute)
    with pytest.raises(cf.NotFittedError):
        model.predict(frame)
    model.fit(frame, truth)
    with pytest.raises(cf.NotFittedError, match="call predict"):
        model.labels_
    labels = model.predict(frame)
    pd.testing.assert_series_equal(model.labels_, labels)
    again = pickle.loads(pickle.dumps(model))
    pd.testing.assert_series_equal(again.skills_, model.skills_)
    pd.testing.assert_series_equal(again.predict(frame), labels)
    assert not hasattr(clone(model), "skills_")
    pd.testing.assert_series_equal(cf.GoldMajorityVote().fit_predict(frame, truth.to_dict()), labels)
    stranger = pd.concat([frame, frame.iloc[:1].assign(worker="stranger", task="new")])
    with pytest.raises(cf.UsageError, match="1 of 13 workers have none"):
        model.predict(stranger)
    assert len(cf.GoldMajorityVote(0.5, "value").fit(frame, truth).predict(stranger)) == 101
    with pytest.raises(cf.UsageError, match="truths of some tasks are needed"):
        model.fit(frame, None)
    for learn in (lambda: model.partial_fit(frame), lambda: model.learn_one("t", {"u": "a"})):
        with pytest.raises(cf.UsageError, match="learns by fit"):
            learn()


def test_initial_errors_that_do_not_fit(small: cf.Crowd) -> None:
    frame = small.to_pandas()
    errors = cf.DawidSkene().fit(frame).errors_
    with pytest.warns(UserWarning, match="no effect without initial_error_strategy"):
        cf.DawidSkene().fit(frame, initial_error=errors)
    with pytest.raises(cf.UsageError, match="assign | addition"):
        cf.DawidSkene(initial_error_strategy="replace").fit(frame, initial_error=errors)
    with pytest.raises(cf.UsageError, match="1 of 12 workers have no matrix"):
        cf.DawidSkene(initial_error_strategy="assign").fit(frame, initial_error=errors.iloc[2:])
    cf.DawidSkene(initial_error_strategy="addition").fit(frame, initial_error=errors.iloc[2:])
    with pytest.raises(cf.UsageError, match="by worker and label"):
        cf.DawidSkene(initial_error_strategy="assign").fit(frame, initial_error=errors.reset_index(drop=True))


def test_initial_errors_come_as_errors_do_in_every_library(small: cf.Crowd) -> None:
    import polars
    import pyarrow

    frame = small.to_pandas()
    wanted: Any = None
    for data in (frame, polars.from_pandas(frame), pyarrow.Table.from_pandas(frame), small.data):
        errors = cf.DawidSkene(3).fit(data).errors_
        found = cf.DawidSkene(1, initial_error_strategy="assign").fit(data, initial_error=errors)
        confidence = np.asarray(found._fitted.confidence)
        wanted = confidence if wanted is None else wanted
        assert np.allclose(confidence, wanted)


def test_tables_as_parameters_can_be_shown_and_cloned(small: cf.Crowd) -> None:
    frame = small.to_pandas()
    priors = pd.Series([0.9, 0.1], index=sorted(frame["label"].unique()))
    model = cf.GLAD(labels_priors=priors)
    assert repr(model).startswith("GLAD(labels_priors=")
    copy = clone(model)
    pd.testing.assert_series_equal(copy.get_params()["labels_priors"], priors)
    pd.testing.assert_series_equal(copy.fit(frame).labels_, model.fit(frame).labels_)


def test_priors_of_labels_are_probabilities_of_all(small: cf.Crowd) -> None:
    first, second = sorted(small.to_pandas()["label"].unique())
    for bad in ({first: 1.5, second: -0.5}, {first: 1.0}, {first: 0.5, "another": 0.5}, {first: 2, second: 1}):
        with pytest.raises(cf.UsageError, match="a probability for every label"):
            cf.GLAD(labels_priors=bad).fit(small.to_pandas())


def test_parameters_without_a_meaning_keep_their_default(small: cf.Crowd) -> None:
    with pytest.raises(cf.UsageError, match="has no meaning here"):
        cf.OneCoinDawidSkene(initial_error_strategy="assign").fit(small.to_pandas())


# --- what crowd-kit's results mean here ------------------------------------------------------

TIED = pd.DataFrame([("t1", "u", "b"), ("t1", "v", "a"), ("t2", "u", "a"), ("t2", "v", "a"), ("t2", "w", "b")],
                    columns=["task", "worker", "label"])
VOTES = (cf.MajorityVote, cf.Wawa, cf.ZeroBasedSkill)


@pytest.mark.parametrize("name", list(SCRIPTS))
def test_a_missing_column_is_a_key_error_too(name: str, small: cf.Crowd) -> None:
    frame, truth = small.to_pandas(), small.truth.to_pandas()
    arguments = [truth] if name == "GoldMajorityVote" else []
    for column in ("task", "worker", "label"):
        with pytest.raises(KeyError) as error:
            getattr(cf, name)().fit_predict(frame.drop(columns=column), *arguments)
        assert isinstance(error.value, cf.ColumnError) and isinstance(error.value, cf.UsageError)
        assert str(error.value).startswith(f"no column '{column}'; there are: ")


@pytest.mark.parametrize("cls", [cf.MMSR, cf.ZeroBasedSkill, cf.DawidSkene, cf.GLAD, cf.OneCoinDawidSkene])
def test_no_iteration_leaves_the_start(cls: Any, small: cf.Crowd) -> None:
    frame = small.to_pandas()
    model = cls(n_iter=0).fit(frame)
    assert model.loss_history_ == []
    votes = cf.MajorityVote().fit_predict(frame)  # no ties among seven labels of two classes
    pd.testing.assert_series_equal(model.labels_, votes, check_categorical=False)


def test_dawid_skene_starts_from_votes(small: cf.Crowd) -> None:
    frame = small.to_pandas()
    start = cf.DawidSkene(0).fit(frame)
    votes = cf.MajorityVote().fit(frame).probas_
    pd.testing.assert_frame_equal(start.probas_.reindex(columns=votes.columns), votes, check_exact=False, atol=1e-9)
    joined = frame.join(votes, on="task").groupby(["worker", "label"])[list(votes.columns)].sum()
    wanted = joined / joined.groupby("worker").transform("sum")
    assert np.allclose(start.errors_.reindex(index=wanted.index, columns=wanted.columns), wanted, atol=1e-6)
    assert not cf.DawidSkene(1).fit(frame).probas_.equals(cf.DawidSkene(1, start=0.7).fit(frame).probas_)


def test_shares_of_votes_and_agreement_are_what_votes_show() -> None:
    model = cf.MajorityVote().fit(TIED)
    assert model.probas_.loc["t2"].to_dict() == pytest.approx({"a": 2 / 3, "b": 1 / 3})
    assert model.skills_.to_dict() == {"u": 0.5, "v": 1.0, "w": 0.0}
    assert model.posterior_.loc["t2", "a"] == model.confidence_["t2"] != model.probas_.loc["t2", "a"]
    assert model.workers_.loc["w", "quality"] > 0
    known = cf.MajorityVote().fit(TIED, true_labels={"t1": "b"})
    assert known.probas_.loc["t1"].to_dict() == {"a": 0, "b": 1} and known.skills_["u"] == 1
    assert cf.ThreePass().fit(TIED).posterior_.equals(cf.ThreePass().fit(TIED).probas_)


@pytest.mark.parametrize("cls", VOTES)
def test_ties_go_to_the_first_class_in_sorted_order(cls: Any) -> None:
    numbers = TIED.assign(label=TIED["label"].map({"a": 9, "b": 10}))
    assert cls().fit(TIED).labels_["t1"] == "a" and cls(ties="first").fit(TIED).labels_["t1"] == "b"
    assert cls().fit(numbers).labels_["t1"] == 9
    assert list(cls().fit(TIED).probas_.columns) == ["a", "b"]
    mixed = TIED.assign(label=TIED["label"].map({"a": 9, "b": "x"}).astype(object))
    assert cls().fit(mixed).labels_["t1"] == "x"  # cannot be compared: the first seen


def test_skills_of_votes_are_sorted_by_worker() -> None:
    backwards = TIED.iloc[::-1]
    assert cf.MajorityVote().fit(backwards).skills_.index.tolist() == ["u", "v", "w"]
    assert cf.GoldMajorityVote().fit(backwards, {"t2": "a"}).skills_.index.tolist() == ["u", "v", "w"]


@pytest.mark.parametrize("name", list(SCRIPTS))
def test_what_is_returned_is_what_is_shown(name: str, both: Any) -> None:
    ours = both(name)[1]
    model, frame = type(ours["model"])(), ours["frame"]
    arguments = [ours["truth"]] if name == "GoldMajorityVote" else []
    assert model.fit_predict(frame, *arguments) is model.labels_
    assert model.labels_ is model.labels_ and model.skills_ is model.skills_
    if hasattr(model, "predict_score"):
        assert model.fit_predict_score(frame) is model.scores_
    assert model.fit_predict_proba(frame, *arguments) is model.probas_
    if name in ("MajorityVote", "TwoPass"):
        model.partial_fit(frame)
        assert len(model.labels_) == frame["task"].nunique()


@pytest.mark.parametrize("name", list(SCRIPTS))
def test_every_series_that_dir_lists_is_called_as_its_attribute(name: str, both: Any) -> None:
    model = both(name)[1]["model"]
    listed = [member for member in dir(model) if member.endswith("_") and not member.startswith("_")]
    assert "labels_" in listed and "workers_" in listed
    for member in listed:
        value = getattr(model, member)
        if isinstance(value, pd.Series):
            assert value.name == ("agg_label" if member == "labels_" else member[:-2])
    assert "labels_" not in dir(type(model)())


def test_a_task_may_have_several_truths() -> None:
    frame = pd.DataFrame([("t1", "u", "x"), ("t2", "u", "x"), ("t1", "v", "y"), ("t2", "v", "y"), ("t1", "w", "z")],
                         columns=["task", "worker", "label"])
    truths = pd.Series(["x", "y", "y", "q"], index=["t1", "t1", "t2", "nowhere"])
    assert cf.GoldMajorityVote().fit(frame, truths).skills_.to_dict() == {"u": 0.5, "v": 1.0, "w": 0.0}
    with pytest.raises(cf.DataError, match="has another truth already"):
        cf.DawidSkene().fit(frame, truths)
    with pytest.raises(cf.DataError, match="none of their tasks has a label"):
        cf.GoldMajorityVote().fit(frame, {"nowhere": "x"})


def test_ignored_workers_have_no_skill() -> None:
    model = cf.MajorityVote(on_missing_skill="ignore").fit(TIED, {"u": 1.0, "v": 2.0})
    assert model.skills_.to_dict() == {"u": 0.5, "v": 1.0}


def test_matrices_of_zeros_are_refused_or_add_nothing(small: cf.Crowd) -> None:
    frame = small.to_pandas()
    zeros = cf.DawidSkene().fit(frame).errors_ * 0
    with pytest.raises(ValueError, match="error matrix in initial_error should be 1.0"):
        cf.DawidSkene(initial_error_strategy="assign").fit(frame, initial_error=zeros)
    added = cf.DawidSkene(initial_error_strategy="addition").fit(frame, initial_error=zeros)
    pd.testing.assert_frame_equal(added.probas_, cf.DawidSkene().fit(frame).probas_)


def test_errors_come_in_the_order_of_initial_errors(small: cf.Crowd) -> None:
    frame = small.to_pandas()
    given = cf.DawidSkene().fit(frame).errors_.iloc[::-1]
    model = cf.DawidSkene(0, initial_error_strategy="assign").fit(frame, initial_error=given)
    pd.testing.assert_frame_equal(model.errors_, given)
    assert not model.fit(frame).errors_.index.equals(given.index)
