#!/usr/bin/env python3
"""Writes docs/python: a page for every class, made from the engine's registry, and their list.

    python tools/class_pages.py [FOLDER]
"""

from __future__ import annotations

import argparse
import inspect
from pathlib import Path
from typing import Any, Dict

import crowdfold
from crowdfold import _native
from crowdfold._build import METHODS, parameters_of

HEADER = "<!-- Written by tools/class_pages.py; do not edit. -->\n\n"
# Members in the order in which people need them.
MEMBERS = ("fit", "fit_predict", "fit_predict_proba", "predict", "predict_proba", "labels_", "confidence_", "probas_",
           "skills_", "workers_", "errors_", "priors_", "loss_history_", "converged_")
ONLINE = ("partial_fit", "learn_one", "predict_one", "predict_proba_one", "merge")
FILES = ("save", "load")


def yes(value: bool) -> str:
    return "yes" if value else "no"


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def members(cls: Any, names: tuple[str, ...]) -> str:
    rows = ["| member | meaning |", "|---|---|"]
    for name in names:
        doc = inspect.getdoc(getattr(cls, name)) or ""
        rows.append(f"| `{name}` | {cell(' '.join(doc.split(chr(10) + chr(10))[0].split()))} |")
    return "\n".join(rows)


def parameters(method: Dict[str, Any]) -> str:
    rows = ["| parameter | default | meaning |", "|---|---|---|"]
    for p in parameters_of(method):
        option = f", `--set {p.option}=`" if p.option and p.option != p.name else ""
        rows.append(f"| `{p.name}`{option} | `{p.default!r}` | {cell(p.meaning)} |")
    return "\n".join(rows)


def page(method: Dict[str, Any]) -> str:
    name, base = METHODS[method["name"]].class_name, METHODS[method["name"]].base
    cls = getattr(crowdfold, name)
    most = method["most_classes"]
    shown = [member for member in MEMBERS if member != "errors_" or method["has_confusion"]]
    if base is not crowdfold.Aggregator:
        shown += [member for member in vars(base) if not member.startswith("_") and member not in MEMBERS]
    online = members(cls, ONLINE if method["can_merge"] else ONLINE[:-1]) + "\n\n" if method["online"] else ""
    return (
        f"{HEADER}# {name}\n\n{method['summary'][0].upper() + method['summary'][1:]}. {method['citation']}.\n\n"
        f"    from crowdfold import {name}\n    labels = {name}().fit_predict(frame)\n\n"
        f"The method is `{method['name']}` on the command line: [what it does, and how good it is]"
        f"(../methods/{method['name']}.md).\n\n"
        f"Classes: {'any number' if most is None else f'at most {most}'}. Known truths: {yes(method['takes_truths'])}. Worker "
        f"qualities of an earlier run: {yes(method['takes_workers'])}. Confusion matrices: {yes(method['has_confusion'])}. "
        f"Chunk by chunk: {yes(method['online'])}.\n\n## Parameters\n\n" + parameters(method)
        + "\n\n## Members\n\n" + members(cls, tuple(shown)) + "\n\n"
        + (f"As labels come:\n\n{online}" if online else "") + "Worker qualities in files:\n\n"
        + members(cls, FILES) + "\n")


def gold_page() -> str:
    """The page of the one class that is not a method of its own."""
    cls = crowdfold.GoldMajorityVote
    vote = next(method for method in _native.registry() if method["name"] == "mv")
    shown = tuple(member for member in MEMBERS if member not in ("errors_", "loss_history_", "converged_"))
    return (f"{HEADER}# GoldMajorityVote\n\n{inspect.getdoc(cls)}\n\n    from crowdfold import GoldMajorityVote\n"
            f"    labels = GoldMajorityVote().fit(frame, truth).predict(frame)\n\n## Parameters\n\n{parameters(vote)}\n\n"
            f"## Members\n\n{members(cls, shown)}\n")


def jury_page() -> str:
    """The page of the class that compares judges."""
    text, options = (inspect.getdoc(crowdfold.Jury) or "").split("\n\nParameters\n----------\n")
    defaults = inspect.signature(crowdfold.Jury.__init__).parameters
    rows = ["| parameter | default | meaning |", "|---|---|---|"]
    for line in options.splitlines():
        name, meaning = line.split(" : ", 1)
        rows.append(f"| `{name}` | `{defaults[name].default!r}` | {cell(meaning)} |")
    shown = tuple(name for name in vars(crowdfold.Jury) if not name.startswith("_"))
    return (f"{HEADER}# Jury\n\n{text}\n\n    from crowdfold import Jury\n    jury = Jury().fit(votes, truths)\n"
            f"    print(*jury.verdict_, sep=\"\\n\")\n\n[What the figures mean](../jury.md).\n\n## Parameters\n\n"
            + "\n".join(rows) + f"\n\n## Members\n\n{members(crowdfold.Jury, shown)}\n")


def index() -> str:
    rows = ["| class | method | in short |", "|---|---|---|"]
    for method in _native.registry():
        name = METHODS[method["name"]].class_name
        rows.append(f"| [`{name}`]({name}.md) | `{method['name']}` | {cell(method['summary'])} |")
    rows.append("| [`GoldMajorityVote`](GoldMajorityVote.md) | | a vote weighted by right labels on tasks whose truth is known |")
    rows.append("| [`Jury`](Jury.md) | | models as judges: what each is worth, who errs like whom, what the panel is worth |")
    return (f"{HEADER}# Classes\n\nHow they are used: [crowdfold in Python](../python.md). Methods on Dask, Ray, Spark or a loop, as "
            "functions: [rounds](rounds.md); on Spark, as estimators: [spark](spark.md).\n\n" + "\n".join(rows) + "\n")


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "README.md").write_text(index(), encoding="utf-8")
    (folder / "GoldMajorityVote.md").write_text(gold_page(), encoding="utf-8")
    (folder / "Jury.md").write_text(jury_page(), encoding="utf-8")
    for method in _native.registry():
        path = folder / f"{METHODS[method['name']].class_name}.md"
        path.write_text(page(method), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).resolve().parents[1] / "docs" / "python")
    write(parser.parse_args().folder)
