#!/usr/bin/env python3
"""Runs every fuzz harness for some seconds, several side by side, and prints what came of it.

    fuzz/run.py [--build build/fuzz] [--seconds 60] [--jobs CORES] [--patience SECONDS] [--only HARNESS ...]

Each begins with its inputs in fuzz/seeds and fuzz/found, and with those that earlier runs added below the build folder. After a
finding it goes on, until there are ten. The exit code is 1 if there are findings; their inputs are below the build folder too.
"""
import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MOST_FINDINGS = 10
LARGEST_INPUT = {"state": 40_000}  # bytes; others:
LARGEST_TEXT = 2_000


@dataclasses.dataclass
class Outcome:
    executed: int = 0
    new: int = 0
    findings: list = dataclasses.field(default_factory=list)


def reason(log: str) -> str:
    """The line of a log that says what was found."""
    for pattern in (r"^crowdfold: .*", r".*runtime error: .*", r"^SUMMARY: .*", r"^.*ERROR: libFuzzer: .*", r"^terminate called.*"):
        found = re.search(pattern, log, re.MULTILINE)
        if found:
            return found.group(0)[:200]
    return "it ended without a word"


def run(harness: str, build: pathlib.Path, seconds: float, patience: int, folder: str, number: int) -> Outcome:
    corpus, findings = build / "corpus" / harness, build / "findings" / harness
    for made in (corpus, findings):
        made.mkdir(parents=True, exist_ok=True)
    inputs = [path for path in (HERE / "seeds" / harness, HERE / "found" / harness) if path.is_dir()]
    temporary = pathlib.Path(folder) / f"{harness}-{number}"
    temporary.mkdir()
    outcome = Outcome()
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 1 and len(outcome.findings) < MOST_FINDINGS:
        before = set(findings.iterdir())
        command = [build / "fuzz" / f"fuzz-{harness}", f"-max_total_time={int(left)}", "-print_final_stats=1", f"-timeout={patience}",
                   "-rss_limit_mb=3000", f"-max_len={LARGEST_INPUT.get(harness, LARGEST_TEXT)}", f"-artifact_prefix={findings}/",
                   f"-dict={HERE / 'words.dict'}", corpus, *inputs]
        environment = {**os.environ, "TMPDIR": str(temporary)}
        done = subprocess.run(command, capture_output=True, env=environment, check=False)
        log = done.stderr.decode(errors="replace")
        outcome.executed += sum(map(int, re.findall(r"stat::number_of_executed_units: *(\d+)", log)))
        outcome.new += sum(map(int, re.findall(r"stat::new_units_added: *(\d+)", log)))
        if done.returncode != 0:
            made = [str(path) for path in set(findings.iterdir()) - before]
            outcome.findings.append((reason(log), made[0] if made else "an input that is there already"))
            (findings.parent / f"{harness}-{number}-{len(outcome.findings)}.log").write_text(log)
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parent / "build" / "fuzz")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", nargs="+", metavar="HARNESS")
    parser.add_argument("--patience", type=int, metavar="SECONDS",
                        help="an input that takes longer is a finding (20, more where harnesses share a core)")
    options = parser.parse_args()
    options.build = options.build.resolve()
    names = options.only or sorted(path.name for path in (HERE / "seeds").iterdir())
    # Harnesses that share a core wait for it.
    patience = options.patience or 20 * max(1, -(-options.jobs // (os.cpu_count() or 1)))
    # On more cores than harnesses, some run more than once; they share what they find.
    times = max(1, options.jobs // len(names))
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = tempfile.mkdtemp(prefix="crowdfold-fuzz-", dir=in_memory)
    try:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            runs = {name: [pool.submit(run, name, options.build, options.seconds, patience, folder, i) for i in range(times)]
                    for name in names}
            outcomes = {name: [one.result() for one in some] for name, some in runs.items()}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{'harness':12} {'executed':>12} {'new inputs':>11} {'findings':>9}")
    for name, some in outcomes.items():
        print(f"{name:12} {sum(o.executed for o in some):>12,} {sum(o.new for o in some):>11,} {sum(len(o.findings) for o in some):>9}")
    findings = [(name, *finding) for name, some in outcomes.items() for one in some for finding in one.findings]
    for name, why, where in findings:
        print(f"{name}: {why}\n  {where}")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
