#!/usr/bin/env python3
"""Lets the power fail under a stream, again and again, goes on, and compares its state with that of an undisturbed run.

    power_loss_test.py --binary crowdfold --layer libcrowdfold_faults.so [--rounds 1000] [--seed 1] [--jobs CORES]

A layer below the stream (tests/faults) writes down every write and sync of the state and its logs, in order. A round takes some
of that order, up to a drawn point, and makes the files that a disk might hold then: what was synced, and of the rest all,
nothing, or some, in which blocks are half written, or zeros, or missing. The stream must find every event there that it had
acknowledged by that point. Then it goes on from these files, and the next round comes. Nothing depends on time: a seed gives
the same rounds on every machine.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
from typing import Optional

from kill_test import FLAGS, TABLES, content, events_in, some_events

ROUNDS_OF_A_STATE = 25
EVENTS_OF_A_ROUND = 80  # at most
SECTOR = 512  # bytes that a disk writes together
HEAD = struct.Struct("<cc2xIq")  # what, file, bytes behind it, place: Record in tests/faults/faults.cc
ENDINGS = {"d": "", "w": "-wal", "j": "-journal"}

Record = tuple[str, str, int, bytes]  # what, file, place, bytes
Operation = tuple[str, int, bytes]  # Write, Truncate or Unlink; place; bytes
Files = dict[str, Optional[bytearray]]  # by their letters; None: it is not there


def run(binary: str, state: pathlib.Path, lines: list[str], commit_every: int, layer: Optional[str] = None) -> list[Record]:
    """Feeds the lines; what was written down meanwhile."""
    events, journal = state.with_suffix(".jsonl"), state.with_suffix(".journal")
    events.write_text("".join(lines))
    journal.unlink(missing_ok=True)
    watch = {"LD_PRELOAD": layer, "CROWDFOLD_JOURNAL": str(journal), "CROWDFOLD_WATCHED": str(state)} if layer else {}
    command = [binary, "stream", str(events), "--state", str(state), "--commit-every", str(commit_every), *FLAGS]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, **watch}, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"the stream ended with {done.returncode}: {done.stderr.decode()}")
    if not layer:
        return []
    records, bytes_, at = [], journal.read_bytes(), 0
    while at < len(bytes_):
        what, file, size, place = HEAD.unpack_from(bytes_, at)
        at += HEAD.size
        records.append((what.decode(), file.decode(), place, bytes_[at:at + size]))
        at += size
    return records


def apply(files: Files, letter: str, operation: Operation) -> None:
    what, at, data = operation
    if what == "U":
        files[letter] = None
        return
    file = files[letter] = bytearray() if files[letter] is None else files[letter]
    if what == "T":
        del file[at:]
    file.extend(bytes(max(0, at - len(file))))
    file[at:at + len(data)] = data


def spoiled(operation: Operation, rng: random.Random) -> list[Operation]:
    """What a disk made of an operation that was not synced."""
    what, at, data = operation
    fate = rng.random()
    if fate < 0.4:
        return [operation]
    if fate < 0.6 or what != "W":
        return []
    if fate < 0.8:  # cut off, maybe within a sector
        return [(what, at, data[:rng.randrange(len(data) + 1)])]
    sectors = [(start, data[start:start + SECTOR]) for start in range(0, len(data), SECTOR)]
    return [(what, at + start, some if rng.random() < 0.5 else bytes(len(some))) for start, some in sectors if rng.random() < 0.8]


def after_power_loss(files: Files, records: list, rng: random.Random) -> tuple[Files, str]:
    """What the disk holds after these records, and what happened to writes that were not synced."""
    synced = dict(files)  # whose contents are changed in place: nobody needs them afterwards
    pending: dict[str, list[Operation]] = collections.defaultdict(list)
    for what, file, at, data in records:
        if what == "S" and file == "f":  # removals are durable
            for name, operations in pending.items():
                while any(kind == "U" for kind, _, _ in operations):
                    apply(synced, name, operations.pop(0))
        elif what == "S":
            for operation in pending.pop(file, []):
                apply(synced, file, operation)
        elif what != "O":
            pending[file].append((what, at, data))
    fate = rng.choice(("kept", "lost", "torn", "torn")) if pending else "none"
    for file, operations in pending.items():
        for operation in operations:
            for part in [operation] if fate == "kept" else [] if fate == "lost" else spoiled(operation, rng):
                apply(synced, file, part)
    return synced, fate


def acknowledged(records: list) -> int:
    lines = b"".join(data for what, _, _, data in records if what == "O").splitlines()
    counts = [json.loads(line)["ack"] for line in lines if line.startswith(b'{"ack"')]
    return counts[-1] if counts else 0


def read_files(state: pathlib.Path) -> Files:
    paths = {letter: pathlib.Path(f"{state}{ending}") for letter, ending in ENDINGS.items()}
    return {letter: bytearray(path.read_bytes()) if path.exists() else None for letter, path in paths.items()}


def write_files(state: pathlib.Path, files: Files, rng: random.Random) -> None:
    for letter, ending in ENDINGS.items():
        path = pathlib.Path(f"{state}{ending}")
        path.unlink(missing_ok=True)
        if files[letter] is not None:
            path.write_bytes(files[letter])
    shared = pathlib.Path(f"{state}-shm")  # memory of the processes that used the log: anything, or gone
    shared.unlink(missing_ok=True)
    if rng.random() < 0.3:
        shared.write_bytes(rng.randbytes(32_768))


def chain(binary: str, layer: str, rounds: int, seed: str, folder: pathlib.Path) -> collections.Counter:
    """Some rounds on one state. What happened to writes that were not synced, counted."""
    rng = random.Random(seed)
    ids = rng.random() < 0.5
    lines = some_events(rounds * EVENTS_OF_A_ROUND // 2, ids, rng)
    folder.mkdir()
    state, probe = folder / "state.db", folder / "probe.db"
    done, fates = 0, collections.Counter()
    for number in range(rounds):
        before = read_files(state)
        some = lines[done:done + rng.randrange(1, EVENTS_OF_A_ROUND + 1)]
        records = run(binary, state, some, rng.choice((1, 4, 20)), layer)
        records = records[:rng.randrange(len(records) + 1)]
        files, fate = after_power_loss(before, records, rng)
        fates[fate] += 1
        write_files(probe, files, rng)
        write_files(state, files, rng)
        promised, there = done + acknowledged(records), events_in(binary, probe)
        if there < promised or not ids and there > done + len(some):
            raise RuntimeError(f"seed {seed}, round {number}: {promised} events were acknowledged, {there} are there ({fate})")
        done = promised if ids else there
    run(binary, state, lines[done:], 1000)
    run(binary, folder / "quiet.db", lines, 1000)
    expected, found = content(folder / "quiet.db"), content(state)
    for table in TABLES:
        if expected[table] != found[table]:
            rows = [pair for pair in zip(expected[table], found[table]) if pair[0] != pair[1]]
            raise RuntimeError(f"seed {seed}: {table} differs: {rows[:3]}")
    shutil.rmtree(folder)
    return fates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--layer", required=True)
    parser.add_argument("--rounds", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    binary, layer = os.path.abspath(options.binary), os.path.abspath(options.layer)
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    fates = collections.Counter()
    with tempfile.TemporaryDirectory(dir=in_memory) as name, concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        folder = pathlib.Path(name).resolve()
        firsts = range(0, options.rounds, ROUNDS_OF_A_STATE)
        chains = [pool.submit(chain, binary, layer, min(ROUNDS_OF_A_STATE, options.rounds - first), f"{options.seed}/{first}",
                              folder / str(first)) for first in firsts]
        for one in chains:
            fates += one.result()
    if fates["torn"] == 0 or fates["lost"] == 0:
        sys.exit(f"no write was torn, or none was lost: {dict(fates)}")
    print(f"{options.rounds} rounds: the same states. Writes that were not synced: " + ", ".join(f"{k} {n}" for k, n in fates.items()))


if __name__ == "__main__":
    main()
