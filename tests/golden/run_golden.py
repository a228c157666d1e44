#!/usr/bin/env python3
"""Runs the commands of cases.json and compares what they print, return and leave behind with expected/*.txt.

Every case runs in a folder of its own that holds its files; commands are lines for bash, with `crowdfold` on the path.
What comes out is written down as a transcript. `--update` rewrites the expected transcripts: read the diff.
"""
import argparse
import base64
import concurrent.futures
import difflib
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data"
TIMEOUT = 300


def content_of(spec):
    """A file's bytes: text, or {"gzip"|"zstd"|"base64": text}, or {"copy": a file of tests/data}."""
    if isinstance(spec, str):
        return spec.encode()
    (kind, value), = spec.items()
    if kind == "gzip":
        return gzip.compress(value.encode(), mtime=0)
    if kind == "zstd":
        return subprocess.run(["zstd", "-q", "-c"], input=value.encode(), stdout=subprocess.PIPE, check=True).stdout
    if kind == "base64":
        return base64.b64decode(value)
    if kind == "copy":
        return (DATA / value).read_bytes()
    raise ValueError(kind)


def normalised(raw, folder):
    text = raw.decode("utf-8", "backslashreplace").replace("\0", "\\0")
    text = text.replace(str(folder), "DIR")
    text = re.sub(r"\b\d+\.\d+ s\b", "N.NN s", text)  # seconds that a run took
    text = re.sub(r"(?m)(± .* )\d+\.\d{4}$", r"\1N.NNNN", text)  # the same in the last column of compare's table
    text = re.sub(r"where \d+\.\d+ [KMGT]B are free", "where N.N GB are free", text)
    text = re.sub(r'"seconds": [0-9.e+-]+', '"seconds": N', text)
    return text


def run_case(case, binary):
    with tempfile.TemporaryDirectory(prefix="crowdfold-golden.") as name:
        folder = pathlib.Path(name).resolve()
        work, tools = folder / "work", folder / "bin"
        work.mkdir()
        tools.mkdir()
        (tools / "crowdfold").symlink_to(binary)
        for path, spec in case.get("files", {}).items():
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).write_bytes(content_of(spec))
        environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", LC_ALL="C", TMPDIR=str(folder), DATA=str(DATA))
        lines = []
        for command in case["run"]:
            done = subprocess.run(["bash", "-c", command], cwd=work, env=environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=TIMEOUT, check=False)
            lines.append(f"$ {command}\n")
            for stream, raw in (("stdout", done.stdout), ("stderr", done.stderr)):
                text = normalised(raw, work)
                if text:
                    lines.append(f"[{stream}]\n{text}" + ("" if text.endswith("\n") else "\\no newline\n"))
            lines.append(f"[exit {done.returncode}]\n")
        given = {path.split("/")[0] for path in case.get("files", {})}
        new = sorted(p.name for p in work.iterdir() if p.name not in given)
        lines.append(f"[new files] {' '.join(new) or 'none'}\n")
        left = sorted(p.name for p in folder.iterdir() if p not in (work, tools))
        if left:
            lines.append(f"[left in TMPDIR] {' '.join(left)}\n")
        return "".join(lines)


def why_skipped(case, sanitized, without_page):
    if case.get("page") is True and without_page:
        return "built without the page of reports"
    if case.get("page") is False and not without_page:
        return "built with the page of reports"
    if sanitized and case.get("slow_when_sanitized"):
        return "too slow or too large under a sanitizer"
    if case.get("not_as_root") and os.geteuid() == 0:
        return "root may do everything"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--update", action="store_true", help="rewrite the expected transcripts")
    parser.add_argument("--sanitized", action="store_true", help="the binary is slow")
    parser.add_argument("--without-page", action="store_true", help="the binary was built without the page of reports")
    parser.add_argument("--only", help="cases whose name contains this")
    options = parser.parse_args()
    binary = pathlib.Path(options.binary).resolve()
    cases = json.loads((HERE / "cases.json").read_text())
    names = [case["name"] for case in cases]
    assert len(set(names)) == len(names), "two cases have the same name"
    cases = [case for case in cases if not options.only or options.only in case["name"]]

    run, skipped = [], []
    for case in cases:
        reason = why_skipped(case, options.sanitized, options.without_page)
        skipped.append(f"{case['name']}: skipped, {reason}") if reason else run.append(case)
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        transcripts = list(pool.map(lambda case: run_case(case, binary), run))

    failed = 0
    expected_folder = HERE / "expected"
    expected_folder.mkdir(exist_ok=True)
    for case, actual in zip(run, transcripts):
        path = expected_folder / f"{case['name']}.txt"
        expected = path.read_text() if path.exists() else ""
        if actual == expected:
            continue
        if options.update:
            path.write_text(actual)
            print(f"{case['name']}: rewritten")
            continue
        failed += 1
        print(f"{case['name']}: FAILED")
        sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), actual.splitlines(True), "expected", "actual"))
    stale = {p.stem for p in expected_folder.glob("*.txt")} - set(names)
    for name in sorted(stale):
        if options.update:
            (expected_folder / f"{name}.txt").unlink()
        else:
            failed += 1
            print(f"{name}: FAILED, a transcript without a case")
    for line in skipped:
        print(line)
    print(f"{len(run) - failed} of {len(run)} cases as expected, {len(skipped)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
