"""Scripts for crowd-kit run with the import line swapped, and say nearly the same."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import pandas as pd
import pytest

import crowdfold as cf

SCRIPT = """
from {package} import {name}
model = {name}({arguments})
fitted = model.fit(frame{truth})
same_object = fitted is model
labels = {name}({arguments}).fit_predict(frame{truth})
assert labels.name == "agg_label" and labels.index.name == "task"
assert isinstance(labels, pd.Series)
"""
PROBAS = """
probas = {name}({arguments}).fit_predict_proba(frame{truth})
assert isinstance(probas, pd.DataFrame) and probas.index.name == "task"
best = probas.idxmax(axis="columns")
"""
AFTER = {
    "MajorityVote": "skills = model.skills_; assert skills.name == 'skill'; probas_ = model.probas_",
    "Wawa": "model.predict(frame); model.predict_proba(frame); skills = model.skills_; assert skills.index.name == 'worker'",
    "ZeroBasedSkill": "model.predict(frame); model.predict_proba(frame); skills = model.skills_",
    "DawidSkene": "model.priors_; errors = model.errors_; assert list(errors.index.names) == ['worker', 'label']; "
                  "model.loss_history_[-1]; model.probas_.loc[frame.task[0]]; model.labels_",
    "OneCoinDawidSkene": "model.priors_; errors = model.errors_; model.loss_history_; skills = model.skills_",
    "GLAD": "model.probas_; model.loss_history_; model.labels_",
    "MACE": "model.probas_; model.labels_",
    "MMSR": "model.predict(frame); skills = model.skills_; model.loss_history_",
    "KOS": "model.labels_",
}
ARGUMENTS = {"MajorityVote": "", "Wawa": "", "ZeroBasedSkill": "n_iter=20", "DawidSkene": "20, tol=1e-5",
             "OneCoinDawidSkene": "n_iter=20", "GLAD": "n_iter=3, silent=True", "MACE": "n_restarts=2, n_iter=10, random_state=1",
             "MMSR": "tol=1e-5, random_state=0", "KOS": "n_iter=10, random_state=3"}
SAME = {"MajorityVote": 0.95, "Wawa": 0.97, "ZeroBasedSkill": 0.97, "DawidSkene": 0.97, "OneCoinDawidSkene": 0.95,
        "GLAD": 0.95, "MACE": 0.97, "MMSR": 0.9, "KOS": 0.9}


def run(package: str, name: str, frame: pd.DataFrame, truth: Any = None) -> dict[str, Any]:
    scope: dict[str, Any] = {"pd": pd, "frame": frame, "truth": truth}
    script = SCRIPT + (PROBAS if name not in ("KOS", "MMSR") else "") + AFTER[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(script.format(package=package, name=name, arguments=ARGUMENTS[name],
                           truth="" if truth is None else ", truth"), scope)
    return scope


@pytest.fixture(scope="module")
def small() -> cf.Crowd:
    """crowd-kit takes its time."""
    return cf.simulate(tasks=100, workers=12, classes=2, labels_per_task=6, quality="uniform:.6,.95", random_state=4)


@pytest.mark.parametrize("name", list(AFTER))
def test_the_same_script_runs_with_both(name: str, small: cf.Crowd) -> None:
    frame = small.to_pandas()
    theirs, ours = run("crowdkit.aggregation", name, frame), run("crowdfold", name, frame)
    assert ours["same_object"] and theirs["same_object"]
    assert set(ours["labels"].index) == set(theirs["labels"].index)
    same = (ours["labels"] == theirs["labels"].reindex(ours["labels"].index)).mean()
    assert same >= SAME[name], same
    assert ours["labels"].dtype == theirs["labels"].dtype
    if "skills" in theirs and name != "MMSR":
        together = pd.concat([ours["skills"], theirs["skills"]], axis=1)
        assert together.corr(method="spearman").iloc[0, 1] > 0.8
    if "errors" in theirs:
        mine = ours["errors"].reindex(index=theirs["errors"].index, columns=theirs["errors"].columns)
        assert (mine - theirs["errors"]).abs().mean().mean() < 0.1


def test_known_truths_run_with_both(small: cf.Crowd) -> None:
    frame, truth = small.to_pandas(), small.truth.to_pandas().iloc[:30]
    for package in ("crowdkit.aggregation", "crowdfold"):
        labels = run(package, "DawidSkene", frame, truth)["labels"]
        assert (labels[truth.index] == truth).all()


@pytest.mark.parametrize("name", list(AFTER))
def test_every_parameter_of_crowdkit_exists(name: str) -> None:
    from crowdkit import aggregation

    theirs = inspect.signature(getattr(aggregation, name)).parameters
    inner = {"observation_matrix", "covariation_matrix", "n_common_tasks", "n_workers", "n_tasks", "n_labels",
             "labels_mapping", "workers_mapping", "tasks_mapping"}  # of MMSR: its working memory
    ours = inspect.signature(getattr(cf, name)).parameters
    assert set(theirs) - inner <= set(ours)


def test_parameters_without_a_meaning_keep_their_default(two_classes: cf.Crowd) -> None:
    frame = two_classes.to_pandas()
    for model in (cf.MajorityVote(default_skill=0.5), cf.DawidSkene(initial_error_strategy="assign"),
                  cf.ZeroBasedSkill(eps=0.1), cf.GLAD(labels_priors=pd.Series([1.0]))):
        with pytest.raises((cf.UsageError, ValueError), match="has no meaning here|truth value"):
            model.fit(frame)
