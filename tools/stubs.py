#!/usr/bin/env python3
"""Writes the type stubs: of the native module, by nanobind, and of the classes that are made from the registry.

    python tools/stubs.py [FOLDER]

FOLDER is where they go, by default python/crowdfold. Tests compare what it writes with what is checked in.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from nanobind.stubgen import StubGen

from crowdfold import _native
from crowdfold._build import METHODS, docstring_of, parameters_of, signature_of

HEADER = '"""Written by tools/stubs.py; do not edit."""\n\n'
WIDTH = 120


def native_stub() -> str:
    generator = StubGen(_native)
    generator.put(_native)
    text = generator.get()
    # Values without a type in C++ are Any here.
    for loose, exact in ((r"\btuple\b(?!\[)", "tuple[Any, ...]"), (r"\bdict\b(?!\[)", "dict[str, Any]"),
                         (r"\blist\b(?!\[)", "list[Any]"), (r"-> object\b", "-> Any")):
        text = re.sub(loose, exact, text)
    return HEADER + "from typing import Any\n" + text


def methods_stub() -> str:
    classes = "\n".join(f'    "{METHODS[method["name"]].class_name}",' for method in _native.registry())
    bases = sorted({names.base.__name__ for names in METHODS.values()} - {"Aggregator"})
    mixins = "".join(f"    {base},\n" for base in bases)
    lines = [HEADER + "from typing import Any, Optional, Union\n", "from ._base import Aggregator\n"
             f"from ._crowdkit import (\n{mixins})\n",
             f"__all__ = [\n{classes}\n]\n"]
    for method in _native.registry():
        names, parameters = METHODS[method["name"]], parameters_of(method)
        lines.append(f"\nclass {names.class_name}({names.base.__name__}):")
        doc = docstring_of(method, parameters).splitlines()
        lines.append('    """' + doc[0])
        lines += [f"    {line}".rstrip() for line in doc[1:]]
        lines.append('    """\n')
        for parameter in parameters:
            lines.append(f"    {parameter.name}: {parameter.annotation}")
        lines.append("\n" + wrapped(f"    def __init__({signature_of(names, parameters, True)}) -> None: ..."))
    return "\n".join(lines) + "\n"


def wrapped(line: str) -> str:
    """A signature, cut between parameters."""
    rows, indent = [], " " * len("    def __init__(")
    while len(line) > WIDTH:
        cut = line.rfind(", ", 0, WIDTH) + 1
        rows.append(line[:cut])
        line = indent + line[cut + 1:]
    return "\n".join([*rows, line])


def write(folder: Path) -> None:
    (folder / "_native.pyi").write_text(native_stub(), encoding="utf-8")
    (folder / "methods.pyi").write_text(methods_stub(), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).resolve().parents[1] / "python" / "crowdfold")
    write(parser.parse_args().folder)
