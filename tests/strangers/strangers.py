#!/usr/bin/env python3
"""Files as strangers have them: crowdfold reads each right, or refuses it. A wrong reading fails the test.

    tests/strangers/strangers.py --binary build/crowdfold [--files 300] [--seed 0] [--keep DIR]

Every file holds a simulated crowd: its tasks, workers and labels are known, and stand among columns that are none of them, under names
that are usual, foreign, meaningless or misleading. `crowdfold import` must give these labels back, or refuse the file. The
weights in src/io/guess_columns.cc were not found on these crowds; do not tune them here: a fault found here becomes a test
beside the code.
"""

from __future__ import annotations

import argparse
import collections
import csv
import io
import json
import random
import subprocess
import sys
import tempfile
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Dict, List, Optional, Set, Tuple

# --- values ---------------------------------------------------------------------------------

FIRST = "Anna Bernd Chloé Dmitri Elif Femi Giulia Hiro Ines Jamal Kaja Luis Mei Noor Olga Pavel Quinn Rosa Sven Tariq".split()
LAST = "Schmidt Rossi Novák Okafor Tanaka Silva Dubois Ivanova Kim Larsen Yılmaz Haddad".split()
NOUNS = "river bank winter signal market garden engine doctor window letter bridge forest mirror copper planet".split()


def digits(rng: random.Random, n: int) -> str:
    return "".join(rng.choice("0123456789") for _ in range(n))


def sentence(rng: random.Random, n: int) -> str:
    return " ".join(rng.choice(NOUNS) for _ in range(n))


def unique(count: int, make: Callable[[int], str]) -> List[str]:
    made: Dict[str, None] = {}
    for i in range(100 * count):
        made[make(i)] = None
        if len(made) == count:
            return list(made)
    raise ValueError("values run out")


def a_uuid(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def task_values(rng: random.Random, n: int) -> List[str]:
    start = rng.choice([0, 1, 1000, 58_341])
    return unique(n, rng.choice([
        lambda i: str(start + i),
        lambda i: digits(rng, 12),
        lambda i: a_uuid(rng),
        lambda i: f"https://cdn.example.org/{digits(rng, 3)}/{i}.jpg?size=large",
        lambda i: f"frames/cam{i % 3}/frame_{i:05}.png",
        lambda i: f"{rng.choice(NOUNS)}-{i}",
        lambda i: f"{rng.getrandbits(32):08x}",
        lambda i: f"S{i:03}.wav",
        lambda i: sentence(rng, 9) + f" {i}.",
        lambda i: f"{rng.choice(NOUNS)} {rng.choice(NOUNS)} {i}",
        lambda i: f"Q{i + 1}",
        lambda i: f"AB{digits(rng, 5)}",
    ]))


def worker_values(rng: random.Random, n: int) -> List[str]:
    return unique(n, rng.choice([
        lambda i: str(i + 1),
        lambda i: digits(rng, 7),
        lambda i: FIRST[i % len(FIRST)] + ("" if i < len(FIRST) else str(i)),
        lambda i: f"{rng.choice(FIRST)} {rng.choice(LAST)}" + ("" if i < 100 else f" {i}"),
        lambda i: f"{rng.choice(FIRST)[0]}{rng.choice(LAST)[0]}{'' if i < 20 else i}" if n < 15 else f"U{i}",
        lambda i: f"user{i}@example.com",
        lambda i: "A" + "".join(rng.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") for _ in range(12)),
        lambda i: a_uuid(rng),
        lambda i: f"rater {i + 1}",
        lambda i: f"model-{rng.choice(NOUNS)}-v{i}",
        lambda i: f"{rng.choice(NOUNS)}{digits(rng, 2)}",
    ]))


LABELS = [
    "yes no".split(), "0 1".split(), "1 0".split(), "TRUE FALSE".split(), "ja nein weiß-nicht".split(), "да нет".split(),
    "猫 犬 鳥".split(), "1 2 3 4 5".split(), "-1 0 1".split(), "A B C D".split(), "toxic|not toxic".split("|"),
    "strongly disagree|disagree|neutral|agree|strongly agree".split("|"), "cat dog horse cow pig sheep goat".split(),
    "0.0 0.5 1.0".split(), "low medium high".split(), "LOC PER ORG MISC O".split(), "positiv negativ neutral".split(),
    "0 1 2 3 4 5 6 7 8 9 10".split(), "spam ham".split(), "👍 👎".split(), [f"class {c}" for c in "abcdefghijkl"],
    ["It is about politics, I think", "It is not about politics"],
]

# --- names of columns -----------------------------------------------------------------------

USUAL = {
    "task": ["task", "item_id", "Question ID", "image", "document", "sample", "sentence_id", "hit", "example"],
    "worker": ["worker", "annotator", "workerId", "user", "rater", "Coder", "labeler", "participant", "reviewer"],
    "label": ["label", "answer", "rating", "response", "category", "annotation", "class", "judgement", "vote"],
}
FOREIGN = {
    "task": ["Aufgabe", "Bild", "obraz", "фото", "画像", "tâche", "pregunta", "Fall", "Anfrage", "ticket", "case_no", "pmid",
             "tweet_url", "Datei", "record", "stimulus", "utterance", "claim", "photo"],
    "worker": ["Person", "Bearbeiterin", "кто", "担当者", "annotateur", "usuario", "initials", "name", "Prüfer", "operator",
               "radiologist", "username", "handle", "pid", "who", "e-mail", "done_by", "nurse"],
    "label": ["Antwort", "verdict", "оценка", "判断", "étiquette", "respuesta", "is_spam", "toxic?", "score", "stars", "stance",
              "BI-RADS", "severity", "Befund", "said", "species", "relevance", "code", "mark", "q1"],
}
OTHER = {  # of columns that are none of the three
    "row id": ["id", "row", "annotation_id", "assignment_id", "response_id", "uuid", "nr", "#", "Unnamed: 0", "key"],
    "time": ["timestamp", "created_at", "submitted", "Datum", "when", "labeled_at", "t"],
    "duration": ["seconds", "duration", "lead_time", "time_spent", "Dauer", "rt"],
    "comment": ["comment", "notes", "remarks", "feedback", "Kommentar", "worker_comment", "explanation"],
    "confidence": ["confidence", "certainty", "how_sure", "label_confidence", "sicher"],
    "task text": ["text", "title", "body", "caption", "question_text", "content", "Beschreibung"],
    "task kind": ["topic", "source", "domain", "category_of_item", "split", "task_type", "dataset", "genre"],
    "task author": ["author", "user_name_of_author", "posted_by", "channel"],
    "gold": ["gold", "truth", "expected", "gold_label", "correct_answer", "ground_truth"],
    "country": ["country", "worker_country", "lang", "gender", "team"],
    "constant": ["project", "batch", "instructions", "status", "question", "version"],
    "session": ["session", "visit", "sitting", "round"],
}


@dataclass
class Made:
    """A file and the labels it holds: one set of (task, worker, label) for each way to name tasks and workers."""

    name: str
    content: bytes
    right: List[Set[Tuple[str, str, str]]]
    what: str
    arguments: List[str] = field(default_factory=list)
    must_read: bool = False


# --- crowds ---------------------------------------------------------------------------------

@dataclass
class Crowd:
    tasks: List[str]
    workers: List[str]
    labels: List[str]
    truths: List[int]
    rows: List[Tuple[int, int, int]]


def make_crowd(rng: random.Random, many: bool = True) -> Crowd:
    tasks = rng.choice([3, 5, 10, 30, 100, 400] if many else [4, 8, 25, 80])
    workers = rng.choice([2, 3, 5, 12, 40, 150])
    names = list(rng.choice(LABELS))
    shares = [rng.random() ** rng.choice([0, 1, 4]) + 0.01 for _ in names]  # even, or one class has nearly all
    each = rng.choice([2, 3, 3, 5, workers])
    qualities = [rng.choice([0.4, 0.7, 0.85, 0.95]) for _ in range(workers)]
    activity = [rng.random() ** rng.choice([0, 3]) + 0.01 for _ in range(workers)]  # all do as much, or a few do most
    truths = [rng.choices(range(len(names)), shares)[0] for _ in range(tasks)]
    ordered = rng.random() < 0.3
    rows = []
    for task, truth in enumerate(truths):
        chosen = sorted(range(workers), key=lambda w: rng.random() ** (1 / activity[w]), reverse=True)
        for worker in chosen[:max(1, min(each + rng.choice([0, 0, -1, 1]), workers))]:
            label = truth
            if rng.random() > qualities[worker]:
                near = [label - 1, label + 1] if ordered else range(len(names))
                label = rng.choice([other for other in near if 0 <= other < len(names)])
            rows.append((task, worker, label))
    order = rng.choice(["by task", "by worker", "shuffled"])
    if order == "by worker":
        rows.sort(key=lambda row: row[1])
    elif order == "shuffled":
        rng.shuffle(rows)
    return Crowd(task_values(rng, tasks), worker_values(rng, workers), names, truths, rows)


# Columns: kind, then the values by row.
def other_column(rng: random.Random, crowd: Crowd, kind: str) -> List[str]:
    rows = crowd.rows
    n = len(rows)
    if kind == "row id":
        how = rng.choice(["number", "uuid", "hex"])
        start = rng.choice([0, 1, 90_412])
        return [str(start + i) if how == "number" else a_uuid(rng) if how == "uuid" else f"{rng.getrandbits(48):012x}"
                for i in range(n)]
    if kind == "time":
        how = rng.choice(["iso", "epoch", "german", "american"])
        seconds = sorted(rng.randrange(0, 900_000) for _ in range(n))
        return [{"iso": f"2026-03-{1 + s // 86400:02}T{s // 3600 % 24:02}:{s // 60 % 60:02}:{s % 60:02}Z",
                 "epoch": str(1_770_000_000 + s),
                 "german": f"{1 + s // 86400:02}.03.2026 {s // 3600 % 24:02}:{s // 60 % 60:02}",
                 "american": f"3/{1 + s // 86400}/2026 {s // 3600 % 12 + 1}:{s // 60 % 60:02}"}[how] for s in seconds]
    if kind == "duration":
        whole = rng.random() < 0.5
        return [str(rng.randrange(2, 90)) if whole else f"{rng.random() * 60:.2f}" for _ in range(n)]
    if kind == "comment":
        return [sentence(rng, rng.randrange(2, 8)) if rng.random() < 0.2 else "" for _ in range(n)]
    if kind == "confidence":
        pool = rng.choice([["1", "2", "3", "4", "5"], ["low", "medium", "high"], ["0.5", "0.7", "0.9", "1.0"]])
        return [rng.choice(pool) for _ in range(n)]
    if kind == "task text":
        texts = [sentence(rng, 8) + f" ({t})" for t in range(len(crowd.tasks))]
        return [texts[t] for t, _, _ in rows]
    if kind in ("task kind", "task author"):
        pool = [sentence(rng, 1) + str(i) for i in range(rng.choice([2, 4, 9]))] if kind == "task kind" else FIRST
        of_task = [rng.choice(pool) for _ in crowd.tasks]
        return [of_task[t] for t, _, _ in rows]
    if kind == "gold":
        shown = rng.choice([1.0, 0.2])
        known = [crowd.labels[truth] if rng.random() < shown else "" for truth in crowd.truths]
        return [known[t] for t, _, _ in rows]
    if kind == "country":
        of_worker = [rng.choice(["DE", "FR", "US", "IN"]) for _ in crowd.workers]
        return [of_worker[w] for _, w, _ in rows]
    if kind == "constant":
        return [rng.choice(["pilot"])] * n
    assert kind == "session", kind
    size = rng.choice([3, 10])
    return [f"s{w}-{i // size}" if rng.random() < 2 else "" for i, (_, w, _) in enumerate(rows)]


def roles_names(rng: random.Random, style: str) -> Dict[str, str]:
    if style == "meaningless":
        return dict(zip(("task", "worker", "label"), rng.sample(["a", "b", "c", "x1", "x2", "col", "field_7", "V1", "V2", "V3"], 3)))
    names = {}
    for role in ("task", "worker", "label"):
        pool = USUAL if style == "usual" or (style == "mixed" and rng.random() < 0.5) else FOREIGN
        names[role] = rng.choice(pool[role])
    return names


# --- shapes ---------------------------------------------------------------------------------

def as_csv(rng: random.Random, header: Optional[List[str]], rows: List[List[str]]) -> Tuple[str, bytes, str]:
    """The file's name, its bytes, and how it is written."""
    separator = rng.choice([",", ",", ";", "\t", "|"])
    quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, quoting=quoting, lineterminator=rng.choice(["\n", "\r\n"]))
    if header is not None:
        writer.writerow(header)
    writer.writerows(rows)
    encoding = rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16"])
    content = text.getvalue()
    how = f"{separator!r}, {encoding}"
    if rng.random() < 0.1 and header is not None:
        content = f"sep={separator}\r\n" + content
        how += ", sep="
    if rng.random() < 0.2:
        content = content.rstrip("\r\n")
    return "labels." + rng.choice(["csv", "csv", "txt"]), content.encode(encoding), how


def as_json(rng: random.Random, header: List[str], rows: List[List[str]]) -> Tuple[str, bytes, str]:
    def value(text: str) -> object:
        return int(text) if numbers and text.isdigit() and len(text) < 10 and str(int(text)) == text else text or None

    numbers = rng.random() < 0.5
    objects = [{name: value(cell) for name, cell in zip(header, row)} for row in rows]
    how = rng.choice(["lines", "array", "indented", "columns", "by id"])
    if how == "lines":
        return "labels.jsonl", "".join(json.dumps(one, ensure_ascii=rng.random() < 0.5) + "\n" for one in objects).encode(), how
    if how == "columns":
        content: object = {name: [one[name] for one in objects] for name in header}
    elif how == "by id":
        content = {f"r{i}": one for i, one in enumerate(objects)}
    else:
        content = objects
    return "labels.json", json.dumps(content, indent=2 if how == "indented" else None).encode(), how


def ways_right(crowd: Crowd, columns: Dict[str, List[str]], task: str, worker: str, label: str) -> List[Set[Tuple[str, str, str]]]:
    """The labels, also with columns that say the same as that of tasks or workers under other names."""
    def same(a: List[str], b: List[str]) -> bool:
        return len(set(a)) == len(set(b)) == len(set(zip(a, b)))

    ways = []
    for t in [task] + [name for name in columns if name not in (task, worker, label) and same(columns[name], columns[task])]:
        for w in [worker] + [name for name in columns if name not in (task, worker, label) and same(columns[name], columns[worker])]:
            for given in [label] + [name for name in columns if name not in (task, worker, label) and columns[name] == columns[label]]:
                ways.append({(a.strip(), b.strip(), c.strip()) for a, b, c in zip(columns[t], columns[w], columns[given])})
    return ways


def long_table(rng: random.Random) -> Made:
    crowd = make_crowd(rng)
    style = rng.choice(["usual", "foreign", "mixed", "meaningless"])
    names = roles_names(rng, style)
    columns = {names["task"]: [crowd.tasks[t] for t, _, _ in crowd.rows],
               names["worker"]: [crowd.workers[w] for _, w, _ in crowd.rows],
               names["label"]: [crowd.labels[c] for _, _, c in crowd.rows]}
    kinds = rng.sample(list(OTHER), rng.choice([0, 0, 1, 2, 4, 7]))
    for kind in kinds:
        name = rng.choice(OTHER[kind])
        if name.lower() not in {known.lower() for known in columns}:
            columns[name] = other_column(rng, crowd, kind)
    ways = ways_right(crowd, columns, *(names[role] for role in ("task", "worker", "label")))
    header = list(columns)
    shape = rng.choice(["header", "header", "header", "no header", "json", "pasted", "title"])
    if shape != "no header" or len(header) > 3:  # three columns without names are task, worker and label, as docs say
        rng.shuffle(header)
    rows = [list(row) for row in zip(*(columns[name] for name in header))]
    if shape == "json":
        name, content, how = as_json(rng, header, rows)
    elif shape == "no header":
        name, content, how = as_csv(rng, None, rows)
    elif shape == "pasted":
        middle = len(rows) // 2
        name, content, how = as_csv(rng, header, rows[:middle] + [header] + rows[middle:])
    elif shape == "title":
        name, content, how = as_csv(rng, ["Export of 3 March"], [["all rows"], header, *rows])
    else:
        name, content, how = as_csv(rng, header, rows)
    what = (f"{shape}, {how}; {style} names {names}; {len(crowd.rows)} rows of {len(crowd.tasks)} tasks by {len(crowd.workers)} "
            f"workers, {len(crowd.labels)} classes; with {kinds}")
    return Made(name, content, ways, what, must_read=style == "usual" and shape == "header" and not kinds)


def wide_table(rng: random.Random) -> Made:
    crowd = make_crowd(rng, many=False)
    workers = sorted({w for _, w, _ in crowd.rows})[:rng.choice([2, 3, 4, 9, 30])]
    kind = rng.choice(["names", "w1", "rater", "Annotator A", "numbers", "own"])
    heads = {w: {"names": FIRST[i % 20] + ("" if i < 20 else str(i)), "w1": f"w{i + 1}", "rater": f"rater_{i + 1}",
                 "Annotator A": f"Annotator {chr(65 + i)}", "numbers": str(i + 1), "own": crowd.workers[w]}[kind]
             for i, w in enumerate(workers)}
    cells: Dict[int, Dict[int, str]] = collections.defaultdict(dict)
    for t, w, label in crowd.rows:
        if w in heads:
            cells[t][w] = crowd.labels[label]
    empty = rng.choice(["", "", "NaN", "NA"])
    task = rng.choice(USUAL["task"] + FOREIGN["task"] + ["", "id"])
    columns = {task: [crowd.tasks[t] for t in cells]}
    right = {(crowd.tasks[t], heads[w], label) for t, of_task in cells.items() for w, label in of_task.items()}
    for w in workers:
        columns[heads[w]] = [cells[t].get(w, empty) for t in cells]
    extras = rng.sample(["gold", "task text", "task kind"], rng.choice([0, 0, 1, 2]))
    for extra in extras:
        name = rng.choice(OTHER[extra])
        if name in columns:
            continue
        columns[name] = ([crowd.labels[crowd.truths[t]] for t in cells] if extra == "gold" else
                         [sentence(rng, 9) + f" {t}" for t in cells] if extra == "task text" else
                         [rng.choice(["news", "blog"]) for _ in cells])
    header = list(columns)
    rows = [list(row) for row in zip(*(columns[name] for name in header))]
    name, content, how = as_csv(rng, header, rows) if rng.random() < 0.8 else as_json(rng, header, rows)
    what = f"wide, {how}; {len(cells)} tasks by {len(workers)} workers called {kind}, task '{task}', with {extras}, empty {empty!r}"
    ways = [right]
    if how == "by id":
        of = {crowd.tasks[t]: f"r{i}" for i, t in enumerate(cells)}
        ways.append({(of[t], w, c) for t, w, c in right})
    if "task text" in extras:
        texts = [name for name in columns if name in OTHER["task text"]]
        for text in texts:
            of = dict(zip(columns[task], columns[text]))
            ways.append({(of[t], w, c) for t, w, c in right})
    return Made(name, content, ways, what)


# --- trying ---------------------------------------------------------------------------------

def labels_in(text: str) -> Set[Tuple[str, str, str]]:
    return {(row[0], row[1], row[2]) for row in list(csv.reader(io.StringIO(text, newline="")))[1:] if row[2]}


def attempt(binary: Path, folder: Path, made: Made) -> Tuple[str, str]:
    folder.mkdir(parents=True)
    (folder / made.name).write_bytes(made.content)
    done = subprocess.run([binary, "import", made.name, "--threads", "1", *made.arguments], cwd=folder, capture_output=True,
                          check=False)
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode not in (0, 1, 2):
        return "crashed", said
    if done.returncode != 0:
        return "refused", said
    got = labels_in(done.stdout.decode("utf-8"))
    wanted = [{row for row in way if row[2]} for way in made.right]
    return ("right" if got in wanted else "wrong"), said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="keep the files that are not read right in this folder")
    parser.add_argument("--show-refused", action="store_true")
    options = parser.parse_args()
    binary = options.binary.resolve()
    counts: Dict[str, int] = collections.Counter()
    failures = 0
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(2) as pool:
        top = Path(options.keep or scratch)
        makers = [long_table, long_table, wide_table]

        def one(seed: int) -> Tuple[int, Made, str, str]:
            rng = random.Random(seed)
            made = makers[seed % len(makers)](rng)
            outcome, said = attempt(binary, top / str(seed), made)
            return seed, made, outcome, said

        for seed, made, outcome, said in pool.map(one, range(options.seed, options.seed + options.files)):
            counts[outcome] += 1
            fault = outcome in ("wrong", "crashed") or (outcome == "refused" and made.must_read)
            failures += fault
            if fault or (options.show_refused and outcome == "refused"):
                print(f"seed {seed}: {outcome}: {made.what}\n    {said.strip()}")
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
