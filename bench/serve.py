#!/usr/bin/env python3
"""What HTTP costs: the service beside `crowdfold stream` on the same machine. Writes bench/serve.md.

    [chrt -f 1] build/venv/bin/python bench/serve.py [--quick]

Clients and service share the machine, so the figures are low; ratios of one run are what counts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, List, Tuple

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "build" / "crowdfold"
BATCH = 1000
CLIENTS = 64


def events(number: int, first: int = 0) -> List[str]:
    """Labels of a crowd whose tasks close at five labels."""
    draw = random.Random(first)
    lines = []
    for i in range(first, first + number):
        task = i // 5
        right = draw.random() < .8
        label = (task if right else task + 1 + draw.randrange(2)) % 3
        lines.append(json.dumps({"task": f"task-{task}", "worker": f"worker-{draw.randrange(500)}", "label": f"class-{label}"}))
    return lines


class Service:
    def __init__(self, folder: Path) -> None:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        token = folder / "token"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "crowdfold.serve.main", "--folder", str(folder / "data"), "--listen", f"127.0.0.1:{self.port}",
             "--admin-token-file", str(token), "--rate", "1e9", "--burst", "1e9"], stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if "Uvicorn running" in line:
                break
        self.drain = subprocess.Popen(["cat"], stdin=self.process.stderr, stdout=subprocess.DEVNULL)
        self.head = f"Host: x\r\nAuthorization: Bearer {token.read_text().strip()}\r\n"

    async def connect(self) -> Connection:
        return Connection(self.head, *await asyncio.open_connection("127.0.0.1", self.port))

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait() == 0
        self.drain.wait()


class Connection:
    """As little of HTTP as will do: a client must not cost more than what it measures."""

    def __init__(self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.head, self.reader, self.writer = head, reader, writer

    async def ask(self, method: str, path: str, body: bytes = b"") -> bytes:
        self.writer.write(f"{method} {path} HTTP/1.1\r\n{self.head}Content-Type: application/json\r\n"
                          f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        head = await self.reader.readuntil(b"\r\n\r\n")
        size = int(next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))[15:])
        answer = await self.reader.readexactly(size)
        assert head[9:10] == b"2", head + answer
        return answer


async def new_project(service: Service, name: str) -> str:
    connection = await service.connect()
    await connection.ask("POST", "/v1/projects", json.dumps({"name": name, "stop": {"labels_per_task": 5}}).encode())
    return f"/v1/projects/{name}"


async def batches(service: Service, lines: List[str]) -> float:
    """Events per second. Four clients, so that there is always one that waits."""
    path = await new_project(service, f"batches-{time.monotonic_ns()}")
    bodies = ["\n".join(lines[i:i + BATCH]).encode() for i in range(0, len(lines), BATCH)]

    async def client() -> None:
        connection = await service.connect()
        while bodies:
            await connection.ask("POST", f"{path}/events", bodies.pop(0))

    began = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(4)))
    return len(lines) / (time.perf_counter() - began)


def stream(lines: List[str], folder: Path, every: int) -> float:
    """Events per second of the command, with a state, and a commit after each batch."""
    source = folder / "events.jsonl"
    source.write_text("\n".join(lines) + "\n")
    state = folder / f"stream-{time.monotonic_ns()}.db"
    began = time.perf_counter()
    subprocess.run([str(PROGRAM), "stream", str(source), "--state", str(state), "--labels-per-task", "5", "-q",
                    "--commit-every", str(every)], check=True, stdout=subprocess.DEVNULL)
    return len(lines) / (time.perf_counter() - began)


async def singles(service: Service, lines: List[str]) -> float:
    """Events per second of many clients, each of which waits for its event to be on disk."""
    path = await new_project(service, f"singles-{time.monotonic_ns()}")
    left = list(lines)

    async def client() -> None:
        connection = await service.connect()
        while left:
            await connection.ask("POST", f"{path}/events", left.pop().encode())

    began = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return len(lines) / (time.perf_counter() - began)


def syncs(folder: Path, number: int = 200) -> float:
    """Syncs per second of a small write: what one sync per event would allow."""
    with open(folder / "synced", "wb") as file:
        began = time.perf_counter()
        for _ in range(number):
            file.write(b"x" * 100)
            file.flush()
            os.fsync(file.fileno())
        return number / (time.perf_counter() - began)


async def commits(service: Service) -> float:
    text = (await (await service.connect()).ask("GET", "/metrics")).decode()
    return float(next(line for line in text.splitlines() if line.startswith("crowdfold_commit_seconds_count")).split()[1])


async def reads(service: Service, lines: List[str], rate: float) -> Tuple[float, float]:
    """Median and 99th percentile, in ms, of questions about a task while batches come at this rate of events."""
    path = await new_project(service, f"reads-{time.monotonic_ns()}")
    writer, reader = await service.connect(), await service.connect()
    times: List[float] = []
    done = asyncio.Event()

    async def write() -> None:
        for i in range(0, len(lines), BATCH):
            began = time.perf_counter()
            await writer.ask("POST", f"{path}/events", "\n".join(lines[i:i + BATCH]).encode())
            await asyncio.sleep(max(0.0, BATCH / rate - (time.perf_counter() - began)))
        done.set()

    async def read() -> None:
        while not done.is_set():
            began = time.perf_counter()
            await reader.ask("GET", f"{path}/tasks?limit=1")
            times.append(1000 * (time.perf_counter() - began))
            await asyncio.sleep(.002)

    await asyncio.gather(write(), read())
    cuts = statistics.quantiles(times, n=100)
    return cuts[49], cuts[98]


def best(measure: Callable[[], float], times: int = 3) -> float:
    return max(measure() for _ in range(times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer events; writes nothing")
    quick = parser.parse_args().quick
    lines = events(20_000 if quick else 100_000)
    few = lines[:2_000 if quick else 10_000]
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as name:
        folder = Path(name)
        service = Service(folder)
        pairs = [(stream(lines, folder, BATCH), asyncio.run(batches(service, lines))) for _ in range(1 if quick else 5)]
        command, http = sorted(pairs, key=lambda pair: pair[1] / pair[0])[len(pairs) // 2]
        before = asyncio.run(commits(service))
        times = 1 if quick else 3
        single = best(lambda: asyncio.run(singles(service, few)), times)
        together = times * len(few) / (asyncio.run(commits(service)) - before)
        synced = best(lambda: syncs(folder), 3)
        median, slow = asyncio.run(reads(service, lines[:len(lines) // 2], http / 2))
        service.stop()
    text = f"""# The service

Written by `bench/serve.py`: {os.cpu_count()} processors, {platform.machine()}, Python {platform.python_version()}. Clients and service are
on the same machine, over loopback, with a state on disk. Every answer says that its events are on disk.

| | |
|---|---|
| `crowdfold stream --state`, a commit every {BATCH:,} events | {command:,.0f} events/s |
| the service, batches of {BATCH:,} from 4 clients | {http:,.0f} events/s, {http / command:.0%} of the command |
| the service, single events from {CLIENTS} clients | {single:,.0f} events/s, {together:.0f} to a commit |
| syncs of the disk, which one sync per event would need | {synced:,.0f} a second |
| a page of tasks, while batches come at half of full speed | median {median:.1f} ms, 99 % below {slow:.1f} ms |

The machine does other work: clients and service ran before it (`chrt -f 1`). The first two rows are the median of five pairs of
runs, one after the other; the others the best of three. The command has one commit for each batch, the service one for those
that wait. With single events the processor is the limit, most of it for HTTP, and not the disk.
"""
    print(text)
    if not quick:
        (ROOT / "bench" / "serve.md").write_text(text)


if __name__ == "__main__":
    main()
