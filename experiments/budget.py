#!/usr/bin/env python3
"""What stop rules save: runs `crowdfold budget` on data sets and writes the tables in docs/stream.md and README.md.

    experiments/budget.py [--data DIR] [--runs 10]

Data sets are folders with labels.csv and truth.csv, in $CROWDFOLD_DATA or ../shared/datasets beside the repository.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETS = ["SP_amt", "rte", "tweet", "bird", "CF_amt", "dog", "face"]  # of at least nine labels a task
SHORT = SETS[:4]  # of them, in README.md
RULES = {"stream": ([], ".99"), "threepass": (["-m", "threepass"], ".99,.995")}


def budget(folder: Path, flags: list[str], confidence: str, runs: int) -> dict[str, dict]:
    out = subprocess.run([ROOT / "build" / "crowdfold", "budget", folder / "labels.csv", "--truth", folder / "truth.csv",
                          "--duplicates", "keep", "--json", "--quiet", "--runs", str(runs), "--fixed", "5", "--confidence",
                          confidence, *flags], check=True, capture_output=True, text=True).stdout
    return {row["rule"]: row for row in json.loads(out)}


def cell(row: dict) -> str:
    return f"{row['accuracy']:.4f}".lstrip("0") + f" with {row['labels_per_task']:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path,
                        default=Path(os.environ.get("CROWDFOLD_DATA", ROOT.parent / "shared" / "datasets")))
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    short = ["| data set | all labels | five labels each | until .99 probable |", "|---|---|---|---|"]
    lines = ["| data set | all labels | five labels | `stream` at .99 | `threepass`, all labels | `threepass` at .99 | at .995 |",
             "|---|---|---|---|---|---|---|"]
    for name in SETS:
        ours = budget(options.data / name, *RULES["stream"], options.runs)
        other = budget(options.data / name, *RULES["threepass"], options.runs)
        cells = [cell(ours["all labels"]), cell(ours["5 labels"]), cell(ours["confidence .990"]), cell(other["all labels"]),
                 cell(other["confidence .990"]), cell(other["confidence .995"])]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
        if name in SHORT:
            short.append(f"| {name} | " + " | ".join(cells[:3]) + " |")
    for page, rows in ((ROOT / "docs" / "stream.md", lines), (ROOT / "README.md", short)):
        text = re.sub(r"(?s)(<!-- budget -->\n).*?(<!-- end -->)",
                      lambda match: match[1] + "\n".join(rows) + "\n" + match[2], page.read_text(encoding="utf-8"), count=1)
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
