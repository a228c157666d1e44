#!/usr/bin/env python3
"""Looks at real juries: runs `crowdfold jury` on data sets, and writes tables in docs/jury.md.

    tools/jury.py [--data DIR]

Data sets are folders with labels.csv and truth.csv, by default in ../shared/datasets_more beside the repository.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from markdown import decimal, fill_page, table

ROOT = Path(__file__).resolve().parent.parent
SETS = ["css_emotion", "css_ibc", "css_raop", "css_semeval_stance", "jury_cebab", "jury_stars", "mmlu_pro_weak", "llmbar",
        "api_digit", "api_imdb", "api_rafdb"]
# Families by how a judge's name begins, in lower case; others have none.
FAMILIES = {"flan": "Flan", "text-": "GPT-3", "chatgpt": "OpenAI", "gpt": "OpenAI", "gemini": "Gemini", "gemma": "Gemini",
            "palm": "PaLM", "llama": "Llama", "meta-llama": "Llama", "mistral": "Mistral", "mixtral": "Mistral",
            "mathstral": "Mistral", "yi-": "Yi", "phi": "Phi", "falcon": "Falcon", "qwen": "Qwen", "zephyr": "Mistral"}


def family_of(judge: str) -> str:
    return next((family for start, family in FAMILIES.items() if judge.lower().startswith(start)), judge)


def jury(folder: Path, *flags: Any) -> dict[str, Any]:
    out = subprocess.run([ROOT / "build" / "crowdfold", "jury", folder / "labels.csv", "--json", "--quiet", *flags], check=True,
                         capture_output=True, text=True).stdout
    return json.loads(out)


def bounded(found: dict[str, float] | None, digits: int = 1, factor: float = 1) -> str:
    if found is None:
        return ""
    value, lower, upper = (decimal(factor * found[name], digits) for name in ("value", "lower", "upper"))
    return f"{value} ({lower} to {upper})"


def panel_of(found: dict[str, Any]) -> str:
    panels = [panel for panel in found["panels"] if panel["does_as_well"]]
    if not panels:
        return "none is shown"
    names = panels[-1]["judges"]
    who = ", ".join(names) if len(names) <= 3 else f"{len(names)} judges"
    return f"{who}: {bounded(panels[-1]['difference'], 1, 100)}"


def most_alike(found: dict[str, Any]) -> str:
    pair = max((pair for pair in found["pairs"] if pair["excess"]), key=lambda pair: pair["excess"]["value"])
    agreed = decimal(pair["agreed"] / pair["common"], 2)
    return f"{pair['a']} and {pair['b']}: {agreed}, expected {decimal(pair['expected'], 2)}"


def positions(found: dict[str, Any]) -> str:
    by_model: dict[str, list[dict[str, Any]]] = {}
    for bias in found["positions"]:
        by_model.setdefault(bias["judge"].split("/")[0], []).append(bias)
    rows = []
    for model, biases in sorted(by_model.items()):
        first = [bias for bias in biases if bias["marked"] and bias["chosen_first"]["value"] > .5]
        second = [bias for bias in biases if bias["marked"] and bias["chosen_first"]["value"] < .5]
        shares = [bias["chosen_first"]["value"] for bias in biases]
        same = statistics.median(bias["same"] / bias["tasks"] for bias in biases)
        rows.append([model, str(len(biases)), str(len(first)), str(len(second)), decimal(min(shares), 2),
                     decimal(statistics.median(shares), 2), decimal(max(shares), 2), decimal(same, 2)])
    return table(["model", "prompts", "prefer the first", "prefer the second", "least", "median", "most", "same answer in both"],
                 rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "datasets_more")
    options = parser.parse_args()
    worth, kin, panels = [], [], []
    places = ""
    for name in SETS:
        folder = options.data / name
        truth = ["--truth", folder / "truth.csv"]
        judges = [judge["judge"] for judge in jury(folder, "--no-panels")["judges"]]
        with tempfile.TemporaryDirectory() as temporary:
            families = Path(temporary) / "families.csv"
            families.write_text("judge,family\n" + "".join(f"{judge},{family_of(judge)}\n" for judge in judges))
            found = jury(folder, *truth, "--family", families)
        blind = jury(folder, "--no-panels")
        best = max(judge["quality"]["value"] for judge in found["judges"] if judge["regular"])
        regular = sum(judge["regular"] for judge in found["judges"])
        worth.append([name, str(regular), f"{found['tasks']:,}", bounded(found["independent_votes"]),
                      bounded(blind["independent_votes"]), decimal(found["accuracy"]["value"], 3), decimal(best, 3)])
        excess = found["excess"]
        kin.append([name, *(bounded(excess[part]["excess"], 2) for part in ("within_families", "between_families")),
                    most_alike(found)])
        panels.append([name, str(len(judges)), panel_of(found)])
        if found["positions"]:
            places = positions(found)
    fill_page(ROOT / "docs" / "jury.md", {
        "worth": table(["data set", "judges", "tasks", "independent votes", "as it looks without truths", "accuracy of the panel",
                        "best judge"], worth),
        "kin": table(["data set", "excess within families", "between families", "most alike: share that agrees"], kin),
        "panels": table(["data set", "judges", "cheapest that does as well: difference, points"], panels),
        "positions": places})


if __name__ == "__main__":
    main()
