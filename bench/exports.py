#!/usr/bin/env python3
"""Times the import of JSON exports on one core, beside Python's json module and simdjson alone.

Makes exports of some platforms in their true structure. Every measurement is a fresh process; the repeats go round all
programs in turn, so that what disturbs the machine disturbs them all, and the best time of a program counts.
Writes a report in Markdown, and the same to stdout.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Callable, Iterator

from report import Bar, bars_section, machine, say, table

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build"
MB = 1_000_000
MIN_RATE = 200  # MB a second
WORKERS, LABELS_PER_TASK = 200, 5
CLASSES = ["bird", "cat", "dog"]
TEXT = "The price was fair, but the parcel came a week late and nobody answered \"why\". "

Task = tuple[int, list[tuple[int, str]]]  # its number; workers with their labels


def tasks(seed: int = 1) -> Iterator[Task]:
    chance = random.Random(seed)
    number = 0
    while True:
        yield number, [(worker, chance.choice(CLASSES)) for worker in chance.sample(range(WORKERS), LABELS_PER_TASK)]
        number += 1


# --- exports: the records of a task ------------------------------------------------------------


def label_studio(task: Task) -> list[dict]:
    number, labels = task
    annotations = [
        {"id": number * LABELS_PER_TASK + i, "completed_by": worker, "was_cancelled": False, "ground_truth": False,
         "lead_time": 4.2, "created_at": "2026-03-02T09:00:00.000000Z", "updated_at": "2026-03-02T09:00:10.000000Z",
         "result": [{"id": f"x{i}", "from_name": "animal", "to_name": "img", "type": "choices", "origin": "manual",
                     "value": {"choices": [label]}}]}
        for i, (worker, label) in enumerate(labels)]
    return [{"id": number, "data": {"image": f"s3://photos/{number}.jpg"}, "project": 7, "annotations": annotations,
             "predictions": [], "drafts": []}]


def argilla(task: Task) -> list[dict]:
    number, labels = task
    return [{"id": f"rec-{number}", "fields": {"text": TEXT * 3}, "metadata": {}, "status": "completed",
             "responses": {"animal": [{"value": label, "user_id": f"df11a2c4-0000-4000-8000-{worker:012}"}
                                      for worker, label in labels]},
             "suggestions": {"animal": {"value": "cat", "score": 0.7, "agent": "gpt-x"}}}]


def argilla_flattened(task: Task) -> list[dict]:
    number, labels = task
    return [{"id": f"rec-{number}", "text": TEXT * 3, "animal.responses": [label for _, label in labels],
             "animal.responses.users": [f"df11a2c4-0000-4000-8000-{worker:012}" for worker, _ in labels],
             "animal.responses.status": ["submitted" for _ in labels], "animal.suggestion": "cat",
             "animal.suggestion.score": 0.7, "animal.suggestion.agent": "gpt-x"}]


def prodigy(task: Task) -> list[dict]:
    number, labels = task
    return [{"text": TEXT, "_input_hash": number * 7919 - 91551573, "_task_hash": number * 104729 - 1162253049,
             "options": [{"id": name, "text": name} for name in CLASSES], "accept": [label], "answer": "accept",
             "_view_id": "choice", "_timestamp": 1772442000 + number, "_annotator_id": f"shop-{worker}",
             "_session_id": f"shop-{worker}"}
            for worker, label in labels]


def doccano(task: Task) -> list[dict]:
    number, labels = task
    return [{"id": number, "text": TEXT, "label": [labels[0][1]], "Comments": []}]


EXPORTS: list[tuple[str, str, Callable[[Task], list[dict]]]] = [
    ("Label Studio JSON", "label_studio.json", label_studio),
    ("Argilla records", "argilla.json", argilla),
    ("Argilla records, flattened", "argilla.jsonl", argilla_flattened),
    ("Prodigy", "prodigy.jsonl", prodigy),
    ("doccano JSONL", "bob.jsonl", doccano),
]


def write(path: Path, records_of: Callable[[Task], list[dict]], size: int) -> int:
    """Returns the number of bytes: a little more than `size`."""
    lines = path.suffix == ".jsonl"
    with open(path, "w", encoding="utf-8") as file:
        file.write("" if lines else "[")
        separator = ""
        for task in tasks():
            for record in records_of(task):
                file.write(separator + json.dumps(record))
                separator = "\n" if lines else ","
            if file.tell() > size:
                break
        file.write("\n" if lines else "]")
        return file.tell()


# --- measuring ---------------------------------------------------------------------------------

PYTHON = ("import json, sys\n"
          "lines = sys.argv[1].endswith('.jsonl')\n"
          "file = open(sys.argv[1], encoding='utf-8')\n"
          "[json.loads(line) for line in file] if lines else json.load(file)\n")


def seconds(command: list[str], work: Path) -> float:
    """Of the processor, which other programs on the machine do not add to."""
    process = subprocess.Popen(command, cwd=work, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=250, help="of each export")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--build", type=Path, default=BUILD, help="folder of the build")
    parser.add_argument("--output", type=Path, default=HERE / "exports.md")
    options = parser.parse_args()
    programs = {
        "crowdfold": lambda file: [str(options.build.resolve() / "crowdfold"), "import", file, "--threads", "1", "--quiet",
                                   "-o", "/dev/null"],
        "simdjson": lambda file: [str(options.build.resolve() / "bench" / "crowdfold-json-bench"), file],
        "Python": lambda file: [sys.executable, "-c", PYTHON, file],
    }
    if not (options.build / "bench" / "crowdfold-json-bench").exists():
        say("no crowdfold-json-bench: simdjson alone is left out")
        del programs["simdjson"]
    rows: list[list[str]] = []
    bars: list[Bar] = []
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for title, file, records_of in EXPORTS:
            say(f"writing {file}")
            size = write(work / file, records_of, options.megabytes * MB)
            best = dict.fromkeys(programs, float("inf"))
            for turn in range(options.repeat):
                for program, command in programs.items():
                    if program == "Python" and turn > 0:
                        continue  # slow, and no bar depends on it
                    best[program] = min(best[program], seconds(command(file), work))
            (work / file).unlink()
            rate = {program: size / MB / time for program, time in best.items()}
            say(f"{title}: " + ", ".join(f"{program} {value:.0f} MB/s" for program, value in rate.items()))
            rows.append([title, f"{size / MB:.0f}", *(f"{rate[p]:.0f}" if p in rate else "" for p in ("crowdfold", "simdjson", "Python")),
                         f"{rate['crowdfold'] / rate['Python']:.1f}"])
            bars.append(Bar(f"{title}, MB a second", f"{rate['crowdfold']:.0f}", f"≥ {MIN_RATE}", rate["crowdfold"] >= MIN_RATE))
    report = "\n\n".join([
        "# Exports: results",
        f"Written by `bench/exports.py --megabytes {options.megabytes} --repeat {options.repeat}`, which `make bench` calls; do not edit.",
        f"- machine: {machine()}\n"
        f"- MB of the file in a second of the processor, on one core, the best of {options.repeat} (Python: of one); all of the\n"
        "  process counts\n"
        "- crowdfold: `crowdfold import FILE --threads 1 -o /dev/null`, from the export to rows task, worker, label\n"
        "- simdjson: the file parsed, and nothing done with it; Python: `json.load`, or `json.loads` line by line",
        bars_section(bars),
        "## MB a second\n\n" + table(["export", "MB", "crowdfold", "simdjson", "Python", "crowdfold / Python"], rows),
    ]) + "\n"
    options.output.write_text(report, encoding="utf-8")
    print(report)


if __name__ == "__main__":
    main()
