#!/usr/bin/env python3
"""Writes bench/history.md: how fast releases are, a row each. Figures are those of the pages that benchmarks write: `make bench`
and `make bench-billion`, then this. The row of the present version is made anew, those of other versions stay.
"""
from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Optional

from report import table

HERE = Path(__file__).resolve().parent
HEAD = """# History

Written by `bench/history.py` from the pages of this folder, which `make bench` and `make bench-billion` write; do not edit. Machines
differ, also within a row: compare figures of the same machine only.

"""
# Title of a column; a page; the row of a table there, and which of its cells.
COLUMNS = [
    ("twopass, 20 M rows grouped, s", "results.md", "grouped.csv", "crowdfold twopass", 1),
    ("DuckDB's vote / twopass, grouped", "results.md", "Bars", "DuckDB time / twopass time, grouped", 1),
    ("DuckDB's vote / twopass, shuffled", "results.md", "Bars", "DuckDB time / twopass time, shuffled", 1),
    ("threepass kernel, M labels/s", "results.md", "Kernels", "threepass", 1),
    ("stream, events/s", "stream.md", "Bars", "events a second, with a state", 1),
    ("10^9 labels: twopass, s", "billion.md", "Times and memory", "twopass, in memory", 1),
    ("twopass from disk, s", "billion.md", "Times and memory", "twopass, from disk", 1),
    ("fivepass, s", "billion.md", "Times and memory", "fivepass, in memory", 1),
    ("fivepass from disk, s", "billion.md", "Times and memory", "fivepass, from disk", 1),
]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def find(text: str, section: str, row: str, cell: int) -> Optional[str]:
    """A cell of the first table below the section whose heading begins so."""
    parts = re.split(r"(?m)^## ", text)
    for part in parts[1:]:
        if part.startswith(section):
            for line in part.splitlines():
                if line.startswith("|") and cells(line)[0] == row:
                    return cells(line)[cell]
    return None


def version() -> str:
    found = re.search(r"project\(\s*crowdfold\s+VERSION\s+([0-9.]+)", (HERE.parent / "CMakeLists.txt").read_text())
    if not found:
        raise SystemExit("CMakeLists.txt names no version")
    return found[1]


def present_row() -> list[str]:
    pages = {name: (HERE / name).read_text() for _, name, *_ in COLUMNS}
    machines = {name: re.findall(r"(?m)^- machine: (.*)$", text)[0] for name, text in pages.items()}
    row = [version(), "; ".join(f"{name.removesuffix('.md')}: {machine}" for name, machine in machines.items())]
    for _, page, section, name, cell in COLUMNS:
        found = find(pages[page], section, name, cell)
        if found is None:
            raise SystemExit(f"bench/{page} has no row '{name}' below '{section}': run the benchmark that writes it")
        row.append(found.removesuffix(" s"))
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=HERE / "history.md")
    options = parser.parse_args()
    before = options.output.read_text() if options.output.exists() else ""
    header = ["release", "machine", *(title for title, *_ in COLUMNS)]
    rows = [cells(line) for line in before.splitlines() if line.startswith("|")][2:]
    rows = [row for row in rows if row[0] != version()] + [present_row()]
    text = HEAD + table(header, rows) + "\n"
    options.output.write_text(text)


if __name__ == "__main__":
    main()
