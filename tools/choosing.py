#!/usr/bin/env python3
"""Compares methods with each other by family of data sets, and variants of threepass; writes the results into the documentation.

    tools/choosing.py [--only choosing|variants] [--again METHOD[,NAME=VALUE…]…] [--runs 10]

docs/choosing.md is written as a whole, from figures on the data sets of measured.py and on simulated crowds.
--again measures these methods anew ("all": all of them); without it, figures in build/measured are used where there are any.

Variants are compared on the paper's sets by accuracy, by log-loss, and by a criterion without truths: the mean log-likelihood
of a tenth of the labels, hidden from the method. Leaving out one data set at a time shows how a variant chosen by accuracy
does on a set that played no part in the choice. Their table goes to docs/methods/threepass.md, between
`<!-- variants -->` and `<!-- end -->`. Takes some minutes.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from markdown import decimal, fill_page, table
from measured import CACHE, CROWDFOLD, LONGEST, PAPER, ROOT, Figures, family_of, folders, measured, run, there

PAPER_TOOL = ROOT / "build" / "crowdfold-paper"
MEMORY = ROOT / "bench" / "measure.py"
HELD_OUT = 0.1

DEFAULT = "threepass"
VARIANTS = {
    DEFAULT: "as it is",
    "threepass,passes=1": "one pass: the online method",
    "threepass,passes=2": "without the second pass",
    "threepass,passes=4": "second pass twice",
    "threepass,passes=5": "second pass three times",
    "threepass,passes=10": "second pass eight times",
    "threepass,guard=1e9": "no guard: class shares always count little",
    "threepass,guard=.005": "class shares count in full sooner",
    "threepass,guard=.002": "and sooner still",
    "threepass,guard=0": "class shares in full wherever that helps at all",
    "threepass,symmetry=4": "the crowd's leanings believed less",
    "threepass,symmetry=64": "believed more",
    "threepass,symmetry=1e9": "believed in full: hierarchical Dawid-Skene",
    "threepass,strongest=16": "rows freer of the crowd",
    "variant:discount": "discount for workers who are wrong together with others",
    "variant:prior": "class shares to the power that makes held-out labels likeliest",
    "variant:difficulty": "every task with a temperature of its own",
}
# Methods of docs/choosing.md, and whether the order of tasks or a draw matters to them. Those that this program has.
METHODS = {"mv": True, "onepass": True, "twopass": True, "live": True, "threepass,passes=1": True, "threepass": True, "fivepass": False,
           "zc": False, "glad": False, "mace": False, "bwa": False, "ds": False, "lfc": False, "ibcc": False, "ebcc,starts=10": False}
NAMES = {"threepass,passes=1": "`threepass`, one pass", "ebcc,starts=10": "`ebcc`, 10 starts"}
CANDIDATES = ["mv", "twopass", "threepass,passes=1", "threepass", "fivepass", "mace", "ds"]  # to be the default
FUNCTIONS = "labelling functions"

# Simulated crowds, for differences that the data sets do not show.
CROWDS = {
    "one quality per worker": "--tasks 3000 --workers 60 --classes 4 --labels-per-task 5 --quality uniform:.4,.9",
    "own errors, 12 labels per worker and class": "--tasks 800 --workers 80 --classes 4 --labels-per-task 5 "
                                                  "--quality uniform:.4,.9 --model confusion",
    "own errors, 190 labels per worker and class": "--tasks 6000 --workers 40 --classes 4 --labels-per-task 5 "
                                                   "--quality uniform:.4,.9 --model confusion",
    "8 skewed classes": "--tasks 3000 --workers 40 --classes 8 --labels-per-task 4 --quality uniform:.3,.7 --skew 2",
    "100 classes": "--tasks 5000 --workers 300 --classes 100 --labels-per-task 5 --quality uniform:.4,.9",
    "a third spammers": "--tasks 3000 --workers 60 --classes 4 --labels-per-task 5 --quality uniform:.6,.9 --spammers .33",
}
# For memory: two million labels.
LARGE = "--tasks 400000 --workers 5000 --classes 4 --labels-per-task 5 --seed 1"


def signed_rank_p(differences: list[float]) -> float:
    """The one-sided p-value of Wilcoxon's signed-rank test."""
    lines = "".join(f"{difference!r}\n" for difference in differences)
    out = subprocess.run([PAPER_TOOL, "signed-rank"], input=lines, check=True, capture_output=True, text=True).stdout
    return json.loads(out)["p"]


def variants_table(figures: Figures) -> str:
    rows = []
    for variant, meaning in VARIANTS.items():
        better = sum(figures.of(s, variant) > figures.of(s, DEFAULT) + 1e-9 for s in figures.sets)
        worse = sum(figures.of(s, variant) < figures.of(s, DEFAULT) - 1e-9 for s in figures.sets)
        rows.append([f"`{variant.replace(',', ' ')}`", meaning, decimal(figures.mean(variant)),
                     decimal(figures.mean(variant, "log_loss"), 3), decimal(figures.mean(variant, "held_out")),
                     "" if variant == DEFAULT else f"{better} / {worse}"])
    by_accuracy, by_held_out = [], []
    for left_out in figures.sets:
        others = [name for name in figures.sets if name != left_out]
        by_accuracy.append(figures.of(left_out, max(VARIANTS, key=lambda v: figures.mean(v, sets=others))))
        by_held_out.append(figures.of(left_out, max(VARIANTS, key=lambda v: figures.of(left_out, v, "held_out"))))
    count = len(figures.sets)
    return table(["variant", "what it is", "accuracy", "log-loss", "held-out labels", "sets better / worse"], rows) + f"""

Means over {count} data sets. *Held-out labels* is the mean log-likelihood of a tenth of the labels, hidden from the
method: it needs no truth. If we choose the variant with the best mean accuracy on all sets but one, its mean accuracy is
{decimal(sum(by_accuracy) / count)} on the sets left out ({DEFAULT} as it is: {decimal(figures.mean(DEFAULT))}).
If we choose by held-out labels on every set, it is {decimal(sum(by_held_out) / count)}: likelier labels
do not mean better answers here."""


def simulated(folder: Path) -> list[Path]:
    """Folders of CROWDS, three of each."""
    folders = []
    for number, flags in enumerate(CROWDS.values()):
        for seed in range(3):
            crowd = folder / f"{number}-{seed}"
            crowd.mkdir()
            subprocess.run([CROWDFOLD, "simulate", "--quiet", *flags.split(), "--seed", str(seed + 1), "-o",
                            crowd / "labels.csv", "--truth-out", crowd / "truth.csv"], check=True)
            folders.append(crowd)
    return folders


def shown(method: str) -> str:
    return NAMES.get(method, f"`{method}`")


def facts(folder: Path, last: bool) -> dict[str, float]:
    labels, workers, classes = {}, set(), set()
    with open(folder / "labels.csv", newline="", encoding="utf-8") as file:
        for number, row in enumerate(csv.DictReader(file)):
            labels[(row["task"], row["worker"]) if last else number] = row["label"]
            workers.add(row["worker"])
            classes.add(row["label"])
    return {"labels": len(labels), "per_cell": len(labels) / len(workers) / len(classes), "classes": len(classes)}


def bold_best(cells: list[list[float]], digits: int, best=max) -> list[list[str]]:
    """Rows of numbers as texts, the best of every column in bold."""
    texts = [[decimal(value, digits) or "too slow" for value in row] for row in cells]
    for column in range(len(cells[0])):
        known = [row[column] for row in cells if not math.isnan(row[column])]
        for text, row in zip(texts, cells):
            if known and row[column] == best(known):
                text[column] = f"**{text[column]}**"
    return texts


def family_table(real: Figures, methods: list[str], field: str, best) -> str:
    families = real.families()
    cells = [[*(real.mean(m, field, names) for names in families.values()), real.by_families(m, field),
              real.by_families(m, field, (FUNCTIONS,))] for m in methods]
    rows = [[shown(m), *texts] for m, texts in zip(methods, bold_best(cells, 3, best))]
    return table(["method", *(f"{family} ({len(names)})" for family, names in families.items()), "mean of families",
                  f"without {FUNCTIONS}"], rows)


def paper_table(real: Figures, methods: list[str], of_set: dict[str, dict[str, float]]) -> str:
    sets = real.families()[PAPER]
    labels = sum(of_set[name]["labels"] for name in sets)
    rows = []
    for m in methods:
        differences = [real.of(s, DEFAULT) - real.of(s, m) for s in sets]
        rows.append([shown(m), decimal(real.mean(m, sets=sets)), decimal(real.mean(m, "log_loss", sets), 3),
                     decimal(real.mean(m, "calibration_error", sets), 3),
                     f"{1e9 * real.mean(m, 'seconds', sets) * len(sets) / labels:,.0f}",
                     *(["", ""] if m == DEFAULT else better_worse_p(differences))])
    return table(["method", "accuracy", "log-loss", "calibration error", "ns per label", f"`{DEFAULT}` better / worse", "p"], rows)


def better_worse_p(differences: list[float]) -> list[str]:
    return [f"{sum(d > 1e-9 for d in differences)} / {sum(d < -1e-9 for d in differences)}",
            decimal(signed_rank_p(differences), 3) if any(abs(d) > 1e-9 for d in differences) else ""]


def default_table(real: Figures, methods: list[str], megabytes: dict[str, float]) -> str:
    families = real.families()
    rows = []
    for m in methods:
        by_set = [real.of(s, m) - real.of(s, DEFAULT) for s in real.sets]
        by_family = [real.mean(m, sets=names) - real.mean(DEFAULT, sets=names) for names in families.values()]
        losses = [real.of(s, DEFAULT, "log_loss") - real.of(s, m, "log_loss") for s in real.sets]
        same = m == DEFAULT
        rows.append([shown(m), decimal(real.mean(m)), decimal(real.by_families(m)),
                     *(decimal(real.by_families(m, field), 3) for field in ("log_loss", "calibration_error")),
                     *(["", "", ""] if same else [better_worse_p(of)[0] for of in (by_set, by_family, losses)]),
                     f"{sum(real.of(s, m, 'seconds') for s in real.sets):.2f}", f"{megabytes[m]:,.0f}"])
    return table(["method", "mean of sets", "mean of families", "log-loss", "calibration error",
                  f"more / less accurate than `{DEFAULT}` on sets", "on families",
                  "log-loss lower / higher on sets", "seconds for all sets", "MB"], rows)


def compared(real: Figures, other: str) -> dict[str, str]:
    """How `other` compares with the default: {other: what}."""
    if (real.sets[0], other, "accuracy") not in real.values:
        return {}
    families = real.families()
    by_set = [real.of(s, other) - real.of(s, DEFAULT) for s in real.sets]
    by_family = {family: real.mean(other, sets=names) - real.mean(DEFAULT, sets=names) for family, names in families.items()}
    worst = min(real.sets, key=lambda s: real.of(s, other) - real.of(s, DEFAULT))
    of_worst = [name for name in families[family_of(worst)] if name != worst]
    without = {**by_family, family_of(worst): real.mean(other, sets=of_worst) - real.mean(DEFAULT, sets=of_worst)}
    losses = [real.of(s, DEFAULT, "log_loss") - real.of(s, other, "log_loss") for s in real.sets]

    def times(differences: list[float]) -> str:
        return " against ".join(better_worse_p(differences)[0].split(" / "))

    def gain(value: float) -> str:
        return decimal(value) if value < 0 else f"+{decimal(value)}"

    return {
        "on sets": times(by_set), "p on sets": better_worse_p(by_set)[1], "gain on sets": gain(sum(by_set) / len(by_set)),
        "on families": times(list(by_family.values())), "p on families": better_worse_p(list(by_family.values()))[1],
        "gain on families": gain(sum(by_family.values()) / len(by_family)), "worst": worst,
        "loss on worst": decimal(real.of(worst, DEFAULT) - real.of(worst, other), 3),
        "gain without worst": gain(sum(without.values()) / len(without)), "log-loss on sets": times(losses),
        "time": f"{sum(real.of(s, other, 'seconds') for s in real.sets) / sum(real.of(s, DEFAULT, 'seconds') for s in real.sets):.1f}",
        "log-loss": decimal(real.by_families(other, "log_loss"), 3),
        "log-loss of default": decimal(real.by_families(DEFAULT, "log_loss"), 3),
    }


def memory(methods: list[str], again: set[str]) -> dict[str, float]:
    """Peak memory in MB of `crowdfold aggregate` on a file of two million labels."""
    cache = CACHE / "memory.json"
    known = json.loads(cache.read_text()) if cache.is_file() else {}
    wanted = [m for m in methods if m not in known or m in again]
    with tempfile.TemporaryDirectory() as folder:
        labels = Path(folder) / "labels.csv"
        if wanted:
            subprocess.run([CROWDFOLD, "simulate", "--quiet", *LARGE.split(), "-o", labels], check=True)
        for m in wanted:
            method, *settings = m.split(",")
            command = [CROWDFOLD, "aggregate", labels, "--quiet", "--method", method, "--threads", "2",
                       "-o", Path(folder) / "out.csv",
                       *(word for setting in settings for word in ("--set", setting))]
            out = subprocess.run([sys.executable, "-I", "-S", MEMORY, *command], check=True, capture_output=True, text=True).stdout
            known[m] = int(out.split()[-1]) / 1e3
    cache.write_text(json.dumps(known, indent=1))
    return known


def on_simulated(methods: list[str], again: set[str]) -> Figures:
    """Figures on CROWDS; kept like those of data sets."""
    with tempfile.TemporaryDirectory() as folder:
        crowds = simulated(Path(folder))
        rows = []
        for method in methods:
            cache = CACHE / "simulated" / f"{method.replace(',', ' ')}.json"
            if not cache.is_file() or method in again:
                cache.parent.mkdir(parents=True, exist_ok=True)
                cache.write_text(json.dumps(run(crowds, [method], 1)))
            rows += json.loads(cache.read_text())
    return Figures(rows)


def best_table(real: Figures, methods: list[str], of_set: dict[str, dict[str, float]]) -> str:
    rows = []
    for family, names in real.families().items():
        for name in names:
            known = [m for m in methods if not math.isnan(real.of(name, m))]
            best = max(known, key=lambda m: real.of(name, m))
            rows.append([family, name, f"{of_set[name]['classes']:.0f}", f"{of_set[name]['per_cell']:,.0f}", shown(best),
                         decimal(real.of(name, best), 3), decimal(real.of(name, DEFAULT), 3),
                         decimal(real.of(name, "mv"), 3)])
    return table(["family", "data set", "classes", "labels per worker and class", "most accurate", "accuracy", f"`{DEFAULT}`",
                  "`mv`"], rows)


def choosing(real: Figures, crowds: Figures, of_set: dict[str, dict[str, float]], methods: list[str],
             megabytes: dict[str, float]) -> str:
    families = real.families()

    def mean(method: str, family: str, field: str = "accuracy", digits: int = 3) -> str:
        return decimal(real.mean(method, field, families.get(family, [])), digits) or "(absent)"

    sets = len(real.sets)
    slow = [f"{shown(m)} on {name}" for m in methods for name in real.sets if math.isnan(real.of(name, m))]
    by_crowd = table(["simulated crowd", *map(shown, methods)],
                     [[name, *(decimal(crowds.mean(m, sets=[f"{number}-{seed}" for seed in range(3)]), 3) for m in methods)]
                      for number, name in enumerate(CROWDS)])
    text = (ROOT / "tools" / "choosing_page.md").read_text(encoding="utf-8")
    for name, value in {
        "sets": str(sets), "families": str(len(families)), "longest": str(LONGEST),
        "accuracy table": family_table(real, methods, "accuracy", max), "log-loss table": family_table(real, methods, "log_loss", min),
        "calibration table": family_table(real, methods, "calibration_error", min),
        "paper table": paper_table(real, methods, of_set), "paper sets": str(len(families[PAPER])),
        "default table": default_table(real, [m for m in CANDIDATES if m in methods], megabytes),
        "simulated table": by_crowd, "best table": best_table(real, methods, of_set),
        "slow": f"Too slow (more than {LONGEST} seconds): {'; '.join(slow)}." if slow else "No method was too slow.",
    }.items():
        text = text.replace(f"{{{name}}}", value)

    for name, value in compared(real, "fivepass").items():
        text = text.replace(f"{{fivepass: {name}}}", value)
    # {METHOD: FAMILY} or {METHOD: FAMILY: FIELD}
    for match in sorted(set(re.findall(r"\{([a-z_,=0-9]+): ([a-z', ]+?)(?:: ([a-z_]+))?\}", text))):
        method, family, field = match
        place = "{" + f"{method}: {family}" + (f": {field}" if field else "") + "}"
        text = text.replace(place, mean(method, family, field or "accuracy", 2 if field else 3) if method in methods else "(absent)")
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["choosing", "variants"])
    parser.add_argument("--again", nargs="+", default=[], metavar="METHOD")
    parser.add_argument("--runs", type=int, default=10, help="of variants")
    options = parser.parse_args()
    at_hand = folders()
    paper = [folder for name, folder in at_hand.items() if family_of(name) == PAPER]

    if options.only != "choosing":
        figures = Figures(run(paper, list(VARIANTS), options.runs, HELD_OUT))
        fill_page(ROOT / "docs" / "methods" / "threepass.md", {"variants": variants_table(figures)})
    if options.only == "variants":
        return

    methods = there(METHODS)
    again = set(methods) if "all" in options.again else set(options.again)
    real = measured(methods, again)
    crowds = on_simulated(list(methods), again)
    of_set = {name: facts(folder, family_of(name) != PAPER) for name, folder in at_hand.items()}
    text = choosing(real, crowds, of_set, list(methods), memory([m for m in CANDIDATES if m in methods], again))
    (ROOT / "docs" / "choosing.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
