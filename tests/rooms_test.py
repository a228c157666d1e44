#!/usr/bin/env python3
"""Checks who includes whom: a room of src/ uses its own headers and those of the rooms before it, never one after it.

    rooms_test.py [ROOT]

The order is that of src/CMakeLists.txt. Public headers belong to rooms too. Programs (cli, python, experiments, bench)
come after all rooms, so that no room includes a file of theirs. Tests (*_test.cc) may include any room.
Before the check, every rule is broken once in a small tree made for that: a rule that does not notice is an error.
"""
from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Iterator

ROOMS = ("base", "labels", "measure", "methods", "io", "run", "stream", "report")

PUBLIC = {
    "base": "error run_context version words",
    "labels": "blocks columns flat_array labels names worker_state",
    "measure": "metrics simulate",
    "methods": "live method registry result rounds",
    "io": "exports io packed write_back",
    "run": "aggregate learned round_bytes",
    "stream": "budget events state_view stream",
    "report": "document jury report",
}
ROOM_OF_HEADER = {name: room for room, names in PUBLIC.items() for name in names.split()}

# Beyond the order: io turns bytes into rows and records into bytes. It knows results, but runs no method.
RUNS_METHODS = {"crowdfold/method.h", "crowdfold/registry.h"}

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def room_of(include: str) -> str | None:
    """The room of an include as it is written, from src/ or include/. A library is included by <>."""
    parts = include.split("/")
    if parts[0] == "crowdfold":
        return ROOM_OF_HEADER.get(Path(parts[-1]).stem)
    return parts[0] if parts[0] in ROOMS else None


def complaint(room: str, file: Path, include: str) -> str | None:
    """What is wrong with an include in a file of a room. `file` is relative to the root of the tree."""
    included = room_of(include)
    if included is None:
        return "it is in no room"
    if ROOMS.index(included) > ROOMS.index(room):
        return f"{room} comes before {included}"
    if room == "io" and (include in RUNS_METHODS or include.startswith("methods/")):
        return "io runs no method"
    # Below methods/ a folder is a family of methods. Families share; what all of them share knows none of them.
    if file.parent == Path("src/methods") and re.match(r"methods/[^/]+/", include):
        return "files that all methods share include no family"
    return None


def files_of_rooms(root: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted((root / "include/crowdfold").glob("*.h*")):
        yield ROOM_OF_HEADER.get(path.name.split(".")[0], ""), path
    for path in sorted((root / "src").rglob("*")):
        if path.suffix in (".h", ".cc") and not path.stem.endswith("_test"):
            yield path.relative_to(root / "src").parts[0], path


def complaints(root: Path) -> Iterator[str]:
    listed = re.findall(r"^add_subdirectory\((\w+)\)", (root / "src/CMakeLists.txt").read_text(), re.MULTILINE)
    if tuple(listed) != ROOMS:
        yield f"src/CMakeLists.txt lists {' '.join(listed)}, this test {' '.join(ROOMS)}"
    for room, path in files_of_rooms(root):
        file = path.relative_to(root)
        if room not in ROOMS:
            yield f"{file}: in no room; rooms and their public headers are listed in tests/rooms_test.py"
            continue
        text = path.read_text()
        for found in INCLUDE.finditer(text):
            why = complaint(room, file, found[1])
            if why:
                yield f"{file}:{text.count(chr(10), 0, found.start(1)) + 1}: includes {found[1]}, but {why}"


# Each breaks one rule: the file, its include, and a word of the complaint.
BROKEN = (
    ("src/base/a.cc", "labels/b.h", "base comes before labels"),
    ("src/labels/grouping/a.cc", "measure/b.h", "labels comes before measure"),
    ("src/labels/a.cc", "crowdfold/metrics.h", "labels comes before measure"),
    ("include/crowdfold/labels.h", "crowdfold/stream.h", "labels comes before stream"),
    ("src/stream/a.h", "report/b.h", "stream comes before report"),
    ("src/report/a.cc", "terminal.h", "in no room"),
    ("src/report/a.cc", "crowdfold/unheard_of.h", "in no room"),
    ("include/crowdfold/unheard_of.h", "crowdfold/labels.h", "in no room"),
    ("src/attic/a.cc", "base/b.h", "in no room"),
    ("src/io/a.cc", "crowdfold/registry.h", "io runs no method"),
    ("src/io/a.cc", "methods/em.h", "io runs no method"),
    ("src/methods/em.cc", "methods/votes/mv.h", "no family"),
)
ALLOWED = (
    ("src/report/a.cc", "base/b.h"),
    ("src/io/a.cc", "crowdfold/result.h"),
    ("src/run/a.cc", "crowdfold/registry.h"),
    ("src/methods/votes/a.cc", "methods/confusion/b.h"),
    ("src/labels/a_test.cc", "crowdfold/simulate.h"),
)


def complaints_about(file: str, include: str) -> list[str]:
    """Of a tree in which there is only this include."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "src").mkdir()
        (root / "src/CMakeLists.txt").write_text("".join(f"add_subdirectory({room})\n" for room in ROOMS))
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(f'#include <vector>\n\n#include "{include}"\n')
        return list(complaints(root))


def check_the_rules() -> None:
    for file, include, why in BROKEN:
        found = complaints_about(file, include)
        if len(found) != 1 or why not in found[0]:
            sys.exit(f"rooms: {file} includes {include}: expected a complaint ({why}), found {found}")
    for file, include in ALLOWED:
        found = complaints_about(file, include)
        if found:
            sys.exit(f"rooms: {file} may include {include}, but: {found}")


def main() -> None:
    check_the_rules()
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]
    found = list(complaints(root))
    print("\n".join(found) if found else "rooms: every include is in order")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
