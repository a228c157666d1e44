#!/usr/bin/env python3
"""Runs crowd-kit's own tests of classes that crowdfold has, too, with the import changed, and writes what fails, and why, into
docs/python/migrating.md.

    git clone https://github.com/Toloka/crowd-kit DIR
    python tools/crowdkit_tests.py DIR [--write]

Nothing of crowd-kit is kept: its tests are changed in a temporary folder. crowd-kit itself must be installed
(pip install --no-deps crowd-kit), as its tests use its functions to compare tables.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Dict, List, Tuple

from markdown import fill_page, table

import crowdfold

PAGE = Path(__file__).resolve().parents[1] / "docs" / "python" / "migrating.md"
FILES = ("test_classification_aggregation.py", "test_classification_aggregation_edge_cases.py", "test_ds_aggregation.py",
         "test_glad_aggregation.py", "test_kos_aggregation.py", "test_mace_aggregation.py", "test_majority_vote.py")
IMPORT = re.compile(r"^from crowdkit\.aggregation import (\(.*?\)|[^\n(]+)$", re.MULTILINE | re.DOTALL)

# Why a test fails, by how its name starts.
REASONS: Dict[str, str] = {
    "test_glad_e_step": "calls private functions of crowd-kit's `GLAD`",
    "test_glad_derivative": "calls private functions of crowd-kit's `GLAD`",
    "test_fit_predict_classification_aggregations_methods[MMSR": "numbers that hang on crowd-kit's random start, of numpy's stream",
    "test_aggregate_mace_": "numbers that hang on crowd-kit's random start, of numpy's stream",
    "test_thetas_on_simple": "numbers that hang on crowd-kit's random start, of numpy's stream",
    "test_dawid_skene_on_empty_input": "of no labels, crowd-kit's tables have no names; here they keep names and dtypes",
    "test_kos_on_empty_input": "of no labels, crowd-kit's tables have no names; here they keep names and dtypes",
}


def changed(source: str) -> str:
    """The source with classes that crowdfold has imported from there. The others stay crowd-kit's."""

    def line(found: re.Match[str]) -> str:
        names = re.findall(r"\w+", found[1])
        ours = [name for name in names if hasattr(crowdfold, name)]
        others = [name for name in names if name not in ours]
        lines = [f"from crowdfold import {', '.join(ours)}"] if ours else []
        lines += [f"from crowdkit.aggregation import {', '.join(others)}"] if others else []
        return "\n".join(lines)

    return IMPORT.sub(line, source)


def run(checkout: Path, more: List[str]) -> Tuple[List[str], List[str]]:
    """Names of the tests that passed, and of those that failed."""
    with tempfile.TemporaryDirectory() as folder:
        tests = Path(folder) / "tests"
        shutil.copytree(checkout / "tests", tests, ignore=shutil.ignore_patterns("__pycache__"))
        for name in FILES:
            path = tests / "aggregation" / name
            path.write_text(changed(path.read_text(encoding="utf-8")), encoding="utf-8")
        report = Path(folder) / "report.xml"
        subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not segmentation", f"--junitxml={report}",
                        *more, *(f"tests/aggregation/{name}" for name in FILES)], cwd=folder, check=False,
                       env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        passed: List[str] = []
        failed: List[str] = []
        for case in ET.parse(report).iter("testcase"):
            bad = case.find("failure") is not None or case.find("error") is not None
            (failed if bad else passed).append(case.attrib["name"])
        return passed, failed


def reason_of(test: str) -> str:
    return next((why for start, why in REASONS.items() if test.startswith(start)), "")


def text(passed: List[str], failed: List[str]) -> str:
    rows = [[f"`{test}`", reason_of(test)] for test in sorted(failed)]
    return f"Of {len(passed) + len(failed)} tests, {len(passed)} pass. The others:\n\n{table(['test', 'why'], rows)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path, help="a copy of crowd-kit's repository")
    parser.add_argument("--write", action="store_true", help="write the table into the page")
    arguments, more = parser.parse_known_args()
    passed, failed = run(arguments.checkout, more)
    print(f"{len(passed)} of {len(passed) + len(failed)} pass")
    for test in failed:
        print(f"  {test}: {reason_of(test) or 'NO REASON IS KNOWN'}")
    if arguments.write:
        fill_page(PAGE, {"tests": text(passed, failed)})
    return 0 if all(map(reason_of, failed)) else 1


if __name__ == "__main__":
    sys.exit(main())
