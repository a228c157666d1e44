"""Estimators on Spark: the answers of `crowdfold aggregate`, and the conventions of pyspark.ml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import crowdfold as cf

cs: Any = pytest.importorskip("crowdfold.spark", reason="no pyspark here: make spark installs it")

METHODS = [("mv", "MajorityVote"), ("wawa", "Wawa"), ("zbs", "ZeroBasedSkill"), ("iwmv", "IWMV"), ("crh", "CRH"), ("zc", "ZenCrowd"),
           ("onecoin_ds", "OneCoinDawidSkene"), ("ds", "DawidSkene"), ("fast_ds", "FastDawidSkene"), ("lfc", "LFC"), ("ibcc", "IBCC"),
           ("fivepass", "FivePass"), ("twopass", "TwoPass")]


@pytest.fixture(scope="module")
def labels(spark: Any, frame: pd.DataFrame) -> Any:
    return spark.createDataFrame(frame.astype(str)).repartition(5)


def answers_of(transformed: Any) -> pd.DataFrame:
    found = transformed.toPandas()
    return found.astype({found.columns[0]: str}).set_index(found.columns[0]).sort_index()


def expect_same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    assert list(found.index) == list(expected.index)
    assert found["prediction"].fillna("").astype(str).tolist() == expected["label"].fillna("").tolist()
    assert found["confidence"].fillna(-1).tolist() == expected["confidence"].fillna(-1).tolist()
    if "probability" in found:
        assert (np.stack(found["probability"]) == expected[expected.columns[2:]].to_numpy()).all()


def test_all_methods_in_rounds_are_here() -> None:
    assert {f"{name}{kind}" for _, name in METHODS for kind in ("", "Model")} == set(cs.__all__) - {"CrowdEstimator", "CrowdModel"}


@pytest.mark.parametrize(("method", "name"), METHODS)
def test_answers_are_those_of_the_command_line(labels: Any, frame: pd.DataFrame, aggregate: Any, method: str, name: str) -> None:
    estimator = getattr(cs, name)(partitions=2)
    settings = {"vote_rounds": 2} if method == "twopass" else {}
    if estimator.hasParam("maxIter"):  # every round is a job
        settings["iterations"] = estimator.setMaxIter(3).getMaxIter()
    expected = aggregate(frame, method, settings=settings)
    model = estimator.fit(labels)
    expect_same(answers_of(model.transform(labels)), expected)
    workers = model.workers.toPandas().set_index("worker")
    assert workers.loc[aggregate.workers.index, ["quality", "lower", "upper"]].to_numpy().tolist() == aggregate.workers[
        ["quality", "lower", "upper"]].to_numpy().tolist()
    model.unpersist()


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_partitions_change_nothing(spark: Any, aggregate: Any, partitions: int) -> None:
    """Of so many labels fivepass holds out some, drawn by the number of the task."""
    frame = cf.simulate(tasks=9000, workers=40, classes=3, labels_per_task=5, random_state=4).to_pandas()
    expected = aggregate(frame, "fivepass")
    labels = spark.createDataFrame(frame.astype(str)).repartition(partitions + 2)
    model = cs.FivePass(partitions=partitions, probabilityCol="").fit(labels)
    expect_same(answers_of(model.transform(labels)), expected)
    expect_same(answers_of(model.unpersist().transform(labels)), expected)  # packed once more


def test_ties_are_drawn_as_elsewhere(labels: Any, frame: pd.DataFrame, aggregate: Any) -> None:
    expected = aggregate(frame, "mv", settings={"ties": "random"}, seed=7)
    model = cs.MajorityVote(ties="random", seed=7, partitions=4).fit(labels)
    expect_same(answers_of(model.transform(labels)), expected)
    expect_same(answers_of(model.unpersist().transform(labels)), expected)


@pytest.mark.parametrize("limit", [1 << 30, 0])
def test_large_models_go_out_beside_chunks_or_in_parts(spark: Any, aggregate: Any, limit: int) -> None:
    """Of 15,000 workers, a model has megabytes: more than come with a function."""
    frame = cf.simulate(tasks=4000, workers=15_000, classes=3, labels_per_task=5, random_state=4).to_pandas()
    extra = pd.DataFrame({"task": ["nobody"], "worker": frame["worker"][:1], "label": [None]})
    frame = pd.concat([frame.astype(str), extra])
    labels = spark.createDataFrame(pa.Table.from_pandas(frame, preserve_index=False))
    expected = aggregate(frame, "ds", settings={"iterations": 2})
    model = cs.DawidSkene(maxIter=2, partitions=10, modelLimit=limit, probabilityCol="").fit(labels)
    assert len(model._rounds) > 1 << 20
    expect_same(answers_of(model.transform(labels)), expected)
    expect_same(answers_of(model.unpersist().transform(labels)), expected)


def test_truths_are_a_column(spark: Any, frame: pd.DataFrame, truth: pd.Series, aggregate: Any) -> None:
    known = {str(task): str(label) for task, label in truth[::4].items()}
    rows = frame.astype(str).assign(gold=frame["task"].astype(str).map(known))
    expected = aggregate(frame, "fivepass", truths=known)
    labels = spark.createDataFrame(rows)
    model = cs.FivePass(truthCol="gold", partitions=2).fit(labels)
    expect_same(answers_of(model.transform(labels)), expected)
    wrong = labels.union(spark.createDataFrame([(rows["task"][0], "w", "0", label) for label in ("1", "2")], labels.schema))
    with pytest.raises(cf.DataError, match="different truths"):
        cs.FivePass(truthCol="gold").fit(wrong)


def test_nulls_and_empty_labels_are_abstentions(spark: Any, frame: pd.DataFrame, aggregate: Any) -> None:
    rows = pd.concat([frame.astype(str), pd.DataFrame({"task": ["t_none", "t_none", frame["task"][0]], "worker": ["w_none", "w_x", "w_y"],
                                                       "label": [None, "", None]})])
    expected = aggregate(rows, "ds")
    labels = spark.createDataFrame(list(rows.astype(object).itertuples(index=False, name=None)), "task string, worker string, label string")
    model = cs.DawidSkene(partitions=2).fit(labels)
    expect_same(answers_of(model.transform(labels)), expected)
    assert model.workers.where("labels = 0").count() == 3


def test_types_and_names_of_columns_are_kept(spark: Any) -> None:
    rows = [(10, "ann", True), (10, "bob", True), (9, "ann", False), (9, "bob", False), (9, "eve", True)]
    labels = spark.createDataFrame(rows, "`my task` bigint, who string, said boolean")
    model = cs.DawidSkene(taskCol="my task", workerCol="who", labelCol="said", predictionCol="answer", confidenceCol="sure").fit(labels)
    found = model.transform(labels)
    assert found.dtypes[:3] == [("my task", "bigint"), ("answer", "boolean"), ("sure", "double")]
    assert {row["my task"]: row["answer"] for row in found.collect()} == {9: False, 10: True}
    assert model.labels == [False, True]
    assert model.workers.columns == ["who", "quality", "lower", "upper", "labels"]
    assert cs.DawidSkene(classes=["true"], taskCol="my task", workerCol="who", labelCol="said").fit(labels).labels == [True, False]


def test_params_follow_the_conventions(labels: Any) -> None:
    estimator = cs.DawidSkene(maxIter=3, tol=0.0)
    assert (estimator.getMaxIter(), estimator.setMaxIter(4).getMaxIter(), cs.DawidSkene().getMaxIter()) == (3, 4, 20)
    assert estimator.copy({estimator.maxIter: 9}).getMaxIter() == 9 and estimator.getMaxIter() == 4
    assert "iterations" in estimator.explainParam("maxIter")
    one, two = estimator.fit(labels, [{estimator.maxIter: 1}, {estimator.predictionCol: "answer"}])
    assert (one.getMaxIter(), two.getMaxIter(), two.getPredictionCol()) == (1, 4, "answer")
    assert "answer" in two.transform(labels).columns
    assert "label_" in two.transform(labels, {two.predictionCol: "label_"}).columns
    with pytest.raises(cf.UsageError, match="no param 'iterations'; it has: .*maxIter"):
        cs.DawidSkene(iterations=3)
    with pytest.raises(cf.UsageError, match="maxIter=-1"):
        cs.DawidSkene(maxIter=-1).fit(labels)
    with pytest.raises(cf.UsageError, match="duplicates='frist': last | first | error"):
        cs.DawidSkene(duplicates="frist").fit(labels)
    with pytest.raises(TypeError):
        cs.DawidSkene(maxIter="many")


def test_what_is_saved_judges_the_same(spark: Any, labels: Any, tmp_path: Path) -> None:
    from pyspark.ml import Pipeline, PipelineModel

    estimator = cs.FivePass(rounds=3, partitions=2)
    estimator.write().overwrite().save(str(tmp_path / "estimator"))
    again = cs.FivePass.load(str(tmp_path / "estimator"))
    assert (again.uid, again.getRounds()) == (estimator.uid, 3)
    model = again.fit(labels)
    expected = answers_of(model.transform(labels))
    model.save(str(tmp_path / "model"))
    with pytest.raises(Exception, match="exists"):
        model.save(str(tmp_path / "model"))
    model.write().overwrite().save(str(tmp_path / "model"))
    loaded = cs.FivePassModel.load(str(tmp_path / "model"))
    assert loaded.labels == model.labels and loaded.getRounds() == 3
    assert answers_of(loaded.transform(labels)).equals(expected)
    assert loaded.workers.toPandas().equals(model.workers.toPandas())
    with pytest.raises(AssertionError, match="DawidSkeneModel"):
        cs.DawidSkeneModel.load(str(tmp_path / "model"))
    fitted = Pipeline(stages=[estimator]).fit(labels)
    fitted.save(str(tmp_path / "pipeline"))
    assert answers_of(PipelineModel.load(str(tmp_path / "pipeline")).transform(labels)).equals(expected)


def test_other_labels_are_judged_by_the_same_model(spark: Any, labels: Any) -> None:
    model = cs.DawidSkene().fit(labels)
    worker, label = labels.select("worker", "label").first()
    other = spark.createDataFrame([("new", worker, label), ("new", "stranger", label)], "task string, worker string, label string")
    with pytest.raises(Exception, match="the model does not know"):
        model.transform(other).collect()
    known = model.setHandleInvalid("skip").transform(other).collect()
    assert [(row["task"], row["prediction"]) for row in known] == [("new", label)]


def test_second_labels_need_an_order(spark: Any) -> None:
    rows = [("p1", "ann", "cat", 2), ("p1", "ann", "dog", 1), ("p1", "bob", "dog", 1), ("p1", "bob", "dog", 1), ("p1", "eve", "cat", 1),
            ("p1", "eve", None, 2), ("p2", "ann", "dog", 1), ("p2", "bob", "cat", 1)]
    labels = spark.createDataFrame(rows, "task string, worker string, label string, at int")

    def answers(**params: Any) -> Any:
        found = cs.MajorityVote(**params).fit(labels)
        assert {row["worker"]: row["labels"] for row in found.workers.collect()} == {"ann": 2, "bob": 2, "eve": 1}
        return found.transform(labels).where("task = 'p1'").first()["prediction"]

    assert answers(orderCol="at") == "cat"
    assert answers(orderCol="at", duplicates="first") == "dog"
    with pytest.raises(cf.DataError, match="worker 'ann' gives task 'p1' different labels.*orderCol"):
        cs.MajorityVote().fit(labels)
    with pytest.raises(cf.DataError, match="worker 'ann' gives task 'p1' different labels"):
        cs.MajorityVote(orderCol="task").fit(labels)
    with pytest.raises(cf.DataError, match="worker 'ann' labels task 'p1' a second time"):
        cs.MajorityVote(duplicates="error", orderCol="at").fit(labels)
    with pytest.raises(cf.DataError, match="worker 'bob' labels task 'p1' a second time"):
        cs.MajorityVote(duplicates="error").fit(labels.where("worker != 'ann'"))


def test_wrong_input_is_refused_in_a_sentence(spark: Any, labels: Any) -> None:
    schema = "task string, worker string, label string"
    for rows, sentence in (([(None, "w", "a"), ("t", "w", "a")], "1 of 2 rows: no task: the value is missing or empty"),
                           ([("t", "", "a")], "1 of 1 rows: no worker: the value is missing or empty"),
                           ([], "no labels"), ([("t", "w", None)], "no labels: all rows are abstentions")):
        with pytest.raises(cf.DataError, match=sentence):
            cs.MajorityVote().fit(spark.createDataFrame(rows, schema))
    with pytest.raises(cf.UsageError, match="no column 'photo'; there are: task, worker, label"):
        cs.MajorityVote(taskCol="photo").fit(labels)
    with pytest.raises(cf.UsageError, match="column 'label' is of type double: cast it"):
        cs.MajorityVote().fit(spark.createDataFrame([("t", "w", 0.5)], "task string, worker string, label double"))
    with pytest.raises(cf.UsageError, match="knows nothing yet"):
        cs.MajorityVoteModel().transform(labels)


def test_too_many_classes_are_refused(spark: Any) -> None:
    labels = spark.range(70_000).selectExpr("id % 100 as task", "id % 7 as worker", "id as label")
    with pytest.raises(cf.DataError, match="more than 65534 different classes: they do not fit"):
        cs.MajorityVote().fit(labels)


def test_jobs_say_what_they_are_for(spark: Any, labels: Any) -> None:
    spark.sparkContext.setJobDescription("mine")
    cs.MajorityVote().fit(labels)
    assert spark.sparkContext.getLocalProperty("spark.job.description") == "mine"
    spark.sparkContext.setJobDescription(None)
    store = spark.sparkContext._jsc.sc().statusStore()
    jobs = store.jobsList(None)
    said = {str(jobs.apply(i).description()) for i in range(jobs.size())}
    assert any("crowdfold MajorityVote: round 1, mv" in text for text in said)
    assert any("crowdfold MajorityVote: packing" in text for text in said)
