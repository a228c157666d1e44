#!/usr/bin/env python3
"""Times the iterative methods and other programs on real data sets, and how time grows with size.

- ebcc beside numpy with sparse matrix products, with the same starts and stopping rule;
- ds, onecoin_ds, glad and mace beside crowd-kit, with the same number of iterations;
- ten starts of ebcc on large crowds;
- time per label and iteration from 10^5 to 10^8 labels;
- fivepass beside threepass, in alternating fits.

Reading is excluded everywhere. Writes a report in Markdown, and the same to stdout. A data set is a folder
with labels.csv (task,worker,label).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from report import Bar, bars_section, install, machine, say, table

HERE = Path(__file__).resolve().parent

# Bars: promises of the project.
MIN_EBCC, MIN_EBCC_TWO, GOAL_EBCC = 5, 8, 20  # times as fast as numpy, on one thread and on two
MIN_CROWDKIT, GOAL_CROWDKIT = 15, 30          # times as fast as crowd-kit
MAX_SECONDS_OF_TEN_STARTS = 120
MAX_GROWTH = 1.5                              # largest / smallest time per label and iteration
MAX_FIVEPASS_RATIO, MIN_FIVEPASS_RATE = 2.5, 10e6  # threepass's time; labels per second, on two threads
FIVEPASS_LABELS = 20_000_000

EBCC_SETS = ("prod", "web", "trec")
EBCC_STARTS = 10
# crowd-kit's class and settings, and crowdfold's settings: the same work. A tolerance of -1 is never met.
CROWDKIT = {
    "ds": ("DawidSkene", ("n_iter=20", "tol=-1"), ("iterations=20", "tolerance=0")),
    "onecoin_ds": ("OneCoinDawidSkene", ("n_iter=20", "tol=-1"), ("iterations=20", "tolerance=0")),
    "glad": ("GLAD", ("n_iter=3", "tol=-1"), ("iterations=3", "tolerance=0")),
    "mace": ("MACE", ("n_restarts=2", "n_iter=20"), ("starts=2", "iterations=20", "tolerance=0")),
}
GROWING = ("ds", "zc")
SIZES = (10**5, 10**6, 10**7, 10**8)
GROWING_ITERATIONS = 10


@dataclass(frozen=True)
class Programs:
    fit_bench: Path
    python: Path
    data: Path
    repeat: int

    def labels(self, data_set: str) -> str:
        return str(self.data / data_set / "labels.csv")

    def crowdfold(self, labels: str, method: str, threads: int, *settings: str, repeat: int = 0) -> dict:
        return run([str(self.fit_bench), labels, method, str(threads), str(repeat or self.repeat),
                    *settings])

    def alternating(self, labels: str, methods: list[str], threads: int) -> list[dict]:
        command = [str(self.fit_bench), labels, ",".join(methods), str(threads), str(self.repeat)]
        return [json.loads(line) for line in subprocess.check_output(command, text=True).splitlines()]

    def numpy_ebcc(self, data_set: str) -> dict:
        return run([str(self.python), str(HERE / "numpy_ebcc.py"), self.labels(data_set),
                    str(EBCC_STARTS)])

    def crowdkit(self, data_set: str, name: str, settings: tuple[str, ...]) -> float:
        return run([str(self.python), "-W", "ignore", str(HERE / "crowdkit_fit.py"), name,
                    self.labels(data_set), *settings, "--repeat", str(self.repeat)])["fit_seconds"]


def run(command: list[str]) -> dict:
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return json.loads(subprocess.check_output(command, text=True, env=one_thread))


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def mean_row(columns: list[list[float]], before: int) -> list[str]:
    return ["geometric mean", *[""] * (before - 1),
            *(f"{geometric_mean(column):.1f}" for column in columns)]


# --- sections ------------------------------------------------------------------------------


def ebcc_section(programs: Programs) -> tuple[str, list[Bar]]:
    rows, one, two = [], [], []
    for data_set in EBCC_SETS:
        say(f"ebcc on {data_set}")
        theirs = programs.numpy_ebcc(data_set)
        ours = [programs.crowdfold(programs.labels(data_set), "ebcc", threads, f"starts={EBCC_STARTS}")
                for threads in (1, 2)]
        one.append(theirs["seconds"] / ours[0]["seconds"])
        two.append(theirs["seconds"] / ours[1]["seconds"])
        rows.append([data_set, f"{theirs['seconds'] / EBCC_STARTS:.3f}",
                     *(f"{run['seconds'] / EBCC_STARTS:.3f}" for run in ours),
                     f"{theirs['objective']:.4f}", f"{ours[0]['objective']:.4f}",
                     f"{one[-1]:.1f}", f"{two[-1]:.1f}"])
    rows.append(mean_row([one, two], 6))
    text = "## ebcc beside numpy: seconds a start\n\n" + table(
        ["data set", "numpy", "1 thread", "2 threads", "numpy's best bound", "ours", "numpy / 1 thread",
         "numpy / 2 threads"], rows)
    bars = []
    for mean, least, shown in ((geometric_mean(one), MIN_EBCC, "1 thread"),
                               (geometric_mean(two), MIN_EBCC_TWO, "2 threads")):
        bars.append(Bar(f"numpy time / ebcc time, {shown}", f"{mean:.1f}",
                        f"≥ {least} (goal {GOAL_EBCC})", mean >= least))
    return text, bars


def crowdkit_section(programs: Programs, data_sets: list[str]) -> tuple[str, list[Bar]]:
    rows, ratios = [], {method: [] for method in CROWDKIT}
    for data_set in data_sets:
        say(f"crowd-kit on {data_set}")
        cells = [data_set]
        for method, (name, theirs, ours) in CROWDKIT.items():
            slow = programs.crowdkit(data_set, name, theirs)
            fast = programs.crowdfold(programs.labels(data_set), method, 1, *ours, repeat=5)["seconds"]
            ratios[method].append(slow / fast)
            cells += [f"{slow:.3f}", f"{fast:.4f}", f"{slow / fast:.0f}"]
        rows.append(cells)
    means = ["geometric mean"]
    for method in CROWDKIT:
        means += ["", "", f"{geometric_mean(ratios[method]):.0f}"]
    rows.append(means)
    columns = [cell for name, _, _ in CROWDKIT.values() for cell in (name, "ours", "ratio")]
    work = "; ".join(f"{method}: {', '.join(ours)}" for method, (_, _, ours) in CROWDKIT.items())
    text = ("## Beside crowd-kit: seconds of a fit, one thread\n\n" + table(["data set", *columns], rows)
            + f"\n\nThe same work for both: {work}.")
    bars = [Bar(f"crowd-kit time / {method} time", f"{geometric_mean(ratios[method]):.1f}",
                f"≥ {MIN_CROWDKIT} (goal {GOAL_CROWDKIT})",
                geometric_mean(ratios[method]) >= MIN_CROWDKIT) for method in CROWDKIT]
    return text, bars


def starts_section(programs: Programs, data_sets: list[str], threads: int) -> tuple[str, list[Bar]]:
    sources = [("simulated, of senti's shape", "senti")]
    if "fact" in data_sets:
        sources.insert(0, ("fact", programs.labels("fact")))
    rows, bars = [], []
    for shown, source in sources:
        say(f"ten starts of ebcc on {shown}")
        found = programs.crowdfold(source, "ebcc", threads, "starts=10", repeat=1)
        rows.append([shown, f"{found['labels']:,}", f"{found['seconds']:.1f}"])
        bars.append(Bar(f"ten starts of ebcc, {shown}", f"{found['seconds']:.1f} s",
                        f"< {MAX_SECONDS_OF_TEN_STARTS} s", found["seconds"] < MAX_SECONDS_OF_TEN_STARTS))
    text = f"## Ten starts of ebcc, {threads} threads\n\n" + table(["crowd", "labels", "seconds"], rows)
    return text, bars


def growth_section(programs: Programs) -> tuple[str, list[Bar]]:
    rows, bars = [], []
    for method in GROWING:
        costs = []
        for size in SIZES:
            say(f"{method} on {size:,} labels")
            found = programs.crowdfold(f"crowd:{size}", method, 1, f"iterations={GROWING_ITERATIONS}",
                                       "tolerance=0", repeat=3)
            costs.append(found["seconds"] / found["labels"] / GROWING_ITERATIONS * 1e9)
        rows.append([method, *(f"{cost:.1f}" for cost in costs)])
        growth = max(costs) / min(costs)
        bars.append(Bar(f"{method}, time per label and iteration, largest / smallest", f"{growth:.2f}",
                        f"≤ {MAX_GROWTH}", growth <= MAX_GROWTH))
    text = "## Nanoseconds per label and iteration, one thread, by number of labels\n\n" + table(
        ["method", *(f"{size:,}" for size in SIZES)], rows)
    return text + f"\n\n1,000 workers, 5 classes, ten labels a task; {GROWING_ITERATIONS} iterations.", bars


def fivepass_section(programs: Programs) -> tuple[str, list[Bar]]:
    rows = []
    for threads in (1, 2):
        say(f"fivepass beside threepass, {threads} threads")
        three, five = programs.alternating(f"crowd:{FIVEPASS_LABELS}", ["threepass", "fivepass"], threads)
        ratio, rate = five["seconds"] / three["seconds"], five["labels"] / five["seconds"]
        rows.append([str(threads), f"{three['seconds']:.2f}", f"{five['seconds']:.2f}", f"{ratio:.2f}",
                     f"{five['cpu_seconds'] / three['cpu_seconds']:.2f}", f"{rate / 1e6:.1f} M"])
    bars = [Bar("fivepass time / threepass time, 2 threads", f"{ratio:.2f}", f"≤ {MAX_FIVEPASS_RATIO}",
                ratio <= MAX_FIVEPASS_RATIO),
            Bar("fivepass, 2 threads", f"{rate / 1e6:.1f} M labels/s", f"≥ {MIN_FIVEPASS_RATE / 1e6:.0f} M labels/s",
                rate >= MIN_FIVEPASS_RATE)]
    text = f"## fivepass beside threepass: {FIVEPASS_LABELS:,} labels, seconds of a fit\n\n" + table(
        ["threads", "threepass", "fivepass", "ratio", "ratio of processor time", "labels/s of fivepass"], rows)
    return text + "\n\n1,000 workers, 5 classes, ten labels a task.", bars


# --- the command ---------------------------------------------------------------------------


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared" / "datasets",
                        help="folder of data sets; without it, their sections are left out")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--output", type=Path, default=HERE / "methods.md")
    return parser.parse_args()


def bench(args: argparse.Namespace, work: Path) -> None:
    fit_bench = (args.build / "bench" / "crowdfold-fit-bench").resolve()
    if not fit_bench.exists():
        sys.exit(f"{fit_bench} is not there: make build-all comes first")
    versions = install(["crowd-kit", "numpy", "scipy"], work / "venv")
    programs = Programs(fit_bench, work / "venv" / "bin" / "python", args.data, args.repeat)
    data_sets = sorted(path.parent.name for path in args.data.glob("*/labels.csv"))

    sections = []
    if {"numpy", "scipy"} <= versions.keys() and set(EBCC_SETS) <= set(data_sets):
        sections.append(ebcc_section(programs))
    if "crowd-kit" in versions and data_sets:
        sections.append(crowdkit_section(programs, data_sets))
    sections.append(starts_section(programs, data_sets, args.threads))
    sections.append(growth_section(programs))
    sections.append(fivepass_section(programs))

    shown_versions = ", ".join(f"{name} {version}" for name, version in versions.items())
    header = "\n".join([
        "# Times of iterative methods", "",
        f"Written by `bench/methods.py --repeat {args.repeat} --threads {args.threads}`, which `make bench` "
        "calls; do not edit.", "",
        f"- machine: {machine()}",
        f"- versions: {shown_versions}",
        f"- seconds of a fit, reading excluded; best of {args.repeat} fits, of 5 for ours beside crowd-kit; "
        "of one for numpy, for ten starts of ebcc, and for crowd-kit where it takes long",
    ])
    bars = [bar for _, of_section in sections for bar in of_section]
    report = "\n\n".join([header, bars_section(bars), *(text for text, _ in sections)]) + "\n"
    args.output.write_text(report, encoding="utf-8")
    print(report, end="")


def main() -> None:
    args = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="crowdfold-bench-") as work:
        bench(args, Path(work))


if __name__ == "__main__":
    main()
