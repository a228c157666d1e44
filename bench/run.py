#!/usr/bin/env python3
"""Runs crowdfold beside DuckDB and crowd-kit on simulated crowds and compares times and memory.

Every measurement is a fresh process. The repeats go round all programs in turn, so that what
disturbs the machine disturbs them all; the best time and the largest memory of a program count.
Writes a report in Markdown, and the same to stdout. Needs Linux and Python 3.9.
"""

from __future__ import annotations

import argparse
import filecmp
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from report import Bar, bars_section, install, kernel_rates, machine, say, table

HERE = Path(__file__).resolve().parent
LABELS_PER_TASK = 10
MB = 1_000_000

# Bars: promises of the project.
MIN_SPEEDUP, GOAL_SPEEDUP = 3, 5  # over DuckDB
MAX_KERNEL_RATIO = 1.5            # onepass time / mv time, in memory
MAX_THREEPASS_RATIOS = [("threepass", "twopass", 4), ("first pass of threepass", "onepass", 3)]
MIN_THREEPASS_RATE = 10e6
MIN_KERNEL_RATE = 100e6           # labels per second on one core
SAME_PEAK = 4 * MB                # peaks this close are the same: allocator and page noise


@dataclass(frozen=True)
class Case:
    """A program on a data set. It runs in the work directory and writes NAME.csv there."""

    name: str
    shown: str
    data: str
    command: tuple[str, ...]
    package: str = ""  # Python package it needs; such a program prints its own times as JSON


@dataclass(frozen=True)
class Run:
    seconds: float          # the time that is compared
    process_seconds: float  # start and end of the process included
    fit_seconds: float | None  # without reading the file, if the program reports it
    peak: int               # bytes resident


@dataclass(frozen=True)
class Measured:
    best: Run
    peak: int
    accuracy: float


@dataclass(frozen=True)
class DataFacts:
    file_bytes: int
    rows: int
    tasks: int
    name_bytes: int  # of the distinct tasks, workers and classes


# --- programs ------------------------------------------------------------------------------


def crowdfold_case(binary: Path, threads: int, name: str, data: str, options: str) -> Case:
    command = [str(binary), "aggregate", f"{data}.csv", "-m", *options.split(),
               "--threads", str(threads), "-o", f"{name}.csv", "--quiet"]
    return Case(name, f"crowdfold {options}", data, tuple(command))


def duckdb_case(python: Path, threads: int, data: str) -> Case:
    name = f"duckdb-{data}"
    command = [str(python), str(HERE / "duckdb_vote.py"), f"{data}.csv", f"{name}.csv", str(threads)]
    return Case(name, "DuckDB majority vote", data, tuple(command), "duckdb")


def crowdkit_case(python: Path, name: str, method: str, *options: str) -> Case:
    command = [str(python), str(HERE / "crowdkit_fit.py"), method, "tenth.csv", *options,
               "--output", f"{name}.csv"]
    return Case(name, f"crowd-kit {method}", "tenth", tuple(command), "crowd-kit")


def all_cases(binary: Path, python: Path, threads: int) -> list[Case]:
    """In the order of a round, in which cases that are compared are close together."""

    def crowdfold(name: str, data: str, options: str) -> Case:
        return crowdfold_case(binary, threads, name, data, options)

    return [
        duckdb_case(python, threads, "grouped"),
        crowdfold("twopass-grouped", "grouped", "twopass"),
        crowdfold("lowmem-grouped", "grouped", "twopass --low-memory"),
        crowdfold("onepass-grouped", "grouped", "onepass"),
        crowdfold("vouched-grouped", "grouped", "onepass --grouped"),
        crowdfold("mv-grouped", "grouped", "mv"),
        duckdb_case(python, threads, "shuffled"),
        crowdfold("twopass-shuffled", "shuffled", "twopass"),
        crowdfold("mv-shuffled", "shuffled", "mv"),
        crowdfold("vouched-tenth", "tenth", "onepass --grouped"),
        crowdkit_case(python, "crowdkit-mv", "MajorityVote"),
        crowdfold("mv-tenth", "tenth", "mv"),
        crowdkit_case(python, "crowdkit-ds", "DawidSkene", "n_iter=20"),
        crowdfold("twopass-tenth", "tenth", "twopass"),
    ]


# --- getting ready -------------------------------------------------------------------------


def simulate(binary: Path, work: Path, data: str, rows: int) -> None:
    """Writes DATA.csv and DATA-truth.csv."""
    say(f"simulating {data}.csv")
    tasks = rows // LABELS_PER_TASK // (10 if data == "tenth" else 1)
    command = [str(binary), "simulate", "--tasks", str(tasks), "--workers", "20000",
               "--classes", "5", "--labels-per-task", str(LABELS_PER_TASK),
               "--quality", "uniform:.4,.9", "--seed", "1",
               "--task-prefix", "image_", "--task-digits", "8",
               "--worker-prefix", "annotator_", "--worker-digits", "5",
               "--class-names", "zebra,lion,panda,tiger,camel",
               "-o", f"{data}.csv", "--truth-out", f"{data}-truth.csv"]
    if data == "shuffled":
        command.append("--shuffle")
    subprocess.run(command, cwd=work, check=True, stdout=sys.stderr)


def data_facts(work: Path, data: str) -> DataFacts:
    say(f"counting {data}.csv")
    tasks = task_bytes = rows = 0
    with open(work / f"{data}-truth.csv", "rb") as truth:
        next(truth)
        for line in truth:
            tasks += 1
            task_bytes += line.index(b",")
    names = set()
    with open(work / f"{data}.csv", "rb") as labels:
        next(labels)
        for line in labels:
            rows += 1
            names.update(line.rstrip().split(b",")[1:])
    file_bytes = (work / f"{data}.csv").stat().st_size
    return DataFacts(file_bytes, rows, tasks, task_bytes + sum(map(len, names)))


# --- measuring -----------------------------------------------------------------------------


def measure(command: tuple[str, ...], work: Path) -> Run:
    launcher = [sys.executable, "-I", "-S", str(HERE / "measure.py")]
    printed = subprocess.run([*launcher, *command], cwd=work, check=True, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout
    *own_lines, usage = printed.splitlines()
    wall, peak_kb = map(float, usage.split())
    own = json.loads("\n".join(own_lines) or "{}")
    return Run(own.get("seconds", wall), wall, own.get("fit_seconds"), int(peak_kb * 1024))


def smallest_peak(work: Path) -> int:
    """The smallest memory that measure.py can report."""
    return measure(("true",), work).peak


def accuracy(binary: Path, work: Path, case: Case) -> float:
    report = subprocess.check_output(
        [str(binary), "evaluate", f"{case.name}.csv", f"{case.data}-truth.csv", "--json", "--quiet"],
        cwd=work, text=True)
    return json.loads(report)["accuracy"]


def measure_all(cases: list[Case], binary: Path, work: Path,
                repeat: int) -> tuple[dict[str, Measured], list[str]]:
    """The measurements by case, and the names of the cases that failed."""
    measured: dict[str, Measured] = {}
    failed: list[str] = []
    for turn in range(1, repeat + 1):
        for case in cases:
            if case.name in failed:
                continue
            try:
                run = measure(case.command, work)
                if turn == 1:
                    measured[case.name] = Measured(run, run.peak, accuracy(binary, work, case))
                measured[case.name] = add_run(measured[case.name], run)
                say(f"{turn}/{repeat} {case.name}: {run.seconds:.2f} s, {run.peak / MB:.0f} MB")
            except subprocess.CalledProcessError as error:
                say(f"{case.name} failed with exit status {error.returncode}")
                failed.append(case.name)
                measured.pop(case.name, None)
    return measured, failed


def add_run(before: Measured, run: Run) -> Measured:
    best = min(before.best, run, key=lambda one: one.seconds)
    return Measured(best, max(before.peak, run.peak), before.accuracy)


# --- bars ----------------------------------------------------------------------------------


def speed_bars(measured: dict[str, Measured]) -> list[Bar]:
    bars = []
    for data in ("grouped", "shuffled"):
        if {f"duckdb-{data}", f"twopass-{data}"} <= measured.keys():
            ratio = measured[f"duckdb-{data}"].best.seconds / measured[f"twopass-{data}"].best.seconds
            goal = "" if ratio < GOAL_SPEEDUP else ", goal reached"
            bars.append(Bar(f"DuckDB time / twopass time, {data}", f"{ratio:.2f}{goal}",
                            f"≥ {MIN_SPEEDUP} (goal {GOAL_SPEEDUP})", ratio >= MIN_SPEEDUP))
    return bars


def memory_bars(measured: dict[str, Measured], facts: dict[str, DataFacts]) -> list[Bar]:
    one_pass = "64 MB + 8 B per task", lambda data: 64 * MB + 8 * data.tasks
    two_pass = "12 B per label + names", lambda data: 12 * data.rows + data.name_bytes
    shuffled = "32 B per label + names", lambda data: 32 * data.rows + data.name_bytes
    limits = [
        ("onepass-grouped", "onepass, grouped", one_pass),
        ("twopass-grouped", "twopass, grouped", two_pass),
        ("lowmem-grouped", "twopass --low-memory, grouped", one_pass),
        ("twopass-shuffled", "twopass, shuffled", shuffled),
        ("mv-shuffled", "mv, shuffled", shuffled),
    ]
    bars = []
    for name, shown, (rule, limit_of) in limits:
        if name in measured:
            peak, limit = measured[name].peak, limit_of(facts[name.split("-")[1]])
            bars.append(Bar(f"memory of {shown}", f"{peak / MB:.1f} MB",
                            f"< {limit / MB:.1f} MB ({rule})", peak < limit))
    return bars + same_peak_bar(measured)


def same_peak_bar(measured: dict[str, Measured]) -> list[Bar]:
    if not {"vouched-grouped", "vouched-tenth"} <= measured.keys():
        return []
    large, small = measured["vouched-grouped"].peak, measured["vouched-tenth"].peak
    return [Bar("memory of onepass --grouped, all tasks and a tenth",
                f"{large / MB:.1f} and {small / MB:.1f} MB", f"same within {SAME_PEAK / MB:.0f} MB",
                abs(large - small) <= SAME_PEAK)]


def kernel_bars(rates: dict[str, float]) -> list[Bar]:
    if not {"mv", "onepass"} <= rates.keys():
        return []
    ratio = rates["mv"] / rates["onepass"]
    bars = [Bar("kernel, onepass time / mv time", f"{ratio:.2f}", f"≤ {MAX_KERNEL_RATIO}",
                ratio <= MAX_KERNEL_RATIO)]
    for method in ("mv", "onepass"):
        bars.append(Bar(f"kernel, {method}", f"{rates[method] / 1e6:.0f} M labels/s",
                        f"≥ {MIN_KERNEL_RATE / 1e6:.0f} M labels/s", rates[method] >= MIN_KERNEL_RATE))
    for crowd in ("", ", 1000 workers"):
        for method, beside, most in MAX_THREEPASS_RATIOS:
            if not {method + crowd, beside + crowd} <= rates.keys():
                continue
            ratio = rates[beside + crowd] / rates[method + crowd]
            bars.append(Bar(f"kernel, {method} time / {beside} time{crowd}", f"{ratio:.2f}", f"≤ {most}", ratio <= most))
        if (rate := rates.get("threepass" + crowd)) is not None:
            bars.append(Bar(f"kernel, threepass{crowd}", f"{rate / 1e6:.1f} M labels/s",
                            f"≥ {MIN_THREEPASS_RATE / 1e6:.0f} M labels/s", rate >= MIN_THREEPASS_RATE))
    return bars


def threads_bar(binary: Path, work: Path) -> Bar:
    say("comparing the output of 1 and 2 threads")
    outputs = []
    for threads in (1, 2):
        case = crowdfold_case(binary, threads, f"threads-{threads}", "grouped", "twopass")
        measure(case.command, work)
        outputs.append(work / f"{case.name}.csv")
    same = filecmp.cmp(*outputs, shallow=False)
    return Bar("twopass output of 1 and 2 threads", "same" if same else "different", "same bytes", same)


# --- the report ----------------------------------------------------------------------------


def header(args: argparse.Namespace, binary: Path, versions: dict[str, str], floor: int) -> str:
    command = f"bench/run.py --rows {args.rows} --threads {args.threads} --repeat {args.repeat}"
    if args.only:
        command += f" --only '{args.only}'"
    crowdfold = subprocess.check_output([str(binary), "--version"], text=True).split()[-1]
    shown_versions = [f"crowdfold {crowdfold}"] + [f"{name} {v}" for name, v in versions.items()]
    return "\n".join([
        "# Benchmark results", "",
        f"Written by `{command}`, which `make bench` calls; do not edit.", "",
        f"- machine: {machine()}",
        f"- versions: {', '.join(shown_versions)}",
        f"- {args.threads} threads; best time and largest memory of {args.repeat} runs",
        "- seconds: crowdfold's whole process; DuckDB's query alone; crowd-kit's reading and fitting alone",
        f"- peak: largest resident memory; peaks below {floor / MB:.1f} MB cannot be measured; MB = 10^6 bytes",
    ])


def data_section(data: str, cases: list[Case], measured: dict[str, Measured], facts: DataFacts) -> str:
    shown = [case for case in cases if case.data == data and case.name in measured]
    if not shown:
        return ""

    def cells(case: Case) -> list[str]:
        found = measured[case.name]
        fit = found.best.fit_seconds
        return [case.shown, f"{found.best.seconds:.2f}", "" if fit is None else f"{fit:.2f}",
                f"{found.best.process_seconds:.2f}", f"{found.peak / MB:.1f}", f"{found.accuracy:.4f}".lstrip("0")]

    title = f"## {data}.csv: {facts.rows:,} labels, {facts.tasks:,} tasks, {facts.file_bytes / MB:.0f} MB"
    return title + "\n\n" + table(
        ["program", "seconds", "without reading", "whole process", "peak MB", "accuracy"],
        [cells(case) for case in shown])


def crowdkit_section(measured: dict[str, Measured]) -> str:
    pairs = [("crowdkit-mv", "MajorityVote", "mv"), ("crowdkit-mv", "MajorityVote", "twopass"),
             ("crowdkit-ds", "DawidSkene", "twopass")]
    rows = []
    for name, shown, method in pairs:
        if {name, f"{method}-tenth"} <= measured.keys():
            slow, fast = measured[name].best, measured[f"{method}-tenth"].best.seconds
            rows.append([f"crowd-kit {shown} / crowdfold {method}", f"{slow.seconds / fast:.1f}",
                         f"{slow.fit_seconds / fast:.1f}"])
    if not rows:
        return ""
    return "## crowd-kit time / crowdfold time, tenth.csv\n\n" + table(
        ["programs", "ratio", "crowd-kit without reading"], rows)


def kernel_section(rates: dict[str, float]) -> str:
    if not rates:
        return ""
    return "## Kernels, labels in memory, one thread\n\n" + table(
        ["method", "M labels/s", "time / mv time"],
        [[name, f"{rate / 1e6:.0f}", f"{rates[beside_mv(name)] / rate:.2f}"] for name, rate in rates.items()])


def beside_mv(name: str) -> str:
    """mv on the same crowd."""
    return "mv" + (name[name.index(", "):] if ", " in name else "")


# --- the command ---------------------------------------------------------------------------


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=Path("build/crowdfold"))
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--work", type=Path, help="directory for data, outputs and packages; kept "
                        "(default: a temporary one, removed)")
    parser.add_argument("--output", type=Path, default=HERE / "results.md")
    parser.add_argument("--only", default="", metavar="NAMES",
                        help="comma-separated cases, * allowed, such as twopass-*,duckdb-*,threads,kernel")
    return parser.parse_args()


def choose(names: list[str], only: str) -> set[str]:
    """The names that match any of the patterns; a pattern that matches none is a mistake."""
    chosen = set()
    for pattern in only.split(",") if only else ["*"]:
        matches = fnmatch.filter(names, pattern)
        if not matches:
            sys.exit(f"--only: no case is named {pattern}; there are {', '.join(names)}")
        chosen.update(matches)
    return chosen


def bench(args: argparse.Namespace, work: Path) -> int:
    binary = args.binary.resolve()
    if not binary.exists():
        sys.exit(f"{args.binary} is not there: make build-all comes first")
    cases = all_cases(binary, work / "venv" / "bin" / "python", args.threads)
    chosen = choose([case.name for case in cases] + ["threads", "kernel"], args.only)
    cases = [case for case in cases if case.name in chosen]

    packages = list(dict.fromkeys(case.package for case in cases if case.package))
    versions = install(packages, work / "venv")
    cases = [case for case in cases if not case.package or case.package in versions]
    data_names = list(dict.fromkeys(case.data for case in cases))
    if "threads" in chosen and "grouped" not in data_names:
        data_names.append("grouped")
    for data in data_names:
        simulate(binary, work, data, args.rows)
    facts = {data: data_facts(work, data) for data in data_names}
    os.sync()  # writing back the data would slow down the first round

    measured, failed = measure_all(cases, binary, work, args.repeat)
    bars = speed_bars(measured) + memory_bars(measured, facts)
    rates = {}
    if "kernel" in chosen:
        rates = kernel_rates(binary.parent / "bench" / "crowdfold-kernel-bench", 3 * args.repeat, "-chunks")
        bars += kernel_bars(rates)
    if "threads" in chosen and "twopass-grouped" not in failed:
        bars.append(threads_bar(binary, work))

    sections = [header(args, binary, versions, smallest_peak(work)), bars_section(bars)]
    sections += [data_section(data, cases, measured, facts[data]) for data in data_names]
    sections += [crowdkit_section(measured), kernel_section(rates)]
    left_out = failed + [f"{package} (not installed)" for package in packages if package not in versions]
    if left_out:
        sections.append(f"Failed and left out: {', '.join(left_out)}.")
    report = "\n\n".join(filter(None, sections)) + "\n"
    args.output.write_text(report, encoding="utf-8")
    print(report, end="")
    return 1 if failed else 0


def main() -> int:
    args = parse_arguments()
    if args.work:
        args.work.mkdir(parents=True, exist_ok=True)
        return bench(args, args.work.resolve())
    with tempfile.TemporaryDirectory(prefix="crowdfold-bench-") as work:
        return bench(args, Path(work))


if __name__ == "__main__":
    sys.exit(main())
