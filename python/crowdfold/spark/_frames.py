"""DataFrames of labels: their names as ids, and packed into chunks that stay where they were packed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Dict, List, Optional

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import StorageLevel
from pyspark.sql import functions as F

from ..errors import DataError, UsageError
from . import _executors as executors
from ._params import CrowdParams

MOST_CLASSES, MOST_WORKERS = 65_534, 4_294_967_294
LABELS_PER_PARTITION = 500_000
MOST_PARTITIONS = 20_000
# So many names are sent to every executor to be looked up; more are joined by a shuffle.
MOST_SENT_NAMES = 10_000_000
KEPT_TYPES = ("string", "char", "varchar", "boolean", "tinyint", "smallint", "int", "bigint")


def column(name: str) -> Any:
    return F.col("`" + name.replace("`", "``") + "`")


@dataclass
class Names:
    """Workers and classes by id, as texts."""

    workers: pa.Array
    classes: List[str]


@dataclass
class Chunks:
    """Packed labels, a row each."""

    frame: Any
    numbers: Dict[str, int]  # of the first tasks of chunks, by their names: tasks go by their names in order
    tasks: int = 0
    labels: int = 0
    partitions: int = 1
    workers: int = 0
    are_kept: bool = True


class LabelFrame:
    """The labels of a DataFrame, as texts."""

    def __init__(self, dataset: Any, params: CrowdParams) -> None:
        self.params = params
        self.spark = dataset.sparkSession
        roles = {"task": "taskCol", "worker": "workerCol", "label": "labelCol", "truth": "truthCol", "order": "orderCol"}
        names = {role: params.getOrDefault(param) for role, param in roles.items()}
        types = dict(dataset.dtypes)
        self.types: Dict[str, str] = {}
        self.count = 0  # of rows, once names() have been found
        self.partitions = 0
        chosen = []
        for role, name in names.items():
            if not name and role in ("truth", "order"):
                continue
            if name not in types:
                raise UsageError(f"no column '{name}'; there are: {', '.join(types)} ({roles[role]} names the column of "
                                 f"{'times' if role == 'order' else role + 's'})")
            self.types[role] = types[name]
            if role == "order":
                chosen.append(column(name).alias(role))
                continue
            if types[name].split("(")[0] not in KEPT_TYPES:
                raise UsageError(f"column '{name}' is of type {types[name]}: cast it to string or to a whole number, so that it is "
                                 f"clear which {role}s are the same")
            text = column(name).cast("string")
            chosen.append(F.when(text != "", text).alias(role))
        self.rows = dataset.select(*chosen)

    def names(self) -> Names:
        """Workers and classes, found in one pass. Refuses rows without a task or a worker."""
        pairs = self.rows.groupBy("worker", "label").agg(
            F.count(F.lit(1)).alias("rows"), F.count(F.when(F.col("task").isNull(), 1)).alias("no_task"),
            F.count(F.when(F.col("worker").isNull(), 1)).alias("no_worker")).persist(StorageLevel.MEMORY_AND_DISK)
        try:
            self._require_all(pairs)
            found = _distinct(pairs, "label", MOST_CLASSES, "classes")
            if "truth" in self.types:
                found += _distinct(self.rows, "truth", MOST_CLASSES, "classes")
            workers = pairs.select("worker").distinct().toArrow().column(0).combine_chunks()
        finally:
            pairs.unpersist()
        known = list(dict.fromkeys(self.params.getOrDefault("classes")))
        classes = known + sorted(set(found).difference(known), key=lambda name: name.encode())
        _require_most(len(classes), MOST_CLASSES, "classes")
        _require_most(len(workers), MOST_WORKERS, "workers")
        return Names(workers.take(pc.sort_indices(workers)), classes)

    def _require_all(self, pairs: Any) -> None:
        rows, *missing = pairs.agg(F.sum("rows"), F.sum("no_task"), F.sum("no_worker")).first()
        for count, what in zip(missing, ("task", "worker")):
            if count:
                name = self.params.getOrDefault(what + "Col")
                raise DataError(f"{count} of {rows} rows: no {what}: the value is missing or empty (column '{name}'; "
                                f"where it is right to leave them out: df.where(\"{name} != ''\"))")
        if not rows:
            raise DataError("no labels: the DataFrame has no rows")
        self.count = int(rows)

    def pack(self, names: Names, with_workers: bool, skips_unknown: bool = False) -> Any:
        """A DataFrame of chunks, as executors.CHUNKS says. One shuffle, by ranges of tasks' names."""
        rows = self._with_ids(names)
        self.partitions = self.params.getOrDefault("partitions")
        if self.partitions == 0 and self.count > 0:
            self.partitions = min(MOST_PARTITIONS, -(-self.count // LABELS_PER_PARTITION))
        ranges = (self.partitions, "task") if self.partitions > 0 else ("task",)  # else as Spark is set
        pack = partial(executors.pack, duplicates=self.params._text("duplicates"), skips_unknown=skips_unknown,
                       with_workers=with_workers)
        return rows.repartitionByRange(*ranges).mapInArrow(pack, executors.CHUNKS)

    def _with_ids(self, names: Names) -> Any:
        ids = self._looked_up(self.rows, "worker", names.workers)
        classes = pa.array(names.classes, pa.string())
        for role in ("label", "truth"):
            if role in self.types:
                ids = self._looked_up(ids, role, classes)
        return ids.select("task", *(role for role in ("worker", "label", "truth", "order") if role == "worker" or role in self.types))

    def _looked_up(self, rows: Any, role: str, names: pa.Array) -> Any:
        """Ids in place of names; of a null an abstention."""
        table = pa.table({"name": names, "id": np.arange(len(names), dtype=np.int64 if len(names) >= 2**31 else np.int32)})
        known = self.spark.createDataFrame(table)
        if len(names) <= MOST_SENT_NAMES:
            known = F.broadcast(known)
        joined = rows.join(known, rows[role] == known["name"], "left")
        unknown = F.when(F.col(role).isNull(), executors.ABSTENTION).otherwise(executors.UNKNOWN)
        return joined.withColumn(role, F.coalesce(F.col("id"), unknown)).drop("id", "name")


def _distinct(rows: Any, role: str, most: int, what: str) -> List[str]:
    found = rows.select(role).where(F.col(role).isNotNull()).distinct().limit(most + 1).toArrow().column(0).to_pylist()
    _require_most(len(found), most, what)
    return list(found)


def _require_most(count: int, most: int, what: str) -> None:
    if count > most:
        raise DataError(f"more than {most} different {what}: they do not fit")


def numbered(frame: Any, names: Names) -> Chunks:
    """Numbers tasks over all chunks, and refuses those that could not be packed."""
    table = frame.select("first", "last", "tasks", "labels", "problem", "worker").toArrow()
    rows = sorted(table.to_pylist(), key=lambda row: row["first"].encode())
    for row in rows:
        if row["problem"] is not None:
            worker = f"worker '{names.workers[row['worker']].as_py()}'" if row["worker"] >= 0 else ""
            raise DataError(row["problem"].replace("{worker}", worker))
    chunks = Chunks(frame, {})
    before: Optional[bytes] = None
    for row in rows:
        if before is not None and row["first"].encode() <= before:
            raise DataError(executors.CHANGES.replace("{task}", row["first"]))
        before = row["last"].encode()
        chunks.numbers[row["first"]] = chunks.tasks
        chunks.tasks += row["tasks"]
        chunks.labels += row["labels"]
    return chunks

