#!/usr/bin/env python3
"""Runs the tests of the Python package with the oldest and the newest Python there are here, of those that it is for.

    python tools/python_matrix.py [--jobs 2]

The oldest comes with numpy 1.26 and pandas 2, the newest with the newest libraries. The module is built on the library below
build/installed. Interpreters are those on the PATH and of pyenv; those that are missing are named.
"""

from __future__ import annotations

import argparse
from typing import List

from wheels import ROOT, TRIED, interpreter, run

OLD_LIBRARIES = ("numpy==1.26.*", "pandas==2.*")


def test(version: str, python: str, libraries: List[str], jobs: int) -> None:
    folder = ROOT / "build" / "matrix" / version
    run(python, "-m", "venv", folder)
    pip = (folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    installed = ROOT / "build" / "installed"
    run(*pip, f"{ROOT}[test]", *libraries, "--config-settings=cmake.define.CROWDFOLD_INSTALLED=ON",
        f"--config-settings=cmake.define.CMAKE_PREFIX_PATH={installed}")
    run(*pip, "--no-deps", "crowd-kit")
    print(f"Python {version}", flush=True)
    # Notebooks, stubs and times are those of the usual environment.
    run(folder / "bin" / "python", "-m", "pytest", "-o", f"cache_dir={folder}/pytest", "-n", jobs, "--ignore=python/tests/test_process.py",
        "--ignore=python/tests/test_notebooks.py", "--ignore=python/tests/test_generated.py", cwd=ROOT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    found = {version: interpreter(version) for version in TRIED}
    there = [version for version, python in found.items() if python is not None]
    for version in TRIED:
        if version not in there:
            print(f"Python {version}: skipped, there is no such interpreter")
    for version in dict.fromkeys((there[0], there[-1])):
        test(version, str(found[version]), list(OLD_LIBRARIES if version == there[0] != there[-1] else ()), arguments.jobs)


if __name__ == "__main__":
    main()
