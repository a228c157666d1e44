"""Figures of methods on the data sets with truths, by family of data sets: what several scripts here tabulate.

Data sets are folders with labels.csv and truth.csv in two collections, $CROWDFOLD_DATA or ../shared/datasets beside the
repository, and datasets_more beside that. Sets that are absent are skipped with a message. Figures of
crowdfold-measure are kept in build/measured, a file per method, and measured again only on demand.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CROWDFOLD = ROOT / "build" / "crowdfold"
MEASURE = ROOT / "build" / "experiments" / "crowdfold-measure"
CACHE = ROOT / "build" / "measured"
LONGEST = 120  # seconds, for all runs of a method on a set

# Family: the sets in it. Of the paper's sets every row counts; of the others, a worker's last label on a task.
PAPER = "the paper's sets"
FAMILIES = {
    PAPER: "adult bird CF CF_amt dog face fact MS prod rte smile SP SP_amt trec tweet web ZC_all ZC_in ZC_us",
    "other crowds": "medrel_cause nyu_qa",
    "ordered classes": "politifact6 covid6",
    "exams": "exam_medical exam_sat12",
    "laboratory": "mvh_noise mvh_sketch",
    "language models": "css_emotion css_ibc css_raop css_semeval_stance",
    "model juries": "jury_cebab jury_stars llmbar",
    "models, many questions": "mmlu_pro_weak gsm8k_small",
    "services": "api_digit api_imdb api_rafdb",
    "labelling functions": "ws_youtube ws_trec6 ws_yoruba",
}
RUNS = {PAPER: 10}
OTHER_RUNS = 3
FIELDS = ["set", "method", "run", "accuracy", "log_loss", "calibration_error", "held_out", "seconds", "bins"]


def there(methods: dict[str, bool]) -> dict[str, bool]:
    """Those of the methods that the program has."""
    known = subprocess.run([CROWDFOLD, "methods", "--json"], check=True, capture_output=True, text=True).stdout
    names = {method["name"] for method in json.loads(known)}
    return {method: is_drawn for method, is_drawn in methods.items() if method.split(",")[0] in names}


def folders() -> dict[str, Path]:
    """The folders of data sets at hand, by name, in the order of families."""
    data = Path(os.environ.get("CROWDFOLD_DATA") or ROOT.parent / "shared" / "datasets")
    more = data.resolve().parent / "datasets_more"
    found = {}
    for family, names in FAMILIES.items():
        for name in names.split():
            folder = (data if family == PAPER else more) / name
            if (folder / "labels.csv").is_file() and (folder / "truth.csv").is_file():
                found[name] = folder
            else:
                print(f"skipped: there is no {folder}", file=sys.stderr)
    return found


def family_of(name: str) -> str:
    return next(family for family, names in FAMILIES.items() if name in names.split())


def run(where: Iterable[str | Path], methods: Iterable[str], runs: int, held_out: float = 0,
        longest: float | None = None) -> list[dict]:
    out = subprocess.run([MEASURE, str(runs), str(held_out), *where, "--", *methods], check=True, capture_output=True,
                         text=True, timeout=longest).stdout
    return list(csv.DictReader(io.StringIO(out)))


class Figures:
    """Means over runs, by data set and method; NaN where a method did not come to an end in time."""

    def __init__(self, rows: list[dict]):
        self.values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
        self.bins: dict[tuple[str, str], str] = {}  # of the first run
        self.sets: list[str] = []
        for row in rows:
            name, method = row["set"], row["method"].replace(" ", ",")
            if name not in self.sets:
                self.sets.append(name)
            self.bins.setdefault((name, method), row.get("bins") or "")
            for field in ("accuracy", "log_loss", "calibration_error", "held_out", "seconds"):
                if row[field]:
                    self.values[name, method, field].append(float(row[field]))

    def of(self, name: str, method: str, field: str = "accuracy") -> float:
        values = self.values[name, method, field]
        return sum(values) / len(values) if values else math.nan

    def mean(self, method: str, field: str = "accuracy", sets: list[str] | None = None) -> float:
        sets = self.sets if sets is None else sets
        return sum(self.of(name, method, field) for name in sets) / len(sets) if sets else math.nan

    def families(self) -> dict[str, list[str]]:
        """Family: its sets at hand, where there are any."""
        found: dict[str, list[str]] = {family: [] for family in FAMILIES}
        for name in self.sets:
            found[family_of(name)].append(name)
        return {family: names for family, names in found.items() if names}

    def by_families(self, method: str, field: str = "accuracy", without: tuple[str, ...] = ()) -> float:
        """The mean over families of their means."""
        means = [self.mean(method, field, names) for family, names in self.families().items() if family not in without]
        return sum(means) / len(means)


def measured(methods: dict[str, bool], again: set[str] = frozenset()) -> Figures:
    """Figures on all sets, of methods and whether the order of tasks or a draw matters to them. `again`: methods to
    measure anew, though there are figures."""
    CACHE.mkdir(parents=True, exist_ok=True)
    at_hand = folders()
    rows = []
    for method, is_drawn in methods.items():
        cache = CACHE / f"{method.replace(',', ' ')}.csv"
        known = []
        if cache.is_file() and method not in again:
            with cache.open(encoding="utf-8") as file:
                known = [row for row in csv.DictReader(file) if row["set"] in at_hand]
        have = {row["set"] for row in known}
        if have != set(at_hand):
            print(f"measuring {method}", file=sys.stderr)
        for name, folder in at_hand.items():
            if name in have:
                continue
            is_paper = family_of(name) == PAPER
            runs = RUNS.get(family_of(name), OTHER_RUNS) if is_drawn else 1
            try:
                known += run([folder if is_paper else f"last:{folder}"], [method], runs, longest=LONGEST)
            except subprocess.TimeoutExpired:
                known.append({**dict.fromkeys(FIELDS, ""), "set": name, "method": method.replace(",", " ")})
        with cache.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(known)
        by_set = {name: [row for row in known if row["set"] == name] for name in at_hand}
        rows += [row for name in at_hand for row in by_set[name]]
    return Figures(rows)
