"""What runs on executors, over tables of Arrow: packing, judging, merging and finishing chunks.

Nothing here knows a DataFrame. Each function takes and gives record batches, as mapInArrow wants it.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .. import rounds
from ..errors import DataError

Batches = Iterator[pa.RecordBatch]

# Rows to be packed: task, worker, label; truth and order if there are such columns. Packed ones:
CHUNKS = ("at int, first string, last string, tasks long, labels long, problem string, worker long, names binary, workers binary, "
          "chunk binary")
CHUNK_FIELDS = pa.schema([("at", pa.int32()), ("first", pa.string()), ("last", pa.string()), ("tasks", pa.int64()), ("labels", pa.int64()),
                          ("problem", pa.string()), ("worker", pa.int64()), ("names", pa.binary()), ("workers", pa.binary()),
                          ("chunk", pa.binary())])
# In place of a chunk, a row of CHUNKS may have a problem: a sentence on the task `first` and {worker}, whose name the driver knows.
SECOND_LABEL = "{worker} labels task '{task}' a second time (duplicates='last' or 'first' accepts it)"
UNDECIDED = ("{worker} gives task '{task}' different labels, and rows of a DataFrame have no order: orderCol names a column that tells "
             "which is the last (if it did: take one that tells these rows apart), or leave one row of each")
TRUTHS_DIFFER = "task '{task}' has different truths: one task, one truth"
UNKNOWN_LABEL = ("task '{task}' has a label by a worker, or of a class, that the model does not know: fit it on these labels, too, or set "
                 "handleInvalid='skip', and such labels do not count")

MISSING = "no {what}: the value is missing or empty"
CHANGES = ("task '{task}' is not where it was: the DataFrame gives other rows each time it is computed; write it to a table first, or "
           "persist it")

ABSTENTION = -1
UNKNOWN = -2  # a worker or class that the model does not know

LABELS_PER_CHUNK = 1 << 20
TASKS_PER_BATCH = 1 << 16


class _Problem(Exception):
    def __init__(self, what: str, task: int, worker: int) -> None:
        super().__init__(what)
        self.what, self.task, self.worker = what, task, worker


def pack(batches: Batches, duplicates: str, skips_unknown: bool, with_workers: bool) -> Batches:
    """Packs all rows of a partition: tasks by their names in order, the labels of each by worker.

    `with_workers`: whether a chunk is to say who labelled in it.
    """
    some = [batch for batch in batches if batch.num_rows > 0]
    if not some:
        return
    table = pa.Table.from_batches(some)
    for what, missing in (("task", table.column("task").null_count > 0),
                          ("worker", pc.any(pc.equal(table.column("worker"), ABSTENTION)).as_py())):
        if missing:
            yield _chunk_row(0, "", "", 0, 0, MISSING.replace("{what}", what), -1, b"", b"", b"")
            return
    tasks = table.column("task").combine_chunks().dictionary_encode()
    names, codes = tasks.dictionary, tasks.indices.to_numpy(zero_copy_only=False)
    by_name = pc.sort_indices(names)
    rank = np.empty(len(names), np.int64)
    rank[by_name.to_numpy()] = np.arange(len(names))
    names = names.take(by_name)
    rows = _Rows(rank[codes], *(table.column(name).combine_chunks() if name in table.column_names else None
                                for name in ("worker", "label", "truth", "order")))
    try:
        rows.put_in_order(duplicates, skips_unknown)
    except _Problem as problem:
        task = names[problem.task].as_py()
        yield _chunk_row(0, task, task, 0, 0, problem.what.replace("{task}", task), problem.worker, b"", b"", b"")
        return
    for at, (first, last, begin, end) in enumerate(rows.pieces(len(names))):
        own = names.slice(first, last - first)
        yield _chunk_row(at, own[0].as_py(), own[-1].as_py(), last - first, end - begin, None, None, _to_ipc(own),
                         rows.workers(begin, end) if with_workers else None, rows.packed(first, last, begin, end))


class _Rows:
    """Labels, by the ranks of their tasks' names."""

    def __init__(self, task: Any, worker: pa.Array, label: pa.Array, truth: Optional[pa.Array], order: Optional[pa.Array]) -> None:
        self.task = task
        self.worker = worker.to_numpy(zero_copy_only=False).astype(np.int64)
        self.label = label.to_numpy(zero_copy_only=False).astype(np.int64)
        self.truth = None if truth is None else truth.to_numpy(zero_copy_only=False).astype(np.int64)
        # Rows that nothing orders are all of one time; one without a time is the oldest.
        self.order = None if order is None else pc.rank(order, null_placement="at_start", tiebreaker="dense").to_numpy()

    def put_in_order(self, duplicates: str, skips_unknown: bool) -> None:
        unknown = (self.worker == UNKNOWN) | (self.label == UNKNOWN)
        if bool(unknown.any()):
            if not skips_unknown:
                raise _Problem(UNKNOWN_LABEL, int(self.task[unknown].min()), -1)
            self.worker[unknown], self.label[unknown] = 0, ABSTENTION
        if self.truth is not None:
            self._settle_truths()
        key = (self.task << 32) | self.worker
        order = np.argsort(key)
        in_order = key[order]
        if bool((in_order[1:] == in_order[:-1]).any()):
            order = self._without_seconds(key, duplicates)
        self.task, self.worker, self.label = self.task[order], self.worker[order], self.label[order]

    def _settle_truths(self) -> None:
        """By task, from rows."""
        assert self.truth is not None
        given = self.truth >= 0
        truths = np.full(int(self.task.max()) + 1, ABSTENTION, np.int64)
        truths[self.task[given]] = self.truth[given]
        other = given & (truths[self.task] != self.truth)
        if bool(other.any()):
            raise _Problem(TRUTHS_DIFFER, int(self.task[other].min()), -1)
        self.truth = truths

    def _without_seconds(self, key: Any, duplicates: str) -> Any:
        """Rows in order, one of each worker and task. An abstention does not take a label back."""
        time = np.zeros(len(key), np.int64) if self.order is None else self.order.astype(np.int64)
        order = np.lexsort((self.label, -time if duplicates == "first" else time, self.label != ABSTENTION, key))
        key, time, label = key[order], time[order], self.label[order]
        again = key[1:] == key[:-1]  # the next row takes the place of this one
        both = again & (label[:-1] != ABSTENTION)
        decides = np.append(np.flatnonzero(~again), len(key) - 1)
        decided_at = np.repeat(time[decides], np.diff(decides, prepend=-1))
        none = np.zeros(len(both), bool)
        undecided = both & (label[1:] != label[:-1]) & (time[:-1] == decided_at[:-1])
        for what, wrong in (SECOND_LABEL, both if duplicates == "error" else none), (UNDECIDED, undecided):
            if bool(wrong.any()):
                at = order[int(np.argmax(wrong))]
                raise _Problem(what, int(self.task[at]), int(self.worker[at]))
        return order[decides]

    def pieces(self, tasks: int) -> Iterator[Tuple[int, int, int, int]]:
        """Tasks first to last - 1 and their rows, so many that each chunk has about LABELS_PER_CHUNK."""
        ends = np.searchsorted(self.task, np.arange(tasks), side="right")
        first, begin = 0, 0
        while first < tasks:
            last = max(first + 1, int(np.searchsorted(ends, begin + LABELS_PER_CHUNK, side="right")))
            end = int(ends[last - 1])
            yield first, last, begin, end
            first, begin = last, end

    def workers(self, begin: int, end: int) -> bytes:
        return np.unique(self.worker[begin:end]).astype(np.uint32).tobytes()

    def packed(self, first: int, last: int, begin: int, end: int) -> bytes:
        truths = None if self.truth is None else self.truth[first:last]
        rows = (self.task[begin:end] - first, self.worker[begin:end], self.label[begin:end])
        return rounds.pack(*rows, truths=truths if truths is not None and bool((truths >= 0).any()) else None)


def judge(batches: Batches, model: Optional[bytes], numbers: Dict[str, int]) -> Batches:
    """One summary of the chunks of a partition. `numbers`: those of the first tasks of chunks, by their names."""
    sent: Any = model
    said: List[bytes] = []
    for batch in batches:
        sent = _model_in(batch, sent)
        chunks = [_numbered(chunk, numbers, first)
                  for first, chunk in zip(batch.column("first").to_pylist(), _buffers(batch.column("chunk")))]
        said.append(rounds.judge(sent, *chunks))
    if said:
        yield _summary(said[0] if len(said) == 1 else rounds.merge(sent, *said))


def merge(batches: Batches, model: Optional[bytes]) -> Batches:
    """One summary of those of a partition."""
    sent: Any = model
    said: List[Any] = []
    for batch in batches:
        sent = _model_in(batch, sent)
        said += _buffers(batch.column("summary"))
    if said:
        yield _summary(rounds.merge(sent, *said))


def finish(batches: Batches, model: Optional[bytes], numbers: Dict[str, int], classes: Sequence[str], with_probabilities: bool) -> Batches:
    """A row for each task: its name, class and confidence, and the probabilities of all classes if asked for."""
    sent: Any = model
    for batch in batches:
        sent = _model_in(batch, sent)
        yield from answers(batch, sent, numbers, classes, with_probabilities)


def answers(batch: Any, model: Any, numbers: Dict[str, int], classes: Sequence[str], with_probabilities: bool) -> Batches:
    """To the tasks of some chunks."""
    names_of = pa.array(list(classes), pa.string())
    for problem in batch.column("problem").drop_null().to_pylist():
        raise DataError(problem.replace("{worker}", "a worker"))
    for first, packed, names in zip(batch.column("first").to_pylist(), _buffers(batch.column("chunk")),
                                    _buffers(batch.column("names"))):
        chunk: Any = _numbered(packed, numbers, first) if numbers else packed
        _, found, confidence, *posterior = rounds.finish(model, chunk, with_probabilities)
        nobody = found < 0  # said anything
        columns = [_from_ipc(names), names_of.take(pa.array(found, mask=nobody)), pa.array(confidence, mask=nobody)]
        if with_probabilities:
            ends = np.arange(len(found) + 1, dtype=np.int32) * len(classes)
            columns.append(pa.ListArray.from_arrays(pa.array(ends), pa.array(posterior[0].reshape(-1))))
        table = pa.Table.from_arrays(columns, ["task", "label", "confidence", "probability"][:len(columns)])
        yield from table.to_batches(max_chunksize=TASKS_PER_BATCH)


# --- Models that are too large to be sent as a whole: a chunk gets what they know of its own workers.

NEEDS = "slice int, first string, ids binary"
PARTS = "first string, part binary"


def needs(batches: Batches, width: int) -> Batches:
    """Which workers chunks need, by slices of so many ids. A chunk without labels needs none, of the first slice."""
    for batch in batches:
        rows: List[Tuple[int, str, bytes]] = []
        for first, workers in zip(batch.column("first").to_pylist(), _buffers(batch.column("workers"))):
            ids = np.frombuffer(workers, np.uint32)
            slices, begins = np.unique(ids // width, return_index=True)
            pieces = np.split(ids, begins[1:]) if len(ids) > 0 else [ids]
            rows += [(int(at), first, piece.tobytes()) for at, piece in zip(slices if len(ids) > 0 else [0], pieces)]
        kinds = (pa.int32(), pa.string(), pa.binary())
        yield pa.RecordBatch.from_arrays([pa.array(column, kind) for column, kind in zip(zip(*rows), kinds)], ["slice", "first", "ids"])


def cut(asked: pa.Table, slices: pa.Table) -> pa.Table:
    """The parts of one slice that chunks asked for."""
    known = next(_buffers(slices.column("known")))
    parts = [rounds.part(known, np.frombuffer(ids, np.uint32)) for ids in _buffers(asked.column("ids"))]
    return pa.table({"first": asked.column("first"), "part": pa.array(parts, pa.binary())})


def judge_by_parts(chunks: pa.Table, parts: pa.Table, numbers: Dict[str, int]) -> pa.Table:
    """A summary of one chunk."""
    chunk = _numbered(next(_buffers(chunks.column("chunk"))), numbers, chunks.column("first")[0].as_py())
    said = rounds.judge(list(_buffers(parts.column("part"))), chunk)
    return pa.table({"summary": pa.array([said], pa.binary())})


def finish_by_parts(chunks: pa.Table, parts: pa.Table, numbers: Dict[str, int], classes: Sequence[str],
                    with_probabilities: bool) -> pa.Table:
    """A row for each task of one chunk."""
    return pa.Table.from_batches(answers(chunks, list(_buffers(parts.column("part"))), numbers, classes, with_probabilities))


def _numbered(chunk: Any, numbers: Dict[str, int], first: str) -> bytes:
    if first not in numbers:
        raise DataError(CHANGES.replace("{task}", first))
    return rounds.renumber(chunk, numbers[first])


def _model_in(batch: pa.RecordBatch, known: Any) -> Any:
    """A model that does not come with the function comes with the first row of a partition."""
    return known if known is not None else next(_buffers(batch.column("model").drop_null()))


def _buffers(column: Any) -> Iterator[memoryview]:
    return (memoryview(value.as_buffer()) for value in column)


def _summary(said: bytes) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([said], pa.binary())], ["summary"])


def _chunk_row(*values: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([value], field.type) for value, field in zip(values, CHUNK_FIELDS)],
                                      schema=CHUNK_FIELDS)


def _to_ipc(array: pa.Array) -> bytes:
    batch = pa.RecordBatch.from_arrays([array], ["name"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _from_ipc(data: memoryview) -> pa.Array:
    return pa.ipc.open_stream(pa.py_buffer(data)).read_all().column("name").combine_chunks()
