#!/usr/bin/env python3
"""A billion labels on one machine: makes a packed crowd, and measures methods on it, in memory and from disk.

    bench/billion.py [--labels 1000000000] [--threads 2] [--work DIR] [--without-duckdb]

Ten labels a task, a worker for every thousand labels, five classes. Every measurement is a fresh process that writes all
estimates to a file. DuckDB's majority vote runs on the same rows, from Parquet. A billion labels want about 60 GB of disk and
half an hour. Writes bench/billion.md, and the same to stdout. Needs Linux and Python 3.9.
"""
from __future__ import annotations

import argparse
import filecmp
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from report import Bar, bars_section, install, machine, say, table

HERE = Path(__file__).resolve().parent
GB = 1e9
LABELS_PER_TASK = 10
LABELS_PER_WORKER = 1_000

# What runs, and how it reads from a disk. Of twopass also the form that needs no order of tasks.
RUNS = {
    "mv": (["-m", "mv"], ["--spill", "."]),
    "twopass": (["-m", "twopass"], ["--low-memory"]),
    "twopass in rounds": (["-m", "twopass", "--set", "vote_rounds=2"], ["--spill", "."]),
    "fivepass": (["-m", "fivepass"], ["--spill", "."]),
}

# Bars for a billion labels: seconds and bytes, proportionally for fewer.
MOST_SECONDS = {"twopass": 60, "fivepass": 600}
MOST_SLOWDOWN = 2       # from disk / in memory
MOST_MEMORY = 10 * GB   # in memory
MOST_ON_DISK = 2 * GB   # of memory, from disk


@dataclass(frozen=True)
class Run:
    seconds: float
    peak: int  # bytes resident


def measure(command: list[str], work: Path) -> Run:
    say(" ".join(command))
    launcher = [sys.executable, "-I", "-S", str(HERE / "measure.py")]
    printed = subprocess.run([*launcher, *command], cwd=work, check=True, text=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE).stdout
    seconds, kilobytes = map(float, printed.splitlines()[-1].split())
    say(f"  {seconds:.1f} s, {kilobytes * 1024 / GB:.2f} GB")
    return Run(seconds, int(kilobytes * 1024))


def duckdb_vote(binary: Path, work: Path, threads: int) -> dict[str, Run]:
    """Rows into Parquet, then the vote. Nothing where DuckDB cannot be installed, or lacks room."""
    versions = install(["duckdb"], work / "venv")
    if not versions:
        return {}
    python = str(work / "venv" / "bin" / "python")
    connect = f"import duckdb; c = duckdb.connect('{work}/duck.db'); c.execute(\"SET threads = {threads}\"); "
    say("rows into Parquet")
    rows = subprocess.Popen([str(binary), "import", "crowd.cfp", "-o", "-", "--quiet"], cwd=work, stdout=subprocess.PIPE)
    copy = "COPY (SELECT * FROM read_csv('/dev/stdin', header = true, all_varchar = true)) TO 'crowd.parquet'"
    subprocess.run([python, "-c", connect + f'c.execute("{copy}")'], cwd=work, stdin=rows.stdout, check=True)
    rows.wait()
    vote = ("COPY (SELECT task, arg_max(label, n) FROM (SELECT task, label, count(*) n FROM 'crowd.parquet' GROUP BY ALL) "
            "GROUP BY task) TO 'vote.csv'")
    return {f"DuckDB {versions['duckdb']}, majority vote, Parquet": measure([python, "-c", connect + f'c.execute("{vote}")'], work)}


def accuracy(binary: Path, work: Path, answers: str) -> float:
    report = subprocess.check_output([str(binary), "evaluate", answers, "--truth", "truth.csv", "--json", "--quiet"], cwd=work)
    return json.loads(report)["accuracy"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", type=int, default=1_000_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--work", type=Path, help="folder for the crowd; by default one that is removed at the end")
    parser.add_argument("--binary", type=Path, default=HERE.parent / "build" / "crowdfold")
    parser.add_argument("--without-duckdb", action="store_true")
    parser.add_argument("--accuracy", action="store_true", help="evaluate the answers, too: wants 20 GB of memory")
    parser.add_argument("--output", type=Path, default=HERE / "billion.md")
    options = parser.parse_args()
    binary = options.binary.resolve()
    work = (options.work or Path(tempfile.mkdtemp(prefix="crowdfold-billion-"))).resolve()
    work.mkdir(parents=True, exist_ok=True)
    try:
        text = report(options, binary, work)
    finally:
        if not options.work:
            shutil.rmtree(work)
    options.output.write_text(text)
    print(text)


def report(options: argparse.Namespace, binary: Path, work: Path) -> str:
    tasks = options.labels // LABELS_PER_TASK
    share = options.labels / 1e9
    making = measure([str(binary), "simulate", "--tasks", str(tasks), "--workers",
                      str(max(1, options.labels // LABELS_PER_WORKER)), "--classes", "5", "--labels-per-task",
                      str(LABELS_PER_TASK), "--quality", "uniform:.4,.9", "--seed", "1", "-o", "crowd.cfp", "--truth-out",
                      "truth.csv", "--quiet"], work)
    size = (work / "crowd.cfp").stat().st_size
    runs: dict[str, Run] = {}
    found: dict[str, float] = {}
    for method, (flags, of_disk) in RUNS.items():
        for road in ("in memory", "from disk"):
            name = f"{method}, {road}"
            runs[name] = measure([str(binary), "aggregate", "crowd.cfp", *flags, *(of_disk if road == "from disk" else []),
                                  "--threads", str(options.threads), "-o", f"{road}.csv", "--quiet"], work)
        if not filecmp.cmp(work / "in memory.csv", work / "from disk.csv", shallow=False):
            raise SystemExit(f"{method}: other answers from disk than in memory")
        if options.accuracy:
            found[f"{method}, in memory"] = accuracy(binary, work, "in memory.csv")
        for road in ("in memory", "from disk"):
            (work / f"{road}.csv").unlink()
    duck = {} if options.without_duckdb else duckdb_vote(binary, work, options.threads)

    bars = []
    for method, most in MOST_SECONDS.items():
        fast, slow = runs[f"{method}, in memory"], runs[f"{method}, from disk"]
        bars.append(Bar(f"{method}, in memory", f"{fast.seconds:.1f} s", f"< {most * share:g} s", fast.seconds < most * share))
        bars.append(Bar(f"{method}, from disk / in memory", f"{slow.seconds / fast.seconds:.2f}", f"≤ {MOST_SLOWDOWN}",
                        slow.seconds <= MOST_SLOWDOWN * fast.seconds))
    for name, run in runs.items():
        most = MOST_MEMORY * share if name.endswith("in memory") else MOST_ON_DISK
        bars.append(Bar(f"memory of {name}", f"{run.peak / GB:.2f} GB", f"< {most / GB:g} GB", run.peak < most))

    def cells(name: str, run: Run) -> list[str]:
        return [name, f"{run.seconds:.1f}", f"{options.labels / run.seconds / 1e6:.1f}", f"{run.peak / GB:.2f}",
                f"{found[name]:.4f}".lstrip("0") if name in found else ""]

    return "\n".join([
        "# A billion labels" if share == 1 else f"# {options.labels:,} labels", "",
        f"Written by `bench/billion.py --labels {options.labels} --threads {options.threads}`, which `make bench-billion` calls; "
        "do not edit.", "",
        f"- machine: {machine()}",
        f"- {options.labels:,} labels, {tasks:,} tasks, {max(1, options.labels // LABELS_PER_WORKER):,} workers, 5 classes; packed: "
        f"{size / GB:.2f} GB, {size / options.labels:.2f} bytes a label, made in {making.seconds:.0f} s",
        f"- whole processes, {options.threads} threads, one run each; all estimates are written; GB = 10^9 bytes",
        "- from disk: `--spill`, which reads the blocks again in every round; `twopass`: `--low-memory`, in every pass. The same bytes "
        "as in memory, compared", "- twopass in rounds: `--set vote_rounds=2`", "",
        bars_section(bars), "",
        "## Times and memory", "",
        table(["what", "seconds", "M labels / s", "peak GB", "accuracy"],
              [cells(name, run) for name, run in {**runs, **duck}.items()]), ""])


if __name__ == "__main__":
    main()
