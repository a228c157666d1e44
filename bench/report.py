"""Shared by the benchmarks: packages, the kernels, tables of a report, and bars."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Bar:
    what: str
    value: str
    bar: str
    met: bool


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def install(packages: list[str], venv: Path) -> dict[str, str]:
    """Versions of the packages that could be installed."""
    versions = {}
    python = str(venv / "bin" / "python")
    version_of = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
    for package in packages:
        say(f"installing {package}")
        try:
            subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True, stdout=sys.stderr)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                            package], check=True, stdout=sys.stderr)
            name = re.split("[<>=]", package)[0]
            versions[name] = subprocess.check_output(
                [python, "-c", version_of, name], text=True).strip()
        except subprocess.CalledProcessError:
            say(f"{package} could not be installed: its rows are left out")
    return versions


def kernel_rates(program: Path, repeat: int, only: str) -> dict[str, float]:
    """Labels per second by title, best of the repeats; nothing if the program was not built. `only` is a pattern of titles; a -
    before it leaves them out instead."""
    if not program.exists():
        say(f"no {program.name}: the kernel table is left out")
        return {}
    say(f"running {program.name}")
    report = json.loads(subprocess.check_output(
        [str(program), "--benchmark_format=json", f"--benchmark_repetitions={repeat}",
         f"--benchmark_filter={only}", "--benchmark_enable_random_interleaving=true"]))
    rates: dict[str, float] = {}
    for row in report["benchmarks"]:
        if row["run_type"] == "iteration":
            method = row["name"].split("/")[0]
            rates[method] = max(rates.get(method, 0), row["items_per_second"])
    return rates


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table whose text lines up, too: the first column at the left, the others at the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows)]

    def line(cells: list[str]) -> str:
        padded = [cells[0].ljust(widths[0])]
        padded += [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:])]
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]]
    return "\n".join([line(header), line(rule), *map(line, rows)])


def machine() -> str:
    cpu = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{cpu.group(1) if cpu else platform.machine()}, {os.cpu_count()} cores, {memory / 1e9:.0f} GB"


def bars_section(bars: list[Bar]) -> str:
    if not bars:
        return ""
    return "## Bars\n\n" + table(
        ["what", "measured", "bar", "result"],
        [[bar.what, bar.value, bar.bar, "met" if bar.met else "not met"] for bar in bars])
