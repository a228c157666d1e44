#!/usr/bin/env python3
"""Fills in the options and measured accuracies on the pages of methods.

    tools/method_pages.py [--methods NAME…]

For every page docs/methods/NAME.md, the lines between `<!-- options -->` and `<!-- end -->` become the
table that `crowdfold methods NAME` knows, and those between `<!-- accuracy -->` and `<!-- end -->` a table of
accuracies over the data sets in $CROWDFOLD_DATA (default: ../shared/datasets beside the repository), each a
folder with labels.csv and truth.csv. Without the data sets, the accuracies stay as they are. Accuracies that the
paper on onepass published for a method stand beside ours: a CSV file set,method,accuracy. --methods limits the pages.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
from pathlib import Path

from markdown import decimal, fill_page, table

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "methods"
RUNS = 10
YARDSTICKS = ["mv", "onepass", "twopass"]  # every table shows them beside its method
ONE_RANDOM_START = ["bila"]  # so the mean over several counts
LAST_LABEL_COUNTS = ["laa", "bila"]  # of a worker's labels on a task: duplicates make no difference
# Where a method's figures are not the published ones: the variants that were tried, on which data sets.
VARIANTS = {
    "laa": (["ZC_all", "ZC_in", "ZC_us", "smile"],
            ["--duplicates first", "--set imitation=25", "--set imitation=100", "--set iterations=50",
             "--set iterations=200", "--set rate=0.002", "--set divergence=0", "--set divergence=0.001",
             "--set sparsity=0"]),
    "bila": (["fact", "ZC_all"],
             ["--duplicates first", "--set order=given", "--set start_epochs=0", "--set start_epochs=40",
              "--set start_epochs=80", "--set batch=100"]),
}


def ask(binary: Path, *arguments: str) -> list[dict]:
    return json.loads(subprocess.run([binary, *arguments, "--json"], check=True, capture_output=True, text=True).stdout)


def options_table(method: dict) -> str:
    rows = [[f"`{o['name']}`", o["default"], o["range"], o["help"]] for o in method["options"]]
    return table(["option", "default", "range", "meaning"], rows)


def runs_of(method: dict) -> int:
    """One if every run gives the same result, or if a run is itself the best of several starts."""
    names = {option["name"] for option in method["options"]}
    return RUNS if names & {"ties", "order"} or method["name"] in ONE_RANDOM_START else 1


def compare(binary: Path, folder: Path, method: dict, *arguments: str) -> list[dict]:
    """Every row counted, unless the arguments say otherwise."""
    duplicates = () if "--duplicates" in arguments else ("--duplicates", "keep")
    return ask(binary, "compare", str(folder / "labels.csv"), "--truth", str(folder / "truth.csv"), "--methods",
               method["name"], "--runs", str(runs_of(method)), "--quiet", *duplicates, *arguments)


def measure(binary: Path, data: Path, methods: list[dict]) -> dict[str, dict[str, dict]]:
    """Data set -> method -> its row of `crowdfold compare`. Methods that take fewer classes are left out."""
    results = {}
    for folder in sorted(data.iterdir(), key=lambda path: path.name.lower()):
        if not all((folder / name).is_file() for name in ("labels.csv", "truth.csv")):
            continue
        print(folder.name, file=sys.stderr)
        results[folder.name] = {}
        for method in methods:
            try:
                rows = compare(binary, folder, method)
            except subprocess.CalledProcessError as error:
                print(error.stderr.strip(), file=sys.stderr)
                continue
            results[folder.name].update({row["method"]: row for row in rows})
    return results


def read_published(path: Path) -> dict[str, dict[str, float]]:
    """Method -> data set -> accuracy."""
    published: dict[str, dict[str, float]] = {}
    if path.is_file():
        with path.open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["accuracy"]:
                    published.setdefault(row["method"], {})[row["set"]] = float(row["accuracy"])
    return published


def accuracy_of(method: dict, row: dict) -> str:
    spread = f" ± {decimal(row['accuracy_sd'])}" if runs_of(method) > 1 else ""
    return decimal(row["accuracy"]) + spread


def accuracy_table(method: dict, results: dict[str, dict[str, dict]], published: dict[str, float]) -> str:
    name = method["name"]
    others = [other for other in YARDSTICKS if other != name]
    fitting = {data: by for data, by in results.items() if name in by}
    paper = ["published"] if published else []

    def row(data: str, of: dict[str, dict]) -> list[str]:
        return [data, accuracy_of(method, of[name]), *(decimal(published[data]) for _ in paper),
                decimal(of[name]["log_loss"], 3), *(decimal(of[other]["accuracy"]) for other in others)]

    def mean(of: str, key: str) -> float:
        return sum(by[of][key] for by in fitting.values()) / len(fitting)

    rows = [row(data, by) for data, by in fitting.items()]
    rows.append([f"**mean of {len(fitting)}**", f"**{decimal(mean(name, 'accuracy'))}**",
                 *(decimal(sum(published[data] for data in fitting) / len(fitting)) for _ in paper),
                 decimal(mean(name, "log_loss"), 3), *(decimal(mean(other, "accuracy")) for other in others)])
    what_differs = "different seeds" if name in ONE_RANDOM_START else "shuffled tasks and random ties"
    how = (f"Mean ± standard deviation of {RUNS} runs with {what_differs}" if runs_of(method) > 1 else "One run")
    note = (f"{how}, every row counted (`crowdfold compare --duplicates keep --runs {runs_of(method)}`). "
            "Log-loss is in nats; smaller is better.")
    if published:
        note += " Published: in appendix C.3 of the paper on [onepass](onepass.md)."
        if name not in YARDSTICKS + LAST_LABEL_COUNTS:
            note += " Our figures equal the published ones for `smile` if exact duplicates of rows count once."
    return table(["data set", f"`{name}`", *paper, "its log-loss", *(f"`{other}`" for other in others)], rows) + "\n\n" + note


def variants_table(binary: Path, data: Path, method: dict, published: dict[str, float]) -> str:
    data_sets, variants = VARIANTS[method["name"]]

    def row(shown: str, *arguments: str) -> list[str]:
        found = [compare(binary, data / name, method, *arguments)[0] for name in data_sets]
        return [shown, *(accuracy_of(method, of) for of in found)]

    rows = [["published", *(decimal(published[name]) for name in data_sets)], row("as it is")]
    rows += [row(f"`{variant.removeprefix('--set ')}`", *variant.split()) for variant in variants]
    return table(["variant", *data_sets], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, default=ROOT / "build" / "crowdfold")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("CROWDFOLD_DATA") or ROOT.parent / "shared" / "datasets"))
    parser.add_argument("--published", type=Path, default=ROOT / "experiments" / "paper" / "paper_figures.csv")
    parser.add_argument("--methods", nargs="+", help="default: all")
    options = parser.parse_args()
    published = read_published(options.published)
    methods = ask(options.binary, "methods")
    wanted = options.methods or [method["name"] for method in methods]
    methods = [method for method in methods if method["name"] in [*wanted, *YARDSTICKS]]
    results = measure(options.binary, options.data, methods) if options.data.is_dir() else {}
    if not results:
        print(f"{options.data}: no data sets, so accuracies stay as they are", file=sys.stderr)
    for method in methods:
        if method["name"] not in wanted:
            continue
        texts = {"options": options_table(method)}
        if results:
            texts["accuracy"] = accuracy_table(method, results, published.get(method["name"], {}))
        if results and method["name"] in VARIANTS and method["name"] in published:
            texts["variants"] = variants_table(options.binary, options.data, method, published[method["name"]])
        fill_page(PAGES / f"{method['name']}.md", texts)


if __name__ == "__main__":
    main()
