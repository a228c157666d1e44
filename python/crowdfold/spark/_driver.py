"""The loop of rounds, on the driver: models go out, summaries come back."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import Any, Iterator, Optional, Tuple

import pyarrow as pa
from pyspark.sql import functions as F

from .. import rounds
from . import _executors as executors
from ._frames import Chunks

SUMMARY = "summary binary"
MOST_IN_FUNCTION = 1 << 20
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


def run_rounds(spark: Any, model: bytes, chunks: Chunks, title: str) -> bytes:
    """The model after all rounds."""
    number = 0
    while not rounds.is_done(model):
        number += 1
        with told(spark, f"{title}: round {number}, {rounds.stage(model)}"):
            model = rounds.next(model, _summary(spark, chunks, model))
    return model


def _summary(spark: Any, chunks: Chunks, model: bytes) -> bytes:
    frame, sent = beside(spark, chunks.frame.select("at", "first", "chunk"), model, F.col("at") == 0)
    frame = frame.mapInArrow(partial(executors.judge, model=sent, numbers=chunks.numbers), SUMMARY)
    partitions = chunks.partitions
    # A summary is at most about as large as a model.
    while partitions > FEWEST_MERGED and partitions * len(model) > MOST_COLLECTED:
        partitions = max(FEWEST_MERGED, partitions // FEWEST_MERGED)
        frame, sent = beside(spark, frame.repartition(partitions), model)
        frame = frame.mapInArrow(partial(executors.merge, model=sent), SUMMARY)
    column = frame.toArrow().column("summary")
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
