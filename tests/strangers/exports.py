#!/usr/bin/env python3
"""Exports of platforms as strangers have them: columns dropped, added and moved, other line ends, compressed.

    tests/strangers/exports.py --binary build/crowdfold [--files 200] [--seed 0] [--keep DIR]

Changes small exports in their true structure, and gives each to `crowdfold import`. It ends with a documented exit code, and one
sentence where it refuses. What it reads are labels of tasks, workers and classes that the unchanged export has, and the rows it says
that it read are labels and abstentions. What changes nothing but the form of a file changes no label.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Dict, List, Optional, Set, Tuple

TASKS, WORKERS, CLASSES = [f"s3://photos/{i}.jpg" for i in range(6)], ["ann", "bob", "cid"], ["cat", "dog"]
Rows = List[Dict[str, str]]
Labels = Set[Tuple[str, str, str]]


def answers(rng: random.Random) -> List[Tuple[int, int, str]]:
    return [(t, w, CLASSES[(t + (rng.random() < 0.2)) % 2]) for t in range(len(TASKS)) for w in range(len(WORKERS))]


def mturk(rng: random.Random) -> Rows:
    return [{"HITId": f"3HIT{t}", "HITTypeId": "3TYPE", "Title": "Name it", "AssignmentId": f"3ASG{t}{w}", "WorkerId": WORKERS[w],
             "AssignmentStatus": rng.choice(["Approved", "Submitted"]), "AcceptTime": "Sun Mar 08 04:18:03 PDT 2026",
             "SubmitTime": "Sun Mar 08 04:19:03 PDT 2026", "WorkTimeInSeconds": "60", "Input.image_url": TASKS[t],
             "Answer.category.label": label, "Approve": "", "Reject": ""} for t, w, label in answers(rng)]


def toloka(rng: random.Random) -> Rows:
    return [{"INPUT:image": TASKS[t], "OUTPUT:result": label, "GOLDEN:result": "", "HINT:text": "", "ASSIGNMENT:link": "https://x",
             "ASSIGNMENT:task_id": f"0001--{t}", "ASSIGNMENT:assignment_id": f"a{t}{w}", "ASSIGNMENT:worker_id": WORKERS[w],
             "ASSIGNMENT:status": "APPROVED", "ASSIGNMENT:started": "2026-03-02T09:00:00.000"} for t, w, label in answers(rng)]


def appen(rng: random.Random) -> Rows:
    return [{"_unit_id": str(800_000 + t), "_created_at": "3/2/2026 09:00:30", "_golden": "false", "_id": f"{t}{w}", "_missed": "",
             "_started_at": "3/2/2026 09:00:00", "_tainted": "false", "_channel": "elite", "_trust": "0.9", "_worker_id": WORKERS[w],
             "_country": "CAN", "animal": label, "animal_gold": "", "image_url": TASKS[t]} for t, w, label in answers(rng)]


def label_studio_csv(rng: random.Random) -> Rows:
    return [{"animal": label, "annotation_id": str(5000 + 10 * t + w), "annotator": WORKERS[w], "created_at": "2026-03-02T09:00:00Z",
             "id": str(100 + t), "image": TASKS[t], "lead_time": "4.2", "updated_at": "2026-03-02T09:00:00Z"}
            for t, w, label in answers(rng)]


def zooniverse(rng: random.Random) -> Rows:
    return [{"classification_id": f"{t}{w}", "user_name": WORKERS[w], "user_id": str(w), "workflow_id": "10",
             "workflow_version": "16.1", "created_at": "2026-03-02 09:00:00 UTC", "gold_standard": "", "metadata": "{}",
             "annotations": json.dumps([{"task": "T0", "task_label": "What?", "value": label}]), "subject_data": "{}",
             "subject_ids": str(700 + t)} for t, w, label in answers(rng)]


def label_studio(rng: random.Random) -> List[dict]:
    of_task: Dict[int, list] = {}
    for t, w, label in answers(rng):
        of_task.setdefault(t, []).append(
            {"id": 10 * t + w, "completed_by": w, "was_cancelled": False, "ground_truth": False, "created_at": "2026-03-02T09:00:00Z",
             "lead_time": 4.2, "result": [{"from_name": "animal", "to_name": "i", "type": "choices", "value": {"choices": [label]}}]})
    return [{"id": 100 + t, "data": {"image": TASKS[t]}, "project": 7, "annotations": made, "predictions": [], "drafts": []}
            for t, made in of_task.items()]


def argilla(rng: random.Random) -> List[dict]:
    of_task: Dict[int, list] = {}
    for t, w, label in answers(rng):
        of_task.setdefault(t, []).append({"value": label, "user_id": WORKERS[w]})
    return [{"id": f"rec-{t}", "fields": {"text": TASKS[t]}, "metadata": {}, "status": "completed", "responses": {"animal": made},
             "suggestions": {}} for t, made in of_task.items()]


def prodigy(rng: random.Random) -> List[dict]:
    return [{"text": TASKS[t], "_input_hash": 70 + t, "_task_hash": -90 - t, "options": [{"id": c, "text": c} for c in CLASSES],
             "accept": [label], "answer": "accept", "_view_id": "choice", "_timestamp": 1_772_442_000, "_annotator_id": WORKERS[w],
             "_session_id": WORKERS[w]} for t, w, label in answers(rng)]


def lists(rng: random.Random) -> List[dict]:
    of_task: Dict[int, dict] = {}
    for t, w, label in answers(rng):
        one = of_task.setdefault(t, {"id": f"i{t}", "text": TASKS[t], "annotators": [], "annotations": []})
        one["annotators"].append(WORKERS[w])
        one["annotations"].append(label)
    return list(of_task.values())


def lewidi(rng: random.Random) -> List[dict]:
    return [{one["id"]: {"text": one["text"], "annotators": ",".join(one["annotators"]),
                         "annotations": ",".join({"cat": "0", "dog": "1"}[c] for c in one["annotations"]), "number of annotations": 3,
                         "hard_label": "0", "soft_label": {"0": 0.5, "1": 0.5}} for one in lists(rng)}]


def wrench(rng: random.Random) -> List[dict]:
    return [{str(t): {"label": 0, "weak_labels": [rng.choice([-1, 0, 1]) for _ in range(3)], "data": {"text": TASKS[t]}}
             for t in range(len(TASKS))}]


TABLES = {"mturk": (mturk, ","), "toloka": (toloka, "\t"), "appen": (appen, ","), "label-studio csv": (label_studio_csv, ","),
          "zooniverse": (zooniverse, ",")}
RECORDS = {"label-studio": label_studio, "argilla": argilla, "prodigy": prodigy, "lists": lists, "lewidi": lewidi, "wrench": wrench}


def table_text(header: List[str], rows: Rows, separator: str, newline: str) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, header, delimiter=separator, lineterminator=newline, extrasaction="ignore", restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def in_form(rng: random.Random, name: str, content: bytes) -> Tuple[str, bytes, str]:
    """The same text in another form."""
    how = rng.choice(["plain", "mark", "gz", "utf-16", "no end"])
    if how == "mark":
        content = b"\xef\xbb\xbf" + content
    elif how == "utf-16":
        content = content.decode().encode("utf-16")
    elif how == "no end":
        content = content.rstrip(b"\r\n")
    elif how == "gz":
        name, content = name + ".gz", gzip.compress(content, mtime=0)
    return name, content, how


def changed(rng: random.Random) -> Tuple[str, bytes, bytes, bool, str]:
    """The file's name, the unchanged export, the changed one, whether its labels must be the same, and what was done."""
    if rng.random() < 0.5:
        kind = rng.choice(list(TABLES))
        make, separator = TABLES[kind]
        rows = make(rng)
        header = list(rows[0])
        plain = table_text(header, rows, separator, "\n")
        dropped = rng.sample(header, rng.choice([0, 0, 0, 1, 2, 4]))
        kept = [name for name in header if name not in dropped]
        done = []
        if rng.random() < 0.5:
            rng.shuffle(kept)
            done.append("moved")
        if rng.random() < 0.3:
            kept.insert(rng.randrange(len(kept) + 1), "reviewed by me")
            done.append("added")
        newline = rng.choice(["\n", "\r\n"])
        name, content, how = in_form(rng, "export.tsv" if separator == "\t" else "export.csv",
                                     table_text(kept, rows, separator, newline))
        return name, plain, content, not dropped, f"{kind}, {done}, dropped {dropped}, {newline!r}, {how}"
    kind = rng.choice(list(RECORDS))
    records = RECORDS[kind](rng)
    alone = kind in ("lewidi", "wrench")
    lines = kind == "prodigy"
    of = [json.dumps(one) for one in records]
    plain = (of[0] if alone else "\n".join(of) if lines else "[" + ",".join(of) + "]").encode() + b"\n"
    inner = list(records[0].values()) if alone else records
    keys = list(inner[0])
    dropped = rng.sample(keys, rng.choice([0, 0, 0, 1, 2]))
    order = [key for key in keys if key not in dropped]
    rng.shuffle(order)
    extra = {"reviewed by me": True} if rng.random() < 0.3 else {}
    made = [{**{key: one[key] for key in order}, **extra} for one in inner]
    indent = rng.choice([None, 2])
    if alone:
        text = json.dumps(dict(zip(records[0], made)), indent=indent)
    elif lines:
        text = "\n".join(json.dumps(one) for one in made)
    else:
        text = json.dumps(made, indent=indent)
    name, content, how = in_form(rng, "export.jsonl" if lines else "export.json", (text + "\n").encode())
    return name, plain, content, not dropped, f"{kind}, order {order}, dropped {dropped}, indent {indent}, {how}"


def read(binary: Path, folder: Path, name: str, content: bytes) -> Tuple[int, Optional[Labels], str]:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    done = subprocess.run([binary, "import", name, "--threads", "1"], cwd=folder, capture_output=True, check=False, timeout=60)
    rows = list(csv.reader(io.StringIO(done.stdout.decode("utf-8", "replace"), newline="")))[1:]
    return done.returncode, {(t, w, c) for t, w, c in rows}, done.stderr.decode("utf-8", "replace")


def fault(binary: Path, folder: Path, seed: int) -> Tuple[Optional[str], bool]:
    """What is wrong, and whether the file was read."""
    name, plain, content, same, what = changed(random.Random(seed))
    plain_name = name[:-3] if name.endswith(".gz") else name
    code, right, said = read(binary, folder / "plain", plain_name, plain)
    if code != 0:
        return f"{what}: the unchanged export is refused: {said}", False
    code, got, said = read(binary, folder / "changed", name, content)
    if code not in (0, 1, 2):
        return f"{what}: exit code {code}: {said}", False
    if code != 0:
        refusals = [line for line in said.splitlines() if line.startswith("crowdfold: ")]
        if same or len(refusals) != 1:
            return f"{what}: refused: {said}", False
        return None, False
    if same and got != right:
        return f"{what}: other labels: {sorted(got ^ right)[:4]}: {said}", True
    classes = {c for _, _, c in right}
    if not {c for _, _, c in got} <= classes | {""}:
        return f"{what}: other classes: { {c for _, _, c in got} }: {said}", True
    counts = re.search(r"note: ([\d,]+) rows? read: ([\d,]+) labels?, ([\d,]+) abstentions?", said)
    if counts:
        rows, labels, abstentions = (int(text.replace(",", "")) for text in counts.groups())
        if rows != labels + abstentions:
            return f"{what}: {said}", True
    return None, True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="keep the files in this folder")
    options = parser.parse_args()
    faults = read_ones = 0
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(2) as pool:
        top = Path(options.keep or scratch)
        seeds = range(options.seed, options.seed + options.files)
        for seed, (wrong, was_read) in zip(seeds, pool.map(lambda s: fault(options.binary.resolve(), top / str(s), s), seeds)):
            read_ones += was_read
            if wrong:
                faults += 1
                print(f"seed {seed}: {wrong}")
    print(f"{options.files} exports, {read_ones} read, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
