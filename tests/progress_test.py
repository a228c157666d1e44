#!/usr/bin/env python3
"""What people see of a long run: on a terminal a line with the time that is left, on a pipe nothing."""
import argparse
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile

ROUNDS = ["-m", "fivepass", "--set", "rounds=100", "--threads", "1", "-o", "answers.csv"]
# All that the run may say besides; a bar is drawn in place.
BAR = re.compile(rb"\r\x1b\[K(\S+) +[^\r]*%  (at most )?\d+ s left  [^\r]*/s")


def seen_on_terminal(command: list[str], folder: pathlib.Path, wanted: bytes) -> bool:
    """Reads until a bar of this stage is drawn; then interrupts the run."""
    ours, theirs = pty.openpty()
    run = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    text, seen = b"", False
    while not seen:
        try:
            read = os.read(ours, 4096)
        except OSError:  # the run has ended
            break
        text += read
        seen = any(bar[1] == wanted and bar[2] for bar in BAR.finditer(text))
    run.send_signal(signal.SIGINT)
    while True:  # so that it can say that it was interrupted
        try:
            if not os.read(ours, 4096):
                break
        except OSError:
            break
    run.wait()
    os.close(ours)
    if not seen:
        print(text.decode(errors="replace"), file=sys.stderr)
    return seen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    binary = str(parser.parse_args().binary.resolve())
    failures = 0

    def require(holds: bool, what: str) -> None:
        nonlocal failures
        failures += not holds
        print("ok" if holds else "FAILED", what)

    with tempfile.TemporaryDirectory(prefix="crowdfold-progress.") as name:
        folder = pathlib.Path(name)
        crowd = [binary, "simulate", "--tasks", "400000", "--workers", "500", "--classes", "4", "-q", "-o"]
        subprocess.run([*crowd, "crowd.csv"], cwd=folder, check=True)
        for road in ([], ["--spill", "."]):
            require(seen_on_terminal([binary, "aggregate", "crowd.csv", *ROUNDS, *road], folder, b"fivepass"),
                    f"rounds tell on a terminal how long they take at most: {' '.join(road) or 'in memory'}")
            require(sorted(path.name for path in folder.iterdir()) == ["crowd.csv"], "an interrupted run leaves nothing behind")
        subprocess.run([*crowd[:3], "2000", *crowd[4:], "few.csv"], cwd=folder, check=True)
        piped = subprocess.run([binary, "aggregate", "few.csv", *ROUNDS, "--spill", "."], cwd=folder, check=True,
                               stdin=subprocess.DEVNULL, capture_output=True)
        require(b"\r" not in piped.stderr and b"left" not in piped.stderr, "nothing of it on a pipe")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
