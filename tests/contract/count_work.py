#!/usr/bin/env python3
"""Counts what it takes from a file of labels to answers on crowds that double in size, for every method.

    count_work.py CROWDFOLD CROWDFOLD-WORK [--quick]

Instructions are counted by valgrind, as clocks depend on what else the machine does. What the second doubling
adds must be about twice what the first adds: the same work per label. --quick counts on smaller crowds, where it finds
work that grows with the square of the labels, but not yet a small part of it that does.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TASKS = (5_000, 10_000, 20_000)
FEWER_TASKS = (1_000, 2_000, 4_000)
MOST = 2.5  # what the second doubling adds, by what the first adds; 4 if work were quadratic


def crowd(binary: str, folder: Path, tasks: int) -> Path:
    path = folder / f"{tasks}.csv"
    subprocess.run([binary, "simulate", "--quiet", "--tasks", str(tasks), "--workers", "40", "--classes", "2",
                    "--labels-per-task", "5", "--seed", "1", "-o", str(path)], check=True)
    return path


def instructions(work: str, method: str, crowds: list[Path], folder: Path) -> list[int]:
    """On each of the crowds, in one process: most of the time is the translation of code that runs once."""
    counts = folder / method
    subprocess.run(
        ["valgrind", "--tool=callgrind", "--toggle-collect=counted_aggregate", "--dump-after=counted_aggregate",
         f"--callgrind-out-file={counts}", "--vex-guest-chase=no", work, method, *map(str, crowds)],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return [int(re.search(r"^(?:totals|summary): (\d+)", Path(f"{counts}.{i}").read_text(), re.MULTILINE)[1])
            for i in range(1, len(crowds) + 1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="crowdfold")
    parser.add_argument("work", help="crowdfold-work, see work.cc")
    parser.add_argument("--quick", action="store_true", help="on smaller crowds")
    options = parser.parse_args()
    methods = subprocess.check_output([options.work], text=True).split()
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(2) as pool:
        folder = Path(name)
        crowds = [crowd(options.binary, folder, tasks) for tasks in (FEWER_TASKS if options.quick else TASKS)]
        counts = pool.map(lambda method: instructions(options.work, method, crowds, folder), methods)
        failed = []
        for method, (once, twice, four_times) in zip(methods, counts):
            growth = (four_times - twice) / (twice - once)
            print(f"{method:12} {growth:.2f}  {once:13,} {twice:13,} {four_times:13,}")
            if growth > MOST:
                failed.append(method)
    if failed:
        sys.exit(f"work grows faster than the labels: {', '.join(failed)}")


if __name__ == "__main__":
    main()
