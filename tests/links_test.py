#!/usr/bin/env python3
"""Checks the links of the Markdown pages: files and anchors within the repository exist.

    python3 tests/links_test.py

Texts that a script puts into a page elsewhere are left out: their links are checked there.
"""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
TEMPLATES = {"tools/choosing_page.md"}
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def prose(text: str) -> list[str]:
    """The lines of a page; those of code are empty."""
    lines, fenced = [], False
    for line in text.splitlines():
        fence = line.lstrip().startswith("```")
        lines.append("" if fenced or fence or line.startswith("    ") else re.sub(r"`[^`]*`", lambda m: " " * len(m[0]), line))
        fenced ^= fence
    return lines


def anchor(heading: str) -> str:
    """The name that GitHub gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


@cache
def anchors(page: Path) -> set[str]:
    found: set[str] = set()
    fenced = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if not fenced and (heading := re.match(r"#{1,6}\s+(.*?)\s*#*$", line)):
            name, repeats = anchor(heading[1]), 0
            while (name if repeats == 0 else f"{name}-{repeats}") in found:
                repeats += 1
            found.add(name if repeats == 0 else f"{name}-{repeats}")
        found.update(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", line))
    return found


def fault(page: Path, link: str) -> str | None:
    if ELSEWHERE.match(link):
        return None
    path, _, name = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.is_relative_to(ROOT) or not target.exists():
        return "no such file"
    if name and target.suffix == ".md" and name not in anchors(target):
        return "no such heading"
    return None


def main() -> None:
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split("\n")
    pages = [ROOT / name for name in listed if name and name not in TEMPLATES and (ROOT / name).exists()]
    faults, links = [], 0
    for page in pages:
        for number, line in enumerate(prose(page.read_text(encoding="utf-8")), 1):
            for link in LINK.findall(line):
                links += 1
                if wrong := fault(page, link):
                    faults.append(f"{page.relative_to(ROOT)}:{number}: {link}: {wrong}")
    if faults or not links:
        sys.exit("\n".join(faults or ["no links were found"]))
    print(f"{links} links on {len(pages)} pages lead somewhere")


if __name__ == "__main__":
    main()
