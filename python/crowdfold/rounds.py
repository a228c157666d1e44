"""Methods in rounds, on bytes: for engines that know nothing of labels, such as Dask, Ray, Spark, or a loop.

    model = rounds.start("fivepass", workers=1000, classes=4)
    while not rounds.is_done(model):
        model = rounds.next(model, rounds.merge(model, *(rounds.judge(model, chunk) for chunk in chunks)))
    answers = [rounds.finish(model, chunk) for chunk in chunks]

Chunks, models and summaries are bytes, which can be kept and sent anywhere. Sums are of whole numbers: the answers are the same
however tasks are split into chunks, whoever judges which, and in whatever order summaries are merged.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from . import _native
from .errors import UsageError

__all__ = ["finish", "is_done", "judge", "merge", "next", "pack", "part", "renumber", "stage", "start", "workers"]

Bytes = Any  # an object that lets others look at its bytes: bytes, memoryview, mmap, a buffer of Arrow
Model = Any  # its bytes, or a list of parts


def pack(tasks: Any, workers: Any, labels: Any, truths: Any = None) -> bytes:
    """Packs all labels of some tasks into a chunk.

    The first three are integers, one each for every label, in any order: the id of the task, any number; of the worker and of
    the class, from 0 on, the same in all chunks. The class -1 is an abstention. All labels of a task must be in one chunk. Of a
    worker's labels on a task, the last one counts. `truths` are known truths, class ids with -1 for unknown: a mapping by task
    id, or an array with one for every task, in the order in which the tasks come first.
    """
    none = np.empty(0, np.int64)
    if truths is None:
        known, of_tasks = none, none
    elif hasattr(truths, "items"):
        pairs = list(truths.items())
        known = _integers("truths", [truth for _, truth in pairs])
        of_tasks = _integers("truths", [task for task, _ in pairs])
    else:
        known, of_tasks = _integers("truths", truths), none
    return _native.pack_chunk(_integers("tasks", tasks), _integers("workers", workers), _integers("labels", labels),
                              known, of_tasks)


def renumber(chunk: Bytes, first: int) -> bytes:
    """The same chunk, its tasks numbered from `first` on, in their order there."""
    return _native.renumber_chunk(_bytes("chunk", chunk), int(first))


def start(method: str, *, workers: int, classes: int, settings: Optional[Mapping[str, Any]] = None, seed: int = 0) -> bytes:
    """The model before the first round, for so many workers and classes. `settings` are options, as in `--set NAME=VALUE`."""
    texts = [(str(name), _text(value)) for name, value in (settings or {}).items()]
    return _native.start_rounds(method, _count("workers", workers, 32), _count("classes", classes, 32), texts,
                                _count("seed", seed, 64))


def part(model: Bytes, workers: Any) -> bytes:
    """What the model, or a part of it, knows of the workers with these ids, which ascend: for chunks with labels by no others."""
    return _native.part_of_model(_bytes("model", model), _integers("workers", workers))


def judge(model: Model, *chunks: Bytes) -> bytes:
    """A summary of what the chunks say under the model. Other Python threads run meanwhile.

    In place of the model, a list of parts of it will do, if they know the chunks' workers together.
    """
    if isinstance(model, list):
        return _native.judge_by_parts(_all("part", tuple(model)), _all("chunk", chunks))
    return _native.judge_chunks(_bytes("model", model), _all("chunk", chunks))


def merge(model: Bytes, *summaries: Bytes) -> bytes:
    """One summary of several that were judged by this model, in any order."""
    return _native.merge_summaries(_bytes("model", model), _all("summary", summaries))


def next(model: Bytes, summary: Bytes) -> bytes:
    """The model of the next round. The summary must be of all chunks: each once."""
    return _native.next_round(_bytes("model", model), _bytes("summary", summary))


def is_done(model: Bytes) -> bool:
    """Whether nothing more is to be learned."""
    return bool(_native.describe_rounds(_bytes("model", model))["is_done"])


def stage(model: Bytes) -> str:
    """What the model's next round is for, to show progress; "done" if there is none."""
    return str(_native.describe_rounds(_bytes("model", model))["stage"])


def finish(model: Model, chunk: Bytes, posterior: bool = False) -> Tuple[Any, ...]:
    """The answers to a chunk by a model that is done, or a list of its parts: arrays of task ids, class ids and confidences.

    The class of a task without labels is -1. With `posterior`, also an array with a row for each task and the probability of every class.
    """
    if isinstance(model, list):
        return _native.answer_by_parts(_all("part", tuple(model)), _bytes("chunk", chunk), bool(posterior))
    return _native.answer_chunk(_bytes("model", model), _bytes("chunk", chunk), bool(posterior))


def workers(model: Bytes) -> Dict[str, Any]:
    """Arrays by worker id, of a model that is done: `quality`, its 95 % interval `lower` and `upper`, the number of `labels`."""
    return _native.workers_of_rounds(_bytes("model", model))


def _integers(name: str, values: Any) -> Any:
    array = np.asarray(values)
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise UsageError(f"{name}: these are {array.dtype} in {array.ndim} dimensions; pass one array of integers, the ids that "
                         "you gave them")
    if array.dtype.kind == "u" and int(array.max()) > np.iinfo(np.int64).max:
        raise UsageError(f"{name}: {array.max()} is too large; ids are below 2**63")
    return np.ascontiguousarray(array, dtype=np.int64)


def _count(name: str, value: Any, bits: int) -> int:
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= value < 2**bits:
        return int(value)
    raise UsageError(f"{name}={value!r}: a whole number from 0 to 2**{bits} - 1")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def _bytes(name: str, value: Any) -> Any:
    try:
        view = memoryview(value)
    except TypeError:
        raise UsageError(f"{name}: this is a {type(value).__name__}; pass the bytes that crowdfold.rounds made") from None
    return np.frombuffer(view, np.uint8) if view.nbytes > 0 else np.empty(0, np.uint8)


def _all(name: str, values: Tuple[Any, ...]) -> List[Any]:
    return [_bytes(name, value) for value in values]
