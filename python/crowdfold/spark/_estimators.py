"""Estimators and models, after the conventions of pyspark.ml."""

from __future__ import annotations

from functools import partial
from typing import Any, Dict, List, Optional, Type

import numpy as np
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.ml import Estimator, Model
from pyspark.ml.functions import array_to_vector
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsReader, DefaultParamsWritable, DefaultParamsWriter, MLReader, MLWriter
from pyspark.sql import functions as F

from .. import _native, rounds
from .._build import METHODS
from ..errors import DataError, UsageError
from . import _executors as executors
from ._driver import beside, by_parts, may_exceed, run_rounds, told
from ._frames import Chunks, LabelFrame, Names, numbered
from ._params import OF_ESTIMATORS, OF_MODELS, SHARED, CrowdParams, attributes_of, params_of_method

BYTES_PER_ROW = 1 << 26  # of a model that is saved


class Writer(MLWriter):
    """Writes params, and of a model also what it learned; also on Spark Connect."""

    def __init__(self, instance: Any) -> None:
        super().__init__()
        self.instance = instance

    def save(self, path: str) -> None:
        spark = self.sparkSession
        mode = "overwrite" if self.shouldOverwrite else "error"
        more = self.instance._tables(spark) if isinstance(self.instance, CrowdModel) else {}
        metadata = DefaultParamsWriter._get_metadata_to_save(self.instance, spark, self.instance._metadata())
        spark.createDataFrame([(metadata,)], schema=["value"]).coalesce(1).write.mode(mode).text(f"{path}/metadata")
        for name, table in more.items():
            table.write.mode(mode).parquet(f"{path}/{name}")


class ModelReader(MLReader[Any]):
    """Reads a model that Writer wrote."""

    def __init__(self, cls: Type[CrowdModel]) -> None:
        super().__init__()
        self.cls = cls

    def load(self, path: str) -> Any:
        spark = self.sparkSession
        metadata = DefaultParamsReader.loadMetadata(path, spark, f"{self.cls.__module__}.{self.cls.__name__}")
        pieces = spark.read.parquet(f"{path}/rounds").orderBy("part").toArrow().column("bytes")
        names = spark.read.parquet(f"{path}/workers").orderBy("id").select("worker").toArrow().column(0).combine_chunks()
        model = self.cls()
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        model._learn(spark, b"".join(pieces.to_pylist()), Names(names, metadata["classes"]), metadata["types"])
        return model


class CrowdModel(CrowdParams, Model, DefaultParamsWritable, DefaultParamsReadable[Any]):
    """What an estimator learned of a crowd: judges tasks by it."""

    _rounds: bytes = b""
    _spark: Any = None
    _names: Any = None
    _types: Dict[str, str] = {}
    _fitted: Any = None  # the DataFrame that it was fitted on, and its chunks
    _chunks: Optional[Chunks] = None

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._persisted: List[Any] = []  # chunks

    def _learn(self, spark: Any, model: bytes, names: Names, types: Dict[str, str]) -> None:
        self._spark, self._rounds, self._names, self._types = spark, model, names, types

    @property
    def labels(self) -> List[Any]:
        """The classes, in the order of probabilities."""
        return [_value(text, self._types["label"]) for text in self._names.classes]

    @property
    def workers(self) -> Any:
        """A DataFrame by worker: `quality`, its 95 % interval `lower` to `upper`, and the number of `labels`."""
        columns = {"worker": self._names.workers, **{name: pa.array(values) for name, values in rounds.workers(self._rounds).items()}}
        frame = self._spark.createDataFrame(pa.table(columns))
        return frame.select(F.col("worker").cast(self._types["worker"]).alias(self.getOrDefault("workerCol")),
                            "quality", "lower", "upper", F.col("labels").cast("long").alias("labels"))

    def unpersist(self) -> Any:
        """Frees the packed labels that it was fitted on. To judge them again, they will be packed again."""
        for frame in self._persisted:
            frame.unpersist()
        self._persisted.clear()
        if self._chunks is not None:  # which copies have, too
            self._chunks.are_kept = False
        self._fitted = self._chunks = None
        return self

    def _transform(self, dataset: Any) -> Any:
        if not self._rounds:
            raise UsageError(f"this {type(self).__name__} knows nothing yet: an estimator's fit makes one, or load")
        spark, limit = dataset.sparkSession, self.getOrDefault("modelLimit")
        draws = self.hasParam("ties") and self.getOrDefault("ties") == "random"  # by the numbers of tasks
        numbers: Dict[str, int] = {}
        if self._chunks is not None and self._chunks.are_kept and dataset is self._fitted:
            frame, types = self._chunks.frame, self._types
            numbers = self._chunks.numbers if draws else numbers
        else:
            labels = LabelFrame(dataset, self)
            frame = labels.pack(self._names, len(self._rounds) > limit, self._text("handleInvalid") == "skip")
            types = labels.types
            if draws or len(self._rounds) > limit:  # else another computation would find other ranges of tasks
                frame = frame.persist(StorageLevel.MEMORY_AND_DISK)
                self._persisted.append(frame)
                if draws:
                    numbers = numbered(frame, self._names).numbers
        probability = self.getOrDefault("probabilityCol")
        schema = "task string, label string, confidence double" + (", probability array<double>" if probability else "")
        classes, with_probabilities = self._names.classes, bool(probability)
        if len(self._rounds) > limit:
            def finish(own: Any, parts: Any) -> Any:
                return executors.finish_by_parts(own, parts, numbers, classes, with_probabilities)

            answers = by_parts(spark, frame.select("first", "problem", "names", "workers", "chunk"), self._rounds,
                               len(self._names.workers), finish, schema)
        else:
            frame, sent = beside(spark, frame.select("at", "first", "problem", "names", "chunk"), self._rounds, F.col("at") == 0)
            answers = frame.mapInArrow(partial(executors.finish, model=sent, numbers=numbers, classes=classes,
                                               with_probabilities=with_probabilities), schema)
        columns = [F.col("task").cast(types["task"]).alias(self.getOrDefault("taskCol")),
                   F.col("label").cast(self._types["label"]).alias(self.getOrDefault("predictionCol")),
                   F.col("confidence").alias(self.getOrDefault("confidenceCol"))]
        if probability:
            columns.append(array_to_vector(F.col("probability")).alias(probability))
        return answers.select(*columns)

    def copy(self, extra: Any = None) -> Any:
        copied = super().copy(extra)
        copied._learn(self._spark, self._rounds, self._names, self._types)
        copied._fitted, copied._chunks = self._fitted, self._chunks
        return copied

    def write(self) -> Writer:
        """Writes params, workers, and all that the model needs to judge."""
        return Writer(self)

    @classmethod
    def read(cls) -> Any:
        """Reads what `write` wrote."""
        return ModelReader(cls)

    def _metadata(self) -> Dict[str, Any]:
        return {"classes": self._names.classes, "types": self._types}

    def _tables(self, spark: Any) -> Dict[str, Any]:
        pieces = [self._rounds[at:at + BYTES_PER_ROW] for at in range(0, len(self._rounds), BYTES_PER_ROW)]
        return {"rounds": spark.createDataFrame(pa.table({"part": np.arange(len(pieces)), "bytes": pa.array(pieces, pa.binary())})),
                "workers": spark.createDataFrame(pa.table({"id": np.arange(len(self._names.workers)), "worker": self._names.workers}))}


class CrowdEstimator(CrowdParams, Estimator[Any], DefaultParamsWritable, DefaultParamsReadable[Any]):
    """Learns from labels: fit gives a model."""

    _model: Type[CrowdModel]

    def _fit(self, dataset: Any) -> CrowdModel:
        settings = self._settings()
        spark = dataset.sparkSession
        title = f"crowdfold {type(self).__name__}"
        labels = LabelFrame(dataset, self)
        with told(spark, f"{title}: names of workers and classes"):
            names = labels.names()
        if not names.classes:
            raise DataError("no labels: all rows are abstentions")
        model = rounds.start(self._method, workers=len(names.workers), classes=len(names.classes), settings=dict(settings),
                             seed=self.getOrDefault("seed"))
        limit = self.getOrDefault("modelLimit")
        frame = labels.pack(names, may_exceed(len(names.workers), len(names.classes), limit)).persist(StorageLevel.MEMORY_AND_DISK)
        try:
            with told(spark, f"{title}: packing"):
                chunks = numbered(frame, names)
            chunks.partitions, chunks.workers = labels.partitions, len(names.workers)
            model = run_rounds(spark, model, chunks, title, limit)
        except BaseException:
            frame.unpersist()
            raise
        fitted: CrowdModel = self._copyValues(self._model())
        fitted._resetUid(self.uid)
        fitted._learn(spark, model, names, labels.types)
        fitted._fitted, fitted._chunks = dataset, chunks
        fitted._persisted.append(frame)
        return fitted

    def write(self) -> Writer:
        """Writes params."""
        return Writer(self)

    def _metadata(self) -> Dict[str, Any]:
        return {}


def make_classes(module: str) -> Dict[str, type]:
    """An estimator and a model for each method that goes in rounds."""
    made: Dict[str, type] = {}
    for method in _native.registry():
        if not method["in_rounds"]:
            continue
        name = METHODS[method["name"]].class_name
        params, options = params_of_method(method)
        common = {"__module__": module, "_method": method["name"], "_options": options}
        made[name + "Model"] = type(name + "Model", (CrowdModel,), {
            **common, **attributes_of(SHARED + OF_ESTIMATORS + OF_MODELS + params), "__doc__": f"What {name} learned of a crowd."})
        made[name] = type(name, (CrowdEstimator,), {
            **common, **attributes_of(SHARED + OF_ESTIMATORS + params), "__doc__": _docstring(method, SHARED + OF_ESTIMATORS + params),
            "_model": made[name + "Model"]})
    return made


def _docstring(method: Dict[str, Any], params: List[Any]) -> str:
    summary = method["summary"]
    lines = [summary[0].upper() + summary[1:] + ".", "", method["citation"] + ".", "", "Parameters", "----------"]
    for param, default in params:
        lines += [f"{param.name} : default {default!r}", f"    {param.doc}"]
    return "\n".join(lines)


def _value(text: str, kind: str) -> Any:
    if kind in ("tinyint", "smallint", "int", "bigint"):
        return int(text)
    return text == "true" if kind == "boolean" else text
