#!/usr/bin/env python3
"""Counts what `crowdfold aggregate` does on crowds that double in size, for every method.

    count_work.py CROWDFOLD [--quick]

Instructions are counted by valgrind, as clocks depend on what else the machine does. What the second doubling
adds must be about twice what the first adds: the same work per label. --quick counts on smaller crowds, where it finds
work that grows with the square of the labels, but not yet a small part of it that does.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TASKS = (5_000, 10_000, 20_000)
FEWER_TASKS = (1_000, 2_000, 4_000)
MOST = 2.5  # what the second doubling adds, by what the first adds; 4 if work were quadratic
# So that all sizes take the same number of steps.
SETTINGS = {"iterations": "4", "tolerance": "0", "starts": "1", "rounds": "2", "imitation": "4", "epochs": "1",
            "start_epochs": "0"}


def crowd(binary: str, folder: Path, tasks: int) -> Path:
    path = folder / f"{tasks}.csv"
    subprocess.run([binary, "simulate", "--quiet", "--tasks", str(tasks), "--workers", "40", "--classes", "2",
                    "--labels-per-task", "5", "--seed", "1", "-o", str(path)], check=True)
    return path


def instructions(binary: str, method: dict, labels: Path) -> int:
    settings = [argument for option in method["options"] if option["name"] in SETTINGS
                for argument in ("--set", f"{option['name']}={SETTINGS[option['name']]}")]
    run = subprocess.run(
        # From main() on: before it, libraries measure the clock, which takes a different number of steps each time.
        ["valgrind", "--tool=callgrind", "--toggle-collect=main", "--callgrind-out-file=/dev/null",
         "--vex-guest-chase=no",  # most of the time is the translation of code that runs once
         binary, "aggregate", str(labels), "--quiet", "--threads", "1", "-m", method["name"], *settings],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return int(re.search(r"Collected : (\d+)", run.stderr)[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--quick", action="store_true", help="on smaller crowds")
    options = parser.parse_args()
    binary = options.binary
    methods = json.loads(subprocess.check_output([binary, "methods", "--json"]))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        crowds = [crowd(binary, Path(folder), tasks) for tasks in (FEWER_TASKS if options.quick else TASKS)]
        counts = pool.map(lambda method: [instructions(binary, method, labels) for labels in crowds], methods)
        failed = []
        for method, (once, twice, four_times) in zip(methods, counts):
            growth = (four_times - twice) / (twice - once)
            print(f"{method['name']:12} {growth:.2f}  {once:13,} {twice:13,} {four_times:13,}")
            if growth > MOST:
                failed.append(method["name"])
    if failed:
        sys.exit(f"work grows faster than the labels: {', '.join(failed)}")


if __name__ == "__main__":
    main()
