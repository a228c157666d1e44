#!/usr/bin/env python3
"""Measures the savings of stop rules: runs `crowdfold budget` on data sets, writes tables in docs/stream.md and README.md.

    tools/budget.py [--data DIR] [--runs 10]

Data sets are folders with labels.csv and truth.csv, in $CROWDFOLD_DATA or ../shared/datasets beside the repository.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from pathlib import Path

from markdown import decimal, fill_page, table

ROOT = Path(__file__).resolve().parent.parent
# Sets with at least four labels a task.
SETS = ["SP_amt", "rte", "tweet", "bird", "CF_amt", "dog", "face", "CF", "web", "ZC_all", "ZC_in", "ZC_us", "SP", "MS"]
SHORT = SETS[:4]  # of them, in README.md
CONFIDENCES = [".95", ".98", ".99"]
PRIOR = "--set alpha=4 --set beta=1.5"  # the stream's, for `onepass`


def budget(folder: Path, flags: list[str], confidence: str, runs: int) -> dict[str, dict]:
    out = subprocess.run([ROOT / "build" / "crowdfold", "budget", folder / "labels.csv", "--truth", folder / "truth.csv",
                          "--duplicates", "keep", "--json", "--quiet", "--runs", str(runs), "--fixed", "5", "--confidence",
                          confidence, *flags], check=True, capture_output=True, text=True).stdout
    return {row["rule"]: row for row in json.loads(out)}


def cell(row: dict) -> str:
    return f"{decimal(row['accuracy'])} with {row['labels_per_task']:.1f}"


def mean(rows: list[dict]) -> dict:
    return {key: sum(row[key] for row in rows) / len(rows) for key in rows[0] if key != "rule"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path,
                        default=Path(os.environ.get("CROWDFOLD_DATA", ROOT.parent / "shared" / "datasets")))
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    # Columns of the table: the title, the flags of a method, the rule.
    stops = [(f"until {c}", [], f"confidence {float(c):.3f}".replace("0.", ".")) for c in CONFIDENCES]
    columns = [("all labels", [], "all labels"), ("five labels", [], "5 labels"), *stops,
               ("`threepass` until .99", ["-m", "threepass"], "confidence .990"),
               ("`onepass` until .99", ["-m", "onepass", *PRIOR.split()], "confidence .990")]
    found: dict[str, list[dict]] = {}
    for name in SETS:
        runs = {tuple(flags): budget(options.data / name, list(flags), ",".join(CONFIDENCES), options.runs)
                for flags in {tuple(flags) for _, flags, _ in columns}}
        found[name] = [runs[tuple(flags)][rule] for _, flags, rule in columns]
    found["mean"] = [mean(list(rows)) for rows in zip(*found.values())]
    titles = [title for title, _, _ in columns]
    costs = table(["data set", *titles], [[name, *map(cell, rows)] for name, rows in found.items()])
    claims = table(
        ["data set", *titles[2:]],
        [[name, *(f"{decimal(row['confidence_when_closed'])}, kept {decimal(row['accuracy_when_closed'])}" for row in rows[2:])]
         for name, rows in found.items()])
    short = table(["data set", "all labels", "five labels each", "until .95 certain", "until .98 certain"],
                  [[name, *map(cell, found[name][:4])] for name in SHORT])
    fill_page(ROOT / "docs" / "stream.md", {"budget": costs, "claims": claims})
    fill_page(ROOT / "README.md", {"budget": short})


if __name__ == "__main__":
    main()
