"""Files that are read task by task: the same results as in memory."""

import numpy as np
import pytest

import crowdfold as cf
from crowdfold.errors import UsageError


@pytest.fixture
def path(tmp_path):
    crowd = cf.simulate(tasks=300, workers=20, random_state=3)
    path = tmp_path / "labels.csv"
    crowd.to_pandas().to_csv(path, index=False)
    return path


def same(some, other):
    return some.to_pandas().equals(other.to_pandas())


@pytest.mark.parametrize("cls", [cf.OnePass, cf.TwoPass, cf.MajorityVote])
def test_gives_the_same_results_as_in_memory(cls, path):
    settings = {"ties": "first"} if cls is cf.MajorityVote else {}
    whole, grouped = cls(**settings).fit(path), cls(**settings).fit(path, low_memory=True)
    assert same(grouped.labels_, whole.labels_)
    assert same(grouped.confidence_, whole.confidence_)
    assert same(grouped.workers_, whole.workers_)
    assert same(grouped.predict(path), whole.predict(path))
    assert same(grouped.skills_, whole.skills_)
    assert same(cls(**settings).fit_predict(path, low_memory=True), whole.labels_)


@pytest.mark.parametrize("cls, settings", [(cf.FivePass, {}), (cf.DawidSkene, {}), (cf.ZeroBasedSkill, {"ties": "first"})])
def test_methods_in_rounds_read_labels_from_a_temporary_file(cls, settings, path, tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    whole, spilled = cls(**settings).fit(path), cls(**settings).fit(path, low_memory=True)
    assert same(spilled.labels_, whole.labels_)
    assert same(spilled.confidence_, whole.confidence_)
    assert same(spilled.workers_, whole.workers_)
    assert not list(folder.iterdir())


def test_holds_labels_in_memory_if_they_are_not_grouped(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("task,worker,label\n1,u,a\n2,u,b\n1,v,a\n")
    assert list(cf.TwoPass().fit(path, low_memory=True).labels_) == ["a", "b"]


def test_names_columns(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("image,email,verdict\n1,u,a\n1,v,a\n2,u,b\n")
    columns = {"task": "image", "worker": "email", "label": "verdict"}
    assert list(cf.TwoPass().fit(path, columns=columns, low_memory=True).labels_) == ["a", "b"]


def test_says_what_does_not_fit(path):
    with pytest.raises(UsageError, match="for the path of a file, not for a dict"):
        cf.TwoPass().fit({"task": [1], "worker": [1], "label": [1]}, low_memory=True)
    with pytest.raises(UsageError, match="true_labels needs the labels in memory"):
        cf.TwoPass().fit(path, {"task_000": "class_0"}, low_memory=True)
    for cls in (cf.MajorityVote, cf.Wawa, cf.ZeroBasedSkill):
        with pytest.raises(UsageError, match="ties='sorted' .* needs the labels in memory"):
            cls().fit(path, low_memory=True)
    with pytest.raises(UsageError, match="glad works on whole data sets only, and glad cannot judge tasks in rounds; methods that can: mv"):
        cf.GLAD().fit(path, low_memory=True)


def test_probabilities_of_all_classes_are_not_made(path):
    with pytest.raises(cf.errors.NotFittedError):
        cf.TwoPass().fit(path, low_memory=True).probas_
    assert np.isfinite(cf.TwoPass().fit(path, low_memory=True).confidence_).all()
