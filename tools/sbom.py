#!/usr/bin/env python3
"""Writes the software bill of materials of a build, as CycloneDX 1.5: `make sbom`.

    tools/sbom.py PROGRAM --packages PACKAGE... [--output FILE]

It lists the libraries that PROGRAM loads, the Debian PACKAGEs that it is built with (headers become part of it; tools do not),
the npm packages that are bundled into the page of reports, and the requirements of the Python package. Versions are those of
this machine.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
# Needed to build, but nothing of them is in the product.
TOOLS = {"g++", "cmake", "ninja-build", "pkg-config"}


Component = dict[str, Any]


def lines_of(*command: str) -> list[str]:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def component(registry: str, name: str, version: str, scope: str = "required") -> Component:
    purl = f"pkg:{registry}/{quote(name)}" + (f"@{quote(version, safe='')}" if version else "")
    made = {"type": "library", "bom-ref": purl, "name": name, "purl": purl, "scope": scope}
    return made | ({"version": version} if version else {})


def debian(package: str, scope: str = "required") -> Component:
    [version] = lines_of("dpkg-query", "-W", "-f=${Version}\n", package)
    return component("deb/debian", package, version, scope)


def loaded_packages(program: Path) -> list[str]:
    """The Debian packages of the libraries that the program loads."""
    packages = set()
    for line in lines_of("ldd", str(program)):
        found = re.search(r"=> (/\S+)", line)
        if not found:
            continue
        # Debian merged /lib into /usr/lib; its database may know a file by either name.
        path = found.group(1)
        for name in (path, "/usr" + path, path.removeprefix("/usr")):
            owner = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True).stdout
            if owner:
                packages.add(owner.split(":")[0])
                break
        else:
            raise SystemExit(f"sbom: {path} belongs to no Debian package")
    return sorted(packages)


def npm_components(lock: Path) -> list[Component]:
    """The packages of the page; those that only build and test it are not in the product."""
    found = []
    for place, package in json.loads(lock.read_text())["packages"].items():
        if place and not package.get("dev") and not package.get("devOptional"):
            name = place.rpartition("node_modules/")[2]
            found.append(component("npm", name, package["version"]))
    return found


def python_components(project: Path) -> list[Component]:
    """Requirements of the Python package. The version is whichever the user's machine has; the bill tells the range."""
    listed = re.search(r'^dependencies = \[(.*)\]$', project.read_text(), re.MULTILINE)
    if not listed:
        raise SystemExit(f"sbom: {project} has no line of dependencies")
    found = []
    for text in re.findall(r'"([^"]+)"', listed.group(1)):
        name, allowed = re.fullmatch(r"([\w.-]+)(.*)", text).groups()
        found.append(component("pypi", name.lower(), "") | {"properties": [{"name": "range", "value": allowed}]})
    return found


def bill(program: Path, packages: list[str]) -> dict[str, Any]:
    [version] = re.findall(r"project\(crowdfold VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    components = [debian(package) for package in loaded_packages(program)]
    components += [debian(package, "excluded" if package in TOOLS else "required") for package in packages]
    components += npm_components(ROOT / "web/package-lock.json")
    components += python_components(ROOT / "pyproject.toml")
    components.sort(key=lambda one: one["purl"])
    subject = component("generic", "crowdfold", version) | {"type": "application"}
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": subject},
            "components": components}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--packages", nargs="*", default=[], help="Debian packages that the program is built with")
    parser.add_argument("--output", type=Path, default=ROOT / "build/crowdfold.cdx.json")
    args = parser.parse_args()
    made = bill(args.program, args.packages)
    args.output.write_text(json.dumps(made, indent=2) + "\n")
    print(f"sbom: {len(made['components'])} components, written to {args.output}")


if __name__ == "__main__":
    main()
