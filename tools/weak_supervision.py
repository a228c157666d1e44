#!/usr/bin/env python3
"""Fills in the tables of docs/weak_supervision.md: labelling functions as workers, on data sets and in simulations.

    tools/weak_supervision.py

Needs the data sets of measured.py; without them the page stays as it is.
"""

from __future__ import annotations

import csv
import math
import random
import subprocess
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from markdown import decimal, fill_page, table
from measured import CROWDFOLD, FAMILIES, ROOT, Figures, folders, measured, run, there

METHODS = {"mv": True, "twopass": True, "mace": False, "ds": False, "ibcc": False, "threepass,passes=1": True, "threepass": True,
           "fivepass": False}
TRUTHS = [0, .02, .05, .1, .3]
SEEDS = 5
ROUNDS = [1, 2, 3, 5, 10]

# Simulated functions. Each speaks up on tasks of its class with a chance from `on`, and on others `vague` times as often, drawn
# up to that. `copies`: the share of functions that mostly repeat another. `skew`: class k has a share like (k + 1)^-skew.
CROWDS = {
    "4 classes, 20 functions": {},
    "2 classes, 10 functions": {"classes": 2, "functions": 10},
    "one function per class": {"functions": 4},
    "functions that seldom speak up": {"on": (.02, .15)},
    "functions that often speak up": {"on": (.3, .8)},
    "vague functions": {"vague": .9},
    "a third are copies": {"copies": .33},
    "skewed classes": {"skew": 1.5},
    "10 skewed classes, 60 functions": {"classes": 10, "functions": 60, "skew": 1},
    "and two people label a tenth": {"people": 2},
    "and one person labels all": {"people": 1, "share": 1.0},
}


def simulate(folder: Path, seed: int, classes: int = 4, functions: int = 20, on: tuple[float, float] = (.05, .5), vague: float = .4,
             copies: float = 0, skew: float = 0, people: int = 0, share: float = .1) -> None:
    rng = random.Random(seed)
    speaks = []
    for _ in range(functions):
        often = rng.uniform(*on)
        speaks.append((often, often * vague * rng.random()))
    copied = {f: rng.randrange(f % classes, f, classes) for f in range(classes, functions) if rng.random() < copies}
    shares = [(k + 1) ** -skew for k in range(classes)]
    folder.mkdir()
    with open(folder / "labels.csv", "w", encoding="utf-8") as labels, open(folder / "truth.csv", "w", encoding="utf-8") as truths:
        labels.write("task,worker,label\n")
        truths.write("task,label\n")
        for task in range(2000):
            truth = rng.choices(range(classes), shares)[0]
            said = {}
            for f, (often, seldom) in enumerate(speaks):
                speaks_up = rng.random() < (often if f % classes == truth else seldom)
                said[f] = said[copied[f]] if f in copied and rng.random() < .85 else speaks_up
            rows = [f"{task},f{f},c{f % classes}\n" for f, up in said.items() if up]
            for p in range(people):
                if rng.random() < share:
                    rows.append(f"{task},p{p},c{truth if rng.random() < .7 else rng.randrange(classes)}\n")
            if rows:
                labels.writelines(rows)
                truths.write(f"{task},c{truth}\n")


def shown(method: str) -> str:
    return f"`{method.split(',')[0]}`{', one pass' if 'passes=1' in method else ''}"


def sets_table(figures: Figures, names: list[str], methods: list[str]) -> str:
    rows = [[shown(m), *(decimal(figures.of(name, m), 3) for name in names), decimal(figures.mean(m, sets=names), 3),
             decimal(figures.mean(m, "log_loss", names), 2), decimal(figures.mean(m, "calibration_error", names), 2)] for m in methods]
    return table(["method", *names, "mean", "log-loss", "calibration error"], rows)


def simulated_table(methods: list[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        crowds = []
        for number, options in enumerate(CROWDS.values()):
            for seed in range(SEEDS):
                crowds.append(Path(folder) / f"{number}-{seed}")
                simulate(crowds[-1], seed, **options)
        figures = Figures(run(crowds, methods, 1))
    rows = [[name, *(decimal(figures.mean(m, sets=[f"{number}-{seed}" for seed in range(SEEDS)]), 3) for m in methods)]
            for number, name in enumerate(CROWDS)]
    return table(["simulated functions", *map(shown, methods)], rows)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def truths_table(at_hand: dict[str, Path], names: list[str], methods: list[str]) -> str:
    """Accuracy on the other tasks, where the truths of a share of tasks are known."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        known_file, answers = Path(folder) / "truth.csv", Path(folder) / "answers.csv"
        for method in methods:
            for share in TRUTHS:
                means = []
                for name in names:
                    truths = {row["task"]: row["label"] for row in read(at_hand[name] / "truth.csv")}
                    found = []
                    for seed in range(SEEDS if share else 1):
                        rng = random.Random(seed)
                        known = {task for task in truths if rng.random() < share}
                        known_file.write_text("task,label\n" + "".join(f"{task},{truths[task]}\n" for task in truths if task in known))
                        subprocess.run([CROWDFOLD, "aggregate", at_hand[name] / "labels.csv", "--quiet", "--method", method,
                                        "-o", answers, *(["--truth", known_file] if known else [])], check=True)
                        open_tasks = [row for row in read(answers) if row["task"] in truths and row["task"] not in known]
                        found.append(sum(row["label"] == truths[row["task"]] for row in open_tasks) / len(open_tasks))
                    means.append(sum(found) / len(found))
                rows.append([shown(method), f"{100 * share:.0f} %", *(decimal(mean, 3) for mean in means),
                             decimal(sum(means) / len(means), 3)])
    return table(["method", "truths known", *names, "mean"], rows)


def iterated(folder: Path, votes_first: bool) -> list[float]:
    """The accuracy after every round of rates that are learned from votes first, then from the round's own answers: with the prior
    that keeps votes first and half the rates, or with the rates in full and class shares to the power 1 / (K - 1)."""
    labels = {(row["task"], row["worker"]): row["label"] for row in read(folder / "labels.csv")}
    truths = {row["task"]: row["label"] for row in read(folder / "truth.csv")}
    tasks = defaultdict(list)
    for (task, worker), label in labels.items():
        tasks[task].append((worker, label))
    classes = sorted(set(labels.values()) | set(truths.values()))
    others = len(classes) - 1
    prior, right = 5, math.log(.7 * others / .3) if votes_first else 0
    credits = {task: {k: n / len(said) for k, n in Counter(label for _, label in said).items()} for task, said in tasks.items()}
    found = []
    for _ in range(max(ROUNDS)):
        mass, counts = Counter(dict.fromkeys(classes, 1.0)), defaultdict(Counter)
        for task, said in tasks.items():
            for k, credit in credits[task].items():
                mass[k] += credit
                for worker, _ in said:
                    counts[worker][k] += credit
        shares = {k: mass[k] / sum(mass.values()) for k in classes}
        rows = {}
        for worker, of in counts.items():
            total = sum(of.values())
            rows[worker] = {k: math.log((of[k] + prior) / (total * shares[k] + prior)) * (.5 if votes_first else 1) for k in classes}
        hits = 0
        for task, said in tasks.items():
            scores = {k: sum(rows[worker][k] + (right if label == k else 0) for worker, label in said)
                      + (0 if votes_first else math.log(shares[k]) / others) for k in classes}
            hits += max(classes, key=scores.get) == truths[task]
            sums = sum(math.exp(score) for score in scores.values())
            credits[task] = {k: math.exp(score) / sums for k, score in scores.items()}
        found.append(hits / len(tasks))
    return found


def rounds_table(at_hand: dict[str, Path], names: list[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        crowds = []
        for number, options in enumerate(of for of in CROWDS.values() if "people" not in of):
            crowds.append(Path(folder) / str(number))
            simulate(crowds[-1], number, **options)
        rows = []
        for what, votes_first in {"votes first, rates count half": True, "rates in full, and class shares": False}.items():
            found = [iterated(at_hand[name], votes_first) for name in names]
            in_simulations = [iterated(crowd, votes_first) for crowd in crowds]
            rows += [[what, str(r), *(decimal(of[r - 1], 3) for of in found), decimal(sum(of[r - 1] for of in found) / len(found), 3),
                      decimal(sum(of[r - 1] for of in in_simulations) / len(crowds), 3)] for r in ROUNDS]
    return table(["rule", "rounds", *names, "mean", f"{len(crowds)} simulated crowds"], rows)


def main() -> None:
    at_hand = folders()
    names = FAMILIES["labelling functions"].split()
    if not all(name in at_hand for name in names):
        raise SystemExit("the data sets of labelling functions are not all there: the page stays as it is")
    methods = there(METHODS)
    with_truths = [m for m in ("twopass", "ds", "threepass", "fivepass") if m in methods]
    fill_page(ROOT / "docs" / "weak_supervision.md", {
        "data sets": sets_table(measured(methods), names, list(methods)), "simulated": simulated_table(list(methods)),
        "truths": truths_table(at_hand, names, with_truths), "rounds": rounds_table(at_hand, names)})


if __name__ == "__main__":
    main()
