#!/usr/bin/env python3
"""Kills a stream at random points, again and again, goes on, and compares its state with that of an undisturbed run.

    kill_test.py --binary crowdfold [--rounds 40] [--events 12000] [--seed 1]

Two ways to go on: from the number of events that the state holds; and, where events have ids, from the last one that was
acknowledged, so that some come twice. Every event that was acknowledged must be there. After some of the kills, the log ends
with a write that was torn: more behind what was committed, or less, or zeros. Then the same with a disk that is full for a while:
files may not grow beyond a size. What a disk loses when the power fails, power_loss_test.py tries.
"""
import argparse
import concurrent.futures
import json
import pathlib
import random
import resource
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile

TABLES = ("config", "classes", "workers", "worker_counts", "confusion", "crowd", "tasks", "labels", "events")
FLAGS = ["--labels-per-task", "4", "--alarm-below", ".5", "--keep-open", "--ack", "--quiet"]


def some_events(count: int, ids: bool, rng: random.Random) -> list[str]:
    """Labels of some open tasks at a time, with corrections, retractions, truths and closings."""
    lines = []
    for i in range(count):
        task = f"task {i // 8 + rng.randrange(-6, 7)}"
        worker = f"worker {rng.randrange(40)}"
        label = rng.choice("aaab") if rng.random() < 0.9 else rng.choice("abc")
        kind = rng.random()
        if kind < 0.02:
            event = {"truth": {"task": task, "label": label}}
        elif kind < 0.06:
            event = {"retract": {"task": task, "worker": worker}}
        elif kind < 0.08:
            event = {"close": task}
        else:
            event = {"task": task, "worker": worker, "label": label}
        if ids:
            event["id"] = str(i)
        lines.append(json.dumps(event) + "\n")
    return lines


def content(state: pathlib.Path) -> dict[str, list]:
    with sqlite3.connect(f"file:{state}?mode=ro", uri=True) as database:
        return {table: sorted(database.execute(f"SELECT * FROM {table}").fetchall(), key=repr) for table in TABLES}


def events_in(binary: str, state: pathlib.Path) -> int:
    """As crowdfold tells it. A client that may only read does not look for what a killed writer left in the log last."""
    told = subprocess.run([binary, "state", "events", str(state)], capture_output=True, text=True, check=False)
    return int(told.stdout) if told.returncode == 0 else 0  # it was killed before there was a state


def run(binary: str, state: pathlib.Path, lines: list[str], commit_every: int, seconds: float | None) -> tuple[int, bool]:
    """Feeds the lines, and kills the stream after some seconds. The number of events acknowledged, and whether it was killed."""
    with tempfile.TemporaryFile() as events, tempfile.TemporaryFile() as output:
        events.write("".join(lines).encode())
        events.seek(0)
        command = [binary, "stream", "--state", str(state), "--commit-every", str(commit_every), *FLAGS]
        with subprocess.Popen(command, stdin=events, stdout=output) as process:
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                code = process.wait()
        if code not in (0, -signal.SIGKILL):
            sys.exit(f"the stream ended with {code}")
        output.seek(0)
        acknowledged = [json.loads(line)["ack"] for line in output if line.startswith(b'{"ack"') and line.endswith(b"}\n")]
    return acknowledged[-1] if acknowledged else 0, code != 0


def full_disk(binary: str, folder: pathlib.Path, lines: list[str]) -> None:
    """A stream whose files cannot grow says so, and goes on once they can."""
    state = folder / "full.db"
    command = [binary, "stream", "--state", str(state), "--commit-every", "200", *FLAGS]

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    stopped = subprocess.run(command, input="".join(lines), text=True, capture_output=True, preexec_fn=limit, check=False)
    acknowledged = [json.loads(line)["ack"] for line in stopped.stdout.splitlines() if line.startswith('{"ack"')]
    there = events_in(binary, state)
    if stopped.returncode != 1 or not acknowledged or there < acknowledged[-1]:
        sys.exit(f"with a full disk: exit {stopped.returncode}, {acknowledged[-1:]} acknowledged, {there} there")
    run(binary, state, lines[there:], 1000, None)


def committed_bytes(log: bytes) -> int:
    """Where the last transaction that was committed ends in the log. What follows may be lost; what is before was synced."""
    page, salts, end = struct.unpack_from(">I", log, 8)[0], log[16:24], 32
    for at in range(32, len(log) - 23 - page, 24 + page):
        _, pages_then = struct.unpack_from(">II", log, at)
        if log[at + 8:at + 16] != salts:
            break
        end = at + 24 + page if pages_then else end
    return end


def tear(state: pathlib.Path, rng: random.Random) -> bool:
    """The log ends with a write that was torn: behind what was committed there is a part of what might have come next (an older
    page, or anything), or what was there is cut off, or zeros in part."""
    log = state.with_name(state.name + "-wal")
    if not log.exists() or log.stat().st_size < 4_152:
        return False
    written = log.read_bytes()
    end = committed_bytes(written)
    tail = bytearray(written[end:])
    how = rng.choice(("more", "older", "cut", "zeros") if tail else ("more", "older"))
    if how in ("more", "older"):
        length = rng.randrange(1, 4_000)
        start = rng.randrange(32, len(written) - length)
        tail += rng.randbytes(length) if how == "more" else written[start:start + length]
    elif how == "cut":
        del tail[rng.randrange(len(tail)):]
    else:
        start = rng.randrange(len(tail))
        tail[start:start + 512] = bytes(len(tail[start:start + 512]))
    log.write_bytes(written[:end] + tail)
    return True


def disturbed(binary: str, folder: pathlib.Path, lines: list[str], ids: bool, rounds: int, rng: random.Random) -> tuple[int, int, int]:
    """Kills, torn writes, and kills that came amid the events."""
    state = folder / f"disturbed-{ids}.db"
    at_once = len(lines) // rounds  # so that there are lines left for the last round
    done = kills = torn = held = amid = 0
    longest = 0.05
    while done < len(lines) and kills < rounds:
        acknowledged, killed = run(binary, state, lines[done:done + at_once], rng.choice((1, 7, 50)), rng.uniform(0.002, longest))
        kills += killed
        torn += killed and rng.random() < 0.5 and tear(state, rng)
        there = events_in(binary, state)
        if not killed:
            longest = max(0.8 * longest, 0.01)
        elif there == held:
            longest = min(1.2 * longest, 2)  # a busy machine: it was killed before it had begun
        else:
            amid += 1
        held = there
        if not ids and there < done + acknowledged:
            sys.exit(f"{done + acknowledged} events were acknowledged, {there} are there")
        done = done + acknowledged if ids else there
    run(binary, state, lines[done:], 1000, None)
    return kills, torn, amid


def compare(binary: str, folder: pathlib.Path, ids: bool, rounds: int, events: int, seed: int) -> str:
    """A disturbed stream with an undisturbed one; what was done to it."""
    rng = random.Random(f"{seed}/{ids}")
    lines = some_events(events, ids, rng)
    kills, torn, amid = disturbed(binary, folder, lines, ids, rounds, rng)
    if amid == 0:
        sys.exit(f"none of {kills} kills came amid the events: nothing was tested")
    run(binary, folder / f"quiet-{ids}.db", lines, 1000, None)
    expected, found = content(folder / f"quiet-{ids}.db"), content(folder / f"disturbed-{ids}.db")
    for table in TABLES:
        if expected[table] != found[table]:
            rows = [pair for pair in zip(expected[table], found[table]) if pair[0] != pair[1]]
            sys.exit(f"{table} differs after {kills} kills: {rows[:3]}")
    return f"{kills} kills, {amid} amid the events, {torn} torn writes, {events} events{' with ids' if ids else ''}: the same state"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--events", type=int, default=12_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lines = some_events(10_000, False, random.Random(options.seed))
        full_disk(options.binary, folder, lines)
        run(options.binary, folder / "room.db", lines, 1000, None)
        if content(folder / "full.db") != content(folder / "room.db"):
            sys.exit("the state differs after a full disk")
        print("full disk: the same state")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            both = [pool.submit(compare, options.binary, folder, ids, options.rounds // 2, options.events, options.seed)
                    for ids in (False, True)]
            for one in both:
                print(one.result())


if __name__ == "__main__":
    main()
