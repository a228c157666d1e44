#!/usr/bin/env python3
"""Measures crowdfold.spark beside Spark SQL's majority vote on the same Parquet files; writes bench/spark.md.

    build/venv-spark/bin/python bench/spark.py [--labels 1000000 10000000] [--program build/crowdfold]

Two executors of one core each, in processes of their own, on this machine. All answers are written as Parquet. Each size is run in
turns, vote and methods one after the other, so that what else the machine does meets all of them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator

import pyarrow.csv
import pyarrow.parquet

ROOT = Path(__file__).resolve().parents[1]
LABELS_PER_TASK, CLASSES, FILES, ITERATIONS = 10, 5, 8, 10
EXECUTORS, LATENCY = 2, .2
VOTE = "SELECT task, max_by(label, votes) AS label FROM (SELECT task, label, count(*) AS votes FROM {} GROUP BY task, label) GROUP BY task"


def make_labels(program: str, labels: int, folder: Path) -> str:
    rows, parquet = folder / "labels.csv", folder / f"labels-{labels}"
    subprocess.run([program, "simulate", "--tasks", str(labels // LABELS_PER_TASK), "--workers", str(max(100, labels // 1000)),
                    "--classes", str(CLASSES), "--labels-per-task", str(LABELS_PER_TASK), "--seed", "1", "-o", str(rows)],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    parquet.mkdir()
    with pyarrow.csv.open_csv(rows) as reader:
        writers = [pyarrow.parquet.ParquetWriter(parquet / f"{i}.parquet", reader.schema) for i in range(FILES)]
        for number, batch in enumerate(reader):
            writers[number % FILES].write_batch(batch)
        for writer in writers:
            writer.close()
    rows.unlink()
    return str(parquet)


def start(folder: Path, memory: int) -> Any:
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    return (SparkSession.builder.master(f"local-cluster[2,1,{memory}]").appName("bench")
            .config("spark.executor.memory", f"{memory}m").config("spark.driver.memory", "3g").config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false").config("spark.local.dir", str(folder / "local"))
            .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
            .config("spark.executorEnv.PYTHONPATH", os.environ.get("PYTHONPATH", "")).getOrCreate())


class Stages:
    """Seconds of what the driver says it does, and bytes that go through the shuffle before chunks are packed."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.shuffled = 0

    @contextmanager
    def told(self, spark: Any, what: str) -> Iterator[None]:
        store, tracker = spark.sparkContext._jsc.sc().statusStore(), spark.sparkContext.statusTracker()
        begin, jobs = time.perf_counter(), store.jobsList(None).size()
        yield
        self.seconds[what.split(": ")[1]] = time.perf_counter() - begin
        if what.endswith("packing"):
            stages = {stage for job in range(jobs, store.jobsList(None).size()) for stage in tracker.getJobInfo(job).stageIds}
            self.shuffled = sum(store.lastStageAttempt(stage).shuffleWriteBytes() for stage in stages)


def measure(labels: Any, method: str, out: Path) -> tuple[float, dict[str, float]]:
    """Seconds from the Parquet files to written answers; of the parts, if it is a method."""
    import crowdfold.spark as cs
    from crowdfold.spark import _driver, _estimators

    stages = Stages()
    _driver.told = _estimators.told = stages.told  # type: ignore[assignment]
    begin = time.perf_counter()
    if method == "vote":
        labels.createOrReplaceTempView("labels")
        labels.sparkSession.sql(VOTE.format("labels")).write.mode("overwrite").parquet(str(out))
        return time.perf_counter() - begin, {}
    estimator = cs.FivePass() if method == "fivepass" else cs.DawidSkene(maxIter=ITERATIONS)
    model = estimator.setParams(probabilityCol="").fit(labels)
    chunks = model._chunks.frame.selectExpr("sum(length(chunk)) + sum(length(names))").first()[0]
    stages.seconds["~packed"] = chunks / model._chunks.labels
    stages.seconds["~shuffled"] = stages.shuffled / model._chunks.labels
    before = time.perf_counter()
    model.transform(labels).write.mode("overwrite").parquet(str(out))
    stages.seconds["answers"] = time.perf_counter() - before
    model.unpersist()
    return time.perf_counter() - begin, stages.seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--labels", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--program", default=str(ROOT / "build" / "crowdfold"))
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--memory", type=int, default=3072, help="of an executor, in MB")
    parser.add_argument("-o", "--output", default=str(ROOT / "bench" / "spark.md"))
    options = parser.parse_args()
    table = ["| labels | Spark SQL's vote | fivepass | | Dawid-Skene | | aggregate, fivepass |", "|---" * 7 + "|"]
    parts = ["| labels | method | names | packing | rounds | each | each, per million labels | answers |", "|---" * 8 + "|"]
    with tempfile.TemporaryDirectory(prefix="crowdfold-bench-") as name:
        folder = Path(name)
        spark = start(folder, options.memory)
        spark.sparkContext.setLogLevel("ERROR")
        for labels in options.labels:
            path = make_labels(options.program, labels, folder)
            frame = spark.read.parquet(path)
            runs: dict[str, list[tuple[float, dict[str, float]]]] = {"vote": [], "fivepass": [], "ds": []}
            for _ in range(options.repeat):
                for method, found in runs.items():
                    found.append(measure(frame, method, folder / "answers"))
                    print(labels, method, f"{found[-1][0]:.1f}", {k: round(v, 2) for k, v in found[-1][1].items()}, flush=True)
            best = {method: min(found, key=lambda run: run[0]) for method, found in runs.items()}
            vote = best["vote"][0]
            alone = run_alone(options.program, path, folder)
            table.append(f"| {power(labels)} | {vote:.1f} s | {best['fivepass'][0]:.1f} s | {best['fivepass'][0] / vote:.1f}x | "
                         f"{best['ds'][0]:.1f} s | {best['ds'][0] / vote:.1f}x | {alone:.1f} s |")
            for method in ("fivepass", "ds"):
                seconds = best[method][1]
                each = [value for key, value in seconds.items() if key.startswith("round")]
                mean = sum(each) / len(each)
                parts.append(f"| {power(labels)} | {method} | {seconds['names of workers and classes']:.1f} s | "
                             f"{seconds['packing']:.1f} s | {len(each)} | {mean:.2f} s | {1e6 * mean / labels:.3f} s | "
                             f"{seconds['answers']:.1f} s |")
            subprocess.run(["rm", "-r", path], check=True)
        spark.stop()
    costs = predicted(best["fivepass"][1], best["ds"][1], options.labels[-1])
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    text = f"""# crowdfold.spark beside Spark SQL

Written by `bench/spark.py` (`build/venv-spark/bin/python bench/spark.py`). Two executors of one core and {options.memory} MB each, in
processes of their own, and the driver, on {os.cpu_count()} cores. Labels are simulated: {LABELS_PER_TASK} for each task, {CLASSES} classes,
a worker for every thousand labels, in {FILES} Parquet files. From the files to answers in Parquet, best of {options.repeat}, in turns.
Dawid-Skene: {ITERATIONS} iterations. The vote is `groupBy`, `count` and `max_by` of Spark SQL, and `aggregate` is `crowdfold aggregate` on
CSV. At the end of the run {load:.1f} processes waited for each core: only ratios mean something.

{chr(10).join(table)}

Where the time goes:

{chr(10).join(parts)}

## Larger ones

From the last row of each method: seconds are in proportion to labels and to one over the cores, and a job takes {LATENCY} s
besides. Of a model of S bytes, every task of a round reads S besides, at about a gigabyte a second, and gives back as much at
most. Not measured: networks, disks that are shared, and machines that differ.

{costs}
"""
    Path(options.output).write_text(text)


def predicted(fivepass: dict[str, float], ds: dict[str, float], measured: int) -> str:
    rows = ["| labels | cores | through the shuffle | chunks | fivepass | Dawid-Skene |", "|---" * 6 + "|"]
    for labels, cores in ((10**9, 16), (10**10, 64), (10**11, 512)):
        times = []
        for seconds in (fivepass, ds):
            work = sum(value for name, value in seconds.items() if not name.startswith("~"))
            times.append(work * EXECUTORS / measured * labels / cores + LATENCY * len(seconds))
        sizes = [fivepass[name] * labels / 1e9 for name in ("~shuffled", "~packed")]
        rows.append(f"| {power(labels)} | {cores} | {sizes[0]:.0f} GB | {sizes[1]:.0f} GB | "
                    f"{times[0] / 60:.1f} min | {times[1] / 60:.1f} min |")
    return "\n".join(rows)


def power(labels: int) -> str:
    return f"10<sup>{len(str(labels)) - 1}</sup>"


def run_alone(program: str, path: str, folder: Path) -> float:
    rows = folder / "labels.csv"
    with open(rows, "wb") as file:
        for number, part in enumerate(sorted(Path(path).glob("*.parquet"))):
            pyarrow.csv.write_csv(pyarrow.parquet.read_table(part), file, pyarrow.csv.WriteOptions(include_header=number == 0))
    begin = time.perf_counter()
    subprocess.run([program, "aggregate", str(rows), "--method", "fivepass", "--quiet", "-o", str(folder / "alone.csv")], check=True)
    seconds = time.perf_counter() - begin
    rows.unlink()
    return seconds


if __name__ == "__main__":
    main()
