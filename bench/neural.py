#!/usr/bin/env python3
"""Times laa and bila beside dense implementations of the same networks, and laa on a crowd of senti's shape.

The dense ones are in TensorFlow (dense_networks.py), from the same random numbers: their losses must be ours.
One thread on both sides, the same number of steps, taking turns; reading is excluded, and so is what TensorFlow
takes to compile. Writes a report in Markdown, and the same to stdout.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from report import Bar, bars_section, install, machine, say, table

HERE = Path(__file__).resolve().parent

# Bars: promises of the project.
MIN_DENSE = 20                # times as fast as the dense network
MAX_SENTI_BYTES = 10**9       # peak of laa on senti's shape
MAX_LOSS_DIFFERENCE = 1e-3    # relative, between the same network in 64 and 32 bits

DATA_SETS = ("trec", "adult")
# Settings of the dense program, and of crowdfold for the same steps.
STEPS = {
    "laa": (("50", "100"), ("imitation=50", "iterations=100")),
    "bila": (("40",), ("epochs=20", "start_epochs=20")),
}
SHOWN_STEPS = {"laa": "50 of phase 1 and 100 of phase 2", "bila": "40 epochs in batches of 50 tasks"}


def run(command: list[str]) -> dict:
    return json.loads(subprocess.check_output(command, text=True))


def ours(fit_bench: Path, labels: str, method: str, repeat: int, *settings: str) -> dict:
    return run([str(fit_bench), labels, method, "1", str(repeat), *settings])


def dense_section(fit_bench: Path, python: Path, data: Path, repeat: int) -> tuple[str, list[Bar]]:
    rows, bars = [], []
    for method, (dense_steps, settings) in STEPS.items():
        for data_set in DATA_SETS:
            say(f"{method} on {data_set}")
            labels = str(data / data_set / "labels.csv")
            rounds = [(run([str(python), str(HERE / "dense_networks.py"), labels, method, *dense_steps]),
                       ours(fit_bench, labels, method, repeat, *settings)) for _ in range(repeat)]
            dense, sparse = (min(runs, key=lambda found: found["seconds"]) for runs in zip(*rounds))
            ratio = dense["seconds"] / sparse["seconds"]
            off = max(abs(dense["first"] / sparse["first"] - 1), abs(dense["last"] / sparse["objective"] - 1))
            rows.append([f"{method}, {data_set}", f"{dense['seconds']:.3f}", f"{sparse['seconds']:.4f}",
                         f"{ratio:.1f}", f"{dense['first']:.6f}", f"{sparse['first']:.6f}",
                         f"{dense['last']:.6f}", f"{sparse['objective']:.6f}"])
            bars.append(Bar(f"dense time / {method} time, {data_set}", f"{ratio:.1f}", f"≥ {MIN_DENSE}",
                            ratio >= MIN_DENSE))
            bars.append(Bar(f"losses of dense and {method}, {data_set}, relative difference", f"{off:.1e}",
                            f"≤ {MAX_LOSS_DIFFERENCE:.0e}", off <= MAX_LOSS_DIFFERENCE))
    steps = "; ".join(f"{method}: {shown}" for method, shown in SHOWN_STEPS.items())
    text = "## Beside dense networks: seconds, one thread\n\n" + table(
        ["method and data set", "dense", "ours", "dense / ours", "first loss, dense", "ours", "last loss, dense",
         "ours"], rows) + f"\n\nThe same steps for both, all that a fit takes: {steps}."
    return text, bars


def full_section(fit_bench: Path, data: Path) -> tuple[str, list[Bar]]:
    rows, bars = [], []
    sources = [(name, str(data / name / "labels.csv")) for name in DATA_SETS if (data / name).is_dir()]
    for shown, source in [*sources, ("simulated, of senti's shape", "senti")]:
        for method in STEPS:
            say(f"{method} on {shown}")
            output = subprocess.check_output(
                [sys.executable, "-I", "-S", str(HERE / "measure.py"), str(fit_bench), source, method, "1", "1"],
                text=True).splitlines()
            found, peak = json.loads(output[0]), int(output[-1].split()[1]) * 1024
            rows.append([f"{method}, {shown}", f"{found['labels']:,}", f"{found['seconds']:.2f}", f"{peak / 1e6:.0f}"])
            if source == "senti" and method == "laa":
                bars.append(Bar("peak of laa, senti's shape", f"{peak / 1e6:.0f} MB",
                                f"< {MAX_SENTI_BYTES / 1e6:.0f} MB", peak < MAX_SENTI_BYTES))
    text = "## Whole fits: seconds, one thread, and peak memory of the process in MB\n\n" + table(
        ["method and crowd", "labels", "seconds", "MB"], rows) + (
        "\n\nThe defaults: laa 150 steps, bila 40 epochs. Labels are held in memory as well.")
    return text, bars


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared" / "datasets",
                        help="folder of data sets; without it, their section is left out")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--python", type=Path, help="an interpreter with TensorFlow; by default, it is installed")
    parser.add_argument("--output", type=Path, default=HERE / "neural.md")
    args = parser.parse_args()
    fit_bench = (args.build / "bench" / "crowdfold-fit-bench").resolve()
    if not fit_bench.exists():
        sys.exit(f"{fit_bench} is not there: make build-all comes first")
    with tempfile.TemporaryDirectory(prefix="crowdfold-bench-") as work:
        python = args.python or Path(work) / "venv" / "bin" / "python"
        if args.python:
            version = subprocess.check_output(
                [python, "-c", "import importlib.metadata as m; print(m.version('tensorflow-cpu'))"], text=True)
            versions = {"tensorflow-cpu": version.strip()}
        else:
            versions = install(["tensorflow-cpu"], Path(work) / "venv")
        sections = []
        if versions and all((args.data / name / "labels.csv").is_file() for name in DATA_SETS):
            sections.append(dense_section(fit_bench, python, args.data, args.repeat))
        sections.append(full_section(fit_bench, args.data))
    header = "\n".join([
        "# Times of the neural methods", "",
        f"Written by `bench/neural.py --repeat {args.repeat}`, which `make bench` calls; do not edit.", "",
        f"- machine: {machine()}",
        f"- versions: {', '.join(f'{name} {version}' for name, version in versions.items())}",
        f"- reading excluded; beside dense networks, the best of {args.repeat} rounds, in which both take turns",
    ])
    bars = [bar for _, of_section in sections for bar in of_section]
    report = "\n\n".join([header, bars_section(bars), *(text for text, _ in sections)]) + "\n"
    args.output.write_text(report, encoding="utf-8")
    print(report, end="")


if __name__ == "__main__":
    main()
