#!/usr/bin/env python3
"""Asks for known vulnerabilities of the components in a bill of materials: `make audit`.

    tools/audit.py BILL

npm's and PyPI's packages: the advisories of their registries. Debian's: newer versions, which is how its security fixes come.
Exit code 1 if something bundled into the product, or required by it, has a known vulnerability. A source that does not answer is
told by name: its components are not audited then, which is no finding. Packages of this machine that wait for an update are
told, too; they are the machine's, not the product's.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
Component = dict[str, Any]


class NoAnswer(Exception):
    """A source of advisories cannot be asked."""


def updates_of_debian(components: list[Component]) -> list[str]:
    """The packages that have a newer version in the archive."""
    names = [one["name"] for one in components]
    text = run("apt-cache", "policy", *names).stdout
    if "Candidate" not in text:
        raise NoAnswer("there are no package lists (apt-get update)")
    waiting = []
    for block in text.split("\n  Version table:\n")[:-1]:
        lines = block.splitlines()[-3:]
        name = lines[0].rstrip(":")
        installed, candidate = (line.split(": ")[1] for line in lines[1:])
        if candidate not in (installed, "(none)"):
            waiting.append(f"{name} {installed}: {candidate} is newer")
    return waiting


def advisories_of_npm(_: list[Component]) -> list[str]:
    answer = run("npm", "audit", "--json", "--omit=dev", cwd=ROOT / "web").stdout
    try:
        found = json.loads(answer)["vulnerabilities"]
    except (ValueError, KeyError):
        raise NoAnswer("its registry gives no advisories") from None
    return [f"{name}: {entry['severity']}" for name, entry in found.items()]


def advisories_of_pypi(components: list[Component]) -> list[str]:
    """The newest version that the range allows is asked for: older ones are the user's choice."""
    wanted = "".join(f"{one['name']}{one['properties'][0]['value']}\n" for one in components)
    try:
        done = run(sys.executable, "-m", "pip_audit", "--format=json", "--progress-spinner=off", "-r", "/dev/stdin", text=wanted)
        dependencies = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        raise NoAnswer("pip-audit is not installed, or has no answer") from None
    if all("skip_reason" in one for one in dependencies):
        raise NoAnswer("its registry gives no advisories")
    return [f"{one['name']} {one['version']}: {bug['id']}" for one in dependencies for bug in one.get("vulns", [])]


def run(*command: str, cwd: Path = ROOT, text: str = "") -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, cwd=cwd, input=text, capture_output=True, text=True, timeout=120)
    except (FileNotFoundError, subprocess.TimeoutExpired):
        raise NoAnswer(f"{command[0]} is not there, or does not answer") from None


# Kind of package: who is asked, and whether a finding is one of the product.
SOURCES: dict[str, tuple[Callable[[list[Component]], list[str]], bool]] = {
    "deb": (updates_of_debian, False),
    "npm": (advisories_of_npm, True),
    "pypi": (advisories_of_pypi, True),
}


def audit(components: list[Component]) -> bool:
    """Prints a line per kind of package, and one per finding. True: the product has no known vulnerability."""
    clean = True
    for kind, (ask, of_product) in SOURCES.items():
        chosen = [one for one in components if one["purl"].startswith(f"pkg:{kind}/") and one["scope"] == "required"]
        if not chosen:
            continue
        try:
            found = ask(chosen)
        except NoAnswer as reason:
            print(f"audit: {kind:5} {len(chosen):3} components  NOT audited: {reason}")
            continue
        print(f"audit: {kind:5} {len(chosen):3} components  {len(found)} {'known vulnerabilities' if of_product else 'wait for an update'}")
        for line in found:
            print(f"audit:         {line}")
        clean = clean and not (of_product and found)
    return clean


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bill", type=Path)
    args = parser.parse_args()
    sys.exit(0 if audit(json.loads(args.bill.read_text())["components"]) else 1)


if __name__ == "__main__":
    main()
