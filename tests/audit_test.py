#!/usr/bin/env python3
"""Tests tools/audit.py on answers that the sources of advisories give: found, clean, none."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
import audit

POLICY = """libfoo1:
  Installed: 1.0-1
  Candidate: {candidate}
  Version table:
     {candidate} 500
"""


def component(kind: str, **more: object) -> audit.Component:
    return {"name": "libfoo1", "purl": f"pkg:{kind}/libfoo1", "scope": "required"} | more


class Audit(unittest.TestCase):
    def ask(self, answer: str, one: audit.Component) -> tuple[bool, str]:
        """Whether the audit is clean, and what it prints, where every program prints `answer`."""
        said = io.StringIO()
        done = subprocess.CompletedProcess([], 0, stdout=answer)
        with mock.patch.object(audit, "run", return_value=done), contextlib.redirect_stdout(said):
            return audit.audit([one]), said.getvalue()

    def test_a_newer_version_of_debian_is_told_and_is_not_the_products_fault(self) -> None:
        clean, said = self.ask(POLICY.format(candidate="1.0-1+deb12u1"), component("deb/debian"))
        self.assertTrue(clean)
        self.assertIn("libfoo1 1.0-1: 1.0-1+deb12u1 is newer", said)

    def test_a_newest_version_of_debian_is_clean(self) -> None:
        clean, said = self.ask(POLICY.format(candidate="1.0-1"), component("deb/debian"))
        self.assertTrue(clean)
        self.assertIn("0 wait for an update", said)

    def test_an_advisory_of_npm_is_a_finding(self) -> None:
        clean, said = self.ask('{"vulnerabilities": {"d3-color": {"severity": "high"}}}', component("npm"))
        self.assertFalse(clean)
        self.assertIn("d3-color: high", said)

    def test_an_advisory_of_pypi_is_a_finding(self) -> None:
        answer = '{"dependencies": [{"name": "numpy", "version": "2.0", "vulns": [{"id": "PYSEC-1"}]}]}'
        clean, said = self.ask(answer, component("pypi", properties=[{"name": "range", "value": ">=1"}]))
        self.assertFalse(clean)
        self.assertIn("numpy 2.0: PYSEC-1", said)

    def test_a_source_without_an_answer_is_named_and_never_called_clean(self) -> None:
        for kind in ("deb/debian", "npm", "pypi"):
            properties = [{"name": "range", "value": ""}]
            clean, said = self.ask("", component(kind, properties=properties))
            self.assertTrue(clean)
            self.assertIn("NOT audited", said)
            self.assertNotIn("0 known", said)


if __name__ == "__main__":
    unittest.main()
