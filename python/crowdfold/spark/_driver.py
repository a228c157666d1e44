"""The loop of rounds, on the driver: models go out, summaries come back."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import Any, Iterator, Optional, Tuple

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from .. import rounds
from . import _executors as executors
from ._frames import Chunks

SUMMARY = "summary binary"
MOST_IN_FUNCTION = 1 << 20
BYTES_PER_SLICE = 1 << 24
# Summaries that are larger together are merged by executors first.
MOST_COLLECTED = 1 << 26
FEWEST_MERGED = 8


def beside(spark: Any, frame: Any, model: bytes, where: Any = None) -> Tuple[Any, Optional[bytes]]:
    """The frame with the model beside its rows (those `where` says), for executors; and what is to come with the function.

    A small model comes with the function. Others are a broadcast, one copy for each executor, which Spark lets go of by itself. (Files
    that are added to a session would stay as long as it does, and every new executor would fetch them all.)
    """
    if len(model) <= MOST_IN_FUNCTION:
        return frame.withColumn("model", F.lit(None).cast("binary")), model
    sent = F.broadcast(spark.createDataFrame(pa.table({"sent": pa.array([model], pa.binary())})))
    column = F.col("sent") if where is None else F.when(where, F.col("sent"))
    return frame.crossJoin(sent).withColumn("model", column).drop("sent"), None


def may_exceed(workers: int, classes: int, limit: int) -> bool:
    """Whether a model of so many may have more bytes. It has some numbers for each worker and pair of classes, at most."""
    return workers * (64 + 32 * classes * (classes + 8)) > limit


def by_parts(spark: Any, frame: Any, model: bytes, workers: int, body: Any, schema: str) -> Any:
    """What `body` makes of each chunk of the frame and the parts of the model that it needs: two shuffles."""
    width = max(1, workers // max(1, len(model) // BYTES_PER_SLICE))
    slices = [rounds.part(model, np.arange(first, min(workers, first + width))) for first in range(0, workers, width)]
    known = spark.createDataFrame(pa.table({"slice": pa.array(range(len(slices)), pa.int32()), "known": pa.array(slices, pa.binary())}))
    asked = frame.select("first", "workers").mapInArrow(partial(executors.needs, width=width), executors.NEEDS)
    parts = asked.groupBy("slice").cogroup(known.groupBy("slice")).applyInArrow(executors.cut, executors.PARTS)
    return frame.drop("workers").groupBy("first").cogroup(parts.groupBy("first")).applyInArrow(body, schema)


def run_rounds(spark: Any, model: bytes, chunks: Chunks, title: str, limit: int) -> bytes:
    """The model after all rounds. One with more bytes than `limit` goes to executors in parts."""
    number = 0
    while not rounds.is_done(model):
        number += 1
        with told(spark, f"{title}: round {number}, {rounds.stage(model)}"):
            model = rounds.next(model, _summary(spark, chunks, model, limit))
    return model


def _summary(spark: Any, chunks: Chunks, model: bytes, limit: int) -> bytes:
    if len(model) > limit:
        numbers = chunks.numbers

        def judge(own: Any, parts: Any) -> Any:
            return executors.judge_by_parts(own, parts, numbers)

        return _merged(model, by_parts(spark, chunks.frame.select("first", "workers", "chunk"), model, chunks.workers, judge, SUMMARY))
    frame, sent = beside(spark, chunks.frame.select("at", "first", "chunk"), model, F.col("at") == 0)
    frame = frame.mapInArrow(partial(executors.judge, model=sent, numbers=chunks.numbers), SUMMARY)
    partitions = chunks.partitions
    # A summary is at most about as large as a model.
    while partitions > FEWEST_MERGED and partitions * len(model) > MOST_COLLECTED:
        partitions = max(FEWEST_MERGED, partitions // FEWEST_MERGED)
        frame, sent = beside(spark, frame.repartition(partitions), model)
        frame = frame.mapInArrow(partial(executors.merge, model=sent), SUMMARY)
    return _merged(model, frame)


def _merged(model: bytes, summaries: Any) -> bytes:
    column = summaries.toArrow().column("summary")
    return rounds.merge(model, *(memoryview(value.as_buffer()) for value in column))


@contextmanager
def told(spark: Any, what: str) -> Iterator[None]:
    """Says in Spark's pages what jobs are for: as their description, or on Spark Connect as a tag."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        tag = what.replace(",", "")
        spark.addTag(tag)
        try:
            yield
        finally:
            spark.removeTag(tag)
        return
    context = spark.sparkContext
    before = context.getLocalProperty("spark.job.description")
    context.setJobDescription(what)
    try:
        yield
    finally:
        context.setJobDescription(before)
