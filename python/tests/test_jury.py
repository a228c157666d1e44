"""`Jury` says what `crowdfold jury` says, in tables of the caller's library."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import crowdfold as cf


def votes_of(tasks: int = 200) -> pd.DataFrame:
    """Two independent judges, two copies of one, one in both orders, and versions. The truth of task t is t % 2."""
    random = np.random.default_rng(1)
    rows = []
    for task in range(tasks):
        truth = task % 2
        shared = truth if random.random() < .7 else 1 - truth
        for judge in ("a@1", "b", "copy1", "copy2", "m/ab", "m/ba", "a@2"):
            label = truth if random.random() < .75 else 1 - truth
            if judge.startswith("copy"):
                label = shared
            if judge.startswith("m/") and random.random() < .5:
                label = 0 if judge == "m/ab" else 1
            rows.append((task, judge, label))
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


@pytest.fixture(scope="module")
def votes() -> pd.DataFrame:
    return votes_of()


@pytest.fixture(scope="module")
def truths(votes: pd.DataFrame) -> pd.Series:
    tasks = votes["task"].unique()
    return pd.Series(tasks % 2, index=tasks)


@pytest.fixture(scope="module")
def jury(votes: pd.DataFrame, truths: pd.Series) -> cf.Jury:
    return cf.Jury().fit(votes, truths, {"copy1": "copies", "copy2": "copies", "a": "a", "b": "b", "m": "m"})


def test_it_finds_what_is_there(jury: cf.Jury) -> None:
    votes = jury.effective_votes_
    assert votes is not None and votes.lower < votes.value < votes.upper < 7
    pairs = jury.pairs_.set_index("b", append=True)
    assert pairs.loc[("copy1", "copy2"), "excess"] == pytest.approx(1)
    assert pairs["marked"].sum() == 1
    assert jury.excess_["within_families"].value > jury.excess_["between_families"].value  # type: ignore[union-attr]
    assert jury.positions_.index.tolist() == ["m"] and jury.positions_["chosen_first_lower"].iloc[0] > .5
    assert jury.versions_[["a", "b"]].to_numpy().tolist() == [["1", "2"]]
    assert jury.judges_.loc["copy1", "family"] == "copies"
    assert jury.without_.loc["copy1", "votes"] > jury.without_.loc["b", "votes"]
    assert jury.classes_.loc["b", "tasks"].sum() == 200
    assert (jury.panels_["cost"] < 1).all()
    assert any("independent votes" in sentence for sentence in jury.verdict_)
    assert any("both orders" in note for note in jury.notes_)


def test_it_says_what_the_command_says(jury: cf.Jury, votes: pd.DataFrame, truths: pd.Series, tmp_path: Path, run: Any) -> None:
    votes.to_csv(tmp_path / "v.csv", index=False)
    truths.rename_axis("task").rename("label").to_csv(tmp_path / "t.csv")
    (tmp_path / "f.csv").write_text("judge,family\ncopy1,copies\ncopy2,copies\na,a\nb,b\nm,m\n")
    found = json.loads(run("jury", tmp_path / "v.csv", "--truth", tmp_path / "t.csv", "--family", tmp_path / "f.csv", "--json",
                           "-q"))
    assert found["verdict"] == jury.verdict_
    assert [judge["quality"]["value"] for judge in found["judges"]] == jury.judges_["quality"].tolist()
    from_files = cf.Jury().fit(tmp_path / "v.csv", tmp_path / "t.csv", tmp_path / "f.csv")
    assert from_files.verdict_ == jury.verdict_


def test_tables_keep_the_library(votes: pd.DataFrame) -> None:
    polars = pytest.importorskip("polars")
    jury = cf.Jury(panels=False, orders=()).fit(polars.from_pandas(votes))
    for table in (jury.judges_, jury.pairs_, jury.without_, jury.panels_, jury.positions_, jury.versions_, jury.classes_):
        assert isinstance(table, polars.DataFrame)
    assert jury.judges_["judge"].to_list() == ["a@1", "b", "copy1", "copy2", "m/ab", "m/ba", "a@2"]
    assert len(jury.positions_) == 0 and len(jury.panels_) == 0
    plain = cf.Jury(panels=False).fit({name: votes[name].tolist() for name in votes})
    assert len(plain.judges_["quality"]) == 7


def test_judges_keep_their_type(votes: pd.DataFrame) -> None:
    numbers = votes[~votes["worker"].str.contains("m/")].assign(worker=lambda v: v["worker"].factorize()[0] + 10)
    jury = cf.Jury(panels=False).fit(numbers)
    assert jury.judges_.index.tolist() == [10, 11, 12, 13, 14]
    assert jury.pairs_["b"].dtype == jury.judges_.index.dtype


def test_what_cannot_be_told_is_none(votes: pd.DataFrame) -> None:
    jury = cf.Jury().fit(votes[votes["worker"] == "b"])
    assert jury.effective_votes_ is None and jury.accuracy_ is None
    assert jury.notes_ == [] and "one judge" in jury.verdict_[0]
    assert np.isnan(jury.without_["votes"].iloc[0])


def test_truths_may_name_a_class_that_no_judge_does(votes: pd.DataFrame, truths: pd.Series) -> None:
    jury = cf.Jury(panels=False).fit(votes, {task: (9 if task < 3 else label) for task, label in truths.items()})
    assert jury.effective_votes_ is not None


def test_mistakes_are_told(votes: pd.DataFrame) -> None:
    with pytest.raises(cf.NotFittedError):
        cf.Jury().judges_
    with pytest.raises(cf.UsageError, match="two endings"):
        cf.Jury(orders=("/ab",)).fit(votes)
    with pytest.raises(cf.UsageError, match="did you mean"):
        cf.Jury(method="threepas").fit(votes)
    with pytest.raises(cf.UsageError, match="families"):
        cf.Jury().fit(votes, families=[1, 2])


def test_it_can_be_pickled(jury: cf.Jury) -> None:
    assert pickle.loads(pickle.dumps(jury)).verdict_ == jury.verdict_
