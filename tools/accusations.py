#!/usr/bin/env python3
"""Measures whom reports name wrongly, on simulated crowds, and writes the tables into docs/report.md between markers.

    tools/accusations.py [--binary build/crowdfold] [--before OTHER_BINARY] [--reports 100] [--print]

A worker of knowledge s knows the answer with probability s and otherwise says what they say out of habit. A report names
a worker wrongly if it says that they answer at random but they know .2 or more, or their labels depend on the tasks in
another way; and if it says that they are worse than chance but they are not.
Who contradicts the truth knows nothing either. --before adds the figures of another version.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import random
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from markdown import fill

ROOT = Path(__file__).resolve().parent.parent
RANDOM, ADVERSARY = "answers at random", "worse than chance"
MAY_BE_CALLED = {"innocent": set(), "guesser": {RANDOM}, "constant": {RANDOM}, "adversary": {ADVERSARY, RANDOM}}


@dataclass
class Worker:
    kind: str  # a key of MAY_BE_CALLED
    says: Callable[[random.Random, int], int]


@dataclass
class Crowd:
    name: str
    workers: Callable[[random.Random], list[Worker]]
    labels: int  # of a worker, on average
    per_task: int = 5
    shares: list[float] = field(default_factory=lambda: [0.5, 0.5])
    picks: bool = False  # a worker labels only tasks on which they have something to say
    hard: float = 0  # share of tasks that all take for another class


def knowing(knowledge: float, classes: int, habit: list[float] | None = None, kind: str = "innocent") -> Worker:
    weights = habit or [1.0] * classes

    def says(rng: random.Random, truth: int) -> int:
        return truth if rng.random() < knowledge else rng.choices(range(classes), weights)[0]

    return Worker(kind, says)


def of_quality(low: float, high: float, classes: int) -> Callable[[random.Random], Worker]:
    return lambda rng: knowing((rng.uniform(low, high) - 1 / classes) / (1 - 1 / classes), classes)


def avoiding(classes: int, quality: float) -> Worker:
    def says(rng: random.Random, truth: int) -> int:
        return truth if rng.random() < quality else (truth + rng.randrange(1, classes)) % classes

    return Worker("adversary", says)


def shifting(classes: int) -> Worker:
    def says(rng: random.Random, truth: int) -> int:
        return (truth + rng.choices([0, 1, 2], [0.3, 0.6, 0.1])[0]) % classes

    return Worker("innocent", says)


def function_for(label: int, precision: float, share: float) -> Worker:
    """A labelling function: it says one class or nothing (-1), and finds 30 % of that class."""
    elsewhere = 0.3 * share * (1 - precision) / precision / (1 - share)
    return Worker("innocent", lambda rng, truth: label if rng.random() < (0.3 if truth == label else elsewhere) else -1)


def crowd_of(*parts: tuple[int, Callable[[random.Random], Worker]]) -> Callable[[random.Random], list[Worker]]:
    return lambda rng: [make(rng) for number, make in parts for _ in range(number)]


def guessing(classes: int) -> Callable[[random.Random], Worker]:
    return lambda rng: knowing(0, classes, [rng.expovariate(1) + 0.2 for _ in range(classes)], "guesser")


def constant(classes: int) -> Callable[[random.Random], Worker]:
    return lambda rng: knowing(0, classes, [float(c == 0) for c in range(classes)], "constant")


def adversary(classes: int, quality: float) -> Callable[[random.Random], Worker]:
    return lambda rng: avoiding(classes, quality)


EVEN4 = [0.25] * 4
INNOCENT = [
    Crowd("40 workers of quality .6 to .95, 4 classes, 50 labels each", crowd_of((40, of_quality(0.6, 0.95, 4))), 50, shares=EVEN4),
    Crowd(
        "10 workers of quality .61 to .67 among 30 of .7 to .9, 2 classes, 150 labels each",
        crowd_of((10, of_quality(0.61, 0.67, 2)), (30, of_quality(0.7, 0.9, 2))),
        150,
    ),
    Crowd("40 workers of quality .61 to .67, 2 classes, 3 labels per task, 150 each", crowd_of((40, of_quality(0.61, 0.67, 2))), 150, 3),
    Crowd("the same with 400 labels each", crowd_of((40, of_quality(0.61, 0.67, 2))), 400, 3),
    Crowd("2 labels per task, quality .65 to .9, 2 classes, 100 labels each", crowd_of((40, of_quality(0.65, 0.9, 2))), 100, 2),
    Crowd("a class of 5 %, quality .7 to .9, 100 labels each", crowd_of((40, of_quality(0.7, 0.9, 2))), 100, shares=[0.95, 0.05]),
    Crowd(
        "a third of the tasks mislead all, quality .65 to .9, 100 labels each",
        crowd_of((40, of_quality(0.65, 0.9, 4))),
        100,
        shares=EVEN4,
        hard=0.33,
    ),
    Crowd(
        "4 of 40 mean the next class, 5 classes, 150 labels each",
        crowd_of((36, of_quality(0.6, 0.9, 5)), (4, lambda rng: shifting(5))),
        150,
        shares=[0.2] * 5,
    ),
    Crowd("400 workers of quality .5 to .9, 4 classes, 20 labels each", crowd_of((400, of_quality(0.5, 0.9, 4))), 20, shares=EVEN4),
    Crowd("50 classes, quality .4 to .9, 60 labels each", crowd_of((40, of_quality(0.4, 0.9, 50))), 60, shares=[0.02] * 50),
    Crowd(
        "24 labelling functions of one class each, precision .5 to .95, 4 classes",
        crowd_of(*[(6, lambda rng, c=c: function_for(c, rng.uniform(0.5, 0.95), 0.25)) for c in range(4)]),
        100,
        shares=EVEN4,
        picks=True,
    ),
    Crowd(
        "20 of 40 guess, the others .65 to .9, 2 classes, 150 labels each", crowd_of((20, guessing(2)), (20, of_quality(0.65, 0.9, 2))), 150
    ),
    Crowd("all 40 guess, 2 classes, 3 labels per task, 100 each", crowd_of((40, guessing(2))), 100, 3),
]
NAMED = [
    Crowd(
        f"{classes} classes, {labels} labels each",
        crowd_of(
            (32, of_quality(0.65, 0.95, classes)), (4, guessing(classes)), (2, constant(classes)), (2, adversary(classes, 0.4 / classes))
        ),
        labels,
        shares=[1 / classes] * classes,
    )
    for classes in (2, 4, 10)
    for labels in (50, 150, 400)
]


def rows_of(crowd: Crowd, rng: random.Random, workers: list[Worker]) -> list[str]:
    rows = ["task,worker,label"]
    tasks = len(workers) * crowd.labels // crowd.per_task if not crowd.picks else crowd.labels * 10
    classes = range(len(crowd.shares))
    # By turns, so that all give as many labels.
    queue: list[int] = []
    for task in range(tasks):
        truth = rng.choices(classes, crowd.shares)[0]
        if rng.random() < crowd.hard:
            truth = rng.choice(classes)
        if crowd.picks:
            asked = list(range(len(workers)))
        else:
            if len(queue) < crowd.per_task:
                more = [w for w in range(len(workers)) if w not in queue]
                rng.shuffle(more)
                queue += more
            asked, queue = queue[: crowd.per_task], queue[crowd.per_task :]
        for w in asked:
            label = workers[w].says(rng, truth)
            if label >= 0:
                rows.append(f"t{task},w{w},c{label}")
    return rows


def marks_of(binary: str, labels: Path, folder: str) -> dict[str, str]:
    page = Path(folder) / "report.json"
    subprocess.run(
        [binary, "report", str(labels), "--methods", "none", "--tasks", "1", "-q", "--threads", "1", "-o", str(page)], check=True
    )
    for section in json.loads(page.read_text())["sections"]:
        for block in section["blocks"]:
            if block.get("id") == "workers-table":
                columns = {column["name"]: column for column in block["columns"]}
                levels = columns["mark"].get("levels")
                marks = [levels[m] if levels else m for m in columns["mark"]["values"]]
                names = columns["worker"]
                workers = [names["levels"][w] for w in names["values"]] if "levels" in names else names["values"]
                return dict(zip(workers, marks))
    return {}


def one_report(binaries: list[str], crowd: Crowd, seed: int) -> list[dict[str, list[int]]]:
    """By binary: how many workers of each kind there are, are named, and are named wrongly."""
    rng = random.Random(f"{crowd.name} {seed}")
    workers = crowd.workers(rng)
    with tempfile.TemporaryDirectory() as folder:
        labels = Path(folder) / "labels.csv"
        labels.write_text("\n".join(rows_of(crowd, rng, workers)) + "\n")
        found = []
        for binary in binaries:
            counts: dict[str, list[int]] = {}
            marks = marks_of(binary, labels, folder)
            for w, worker in enumerate(workers):
                mark = marks.get(f"w{w}", "")
                named = mark in (RANDOM, ADVERSARY)
                count = counts.setdefault(worker.kind, [0, 0, 0])
                count[0] += 1
                count[1] += named and mark in MAY_BE_CALLED[worker.kind]
                count[2] += named and mark not in MAY_BE_CALLED[worker.kind]
            found.append(counts)
        return found


def simulate(binaries: list[str], crowd: Crowd, reports: int) -> list[dict[str, list[int]]]:
    sums: list[dict[str, list[int]]] = [{} for _ in binaries]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda seed: one_report(binaries, crowd, seed), range(reports)):
            for total, counts in zip(sums, found):
                for kind, count in counts.items():
                    total[kind] = [a + b for a, b in zip(total.get(kind, [0, 0, 0]), count)]
    return sums


def per_report(counts: dict[str, list[int]], reports: int) -> str:
    wrong = sum(count[2] for count in counts.values())
    return f"{wrong / reports:.2f}"


def share(counts: dict[str, list[int]], kind: str) -> str:
    return f"{100 * counts[kind][1] / counts[kind][0]:.0f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / "build/crowdfold"))
    parser.add_argument("--before", help="another version, for the column of that name")
    parser.add_argument("--reports", type=int, default=100)
    parser.add_argument("--print", action="store_true", help="print the tables instead of writing docs/report.md")
    given = parser.parse_args()
    binaries = [given.binary] + ([given.before] if given.before else [])

    innocent = [
        "| crowd | " + ("before | " if given.before else "") + f"named wrongly per report, of {given.reports} |",
        "|---|" + "---:|" * len(binaries),
    ]
    for crowd in INNOCENT:
        after, *before = simulate(binaries, crowd, given.reports)
        cells = [per_report(counts, given.reports) for counts in [*before, after]]
        innocent.append(f"| {crowd.name} | " + " | ".join(cells) + " |")
        print(innocent[-1], flush=True)
    named = [
        "| 40 workers, 5 labels per task | named wrongly per report | guessers named | who always say the same | worse than chance |",
        "|---|---:|---:|---:|---:|",
    ]
    for crowd in NAMED:
        kinds = simulate(binaries[:1], crowd, given.reports)[0]
        named.append(
            f"| {crowd.name} | {per_report(kinds, given.reports)} | {share(kinds, 'guesser')} | "
            f"{share(kinds, 'constant')} | {share(kinds, 'adversary')} |"
        )
        print(named[-1], flush=True)
    if given.print:
        return
    page = ROOT / "docs/report.md"
    text = page.read_text()
    text = fill(text, "false accusations", "\n".join(innocent))
    text = fill(text, "power", "\n".join(named))
    page.write_text(text)


if __name__ == "__main__":
    main()
