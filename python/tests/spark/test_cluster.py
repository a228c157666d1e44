"""Executors of their own, as in a cluster: killed in the middle of a round, and doing tasks twice."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any, Iterator, List

import pandas as pd
import pytest

import crowdfold as cf

from .conftest import start
from .test_estimators import answers_of, cs, expect_same


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    session = start("local-cluster[2,1,1024]", tmp_path_factory.mktemp("spark"), **{
        "spark.speculation": "true", "spark.speculation.quantile": "0.1", "spark.speculation.multiplier": "1.01",
        "spark.speculation.minTaskRuntime": "0ms", "spark.speculation.interval": "20ms", "spark.task.maxFailures": "8",
        "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", "")})
    yield session
    session.stop()


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return cf.simulate(tasks=9000, workers=60, classes=3, labels_per_task=5, spammers=.1, random_state=8).to_pandas()


def executors() -> List[int]:
    """Processes of executors that this one started."""
    children = {int(entry.name): (entry / "stat").read_text().rsplit(") ", 1)[1].split()[1]
                for entry in Path("/proc").iterdir() if entry.name.isdigit() and (entry / "stat").exists()}

    def is_ours(process: int) -> bool:
        while process > 1:
            if process == os.getpid():
                return True
            process = int(children.get(process, 0))
        return False

    return [process for process in children if is_ours(process)
            and b"CoarseGrainedExecutorBackend" in (Path("/proc") / str(process) / "cmdline").read_bytes()]


class KillOnce:
    """Kills an executor as soon as a task of a job with these words in its description is running."""

    def __init__(self, spark: Any, words: str) -> None:
        self._tracker, self._store = spark.sparkContext.statusTracker(), spark.sparkContext._jsc.sc().statusStore()
        self._words, self._is_over = words, threading.Event()
        self.killed: List[int] = []
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> KillOnce:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._is_over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._is_over.wait(.002):
            for job in self._tracker.getActiveJobsIds():
                try:
                    is_meant = self._words in str(self._store.job(job).description())
                except Exception:  # the store has not heard of it yet
                    continue
                stages = self._tracker.getJobInfo(job).stageIds if is_meant and self._tracker.getJobInfo(job) else []
                running = [self._tracker.getStageInfo(stage) for stage in stages]
                if any(stage is not None and stage.numActiveTasks > 0 for stage in running):
                    self.killed.append(executors()[0])
                    os.kill(self.killed[0], signal.SIGKILL)
                    return


@pytest.mark.parametrize("words", ["packing", "round 3", "round 6"])
def test_a_killed_executor_changes_nothing(spark: Any, frame: pd.DataFrame, aggregate: Any, words: str) -> None:
    expected = aggregate(frame, "fivepass")
    labels = spark.createDataFrame(frame.astype(str)).repartition(6)
    with KillOnce(spark, f"crowdfold FivePass: {words}") as kill:
        model = cs.FivePass(partitions=6, probabilityCol="").fit(labels)
    assert len(kill.killed) == 1
    expect_same(answers_of(model.transform(labels)), expected)
    model.unpersist()


def test_an_executor_killed_before_answers_changes_nothing(spark: Any, frame: pd.DataFrame, aggregate: Any) -> None:
    expected = aggregate(frame, "ds", settings={"iterations": 4})
    labels = spark.createDataFrame(frame.astype(str)).repartition(6)
    model = cs.DawidSkene(partitions=5, maxIter=4, probabilityCol="").fit(labels)
    answers = model.transform(labels)
    for process in executors():
        os.kill(process, signal.SIGKILL)
    expect_same(answers_of(answers), expected)
    expect_same(answers_of(answers.repartition(3)), expected)


def test_executors_are_processes_of_their_own_and_tasks_are_done_twice(spark: Any) -> None:
    assert len(executors()) >= 2
    store = spark.sparkContext._jsc.sc().statusStore()
    last = max(max(spark.sparkContext.statusTracker().getJobInfo(job).stageIds) for job in range(store.jobsList(None).size()))
    assert any(store.speculationSummary(stage, 0).isDefined() for stage in range(last + 1))
