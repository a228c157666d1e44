"""Methods in rounds on bytes: the same answers as in memory, however tasks are split and summaries merged."""

from __future__ import annotations

import os
import pickle
import random
import re
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import crowdfold as cf
from crowdfold import rounds

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python" / "rounds.md"
IDS = ("task", "worker", "label")
METHODS = [("mv", {}, cf.MajorityVote(ties="first")), ("wawa", {}, cf.Wawa(ties="first")), ("ds", {}, cf.DawidSkene(start=0.7)),
           ("ibcc", {}, cf.IBCC()),
           ("fivepass", {}, cf.FivePass()), ("twopass", {"vote_rounds": 2}, cf.TwoPass(vote_rounds=2)),
           ("mv", {"ties": "random"}, cf.MajorityVote(ties="random")),
           ("fast_ds", {"ties": "random"}, cf.FastDawidSkene(ties="random"))]


class Crowd:
    """A frame with ids in the order of first rows."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame
        found = {name: pd.factorize(frame[name]) for name in IDS}
        self.names = {name: names for name, (_, names) in found.items()}
        self.rows = pd.DataFrame({name: codes for name, (codes, _) in found.items()})

    def start(self, method: str, settings: Any = None, seed: int = 0) -> bytes:
        return rounds.start(method, workers=len(self.names["worker"]), classes=len(self.names["label"]),
                            settings=settings, seed=seed)

    def chunks(self, draw: random.Random, truths: Any = None) -> list[bytes]:
        """Whole tasks, in chunks of drawn sizes."""
        count = draw.randrange(1, 12)
        chunk_of = np.array([draw.randrange(count) for _ in self.names["task"]])
        pieces = [self.rows[chunk_of[self.rows["task"]] == chunk] for chunk in range(count)]
        return [rounds.pack(*(piece[name] for name in IDS), truths=truths) for piece in pieces]


@pytest.fixture(scope="module")
def people(frame: pd.DataFrame) -> Crowd:
    return Crowd(frame)


def drive(model: bytes, chunks: list[bytes], draw: random.Random) -> bytes:
    while not rounds.is_done(model):
        assert rounds.stage(model) != "done"
        summaries = [rounds.judge(pickle.loads(pickle.dumps(model)), chunk) for chunk in chunks]
        draw.shuffle(summaries)
        while len(summaries) > 1:
            summaries.append(rounds.merge(model, summaries.pop(0), summaries.pop(draw.randrange(len(summaries)))))
        model = rounds.next(model, summaries[0])
    assert rounds.stage(model) == "done"
    return model


def finish(people: Crowd, model: bytes, chunks: list[bytes]) -> pd.DataFrame:
    parts = [rounds.finish(model, chunk, posterior=True) for chunk in chunks]
    tasks, classes, confidence, posterior = (np.concatenate(part) for part in zip(*parts))
    table = pd.DataFrame({"label": people.names["label"][classes], "confidence": confidence}, people.names["task"][tasks])
    return pd.concat([table, pd.DataFrame(posterior, table.index, people.names["label"])], axis=1)


def expect_same(people: Crowd, found: pd.DataFrame, model: bytes, fitted: Any) -> None:
    found = found.loc[fitted.labels_.index]
    assert (found["label"].to_numpy() == fitted.labels_.to_numpy()).all()
    assert (found["confidence"].to_numpy() == fitted.confidence_.to_numpy()).all()
    assert (found[fitted.posterior_.columns].to_numpy() == fitted.posterior_.to_numpy()).all()
    table = pd.DataFrame(rounds.workers(model), people.names["worker"]).loc[fitted.workers_.index]
    for column in ("quality", "lower", "upper", "labels"):
        assert (table[column].to_numpy() == fitted.workers_[column].to_numpy()).all(), column


@pytest.mark.parametrize(("method", "settings", "fitted"), METHODS, ids=lambda value: str(value))
def test_any_split_and_any_order_give_what_a_fit_gives(people: Crowd, method: str, settings: Any, fitted: Any) -> None:
    fitted.fit_predict_proba(people.frame)
    for seed in range(3):
        draw = random.Random(seed)
        chunks = people.chunks(draw)
        model = drive(people.start(method, settings), chunks, draw)
        expect_same(people, finish(people, model, chunks), model, fitted)


def test_truths_are_taken_by_task_and_in_order(people: Crowd, truth: pd.Series) -> None:
    known = truth[::5]
    classes = {name: i for i, name in enumerate(people.names["label"])}
    by_task = {int(np.flatnonzero(people.names["task"] == task)[0]): classes[label] for task, label in known.items()}
    fitted = cf.FivePass().fit(people.frame, known)
    draw = random.Random(1)
    for truths in (by_task, pd.Series(by_task)):
        chunks = people.chunks(draw, truths)
        model = drive(people.start("fivepass"), chunks, draw)
        found = finish(people, model, chunks).loc[fitted.labels_.index]
        assert (found["label"].to_numpy() == fitted.labels_.to_numpy()).all()
        assert (found["confidence"].to_numpy() == fitted.confidence_.to_numpy()).all()
    rows = [[7, 7, 3], [0, 1, 0], [1, 1, 2]]
    assert rounds.pack(*rows, truths=[-1, 0]) == rounds.pack(*rows, truths={3: 0})


def test_another_numbering_differs_in_rounding_only(people: Crowd, frame: pd.DataFrame) -> None:
    by_name = Crowd(frame)
    for name in ("worker", "label"):
        by_name.rows[name], by_name.names[name] = pd.factorize(frame[name], sort=True)
    tables = []
    for each in (people, by_name):
        draw = random.Random(1)
        chunks = each.chunks(draw)
        tables.append(finish(each, drive(each.start("fivepass"), chunks, draw), chunks).sort_index())
    assert (tables[0]["label"] == tables[1]["label"]).all()
    assert np.allclose(tables[0]["confidence"], tables[1]["confidence"], rtol=0, atol=1e-5)


SAID_OF_A_CROWD = """
import hashlib, sys
import numpy as np
from crowdfold import rounds
draw = np.random.default_rng(1)
columns = [np.repeat(np.arange(60), 4), draw.integers(0, 9, 240), draw.integers(0, 3, 240)]
said = hashlib.sha256(chunk := rounds.pack(*columns))
model = rounds.start(sys.argv[1], workers=9, classes=3, settings=eval(sys.argv[2]))
while not rounds.is_done(model):
    summary = rounds.judge(model, chunk)
    said.update(model + summary)
    model = rounds.next(model, rounds.merge(model, summary))
print(said.hexdigest(), hashlib.sha256(model).hexdigest())
"""


@pytest.mark.parametrize("method", ["mv", "wawa", "zbs", "iwmv", "crh", "zc", "onecoin_ds", "ds", "fast_ds", "lfc", "ibcc", "fivepass",
                                    "twopass"])
def test_bytes_do_not_depend_on_what_lay_in_memory(method: str) -> None:
    """A step that is done once more, elsewhere, gives the same bytes: a summary must be of the very model it is merged for."""
    settings = "{'vote_rounds': 2}" if method == "twopass" else "{}"
    said = {subprocess.run([sys.executable, "-c", SAID_OF_A_CROWD, method, settings], check=True, capture_output=True,
                           env={**os.environ, "MALLOC_PERTURB_": fill}).stdout for fill in ("1", "85", "170")}
    assert len(said) == 1


def test_the_last_label_counts_and_rows_may_be_in_any_order() -> None:
    assert rounds.pack([1, 2, 1], [0, 0, 0], [1, 1, 0]) == rounds.pack(np.array([1, 2], np.uint8), [0, 0], [0, 1])


def test_threads_judge_side_by_side(people: Crowd) -> None:
    chunks = people.chunks(random.Random(4))
    models = [people.start("fivepass", seed=seed) for seed in range(2)]
    expected = [[rounds.judge(model, chunk) for chunk in chunks] for model in models]
    found: dict[int, Any] = {}

    def work(thread: int) -> None:
        found[thread] = [[rounds.judge(model, chunk) for chunk in chunks] for model in models]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[i] == expected for i in range(4))


def test_parts_of_a_model_judge_the_chunks_of_their_workers(people: Crowd) -> None:
    draw = random.Random(6)
    chunks = people.chunks(draw)
    model = people.start("fivepass")
    ids = np.arange(len(people.names["worker"]))
    while not rounds.is_done(model):
        parts = [rounds.part(model, some) for some in (ids[:7], ids[7:])]
        summary = rounds.merge(model, rounds.judge(model, *chunks))
        assert rounds.merge(model, *(rounds.judge(parts, chunk) for chunk in chunks)) == summary
        model = rounds.next(model, summary)
    parts = [rounds.part(model, ids[:9]), rounds.part(model, ids[9:])]
    for by_part, by_whole in zip(rounds.finish(parts, chunks[0], True), rounds.finish(model, chunks[0], True)):
        assert (by_part == by_whole).all()
    with pytest.raises(cf.DataError, match="worker id .*, which the parts of the model do not know"):
        rounds.finish([rounds.part(model, ids[:1])], chunks[0])
    with pytest.raises(cf.DataError, match="worker id 5 is in two parts"):
        rounds.finish([rounds.part(model, ids[:9]), rounds.part(model, ids[5:])], chunks[0])
    with pytest.raises(cf.UsageError, match="must ascend"):
        rounds.part(model, [3, 1])


def test_chunks_are_renumbered_and_take_abstentions() -> None:
    chunk = rounds.pack([5, 9, 5], [0, 1, 2], [1, -1, 0])
    assert rounds.renumber(chunk, 40) == rounds.pack([40, 41, 40], [0, 1, 2], [1, -1, 0])
    model = rounds.start("mv", workers=3, classes=2)
    model = rounds.next(model, rounds.judge(model, chunk))
    tasks, classes, confidence = rounds.finish(model, memoryview(chunk))
    assert (tasks.tolist(), classes.tolist(), confidence[1]) == ([5, 9], [0, -1], 0)


def test_nothing_is_a_summary_too(people: Crowd) -> None:
    model, chunks = people.start("ds"), people.chunks(random.Random(2))
    one = rounds.judge(model, *chunks)
    assert rounds.merge(model, rounds.judge(model), one) == one == rounds.merge(model, one)
    assert rounds.next(model, one) == rounds.next(model, rounds.merge(model, *(rounds.judge(model, c) for c in chunks)))
    assert rounds.judge(bytearray(model), memoryview(chunks[0])) == rounds.judge(model, chunks[0])


def test_methods_that_cannot_are_refused_in_a_sentence() -> None:
    with pytest.raises(cf.UsageError, match="kos cannot judge tasks in rounds.*fivepass"):
        rounds.start("kos", workers=3, classes=2)
    for wrong in ({"workers": 0}, {"workers": -1}, {"classes": 2.5}, {"classes": 70_000}, {"seed": 2**64},
                  {"settings": {"unheard": 1}}, {"settings": {"vote_rounds": -1}}):
        with pytest.raises(cf.UsageError):
            rounds.start("twopass", **{"workers": 3, "classes": 2, "settings": {"vote_rounds": 2}, **wrong})


def test_damaged_bytes_are_refused(people: Crowd) -> None:
    draw = random.Random(3)
    model, chunk = people.start("fivepass"), people.chunks(draw)[0]
    summary = rounds.judge(model, chunk)
    for _ in range(100):
        for whole, use in ((model, rounds.is_done), (chunk, lambda bad: rounds.judge(model, bad)),
                           (summary, lambda bad: rounds.next(model, bad)), (summary, lambda bad: rounds.merge(model, bad))):
            at = draw.randrange(len(whole))
            flipped = whole[:at] + bytes([whole[at] ^ draw.randrange(1, 256)]) + whole[at + 1:]
            for bad in (flipped, whole[:at], whole + b"x"):
                with pytest.raises(cf.DataError):
                    use(bad)
    with pytest.raises(cf.DataError, match="these bytes are a summary, not a chunk"):
        rounds.judge(model, summary)
    with pytest.raises(cf.DataError, match="of another model"):
        rounds.next(rounds.next(model, summary), summary)


def test_wrong_ids_and_types_are_refused(people: Crowd) -> None:
    model = rounds.start("mv", workers=2, classes=2)
    for worker, label, sentence in ((2, 0, "worker id 2, the model 2 workers"), (0, 2, "class id 2, the model 2 classes")):
        with pytest.raises(cf.DataError, match=sentence):
            rounds.judge(model, rounds.pack([0], [worker], [label]))
    with pytest.raises(cf.DataError, match="class id 5"):
        rounds.judge(model, rounds.pack([0], [0], [0], truths=[5]))
    for columns in (([0], [-1], [0]), ([0], [0], [-2]), ([0], [2**40], [0]), ([0], [0], [65534]), ([0, 1], [0], [0])):
        with pytest.raises(cf.DataError):
            rounds.pack(*columns)
    for wrong in ([0.5], ["a"], [None], [[0]], np.array([2**63], np.uint64)):
        with pytest.raises(cf.UsageError):
            rounds.pack(wrong, [0], [0])
    with pytest.raises(cf.UsageError, match="model: this is a str"):
        rounds.judge("model")  # type: ignore[arg-type]
    chunk = rounds.pack([0], [0], [0])
    with pytest.raises(cf.UsageError, match="not done"):
        rounds.finish(model, chunk)
    with pytest.raises(cf.UsageError, match="not done"):
        rounds.workers(model)
    done = drive(model, [chunk], random.Random(0))
    with pytest.raises(cf.UsageError, match="nothing more is to be learned"):
        rounds.judge(done, chunk)


def test_the_code_on_the_page_runs_on_dask(frame: pd.DataFrame) -> None:
    pytest.importorskip("dask")
    (block,) = re.findall(r"\n\n((?:    .*\n|\n(?=    ))+)", PAGE.read_text(encoding="utf-8"))
    scope: dict[str, Any] = {"labels": frame}
    exec(textwrap.dedent(block), scope)
    fitted = cf.FivePass().fit(frame)
    answers = scope["answers"].set_index("task").loc[fitted.labels_.index]
    assert (answers["label"].to_numpy() == fitted.labels_.to_numpy()).all()
    assert (answers["confidence"].to_numpy() == fitted.confidence_.to_numpy()).all()
    assert (scope["workers"].loc[fitted.workers_.index, "quality"] == fitted.workers_["quality"]).all()
