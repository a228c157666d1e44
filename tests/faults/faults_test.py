#!/usr/bin/env python3
"""Lets every single call of a command that may fail do so, and looks at what the command says and leaves behind.

    faults_test.py --binary crowdfold --layer libcrowdfold_faults.so [--allocations N] [--only NAME ...] [--jobs CORES]

Every command runs once without a fault, which counts its calls; then once for every opening of a file to write, every write
(no room; an error of the device), sync, truncation, renaming, print and allocation (at most N of these, evenly spread). Then
  - it ends with 0, and everything is as without the fault, or with 1 and one sentence on standard error;
  - every output is what it was before, or whole; no temporary file is left;
  - a state holds every event that was acknowledged, and a stream that goes on from it ends where the undisturbed one did; other
    commands change a state altogether, or not at all.
"""
import argparse
import bz2
import collections
import concurrent.futures
import copy
import dataclasses
import errno
import gzip
import json
import lzma
import os
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from typing import Optional

TABLES = ("config", "classes", "workers", "worker_counts", "confusion", "crowd", "tasks", "labels", "events")
OLD = b"what was there before\n"
# Kinds of calls, with the errors that they are given.
FAULTS = {"open": (errno.EACCES, errno.EMFILE), "write": (errno.ENOSPC, errno.EIO), "sync": (errno.EIO,), "truncate": (errno.EIO,),
          "rename": (errno.EIO,), "stdout": (errno.EIO,), "stderr": (errno.EIO,), "memory": (errno.ENOMEM,)}
# All commands begin as the first case does, which does nothing else; its last allocations are its own.
COMMON_MARGIN = 50
SECONDS = re.compile(rb" +\d+\.\d{4}$|\"seconds\": .*", re.MULTILINE)  # that `compare` prints
STREAM = ["stream", "--state", "s.db", "--ack", "--keep-open", "--labels-per-task", "3", "--commit-every", "9"]


@dataclasses.dataclass
class Case:
    name: str
    command: list[str]
    outputs: list[str] = dataclasses.field(default_factory=list)
    states: list[str] = dataclasses.field(default_factory=list)  # that it changes
    inputs: dict[str, str] = dataclasses.field(default_factory=dict)  # name in the folder -> one of the prepared files
    says: bool = True  # something, unless it is told to be quiet
    goes_on: bool = False  # a stream, from where it failed


CASES = [
    Case("version", ["--version"], says=False),
    Case("aggregate", "aggregate labels.csv -m ds -o a.csv --workers-out w.csv --confusion-out c.csv --threads 2".split(),
         ["a.csv", "w.csv", "c.csv"], inputs={"labels.csv": "labels.csv"}),
    Case("aggregate-posterior", "aggregate labels.csv -o a.jsonl --posterior --truth truth.csv --threads 1".split(), ["a.jsonl"],
         inputs={"labels.csv": "labels.csv", "truth.csv": "truth.csv"}),
    Case("aggregate-low-memory", "aggregate labels.csv -m twopass --low-memory -o a.csv --workers-out w.csv --threads 1".split(),
         ["a.csv", "w.csv"], inputs={"labels.csv": "labels.csv"}),
    Case("aggregate-scattered", "aggregate labels.csv -m mv --low-memory -o a.csv --threads 2".split(), ["a.csv"],
         inputs={"labels.csv": "scattered.csv"}),
    Case("aggregate-compressed", "aggregate labels.csv -m mv -o a.csv.gz --workers-out w.json.zst --threads 1".split(),
         ["a.csv.gz", "w.json.zst"], inputs={"labels.csv": "labels.csv"}),
    Case("aggregate-print", "aggregate labels.csv --threads 1".split(), inputs={"labels.csv": "labels.csv"}),
    Case("aggregate-json", "aggregate labels.jsonl -m mv -o a.csv --threads 1".split(), ["a.csv"],
         inputs={"labels.jsonl": "labels.jsonl"}),
    Case("aggregate-json-low-memory", "aggregate labels.jsonl -m mv --low-memory -o a.csv --threads 1".split(), ["a.csv"],
         inputs={"labels.jsonl": "labels.jsonl"}),
    Case("aggregate-json-document", "aggregate labels.json -m mv -o a.json --threads 1".split(), ["a.json"],
         inputs={"labels.json": "labels.json"}),
    *(Case(f"aggregate-{kind}", f"aggregate labels.{kind} -m mv -o a.csv --threads 1".split(), ["a.csv"],
           inputs={f"labels.{kind}": f"labels.{kind}"}) for kind in ("gz", "zst", "bz2", "xz", "zip", "utf16")),
    Case("aggregate-wide", "aggregate wide.csv --wide -o a.csv --workers-in workers.csv --threads 1".split(), ["a.csv"],
         inputs={"wide.csv": "wide.csv", "workers.csv": "workers.csv"}),
    Case("pack", "pack labels.csv -o l.cfp --threads 1".split(), ["l.cfp"], inputs={"labels.csv": "labels.csv"}),
    Case("pack-scattered", "pack labels.csv -o l.cfp --threads 2".split(), ["l.cfp"], inputs={"labels.csv": "scattered.csv"}),
    Case("pack-beyond-memory", "pack labels.csv -o l.cfp --max-memory 1MB --spill tmp --threads 1".split(), ["l.cfp"],
         inputs={"labels.csv": "long.csv"}),
    Case("pack-export", "pack assignments.csv -o l.cfp --threads 1".split(), ["l.cfp"],
         inputs={"assignments.csv": "assignments.csv"}),
    Case("pack-packed", "pack labels.cfp -o l.cfp --without-workers w1 --threads 2".split(), ["l.cfp"],
         inputs={"labels.cfp": "labels.cfp"}),
    Case("aggregate-packed", "aggregate labels.cfp -m ds -o a.csv --threads 2".split(), ["a.csv"], inputs={"labels.cfp": "labels.cfp"}),
    Case("aggregate-packed-low-memory", "aggregate labels.cfp -m twopass --low-memory -o a.csv --threads 1".split(), ["a.csv"],
         inputs={"labels.cfp": "labels.cfp"}),
    Case("aggregate-packed-several", "aggregate labels.cfp more.cfp -m mv -o a.csv --threads 1".split(), ["a.csv"],
         inputs={"labels.cfp": "labels.cfp", "more.cfp": "more.cfp"}),
    Case("aggregate-spilled", "aggregate labels.csv -m ds --spill . -o a.csv --workers-out w.csv --confusion-out c.csv --threads 2".split(),
         ["a.csv", "w.csv", "c.csv"], inputs={"labels.csv": "labels.csv"}),
    Case("aggregate-spilled-scattered", "aggregate labels.csv -m mv --spill . --truth truth.csv -o a.csv --threads 1".split(), ["a.csv"],
         inputs={"labels.csv": "scattered.csv", "truth.csv": "truth.csv"}),
    Case("import-export", "import assignments.csv -o l.csv --truth-out t.csv --threads 1".split(), ["l.csv", "t.csv"],
         inputs={"assignments.csv": "assignments.csv"}),
    Case("import-export-json", "import export.json -o l.csv --threads 1".split(), ["l.csv"], inputs={"export.json": "export.json"}),
    Case("import-export-xml", "import export.xml -o l.csv --threads 1".split(), ["l.csv"], inputs={"export.xml": "export.xml"}),
    Case("evaluate", "evaluate answers.csv truth.csv".split(), inputs={"answers.csv": "answers.csv", "truth.csv": "truth.csv"}),
    Case("evaluate-json", "evaluate answers.jsonl truth.csv --json".split(),
         inputs={"answers.jsonl": "answers.jsonl", "truth.csv": "truth.csv"}),
    Case("compare", "compare labels.csv --truth truth.csv --methods mv,ds,live --runs 2 --threads 1".split(),
         inputs={"labels.csv": "labels.csv", "truth.csv": "truth.csv"}),
    Case("compare-spilled", "compare labels.csv --truth truth.csv --methods mv,ds --runs 1 --threads 1 --spill .".split(),
         inputs={"labels.csv": "labels.csv", "truth.csv": "truth.csv"}),
    Case("compare-json", "compare labels.csv --truth truth.csv --methods mv,wawa --runs 1 --threads 1 --json".split(),
         inputs={"labels.csv": "labels.csv", "truth.csv": "truth.csv"}),
    Case("workers", "workers labels.csv --rule".split() + ["quality<0.9"] + "-o w.csv --threads 1".split(), ["w.csv"],
         inputs={"labels.csv": "labels.csv"}),
    Case("workers-review", "workers labels.csv --rule".split() + ["quality<0.9"] + "--mturk batch.csv -o r.csv --threads 1".split(),
         ["r.csv"], inputs={"labels.csv": "labels.csv", "batch.csv": "batch.csv"}),
    Case("agreement", "agreement labels.csv --json --threads 1".split(), inputs={"labels.csv": "labels.csv"}),
    Case("jury", "jury labels.csv --truth truth.csv -o j.json --threads 1".split(), ["j.json"],
         inputs={"labels.csv": "labels.csv", "truth.csv": "truth.csv"}),
    Case("budget", "budget labels.csv --truth truth.csv --runs 1 --threads 1".split(),
         inputs={"labels.csv": "labels.csv", "truth.csv": "truth.csv"}),
    Case("export-to-appen", "export answers.csv --to appen --question q -o q.csv".split(), ["q.csv"],
         inputs={"answers.csv": "answers.csv"}),
    Case("export-to-label-studio", "export answers.jsonl --to label-studio --question q --object o -o q.json".split(), ["q.json"],
         inputs={"answers.jsonl": "answers.jsonl"}),
    Case("report", "report labels.csv --methods none -o r.json --threads 1".split(), ["r.json"], inputs={"labels.csv": "labels.csv"}),
    Case("report-of-truths", "report labels.json --truth truth.csv --methods mv -o r.json --threads 2".split(), ["r.json"],
         inputs={"labels.json": "labels.json", "truth.csv": "truth.csv"}),
    Case("simulate", "simulate --tasks 20 --workers 5 -o l.csv --truth-out t.csv --workers-out w.csv".split(),
         ["l.csv", "t.csv", "w.csv"]),
    Case("simulate-packed", "simulate --tasks 20 --workers 5 -o l.cfp --truth-out t.csv".split(), ["l.cfp", "t.csv"]),
    Case("stream", [*STREAM, "events"], states=["s.db"], inputs={"events": "events.jsonl"}, goes_on=True),
    Case("stream-goes-on", [*STREAM, "events"], states=["s.db"], inputs={"events": "more-events.jsonl", "s.db": "a.db"}, goes_on=True),
    Case("stream-of-rows", [*STREAM, "--no-header", "events"], states=["s.db"], inputs={"events": "rows.csv", "s.db": "a.db"},
         goes_on=True),
    Case("merge", "state merge s.db b.db".split(), states=["s.db"], inputs={"s.db": "a.db", "b.db": "b.db"}),
    Case("merge-into-new", "state merge s.db a.db b.db".split(), states=["s.db"], inputs={"a.db": "a.db", "b.db": "b.db"}),
    Case("import-new", "state import n.db workers.csv".split(), states=["n.db"], inputs={"workers.csv": "workers.csv"}),
    Case("import", "state import s.db workers.csv".split(), states=["s.db"], inputs={"s.db": "a.db", "workers.csv": "workers.csv"}),
    Case("rejudge", "state rejudge s.db".split(), states=["s.db"], inputs={"s.db": "a.db"}),
    Case("export", "state export a.db -o w.csv --threads 1".split(), ["w.csv"], inputs={"a.db": "a.db"}),
    Case("show", "state show a.db".split(), inputs={"a.db": "a.db"}),
    Case("check", "state check a.db".split(), inputs={"a.db": "a.db"}),
    Case("next", "next a.db".split(), inputs={"a.db": "a.db"}),
]


class Failure(Exception):
    """Something that must hold does not."""


def require(holds: bool, what: str) -> None:
    if not holds:
        raise Failure(what)


@dataclasses.dataclass
class Run:
    code: int
    stdout: bytes
    stderr: str


class Machine:
    """Runs commands in folders, with a fault or without."""

    def __init__(self, binary: str, layer: str) -> None:
        self.binary, self.layer = binary, layer

    def run(self, folder: pathlib.Path, command: list[str], quiet: bool, **environment: str) -> Run:
        temporary = folder / "tmp"
        temporary.mkdir(exist_ok=True)
        if environment:
            environment["LD_PRELOAD"] = self.layer
        done = subprocess.run([self.binary, *command, *(["--quiet"] if quiet else [])], cwd=folder, capture_output=True,
                              stdin=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(temporary), **environment}, check=False)
        return Run(done.returncode, SECONDS.sub(b"", done.stdout), done.stderr.decode(errors="replace"))


def events_of(state: Optional[dict]) -> int:
    return dict(state["config"])["events"] if state else 0


def content(state: pathlib.Path) -> Optional[dict[str, list]]:
    """Everything in a state; None if there is nothing in it yet."""
    if not state.exists():
        return None
    database = sqlite3.connect(state)
    try:
        if not database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            return None
        tables = {table: sorted(database.execute(f"SELECT * FROM {table}").fetchall(), key=repr) for table in TABLES}
        return tables if tables["workers"] or events_of(tables) else None
    finally:
        database.close()


def acknowledged(stdout: bytes) -> int:
    counts = [json.loads(line)["ack"] for line in stdout.splitlines() if line.startswith(b'{"ack"') and line.endswith(b"}")]
    return counts[-1] if counts else 0


def labels_of_a_crowd(rng: random.Random) -> list[tuple[str, str, str]]:
    return [(f"t{t}", f"w{w}", rng.choice("aaab") if t % 2 else rng.choice("bbba")) for t in range(12) for w in rng.sample(range(6), 4)]


def some_events(count: int, rng: random.Random) -> str:
    lines = []
    for i in range(count):
        task, worker, label = f"t{i // 4}", f"w{rng.randrange(5)}", rng.choice("ab")
        event = {"task": task, "worker": worker, "label": label}
        if i % 11 == 7:
            event = {"truth": {"task": task, "label": label}}
        elif i % 13 == 9:
            event = {"retract": {"task": task, "worker": worker}}
        lines.append(json.dumps(event) + "\n")
    return "".join(lines)


def prepare(machine: Machine, folder: pathlib.Path) -> None:
    """The files that cases begin with."""
    rng = random.Random(1)
    rows = labels_of_a_crowd(rng)

    def put(name: str, header: str, lines: list) -> None:
        (folder / name).write_text("\n".join([header, *(",".join(line) for line in lines)]) + "\n")

    put("labels.csv", "task,worker,label", rows)
    put("rows.csv", *(",".join(row) for row in rows[:1]), rows[1:30])
    put("scattered.csv", "task,worker,label", rng.sample(rows, len(rows)))
    # Of several blocks, so that rows are written to files where they may not take memory.
    put("long.csv", "task,worker,label", [(f"task number {rng.randrange(999)}", f"w{i % 50}", "ab"[i % 2]) for i in range(30000)])
    put("assignments.csv", "INPUT:task,ASSIGNMENT:worker_id,OUTPUT:result,GOLDEN:result",
        [*((*row, "") for row in rows), ("t1", "w1", "a", "a")])
    (folder / "export.json").write_text(json.dumps([{"id": task, "data": {}, "annotations": [
        {"completed_by": worker, "result": [{"from_name": "q", "value": {"choices": [label]}}]}]} for task, worker, label in rows]))
    (folder / "export.xml").write_text("<annotations><meta><job><assignee><username>ann</username></assignee></job></meta>" + "".join(
        f'<image id="{t}" name="{t}.jpg"><tag label="{"ab"[t % 2]}" source="manual"></tag></image>' for t in range(9))
        + "</annotations>")
    (folder / "labels.jsonl").write_text("".join(
        json.dumps({"task": task, "worker": worker, "label": label + "\u00e9"}) + "\n" for task, worker, label in rows))
    (folder / "labels.json").write_text(json.dumps([{"task": task, "worker": worker, "label": label} for task, worker, label in rows]))
    text = (folder / "labels.csv").read_bytes()
    (folder / "labels.gz").write_bytes(gzip.compress(text))
    (folder / "labels.bz2").write_bytes(bz2.compress(text))
    (folder / "labels.xz").write_bytes(lzma.compress(text))
    (folder / "labels.zst").write_bytes(subprocess.run(["zstd", "-q", "-c"], input=text, stdout=subprocess.PIPE, check=True).stdout)
    (folder / "labels.utf16").write_bytes(text.decode().encode("utf-16"))
    with zipfile.ZipFile(folder / "labels.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("labels.csv", text)
    put("wide.csv", "task,w1,w2,w3", [(f"t{t}", *rng.choices("ab", k=3)) for t in range(6)])
    put("batch.csv", "HITId,WorkerId,AssignmentStatus", [(task, worker, "Submitted") for task, worker, _ in rows])
    (folder / "answers.jsonl").write_text("".join(json.dumps(
        {"task": f"t{t}", "label": "ab"[t % 2], "confidence": .8, "posterior": {"a": .8, "b": .2}}) + "\n" for t in range(6)))
    put("truth.csv", "task,label", [(f"t{t}", "a") for t in range(6)])
    put("workers.csv", "worker,quality,labels", [("w1", ".75", "4"), ("new", ".5", "6")])
    put("answers.csv", "task,label,confidence", [(f"t{t}", "ab"[t % 2], ".8") for t in range(6)])
    (folder / "events.jsonl").write_text(some_events(45, rng))
    (folder / "more-events.jsonl").write_text(some_events(30, rng))
    packed = machine.run(folder, ["pack", "labels.csv", "-o", "labels.cfp"], True)
    require(packed.code == 0, f"no packed labels to begin with: {packed.stderr}")
    put("more.csv", "task,worker,label", [("more", "w1", "a"), ("more", "w9", "b")])
    packed = machine.run(folder, ["pack", "more.csv", "-o", "more.cfp"], True)
    require(packed.code == 0, f"no more packed labels: {packed.stderr}")
    for name in ("a.db", "b.db"):
        (folder / "first.jsonl").write_text(some_events(40, rng))
        done = machine.run(folder, ["stream", "first.jsonl", "--state", name, "--labels-per-task", "3", "--keep-open"], True)
        require(done.code == 0, f"no state to begin with: {done.stderr}")


class Trial:
    """One case in a folder of its own, and what it must come to."""

    def __init__(self, machine: Machine, case: Case, prepared: pathlib.Path, folder: pathlib.Path) -> None:
        self.machine, self.case, self.prepared, self.folder = machine, case, prepared, folder

    def begin(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        for name, source in self.case.inputs.items():
            shutil.copyfile(self.prepared / source, self.folder / name)
        for name in self.case.outputs[::2]:  # the others are not there before
            (self.folder / name).write_bytes(OLD)

    def outputs(self) -> dict[str, Optional[bytes]]:
        paths = {name: self.folder / name for name in self.case.outputs}
        return {name: path.read_bytes() if path.exists() else None for name, path in paths.items()}

    def states(self) -> dict[str, Optional[dict]]:
        return {name: content(self.folder / name) for name in self.case.states}

    def undisturbed(self) -> dict[str, int]:
        """Remembers what the case comes to; the numbers of calls of each kind."""
        self.begin()
        self.old_outputs, self.old_states = self.outputs(), self.states()
        self.begin()  # looking into a state may change its file
        self.good = self.machine.run(self.folder, self.case.command, self.case.says, CROWDFOLD_COUNTS=str(self.folder / "counts"))
        require(self.good.code == 0, f"without a fault: exit {self.good.code}: {self.good.stderr}")
        counts = self.counts()
        self.new_outputs, self.new_states = self.outputs(), self.states()
        self.begin()
        self.machine.run(self.folder, self.case.command, False, CROWDFOLD_COUNTS=str(self.folder / "counts"))
        return {**counts, "stderr": self.counts()["stderr"]}

    def counts(self) -> dict[str, int]:
        pairs = (line.split() for line in (self.folder / "counts").read_text().splitlines())
        return {kind: int(count) for kind, count in pairs}

    def disturbed(self, kind: str, number: int, error: int) -> str:
        """What came of it: 'tolerated' or 'failed'."""
        self.begin()
        quiet = self.case.says and kind != "stderr"
        done = self.machine.run(self.folder, self.case.command, quiet, CROWDFOLD_FAULT=f"{kind}:{number}:{error}")
        said = done.stderr.splitlines()
        require(done.code in (0, 1), f"exit {done.code}: {done.stderr[-300:]}")
        require(done.code == 0 or kind != "stderr", "it failed, as it could not say something that nobody needs")
        if done.code == 1:
            require(len(said) == 1 and said[0].startswith("crowdfold: ") and len(said[0]) > 20, f"it said: {done.stderr[:300]!r}")
        if done.code == 0:
            require(self.outputs() == self.new_outputs, "it ended with 0, and an output is not whole")
            require(done.stdout == self.good.stdout, "it ended with 0, and printed something else")
        for name, found in self.outputs().items():
            require(found in (self.old_outputs[name], self.new_outputs[name]), f"{name} is neither as before nor whole")
        self.require_no_rest()
        if self.case.goes_on:
            self.go_on(done)
        else:
            for name, found in self.states().items():
                allowed = (self.new_states[name],) if done.code == 0 else (self.old_states[name], self.new_states[name])
                require(found in allowed, f"{name} is neither as before nor as after")
        return "tolerated" if done.code == 0 else "failed"

    def require_no_rest(self) -> None:
        known = {"tmp", "counts", *self.case.inputs, *self.case.outputs}
        for state in [*self.case.states, *(name for name in self.case.inputs if name.endswith(".db"))]:
            known |= {state, state + "-wal", state + "-shm", state + "-journal"}
        rest = {path.name for path in self.folder.iterdir()} - known | {path.name for path in (self.folder / "tmp").iterdir()}
        # Files that a mended program keeps beside a state, by which it knows that another writes to it.
        rest = {name for name in rest if not name.endswith("-lock") and not name.endswith(".lock")}
        require(not rest, f"left behind: {', '.join(sorted(rest))}")

    def go_on(self, done: Run) -> None:
        """A stream goes on from the events that its state holds, and comes to the same."""
        first, there = events_of(self.old_states["s.db"]), self.events_in("s.db")
        require(there >= first + acknowledged(done.stdout), f"{acknowledged(done.stdout)} events acknowledged, {there - first} there")
        lines = (self.folder / "events").read_text().splitlines(keepends=True)
        left = lines[max(0, there - first):]
        (self.folder / "events").write_text("".join(left))
        if left:
            rest = self.machine.run(self.folder, self.case.command, True)
            require(rest.code == 0, f"it cannot go on: {rest.stderr[:300]}")
        require(self.states() == self.new_states, "the state differs from the undisturbed one")

    def events_in(self, state: str) -> int:
        told = self.machine.run(self.folder, ["state", "events", state], True)
        return int(told.stdout) if told.code == 0 else 0  # it failed before there was a state


def faults(counts: dict[str, int], common: int, most_allocations: Optional[int]) -> list[tuple[str, int, int]]:
    """Kind, number of the call, error. Allocations before `common` are the same in all commands."""
    chosen = []
    for kind, errors in FAULTS.items():
        first = common + 1 if kind == "memory" else 1
        stride = max(1, -(-(counts[kind] - common) // most_allocations)) if kind == "memory" and most_allocations else 1
        chosen += [(kind, number, error) for number in range(first, counts[kind] + 1, stride) for error in errors]
    return chosen


def try_all(machine: Machine, case: Case, prepared: pathlib.Path, folder: pathlib.Path, options: argparse.Namespace) -> list[str]:
    """What does not hold, in words."""
    folder.mkdir()
    model = Trial(machine, case, prepared, folder / "undisturbed")
    counts = model.undisturbed()

    def attempt(job: tuple[int, tuple[str, int, int]]) -> tuple[str, Optional[str]]:
        place, (kind, number, error) = job
        trial = copy.copy(model)
        trial.folder = folder / str(place)
        try:
            return trial.disturbed(kind, number, error), None
        except Failure as failure:
            return "wrong", f"{case.name}, {kind} {number} of {counts[kind]}, {errno.errorcode[error]}: {failure}"
        finally:
            shutil.rmtree(trial.folder, ignore_errors=True)

    chosen = faults(counts, options.common, options.allocations)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(attempt, enumerate(chosen)))
    shutil.rmtree(folder, ignore_errors=True)
    came = collections.Counter(what for what, _ in results)
    of_memory = sum(kind == "memory" for kind, _, _ in chosen)
    print(f"{case.name}: {len(chosen)} faults, {of_memory} of them of {counts['memory']} allocations; {came['failed']} ended it, "
          f"{came['tolerated']} were tolerated, {came['wrong']} wrong", flush=True)
    return [wrong for _, wrong in results if wrong]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--layer", required=True)
    parser.add_argument("--allocations", type=int, metavar="N", help="how many of a command's allocations fail at most; default: all")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    machine = Machine(os.path.abspath(options.binary), os.path.abspath(options.layer))
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    wrong = []
    with tempfile.TemporaryDirectory(dir=in_memory) as name:
        prepared = pathlib.Path(name) / "prepared"
        prepared.mkdir()
        prepare(machine, prepared)
        declared = Trial(machine, CASES[0], prepared, pathlib.Path(name) / "counted").undisturbed()["memory"]
        for case in CASES:
            options.common = 0 if case is CASES[0] else declared - COMMON_MARGIN
            if not options.only or case.name in options.only:
                wrong += try_all(machine, case, prepared, pathlib.Path(name) / case.name, options)
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
