#!/usr/bin/env python3
"""Fills in what the method pages do not say by hand: options and measured accuracies.

For every page NAME.md beside this script, the lines between `<!-- options -->` and `<!-- end -->` become the
table that `crowdfold methods NAME` knows, and those between `<!-- accuracy -->` and `<!-- end -->` a table of
accuracies over the data sets in $CROWDFOLD_DATA (default: ../shared/datasets beside the repository), each a
folder with labels.csv and truth.csv. Without the data sets, the accuracies stay as they are.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RUNS = 10


def ask(binary: Path, *arguments: str) -> list[dict]:
    return json.loads(subprocess.run([binary, *arguments, "--json"], check=True, capture_output=True, text=True).stdout)


def table(header: list[str], rows: list[list[str]]) -> str:
    """In Markdown."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def decimal(value: float, digits: int = 4) -> str:
    return re.sub(r"^0\.", ".", f"{value:.{digits}f}")


def options_table(method: dict) -> str:
    rows = [[f"`{o['name']}`", o["default"], o["range"], o["help"]] for o in method["options"]]
    return table(["option", "default", "range", "meaning"], rows)


def measure(binary: Path, data: Path) -> dict[str, dict[str, dict]]:
    """Data set -> method -> what compare says of it."""
    results = {}
    for folder in sorted(data.iterdir(), key=lambda path: path.name.lower()):
        labels, truth = folder / "labels.csv", folder / "truth.csv"
        if not (labels.is_file() and truth.is_file()):
            continue
        print(folder.name, file=sys.stderr)
        rows = ask(binary, "compare", str(labels), "--truth", str(truth), "--duplicates", "keep", "--runs", str(RUNS), "--quiet")
        results[folder.name] = {row["method"]: row for row in rows}
    return results


def accuracy_table(name: str, results: dict[str, dict[str, dict]]) -> str:
    others = [method for method in next(iter(results.values())) if method != name]
    rows = [[data, f"{decimal(by[name]['accuracy'])} ± {decimal(by[name]['accuracy_sd'])}", decimal(by[name]["log_loss"], 3)]
            + [decimal(by[other]["accuracy"]) for other in others] for data, by in results.items()]

    def mean(method: str, key: str) -> float:
        return sum(by[method][key] for by in results.values()) / len(results)

    rows.append([f"**mean of {len(results)}**", f"**{decimal(mean(name, 'accuracy'))}**", decimal(mean(name, "log_loss"), 3)]
                + [decimal(mean(other, "accuracy")) for other in others])
    note = (f"Mean ± standard deviation of {RUNS} runs with shuffled tasks and random ties, every row counted "
            f"(`crowdfold compare --duplicates keep --runs {RUNS}`). Log-loss is in nats; smaller is better.")
    return table(["data set", f"`{name}`", "its log-loss", *(f"`{other}`" for other in others)], rows) + "\n\n" + note


def fill(page: str, marker: str, text: str) -> str:
    pattern = re.compile(rf"(<!-- {marker} -->\n).*?(<!-- end -->)", re.DOTALL)
    if not pattern.search(page):
        raise SystemExit(f"no place for '{marker}'")
    return pattern.sub(lambda match: f"{match[1]}{text}\n{match[2]}", page)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, default=ROOT / "build" / "crowdfold")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("CROWDFOLD_DATA") or ROOT.parent / "shared" / "datasets"))
    options = parser.parse_args()
    results = measure(options.binary, options.data) if options.data.is_dir() else {}
    if not results:
        print(f"{options.data}: no data sets, so accuracies stay as they are", file=sys.stderr)
    for method in ask(options.binary, "methods"):
        path = HERE / f"{method['name']}.md"
        page = fill(path.read_text(encoding="utf-8"), "options", options_table(method))
        if results:
            page = fill(page, "accuracy", accuracy_table(method["name"], results))
        path.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
