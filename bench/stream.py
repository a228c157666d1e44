#!/usr/bin/env python3
"""Times the live stream: events a second, the latency of one event, and how long a large state takes to go on.

Beside it, in the same run: SQLite alone, into which Python puts the same labels in one transaction; and fsync alone.
Writes a report in Markdown, and the same to stdout.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from report import Bar, bars_section, kernel_rates, machine, say, table

HERE = Path(__file__).resolve().parent
BINARY = HERE.parent / "build" / "crowdfold"

MIN_EVENTS, GOAL_EVENTS = 150_000, 300_000  # a second, with a state
MIN_CHUNKED = 50e6                          # labels a second, in memory, in chunks of 1,000 tasks
MAX_START = 2.0                             # seconds, with a million workers
MAX_MORE = 0.1                              # seconds for a thousand labels more, after the start
LEAST_PAGES = 2_000                         # for a thousand labels of closed tasks: a name's and a task's each
MAX_MB = 64                                 # of memory for any number of events; 8 of it are SQLite's cache

STOP = ["--labels-per-task", "5"]


def crowdfold(*arguments: str, text: str | None = None) -> tuple[float, float]:
    """Seconds, and peak MB."""
    command = [sys.executable, "-I", "-S", str(HERE / "measure.py"), str(BINARY), *arguments]
    with tempfile.TemporaryFile() as output:
        subprocess.run(command, check=True, input=text, text=True, stdout=output)
        output.seek(0, os.SEEK_END)
        output.seek(max(0, output.tell() - 200))
        seconds, kilobytes = output.read().decode().splitlines()[-1].split()
    return float(seconds), float(kilobytes) * 1024 / 1e6


def write_events(path: Path, events: int, workers: int, ids: bool) -> None:
    """Five labels a task; 40 tasks are open at a time."""
    with open(path, "w", encoding="utf-8") as file:
        for i in range(events):
            task = i // 200 * 40 + i % 40
            extra = f', "id": "event-{i}"' if ids else ""
            file.write(f'{{"task": "task-{task}", "worker": "worker-{i * 7919 % workers}", "label": "{"abcd"[i * 31 % 4]}"{extra}}}\n')


def added(state: Path, events: list[str]) -> float:
    """Seconds until a running stream has events on disk."""
    stream = subprocess.Popen([BINARY, "stream", "--keep-open", "--ack", "--state", state], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)

    def add(some: list[str], until: int) -> float:
        start = time.perf_counter()
        stream.stdin.write("".join(some).encode())
        stream.stdin.flush()
        while json.loads(stream.stdout.readline()).get("ack") != until:
            pass
        return time.perf_counter() - start

    add(events[:1], 1)  # it has started
    seconds = add(events[1:], len(events))
    stream.stdin.close()
    stream.wait()
    return seconds


def sqlite_alone(path: Path, events: int, workers: int) -> float:
    rows = [(f"task-{i // 200 * 40 + i % 40}", f"worker-{i * 7919 % workers}", "abcd"[i * 31 % 4]) for i in range(events)]
    start = time.perf_counter()
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE labels(task TEXT, worker TEXT, label TEXT, PRIMARY KEY(task, worker)) WITHOUT ROWID")
    database.executemany("INSERT OR REPLACE INTO labels VALUES(?, ?, ?)", rows)
    database.commit()
    database.close()
    return time.perf_counter() - start


def fsync_alone(path: Path, times: int) -> float:
    """Seconds of one, after 4 kB were written."""
    with open(path, "wb", buffering=0) as file:
        start = time.perf_counter()
        for _ in range(times):
            file.write(b"x" * 4096)
            os.fsync(file.fileno())
        return (time.perf_counter() - start) / times


def forget(path: Path) -> None:
    """Drops the file from memory."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def remember(path: Path) -> None:
    """Reads all of it into memory."""
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 24):
            pass


def cold_read(path: Path, pages: int, at_once: bool) -> float:
    """Seconds to read `pages` random pages that are not in memory."""
    forget(path)
    offsets = [i * 100_003 % (path.stat().st_size // 4096) * 4096 for i in range(pages)]
    with open(path, "rb", buffering=0) as file:
        start = time.perf_counter()
        if at_once:
            for offset in offsets:
                os.posix_fadvise(file.fileno(), offset, 4096, os.POSIX_FADV_WILLNEED)
        for offset in offsets:
            os.pread(file.fileno(), 4096, offset)
        return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--large", type=int, default=100_000_000, help="labels of the large state")
    parser.add_argument("--workers", type=int, default=1_000_000, help="workers of the state with many workers")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--output", type=Path, default=HERE / "stream.md")
    options = parser.parse_args()
    bars: list[Bar] = []
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)

        def fresh(title: str) -> str:
            for path in work.glob(title + "*"):
                path.unlink()
            return str(work / title)

        def best(*arguments: str, state: bool = True) -> tuple[float, float]:
            runs = [crowdfold("stream", *arguments, *STOP, *(["--state", fresh("state.db")] if state else []))
                    for _ in range(options.repeat)]
            return min(run[0] for run in runs), max(run[1] for run in runs)

        say("events a second")
        plain, with_ids, four = work / "plain.jsonl", work / "ids.jsonl", work / "four.jsonl"
        write_events(plain, options.events, 2000, False)
        write_events(with_ids, options.events, 2000, True)
        write_events(four, 4 * options.events, 2000, False)
        alone = min(sqlite_alone(Path(fresh("alone.db")), options.events, 2000) for _ in range(options.repeat))
        results = {"with a state": best(str(plain)), "with a state, events with ids": best(str(with_ids)),
                   "in memory": best(str(plain), state=False),
                   "with a state, closed tasks forgotten": best(str(plain), "--forget-closed")}
        rates = {title: options.events / run[0] for title, run in results.items()}
        rows = [["SQLite alone, labels in one transaction", f"{options.events / alone:,.0f}", "1.00", ""]]
        rows += [[title, f"{rates[title]:,.0f}", f"{run[0] / alone:.2f}", f"{run[1]:.1f}"] for title, run in results.items()]
        rate = rates["with a state"]
        bars.append(Bar("events a second, with a state", f"{rate:,.0f}", f"≥ {MIN_EVENTS:,} (goal {GOAL_EVENTS:,})",
                        rate >= MIN_EVENTS))
        large = crowdfold("stream", str(four), *STOP, "--state", fresh("state.db"))[1]
        bars.append(Bar(f"memory with {4 * options.events:,} events", f"{large:.1f} MB", f"< {MAX_MB} MB", large < MAX_MB))

        chunked = kernel_rates(BINARY.parent / "bench" / "crowdfold-kernel-bench", options.repeat, "chunks")
        for title, speed in sorted(chunked.items()):
            bars.append(Bar(title, f"{speed / 1e6:.0f} M labels/s", f"> {MIN_CHUNKED / 1e6:.0f} M labels/s", speed > MIN_CHUNKED))

        say("latency")
        few = 300
        head = "".join(plain.read_text().splitlines(keepends=True)[:few])
        (work / "few.jsonl").write_text(head)
        (work / "none.jsonl").write_text("")
        start = min(crowdfold("stream", str(work / "none.jsonl"), "--state", fresh("s.db"))[0] for _ in range(options.repeat))
        each = min(crowdfold("stream", str(work / "few.jsonl"), "--keep-open", "--commit-every", "1", "--state", fresh("s.db"))[0]
                   for _ in range(options.repeat))
        sync = fsync_alone(work / "sync", few)
        latency = (each - start) / few
        rows_latency = [["fsync of 4 kB alone", f"{1e3 * sync:.3f}"], ["one event, committed", f"{1e3 * latency:.3f}"]]

        say("a state with many workers")
        with open(work / "workers.csv", "w", encoding="utf-8") as file:
            file.write("worker,quality,lower,upper,labels\n")
            file.writelines(f"worker-{i},0.8,0.7,0.9,{10 + i % 90}\n" for i in range(options.workers))
        crowdfold("state", "import", fresh("many.db"), str(work / "workers.csv"))
        many, memory = crowdfold("stream", str(work / "none.jsonl"), "--state", str(work / "many.db"))
        bars.append(Bar(f"start with {options.workers:,} workers", f"{many:.2f} s", f"< {MAX_START:.0f} s", many < MAX_START))

        say("a large state")
        write_events(work / "large.jsonl", options.large, 20_000, False)
        crowdfold("stream", str(work / "large.jsonl"), *STOP, "--state", fresh("large.db"))
        size = (work / "large.db").stat().st_size
        (work / "large.jsonl").unlink()
        opened = crowdfold("stream", str(work / "none.jsonl"), "--state", str(work / "large.db"))[0]

        def more(run: int, old: bool) -> list[str]:
            tasks = [f"task-{(i + 1000 * run) * 100_003 % (options.large // 5)}" if old else f"new-{run}-{i // 5}"
                     for i in range(1001)]
            return [f'{{"task": "{task}", "worker": "late-{i % 50}", "label": "a"}}\n' for i, task in enumerate(tasks)]

        state = work / "large.db"
        runs = range(options.repeat)
        on_new = min(added(state, more(run, False)) for run in runs)
        on_disk, serial, at_once = [], [], []
        for run in runs:
            forget(state)
            on_disk.append(added(state, more(run, True)))
            serial.append(cold_read(state, LEAST_PAGES, False))
            at_once.append(cold_read(state, LEAST_PAGES, True))
        remember(state)
        in_memory = [added(state, more(run + options.repeat, True)) for run in runs]
        adding = {"new tasks": on_new, "closed tasks, the file is in memory": min(in_memory),
                  "closed tasks, the file is on disk": min(on_disk)}
        for what, seconds in adding.items():
            bars.append(Bar(f"1,000 labels more on {options.large:,}, of {what}", f"{1e3 * seconds:.0f} ms",
                            f"< {1e3 * MAX_MORE:.0f} ms", seconds < MAX_MORE))

    report = "\n\n".join([
        "# Times of the live stream",
        f"Written by `bench/stream.py --events {options.events} --large {options.large} --repeat {options.repeat}`, which "
        "`make bench` calls; do not edit.",
        f"- machine: {machine()}\n- SQLite {sqlite3.sqlite_version} in Python\n- whole processes; best time and largest memory "
        f"of {options.repeat} runs; five labels a task, 40 tasks open at a time, 2,000 workers",
        bars_section(bars),
        "## Events a second\n\n" + table(["what", "events / s", "time / SQLite alone", "peak MB"], rows),
        "## Milliseconds, where every event is committed\n\n" + table(["what", "ms"], rows_latency),
        "## Large states\n\n" + table(
            ["what", "seconds", "MB"],
            [[f"start with {options.workers:,} workers (memory)", f"{many:.2f}", f"{memory:.0f}"],
             [f"start with {options.large:,} labels (file)", f"{opened:.3f}", f"{size / 1e6:.0f}"],
             *([f"1,000 labels more, of {what}, until they are on disk", f"{seconds:.3f}", ""] for what, seconds in adding.items()),
             [f"{LEAST_PAGES:,} pages from disk alone, one after the other", f"{min(serial):.3f}", ""],
             ["the same, all asked for at once", f"{min(at_once):.3f}", ""]])
        + f"\n\nA label of a closed task needs one page of names and one page of tasks, {LEAST_PAGES:,} pages here, and the index pages "
          "above them. The stream requests missing pages ahead: first all pages that it knows it needs, then the pages they point to, "
          "and the neighbours of task pages, for rows that outgrow their page. In memory, labels take the time to judge tasks and to "
          "write and sync the changes. On disk they take that time plus "
          f"{(min(on_disk) - min(in_memory)) / min(at_once):.1f} times the time that the disk alone needs to read all pages at once.",
    ]) + "\n"
    options.output.write_text(report, encoding="utf-8")
    print(report)


if __name__ == "__main__":
    main()
