#!/usr/bin/env python3
"""Times the Python package from tables in memory, beside crowd-kit and beside its own kernel.

Writes a report in Markdown, and the same to stdout. `make build-all` must have been run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from report import Bar, bars_section, install, machine, say, table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

# Bars: promises of the project.
MIN_WAWA, MIN_MAJORITY = 20, 5  # times as fast as crowd-kit's, from a frame of pandas
MAX_OF_KERNEL = 2               # times as long as the kernel alone, from dictionaries of Arrow

CROWD = ["--tasks", "100000", "--workers", "2000", "--classes", "4", "--labels-per-task", "50", "--seed", "1"]
# The names of python_fit.py's tables in the results.
TABLES = {
    "frame": "pandas, texts",
    "objects": "pandas, Python's strings, one for each text",
    "strings": "pandas, Python's strings, one for each row",
    "dictionary": "Arrow, dictionaries",
    "integers": "numpy, 32-bit integers",
}


@dataclass(frozen=True)
class Programs:
    python: Path
    labels: Path
    repeat: int
    threads: int

    def fit(self, package: str, name: str, source: str, *flags: str) -> dict:
        say(f"{package} {name}, {TABLES[source]} {' '.join(flags)}")
        command = [str(self.python), "-W", "ignore", str(HERE / "python_fit.py"), package, name, source,
                   str(self.labels), "--repeat", str(self.repeat), "--threads", str(self.threads), *flags]
        return json.loads(subprocess.check_output(command, text=True))

    def kernel(self, fit_bench: Path) -> float:
        say("the kernel")
        return json.loads(subprocess.check_output(
            [str(fit_bench), str(self.labels), "twopass", str(self.threads), str(max(5, self.repeat))],
            text=True))["seconds"]


def install_package(build: Path, python: Path, work: Path) -> None:
    """Installs the package on top of the built library."""
    say("installing crowdfold")
    prefix = work / "installed"
    subprocess.run(["cmake", "--install", str(build), "--prefix", str(prefix)], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(ROOT),
                    "--config-settings=cmake.define.CROWDFOLD_INSTALLED=ON",
                    f"--config-settings=cmake.define.CMAKE_PREFIX_PATH={prefix}"],
                   check=True, stdout=sys.stderr)


def versions_in(python: Path) -> dict[str, str]:
    names = ["crowdfold", "crowd-kit", "pandas", "pyarrow", "numpy"]
    script = "import importlib.metadata as m, json, sys; print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"
    return json.loads(subprocess.check_output([str(python), "-c", script, *names], text=True))


def measure(programs: Programs, fit_bench: Path) -> tuple[str, list[Bar]]:
    kernel = programs.kernel(fit_bench)
    ours = {source: programs.fit("crowdfold", "TwoPass", source) for source in TABLES}
    shuffled = {source: programs.fit("crowdfold", "TwoPass", source, "--shuffle")
                for source in ("frame", "dictionary")}
    theirs = {name: programs.fit("crowdkit", name, "frame") for name in ("MajorityVote", "Wawa")}
    rows = []
    for name, found in theirs.items():
        rows.append([f"crowd-kit {name}", TABLES["frame"], found, ""])
    for source, found in ours.items():
        rows.append(["crowdfold TwoPass", TABLES[source], found, f"{found['seconds'] / kernel:.2f}"])
    for source, found in shuffled.items():
        rows.append(["crowdfold TwoPass", TABLES[source] + ", rows in any order", found,
                     f"{found['seconds'] / kernel:.2f}"])
    fast = ours["frame"]["seconds"]
    cells = [[what, source, f"{found['seconds']:.3f}", f"{found['processor']:.3f}", f"{found['seconds'] / fast:.1f}", of_kernel,
              f"{found['extra'] / 1e6:.0f}", f"{found['size'] / 1e6:.0f}"] for what, source, found, of_kernel in rows]
    cells.append(["the kernel alone", "labels in memory", f"{kernel:.3f}", "", f"{kernel / fast:.1f}", "1.00", "",
                  ""])
    text = table(["what", "from", "seconds", "processor", "/ TwoPass", "/ kernel", "extra MB", "table MB"], cells)
    return text, bars_of(kernel, ours, shuffled, theirs)


def bars_of(kernel: float, ours: dict, shuffled: dict, theirs: dict) -> list[Bar]:
    fast = ours["frame"]["seconds"]
    bars = []
    for name, least in (("Wawa", MIN_WAWA), ("MajorityVote", MIN_MAJORITY)):
        ratio = theirs[name]["seconds"] / fast
        bars.append(Bar(f"crowd-kit {name} time / TwoPass time, pandas", f"{ratio:.1f}", f"≥ {least}", ratio >= least))
    for shown, found in (("Arrow dictionaries", ours["dictionary"]),):
        ratio = found["seconds"] / kernel
        bars.append(Bar(f"TwoPass time / kernel time, {shown}", f"{ratio:.2f}", f"≤ {MAX_OF_KERNEL}",
                        ratio <= MAX_OF_KERNEL))
    everything = [(TABLES[source], found) for source, found in ours.items()]
    everything += [(TABLES[source] + ", any order", found) for source, found in shuffled.items()]
    for shown, found in everything:
        bars.append(Bar(f"extra memory, {shown}", f"{found['extra'] / 1e6:.0f} MB",
                        f"< the table's {found['size'] / 1e6:.0f} MB", found["extra"] < found["size"]))
    return bars


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--python", type=Path, help="an interpreter that has crowdfold, crowd-kit and pyarrow")
    parser.add_argument("--output", type=Path, default=HERE / "python.md")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        python = args.python or work / "venv" / "bin" / "python"
        if args.python is None:
            # crowd-kit's predict fails with later versions of scikit-learn.
            install(["scikit-learn<1.7", "crowd-kit", "pandas", "pyarrow"], work / "venv")
            install_package(args.build, python, work)
        versions = versions_in(python)
        labels = work / "labels.csv"
        say("simulating 5,000,000 labels")
        subprocess.run([str(args.build / "crowdfold"), "simulate", *CROWD, "-q", "-o", str(labels)], check=True)
        text, bars = measure(Programs(python, labels, args.repeat, args.threads),
                             args.build / "bench" / "crowdfold-fit-bench")
    command = f"bench/python.py --repeat {args.repeat} --threads {args.threads}"
    shown = ", ".join(f"{name} {version}" for name, version in versions.items())
    report = f"""# Python: results

Written by `{command}`, which `make bench` calls; do not edit.

- machine: {machine()}
- versions: {shown}
- 5,000,000 labels: 100,000 tasks with 50 each, 2,000 workers, 4 classes, ids and labels are texts
- seconds from the table to the Series of labels, the best of {args.repeat}; {args.threads} threads; "processor" are seconds of all
  processors, which other programs on the machine do not add to
- extra: peak of resident memory beyond what there was before; of Python's strings, the table's size counts references only

{bars_section(bars)}

## Seconds and memory

{text}
"""
    args.output.write_text(report, encoding="utf-8")
    print(report)


if __name__ == "__main__":
    main()
