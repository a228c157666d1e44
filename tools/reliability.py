#!/usr/bin/env python3
"""Draws docs/img/reliability.svg, and writes the tables of docs/confidence.md.

    tools/reliability.py [--again METHOD[,NAME=VALUE…]…]

Of each method, tasks are put into bins by their confidence; a dot shows how many of a bin's tasks are right. All data sets of
measured.py count alike, however many tasks they have. Log-loss and calibration error are means over families of sets.
Beside them, crowds whose workers err independently are simulated, with more and more classes.
"""

from __future__ import annotations

import argparse
import csv
import io
import math
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

from markdown import decimal, fill_page, table
from measured import CROWDFOLD, PAPER, ROOT, Figures, folders, measured, run, there

BINS = 10
LEAST = .001  # share of tasks of a bin that is shown
BEFORE = "soften=1,doubt=0"  # the answers without softening
METHODS = {"mv": True, "twopass": True, "ds": False, "ibcc": False, f"threepass,{BEFORE}": True, "threepass": True,
           f"fivepass,{BEFORE}": False, "fivepass": False}

# Simulated crowds, and how many classes are many on data sets.
CLASSES, LABELS_PER_TASK, TASKS, TRUTHS = (2, 5, 20, 50, 200), (3, 5, 10), 2000, 200
CROWD = f"--tasks {TASKS} --workers 60 --quality beta:4,2 --seed 7"
MANY = 10

SIZE, GAP, TOP, LEFT, COLUMNS = 200, 34, 46, 44, 4  # pixels; panels side by side


def shown(method: str) -> str:
    return f"{method.split(',')[0]}, before" if method.endswith(BEFORE) else method


def bins(figures: Figures, method: str) -> list[tuple[float, float, float]]:
    """Share of tasks, mean confidence and accuracy of every bin that holds tasks, each data set with the same weight."""
    sums: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for name in figures.sets:
        of_set = [tuple(map(float, text.split(":"))) for text in figures.bins[name, method].split(";") if text]
        all_tasks = sum(tasks for tasks, _, _ in of_set)
        for tasks, confidence, accuracy in of_set:
            share = tasks / all_tasks / len(figures.sets)
            place = min(int(confidence * BINS), BINS - 1)
            for i, value in enumerate((1, confidence, accuracy)):
                sums[place][i] += share * value
    return [(share, confidence / share, accuracy / share) for _, (share, confidence, accuracy) in sorted(sums.items()) if share >= LEAST]


def panel(left: float, top: float, title: str, note: str, dots: list[tuple[float, float, float]]) -> str:
    def x(value: float) -> float:
        return left + SIZE * value

    def y(value: float) -> float:
        return top + SIZE * (1 - value)

    lines = [f'<text x="{left}" y="{top - 24}" class="title">{title}</text>', f'<text x="{left}" y="{top - 8}">{note}</text>',
             f'<rect x="{left}" y="{top}" width="{SIZE}" height="{SIZE}" class="frame"/>',
             f'<line x1="{x(0)}" y1="{y(0)}" x2="{x(1)}" y2="{y(1)}" class="even"/>']
    for value in (0, .5, 1):
        number = decimal(value, 1) if value % 1 else int(value)
        lines += [f'<text x="{x(value):.1f}" y="{top + SIZE + 14}" text-anchor="middle">{number}</text>',
                  f'<text x="{left - 5}" y="{y(value) + 4:.1f}" text-anchor="end">{number}</text>']
    for share, confidence, accuracy in dots:
        at, even, right = x(confidence), y(confidence), y(accuracy)
        lines += [f'<line x1="{at:.1f}" y1="{even:.1f}" x2="{at:.1f}" y2="{right:.1f}" class="off"/>',
                  f'<circle cx="{at:.1f}" cy="{right:.1f}" r="{max(1.5, 16 * math.sqrt(share)):.1f}"/>']
    return "\n".join(lines)


def diagram(figures: Figures, methods: list[str]) -> str:
    rows = math.ceil(len(methods) / COLUMNS)
    width = LEFT + COLUMNS * (SIZE + GAP)
    height = rows * (SIZE + TOP + GAP) + 8
    panels = []
    for i, method in enumerate(methods):
        note = (f"log-loss {decimal(figures.by_families(method, 'log_loss'), 2)}, "
                f"calibration error {decimal(figures.by_families(method, 'calibration_error'), 2)}")
        panels.append(panel(LEFT + i % COLUMNS * (SIZE + GAP), TOP + i // COLUMNS * (SIZE + TOP + GAP), shown(method), note,
                            bins(figures, method)))
    style = ("text{font:11px sans-serif;fill:#444}.title{font-weight:bold;font-size:13px;fill:#222}.frame{fill:none;stroke:#bbb}"
             ".even{stroke:#999;stroke-dasharray:4 3}.off{stroke:#c0392b;stroke-width:1.5}circle{fill:#2463a8;fill-opacity:.8}")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n'
            f'<style>{style}</style>\n<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(panels) + "\n</svg>\n")


def section(figures: Figures, methods: list[str]) -> str:
    families = figures.families()
    paper = families[PAPER]
    others = [name for name in figures.sets if name not in paper]

    def row(method: str) -> list[str]:
        top = [dot for dot in bins(figures, method) if dot[1] >= (BINS - 1) / BINS]
        return [f"`{shown(method).split(',')[0]}`{', before' if method.endswith(BEFORE) else ''}",
                *(decimal(figures.mean(method, field, sets), 3) for sets in (paper, others) for field in ("log_loss", "calibration_error")),
                f"{100 * top[0][0]:.0f} %" if top else "0 %", *([decimal(top[0][1], 3), decimal(top[0][2], 3)] if top else ["", ""])]

    rows = table(["method", f"log-loss, {len(paper)} paper sets", "calibration error", f"log-loss, {len(others)} other sets",
                  "calibration error", "tasks with a confidence from .9 on", "their mean confidence",
                  "right"], [row(method) for method in methods])
    return f"""![Reliability diagrams](img/reliability.svg)

{len(figures.sets)} data sets ({"; ".join(families)}), each with the same weight.
Dots are bins of confidences, as large as their share of tasks: where answers keep their promise, a dot lies on the diagonal; below
it, they promise too much. *Before*: without softening
(`--set {BEFORE.replace(",", " --set ")}`). `soften` and `doubt` were chosen on the paper sets, so judge by the others.

{rows}

Drawn by `tools/reliability.py`."""


def mean_confidence(figures: Figures, name: str, method: str) -> float:
    of_set = [tuple(map(float, text.split(":"))) for text in figures.bins[name, method].split(";")]
    return sum(tasks * confidence for tasks, confidence, _ in of_set) / sum(tasks for tasks, _, _ in of_set)


def figures_of(figures: Figures, name: str) -> list[str]:
    """The share of right answers; mean confidence and log-loss as they are, and before softening."""
    numbers = [figures.of(name, "threepass")]
    for method in ("threepass", f"threepass,{BEFORE}"):
        numbers += [mean_confidence(figures, name, method), figures.of(name, method, "log_loss")]
    return [decimal(number, 3) for number in numbers]


def confidence_with_truths(crowd: Path) -> float:
    """Of the tasks without a truth, where TRUTHS others have one."""
    lines = (crowd / "truth.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (crowd / "some.csv").write_text("".join(lines[:TRUTHS + 1]), encoding="utf-8")
    known = {row["task"] for row in csv.DictReader(lines[:TRUTHS + 1])}
    out = subprocess.run([CROWDFOLD, "aggregate", "-q", crowd / "labels.csv", "--truth", crowd / "some.csv"], check=True,
                         capture_output=True, text=True).stdout
    others = [float(row["confidence"]) for row in csv.DictReader(io.StringIO(out)) if row["task"] not in known]
    return sum(others) / len(others)


def independent_section(real: Figures) -> str:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for classes in CLASSES:
            for labels in LABELS_PER_TASK:
                crowd = Path(folder) / f"{classes}-{labels}"
                crowd.mkdir()
                subprocess.run([CROWDFOLD, "simulate", "-q", *CROWD.split(), "--classes", str(classes), "--labels-per-task", str(labels),
                                "-o", crowd / "labels.csv", "--truth-out", crowd / "truth.csv"], check=True)
                figures = Figures(run([crowd], ["threepass", f"threepass,{BEFORE}"], 1))
                rows.append([str(classes), str(labels), *figures_of(figures, crowd.name), decimal(confidence_with_truths(crowd), 3)])
    simulated = table(["classes", "labels per task", "right", "mean confidence", "log-loss", "mean confidence before softening",
                       "log-loss", f"mean confidence with {TRUTHS} truths"], rows)
    classes_of = {name: len(set(classes_in(path / "labels.csv")) | set(classes_in(path / "truth.csv")))
                  for name, path in folders().items()}
    many = sorted((name for name in real.sets if classes_of[name] >= MANY), key=lambda name: classes_of[name])
    found = table(["data set", "classes", "right", "mean confidence", "log-loss", "mean confidence before softening", "log-loss"],
                  [[name, str(classes_of[name]), *figures_of(real, name)] for name in many])
    better = sum(real.of(name, "threepass", "log_loss") < real.of(name, f"threepass,{BEFORE}", "log_loss") for name in many)
    return f"""{simulated}

By `threepass`, on {TASKS:,} tasks by 60 workers whose mean quality is two thirds. On the data sets with {MANY} classes or more,
the same doubt and softening make the log-loss better on {better} of {len(many)}:

{found}"""


def classes_in(path: Path) -> list[str]:
    with path.open(newline="", encoding="utf-8") as file:
        return [row["label"] for row in csv.DictReader(file)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", nargs="+", default=[], metavar="METHOD")
    options = parser.parse_args()
    methods = there(METHODS)
    figures = measured(methods, set(methods) if "all" in options.again else set(options.again))
    (ROOT / "docs" / "img" / "reliability.svg").write_text(diagram(figures, list(methods)), encoding="utf-8")
    fill_page(ROOT / "docs" / "confidence.md", {"reliability": section(figures, list(methods)),
                                                "independent": independent_section(figures)})


if __name__ == "__main__":
    main()
