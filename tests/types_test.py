#!/usr/bin/env python3
"""Checks that no two types outside anonymous namespaces have one name: the linker would merge their functions without a word,
and a constructor of the one would write into objects of the other.

    types_test.py [ROOT]

It reads the layout of clang-format: what a namespace holds begins in the first column. Before the check, it is shown a tree
with two such types, and one in which they may be.
"""
from __future__ import annotations

import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Iterator

FOLDERS = ("include", "src", "cli", "python/src")
TYPE = re.compile(r"^(?:struct|class|union|enum(?: class)?) (\w+)(?: final)?(?: :[^:].*)?(?: \{.*)?$")


def types_of(path: Path) -> Iterator[tuple[int, str]]:
    """Line and name of the types that a file defines for others. A declaration ends with a semicolon."""
    namespaces: list[str] = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("namespace") and line.endswith("{"):
            namespaces.append(line[len("namespace"):-1].strip())
        elif line.startswith("}  // namespace"):
            namespaces.pop()
        elif (found := TYPE.match(line)) and "" not in namespaces:
            yield number, "::".join([*namespaces, found[1]])


def complaints(root: Path) -> list[str]:
    places = defaultdict(list)
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cc"):
                for line, name in types_of(path):
                    places[name].append(f"{path.relative_to(root)}:{line}")
    return [f"{' and '.join(where)}: two types are called {name}" for name, where in sorted(places.items()) if len(where) > 1]


def check_the_rule() -> None:
    two = "namespace crowdfold {\n\nstruct Size {\n  int n;\n};\n\n}  // namespace crowdfold\n"
    hidden = "namespace crowdfold {\nnamespace {\n\nclass Size : public Base {\n};\n\n}  // namespace\n}  // namespace crowdfold\n"
    for second, expected in ((two, 1), (hidden, 0), ("namespace crowdfold {\n\nstruct Size;\n\n}  // namespace crowdfold\n", 0)):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "src/io").mkdir(parents=True)
            (Path(folder) / "src/a.h").write_text(two)
            (Path(folder) / "src/io/b.cc").write_text(second)
            if len(complaints(Path(folder))) != expected:
                sys.exit(f"types: expected {expected} complaints about\n{two}and\n{second}")


def main() -> None:
    check_the_rule()
    found = complaints(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1])
    print("\n".join(found) if found else "types: every name is one type")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
