"""How the package is built, and the command that it brings."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import crowdfold as cf

ROOT = Path(__file__).resolve().parents[2]


def command(*arguments: Any) -> subprocess.CompletedProcess[str]:
    script = "import sys; from crowdfold._command import main; main()"
    return subprocess.run([sys.executable, "-c", script, *map(str, arguments)], text=True, capture_output=True)


def test_the_command_is_the_program(run: Any, frame: Any, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    frame.to_csv(labels, index=False)
    assert command("--version").stdout == f"crowdfold {cf.__version__}\n"
    assert command("help", "aggregate").stdout == run("help", "aggregate")
    told = command("aggregate", labels, "-q", "-o", tmp_path / "package.csv", "--workers-out", tmp_path / "package_workers.csv")
    assert (told.returncode, told.stdout, told.stderr) == (0, "", "")
    run("aggregate", labels, "-q", "-o", tmp_path / "program.csv", "--workers-out", tmp_path / "program_workers.csv")
    for name in ("", "_workers"):
        assert (tmp_path / f"package{name}.csv").read_bytes() == (tmp_path / f"program{name}.csv").read_bytes()


def test_the_command_ends_as_the_program_does(tmp_path: Path) -> None:
    missing = command("aggregate", tmp_path / "nowhere.csv")
    assert missing.returncode == 1 and "nowhere.csv: cannot open" in missing.stderr
    assert command("aggregate", "--nonsense").returncode == 2
    assert "Traceback" not in missing.stderr


@pytest.mark.skipif(shutil.which("cmake") is None, reason="there is no cmake")
def test_missing_libraries_are_named_with_the_line_that_installs_them(tmp_path: Path) -> None:
    said = subprocess.run(["cmake", "-S", ROOT, "-B", tmp_path, "-DCROWDFOLD_PYTHON=ON", "-DCROWDFOLD_TESTS=OFF",
                           "-DCMAKE_DISABLE_FIND_PACKAGE_simdjson=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON"],
                          text=True, capture_output=True)
    assert said.returncode != 0
    words = " ".join(said.stderr.split())
    assert "missing: simdjson, CLI11." in words
    assert "sudo apt install g++ cmake ninja-build" in words and words.count("libutf8proc-dev") == 1 and "\\" not in words
