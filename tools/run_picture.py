#!/usr/bin/env python3
"""Draws docs/img/run.svg: a real run of `crowdfold aggregate --report` on a simulated crowd, as a terminal shows it.

The line with the time that the run took is left out, so that the picture is the same on every machine.
"""

from __future__ import annotations

import argparse
import html
import os
import pty
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIMULATE = ("simulate --workers 200 --tasks 1500 --spammers .2 --adversaries .03 --seed 7 --task-prefix photo_ "
            "--class-names cat,dog,fox,owl -o labels.csv").split()
AGGREGATE = "aggregate labels.csv -o answers.csv --report".split()

SIZE, CHAR, LINE = 14, 8.43, 20  # pixels: font, advance of a character, line
MARGIN, TITLE = 22, 40
BACK, BAR, TEXT, DIM, BRIGHT, PROMPT, MARK = ("#11151c", "#1c222c", "#c9d1d9", "#3d4654", "#ffffff", "#7ee787", "#79c0ff")

Segment = tuple[int, str, bool]  # column, text, bold


def run_in_terminal(command: list[str], folder: str) -> str:
    """The output of a command to its standard error, a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    pieces = []
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux: the other end was closed
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(ours)
    if process.wait() != 0:
        raise SystemExit(f"{' '.join(command)}: failed\n{b''.join(pieces).decode()}")
    return b"".join(pieces).decode()


def segments(line: str) -> list[Segment]:
    """The line cut at changes of style and at gaps, so that columns stay where they are in any font."""
    result, column, bold = [], 0, False
    for part in re.split(r"(\x1b\[\d*m)", line):
        if part.startswith("\x1b"):
            bold = part == "\x1b[1m"
            continue
        for match in re.finditer(r"[━·●]+|[^ ━·●]+(?: [^ ━·●]+)*", part):
            result.append((column + match.start(), match.group(), bold))
        column += len(part)
    return result


def draw_interval(column: int, text: str, y: float) -> list[str]:
    shapes = []
    middle = y - SIZE * 0.32
    for i, character in enumerate(text):
        left = MARGIN + (column + i) * CHAR
        center = left + CHAR / 2
        if character == "·":
            shapes.append(f'<circle cx="{center:.1f}" cy="{middle:.1f}" r="1" fill="{DIM}"/>')
        else:
            shapes.append(f'<rect x="{left:.1f}" y="{middle - 1:.1f}" width="{CHAR:.2f}" height="2" fill="{MARK}"/>')
    if "●" in text:
        center = MARGIN + (column + text.index("●") + 0.5) * CHAR
        shapes.append(f'<circle cx="{center:.1f}" cy="{middle:.1f}" r="4" fill="{MARK}"/>')
    return shapes


def draw_text(column: int, text: str, y: float, color: str, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return (f'<text x="{MARGIN + column * CHAR:.1f}" y="{y:.1f}" fill="{color}"{weight} '
            f'textLength="{len(text) * CHAR:.1f}">{html.escape(text)}</text>')


def draw(command: str, lines: list[str]) -> str:
    parts = []
    y = TITLE + LINE
    parts.append(draw_text(0, "$", y, PROMPT, True))
    parts.append(draw_text(2, command, y, BRIGHT, True))
    width = len(command) + 2
    for line in lines:
        y += LINE
        for column, text, bold in segments(line):
            width = max(width, column + len(text))
            if set(text) <= set("━·●"):
                parts += draw_interval(column, text, y)
            else:
                parts.append(draw_text(column, text, y, BRIGHT if bold else TEXT, bold))
    w, h = round(2 * MARGIN + width * CHAR), round(y + MARGIN)
    frame = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" '
        'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace" '
        f'font-size="{SIZE}" role="img">',
        "<title>A run of crowdfold: the best and worst workers, and the tasks that need more labels</title>",
        f'<rect width="{w}" height="{h}" rx="9" fill="{BACK}"/>',
        f'<path d="M0 28V9a9 9 0 0 1 9-9H{w - 9}a9 9 0 0 1 9 9V28Z" fill="{BAR}"/>',
    ]
    frame += [f'<circle cx="{18 + 18 * i}" cy="14" r="5.5" fill="{c}"/>' for i, c in enumerate(("#ff5f56", "#ffbd2e", "#27c93f"))]
    return "\n".join([*frame, *parts, "</svg>"]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, default=ROOT / "build" / "crowdfold")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "img" / "run.svg")
    options = parser.parse_args()
    binary = str(options.binary.resolve())
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([binary, *SIMULATE], cwd=folder, check=True)
        printed = run_in_terminal([binary, *AGGREGATE], folder)
    lines = [line for line in printed.replace("\r", "").rstrip().split("\n") if not re.match(r"\w+: [\d.]+ s", line)]
    options.output.write_text(draw("crowdfold " + " ".join(AGGREGATE), lines), encoding="utf-8")


if __name__ == "__main__":
    main()
