#!/usr/bin/env python3
"""Writes the table of shapes into docs/formats.md, between `<!-- shapes -->` and `<!-- end -->`.

    tools/shape_table.py [--binary build/crowdfold] [--check]

`tests/shapes/shapes.json` has a small file of each shape, and the labels it holds; without labels, the file is refused. Each is
given to `crowdfold import`, and what standard error says goes into the table. Labels that are not those of the list are an
error. --check writes nothing, and fails if the page is not up to date.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from markdown import fill, table

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "formats.md"
SHAPES = ROOT / "tests" / "shapes" / "shapes.json"
LINES_SHOWN = 3


def content_of(shape: dict) -> bytes:
    newline = shape.get("newline", "\n")
    content = "".join(line + newline for line in shape["lines"]).encode(shape.get("encoding", "utf-8"))
    return gzip.compress(content, mtime=0) if shape.get("packed") else content


def read(binary: Path, shape: dict) -> str:
    """What standard error says. Fails if the labels are not those of the shape."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / shape["file"]).write_bytes(content_of(shape))
        done = subprocess.run([binary.resolve(), "import", shape["file"]], cwd=folder, capture_output=True, check=False)
    said = done.stderr.decode("utf-8").replace("crowdfold: ", "").splitlines()
    labels = [" ".join(row) for row in csv.reader(io.StringIO(done.stdout.decode("utf-8")))][1:]
    if (done.returncode == 0) != ("labels" in shape) or labels != shape.get("labels", []):
        sys.exit(f"{SHAPES.name}: {shape['shape']}: exit code {done.returncode}, labels {labels}\n" + "\n".join(said))
    return "<br>".join(said[:-1] if "labels" in shape else said)  # the last line counts the labels


def example_of(shape: dict) -> str:
    lines = [line for line in shape["lines"] if line]
    shown = [f"`{line[:80]}`" for line in lines[:LINES_SHOWN]]
    return "<br>".join(shown + (["…"] if len(lines) > LINES_SHOWN else []))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "build" / "crowdfold")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    rows = [[shape["shape"], example_of(shape), shape["recognised"], read(options.binary, shape)]
            for shape in json.loads(SHAPES.read_text(encoding="utf-8"))]
    page = PAGE.read_text(encoding="utf-8")
    made = fill(page, "shapes", table(["shape", "example", "recognised by", "standard error says"], rows))
    if not options.check:
        PAGE.write_text(made, encoding="utf-8")
    elif made != page:
        sys.exit("docs/formats.md: the table of shapes is not up to date; run tools/shape_table.py")


if __name__ == "__main__":
    main()
