#!/usr/bin/env python3
"""Writes the table of exports into docs/formats.md, between `<!-- exports -->` and `<!-- end -->`.

    tools/export_table.py [--binary build/crowdfold] [--check]

`crowdfold import --formats --json` tells what there is. --check writes nothing, and fails if the page is not up to date.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from markdown import fill, table

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "formats.md"


def rows_of(formats: list[dict]) -> list[list[str]]:
    rows = []
    for one in formats:
        roles = [one["task"], one["worker"], one["label"]]
        rows.append([one["title"], f"`{one['name']}`", one["recognised_by"], *roles, one["left_out"]])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "build" / "crowdfold")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    said = subprocess.run([options.binary, "import", "--formats", "--json"], check=True, capture_output=True, text=True).stdout
    header = ["export", "`--format`", "recognised by", "task", "worker", "label", "left out, and other marks"]
    page = PAGE.read_text(encoding="utf-8")
    made = fill(page, "exports", table(header, rows_of(json.loads(said))))
    if not options.check:
        PAGE.write_text(made, encoding="utf-8")
    elif made != page:
        sys.exit("docs/formats.md: the table of exports is not up to date; run tools/export_table.py")


if __name__ == "__main__":
    main()
