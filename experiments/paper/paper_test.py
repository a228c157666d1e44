#!/usr/bin/env python3
"""Runs crowdfold-paper as people do: on small simulated crowds, stopped and started again, on bad input, and, with --data,
on real data sets.

    paper_test.py --binary crowdfold-paper --crowdfold crowdfold [--data DIR]

Results may differ in their seconds only.
"""
import argparse
import csv
import fcntl
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
COLUMNS = {
    "sets.csv": "set,tasks,workers,classes,labels,truths,fingerprint",
    "offline_runs.csv": "set,method,seed,accuracy,seconds",
    "offline.csv": "set,method,runs,accuracy,accuracy_sd,paper_accuracy,difference,marked,seconds,paper_seconds",
    "wilcoxon.csv": "method,pairs,statistic,p,paper_statistic,paper_p,paper_table_pairs,paper_table_statistic,paper_table_p",
    "priors_runs.csv": "method,alpha,beta,set,seed,accuracy",
    "priors.csv": "method,alpha,beta,sets,runs,accuracy",
    "convergence.csv": "simulation,seed,points,inside_1,inside_2",
    "convergence_traces.csv": "simulation,worker,quality,tasks,estimate",
    "online_runs.csv": "set,method,seed,chunk,tasks,accuracy,seconds",
    "online.csv": "set,method,chunk,runs_or_sets,accuracy,seconds",
}
# Sets of the paper, with other, smaller crowds: tasks and classes.
CROWDS = {"CF": (40, 5), "bird": (30, 2), "rte": (37, 2), "smile": (30, 2)}
RUNS = 2


def check(condition, what):
    if not condition:
        raise SystemExit(f"failed: {what}")


class Program:
    def __init__(self, options):
        self.paper, self.crowdfold = options.binary.resolve(), options.crowdfold.resolve()

    def run(self, *arguments, code=0, **more):
        done = subprocess.run([self.paper, *map(str, arguments)], capture_output=True, text=True, **more)
        check(done.returncode == code, f"{arguments}: returned {done.returncode}, not {code}\n{done.stderr}")
        return done.stderr

    def crowds(self, folder):
        for seed, (name, (tasks, classes)) in enumerate(CROWDS.items()):
            (folder / name).mkdir(parents=True)
            subprocess.run([self.crowdfold, "simulate", "--quiet", "--tasks", str(tasks), "--classes", str(classes), "--workers",
                            "8", "--labels-per-task", "4", "--seed", str(seed), "-o", folder / name / "labels.csv",
                            "--truth-out", folder / name / "truth.csv"], check=True)
        return folder


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def without_seconds(folder):
    return {path.name: [{k: v for k, v in row.items() if k != "seconds"} for row in table(path)]
            for path in sorted(folder.glob("*.csv"))}


def test_help(program):
    for command in ("offline", "wilcoxon", "priors", "convergence", "online", "all", "report", "import", "signed-rank"):
        text = subprocess.run([program.paper, command, "--help"], capture_output=True, text=True, check=True).stdout
        check("Example" in text, f"{command} --help has an example")


def test_shapes(folder):
    for name, columns in COLUMNS.items():
        with open(folder / name, encoding="utf-8") as file:
            check(file.readline().strip() == columns, f"columns of {name}")
    check({path.name for path in folder.iterdir()} == {*COLUMNS, "report.html"}, "files of the results")
    sets = [*CROWDS, "smile_once"]
    runs = table(folder / "offline_runs.csv")
    check(len(runs) == len(sets) * 10 * RUNS, "ten methods on every data set")
    check(all(0 <= float(row["accuracy"]) <= 1 and float(row["seconds"]) >= 0 for row in runs), "accuracies and seconds")
    summary = {(row["set"], row["method"]): row for row in table(folder / "offline.csv")}
    for (name, method), row in summary.items():
        mean = [float(run["accuracy"]) for run in runs if (run["set"], run["method"]) == (name, method)]
        check(abs(float(row["accuracy"]) - sum(mean) / RUNS) < 1e-12 and row["runs"] == str(RUNS), "means over the runs")
        difference = float(row["accuracy"]) - float(row["paper_accuracy"])
        check(abs(difference - float(row["difference"])) < 1e-12, "differences")
        few_truths = name != "rte"
        check(row["marked"] == ("" if abs(difference) <= (.02 if few_truths else .01) else "above" if difference > 0 else "below"),
              "large differences are marked")
    check(summary["rte", "twopass"]["paper_accuracy"] == "0.9266", "the paper's figure")
    check([row["method"] for row in table(folder / "wilcoxon.csv")] ==
          ["ds", "lfc", "iwmv", "ebcc", "laa", "zc", "bila", "twopass", "onepass"], "methods that are tested")
    check(len(table(folder / "priors.csv")) == 50 and len(table(folder / "priors_runs.csv")) == 50 * len(CROWDS) * RUNS, "25 priors")
    for row in table(folder / "convergence.csv"):
        check(float(row["inside_1"]) >= .68 and float(row["inside_2"]) >= .95, f"bounds hold: {row}")
    check(len(table(folder / "convergence_traces.csv")) == 2 * 20 * 1000, "traces of 20 workers")
    online = table(folder / "online_runs.csv")
    check({(row["set"], row["method"]) for row in online} ==
          {(name, method) for name in ("CF", "bird", "rte") for method in ("mv", "bila", "onepass", "twopass", "sbic")}
          - {("CF", "sbic")}, "online methods, sbic on two classes only")
    check([row["tasks"] for row in online if (row["set"], row["method"], row["seed"]) == ("rte", "mv", "1")] ==
          ["3", "7", "11", "14", "18", "22", "25", "29", "33", "37"], "chunks of the same size")
    check({row["set"] for row in table(folder / "online.csv")} == {"CF", "bird", "rte", "mean", "mean_binary"}, "means over sets")


def test_report(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    # scatter, two heat maps, 20 + 1 traces, two means online and one chart per set
    check(page.count("<svg") == 1 + 2 + 21 + 2 + 3, f"charts of the report: {page.count('<svg')}")
    check(page.count("<section") == 6, "sections of the report")
    check(not re.search(r"<(script|link|img|iframe)|url\(|@import|(src|href)=\"(?!#)", page), "the page needs nothing else")


def test_same_seed(program, data, folder, expected):
    program.run("all", "--quiet", "--data", data, "--out", folder, "--runs", RUNS)
    check(without_seconds(folder) == expected, "the same seed gives the same results")
    other = folder.parent / "other-seed"
    program.run("offline", "--quiet", "--data", data, "--out", other, "--runs", RUNS, "--seed", 5, "--methods", "onepass")
    check(table(other / "offline_runs.csv")[0]["seed"] == "5", "seeds count from the one that is given")


def test_killed(program, data, folder, expected, seconds):
    """Killed at random moments, and in the end left alone."""
    rng = random.Random(1)
    command = [program.paper, "all", "--quiet", "--data", data, "--out", folder, "--runs", str(RUNS)]
    kills = 0
    for _ in range(20):
        process = subprocess.Popen(command)
        time.sleep(rng.uniform(0, seconds))
        process.kill()
        if process.wait() != -signal.SIGKILL:
            break  # it was done
        kills += 1
    runs = folder / "priors_runs.csv"
    check(kills > 0 and runs.exists(), f"killed after it had begun, not only {kills} times")
    text = runs.read_bytes()
    runs.write_bytes(text[:-7])  # as if the disk had lost the end
    said = program.run("all", "--data", data, "--out", folder, "--runs", RUNS)
    check(" there already" in said and "offline: " in said, f"says that it goes on: {said}")
    check(without_seconds(folder) == expected, "a run that was killed goes on and ends as others do")
    check("offline: 0 to measure" in program.run("offline", "--data", data, "--out", folder, "--runs", RUNS), "nothing twice")


def test_other_data(program, data, folder):
    """Results of one data set are not taken for those of another, and one at a time works in a folder."""
    program.run("offline", "--quiet", "--data", data, "--out", folder / "out", "--runs", 1, "--methods", "mv")
    other = folder / "data" / "rte"
    other.mkdir(parents=True)
    for name in ("labels.csv", "truth.csv"):
        (other / name).write_bytes((data / "bird" / name).read_bytes())
    before = without_seconds(folder / "out")
    said = program.run("offline", "--data", other.parent, "--out", folder / "out", "--runs", 1, "--methods", "mv", code=1)
    check("not the data set" in said and without_seconds(folder / "out") == before, f"another data set is refused: {said}")
    descriptor = os.open(folder / "out", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    check("is at work in this folder" in program.run("report", "--out", folder / "out", code=2), "one at a time")
    os.close(descriptor)
    program.run("report", "--out", folder / "out")


def test_interrupted(program, data, folder):
    process = subprocess.Popen([program.paper, "all", "--data", data, "--out", folder, "--runs", "200"], stderr=subprocess.PIPE,
                               text=True)
    while not (folder / "priors_runs.csv").exists():
        time.sleep(.02)
    process.send_signal(signal.SIGINT)
    said = process.communicate()[1]
    check(process.returncode == 130 and "goes on where it was" in said, f"Ctrl-C: {said}")


def test_more_and_fresh(program, data, folder):
    program.run("offline", "--quiet", "--data", data, "--out", folder, "--runs", 1, "--methods", "mv")
    program.run("wilcoxon", "--quiet", "--data", data, "--out", folder, "--runs", 2, "--methods", "mv,threepass,sbic")
    found = {(row["set"], row["method"]): row["runs"] for row in table(folder / "offline.csv")}
    check(found["rte", "mv"] == "2" and found["rte", "threepass"] == "2" and ("CF", "sbic") not in found, "runs and methods add up")
    check({row["method"] for row in table(folder / "wilcoxon.csv")} == {"threepass", "sbic"}, "methods beside the paper's")
    said = program.run("offline", "--fresh", "--data", data, "--out", folder, "--runs", 1, "--methods", "mv")
    check("5 to measure, 0 there" in said, f"--fresh measures again: {said}")
    check(len([row for row in table(folder / "offline_runs.csv") if row["method"] == "mv"]) == 10, "and keeps the rest")
    page = folder / "page.md"
    page.write_text("# Page\n<!-- sets -->\n<!-- end -->\n<!-- offline -->\nold\n<!-- end -->\ntext\n"
                    "<!-- wilcoxon -->\n<!-- end -->\n", encoding="utf-8")
    program.run("report", "--out", folder, "--fill", page)
    text = page.read_text(encoding="utf-8")
    check("| mv |" in text and "old" not in text and "\ntext\n" in text and "(img/reproduction_scatter.svg)" in text, "a page is filled")
    check((folder / "img" / "reproduction_scatter.svg").exists(), "and its charts are beside it")


def test_bad_input(program, data, folder):
    empty = folder / "empty"
    empty.mkdir(parents=True)
    check("none of the paper's data sets" in program.run("offline", "--data", empty, "--out", folder / "x", code=2), "no data")
    check("no method 'nonsense'" in program.run("offline", "--methods", "nonsense", "--data", data, "--out", folder / "x", code=2),
          "no such method")
    check("no results yet" in program.run("report", "--out", empty, code=1), "nothing to report")
    program.run("all", "--runs", "0", code=2)
    check("no command 'bogus'" in program.run("bogus", code=2), "no such command")
    file = folder / "file"
    file.write_text("")
    check("cannot make this folder" in program.run("all", "--data", data, "--out", file, code=1), "no folder for results")
    bad = folder / "bad" / "rte"
    bad.mkdir(parents=True)
    (bad / "labels.csv").write_text("task,worker,label\na,b,c\na,b\n")
    (bad / "truth.csv").write_text("task,label\na,c\n")
    check("labels.csv:3" in program.run("offline", "--data", bad.parent, "--out", folder / "x", code=1), "where labels are bad")
    results = folder / "old"
    results.mkdir()
    (results / "offline_runs.csv").write_text("something,else\n")
    check("offline_runs.csv:1:1" in program.run("offline", "--data", data, "--out", results, code=1), "results of another kind")
    check((results / "offline_runs.csv").read_text() == "something,else\n", "which stay as they are")


def test_signed_rank(program):
    done = subprocess.run([program.paper, "signed-rank"], input="3\n-1\n2\n0\n", check=True, capture_output=True, text=True)
    check(json.loads(done.stdout) == {"statistic": 5, "pairs": 3, "p": .25}, "the signed-rank test of differences")
    check("expected numbers" in program.run("signed-rank", code=1, input="3\nx\n"), "a difference that is no number")


def test_import(program, folder):
    files = {
        "LA/data/crowdscale2013/fact_eval/label.csv": "item,worker,label\n0,5,1\n0,5,1\n1,6,0\n",
        "LA/data/crowdscale2013/fact_eval/truth.csv": "item,truth\n0,1\n1,-1\n9,1\n",
        "infer/datasets/d_jn-product/answer.csv": "question,worker,answer\r\nq,w,1\r\n",
        "infer/datasets/d_jn-product/truth.csv": "question,truth\r\nq,1\r\n",
        "infer/datasets/f201_Emotion_FULL/answer.csv": "question,worker,answer\nq,w,3.5\n",
        "toolkit/Data/ZenCrowd_us.csv": "ann,u1,1,1\nbob,u1,0,1,17\nann,u2,0,-1\n",
        "spectral/src/bluebird_crowd.txt": "1\t2\t1\n1  3 2\n",
        "spectral/src/bluebird_truth.txt": "1 2\n2 0\n",
        "smiles/mturklabels.txt": "0001 A 1\n0001 A 1\n0002 B 0\n",
        "smiles/groundtruth.txt": "0001 1\n0002 0\n",
    }
    for name, text in files.items():
        (folder / "from" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "from" / name).write_bytes(text.encode())
    to = folder / "to"
    said = program.run("import", folder / "from", "--data", to)
    expected = {
        "fact": ("0,5,1\n1,6,0\n", "0,1\n"), "prod": ("q,w,1\n", "q,1\n"), "ZC_us": ("u1,ann,1\nu1,bob,0\nu2,ann,0\n", "u1,1\n"),
        "bird": ("1,2,1\n1,3,2\n", "1,2\n"), "smile": ("0001,A,1\n0001,A,1\n0002,B,0\n", "0001,1\n0002,0\n"),
    }
    check({path.name for path in to.iterdir()} == set(expected), f"data sets that are known: {said}")
    for name, (labels, truths) in expected.items():
        check((to / name / "labels.csv").read_text() == "task,worker,label\n" + labels, f"labels of {name}")
        check((to / name / "truth.csv").read_text() == "task,label\n" + truths, f"truths of {name}")
    check("1 task (the paper: 108)" in said, f"sizes beside the paper's: {said}")
    check("stays as it is" in program.run("import", folder / "from", "--data", to), "nothing is overwritten")
    check("none of the paper's" in program.run("import", to, "--data", folder / "x", code=2), "a layout that is not known")
    (folder / "from/toolkit/Data/CF.csv").write_text("a,b,c,d\na,b\n")
    check("CF.csv:2" in program.run("import", folder / "from", "--data", folder / "again", code=1), "where it is bad")


def test_real_data(program, data, folder):
    """Means over the sets that are there are the paper's."""
    program.run("wilcoxon", "--quiet", "--data", data, "--out", folder, "--runs", 2, "--methods", "mv,onepass,twopass,ds,zc")
    rows = [row for row in table(folder / "offline.csv") if row["set"] != "smile_once"]
    for method in ("mv", "onepass", "twopass", "ds", "zc"):
        of_method = [float(row["difference"]) for row in rows if row["method"] == method]
        check(abs(sum(of_method) / len(of_method)) < .004, f"mean accuracy of {method}")
    if len(rows) >= 5 * 19:
        p = {row["method"]: float(row["p"]) for row in table(folder / "wilcoxon.csv")}
        check(p["twopass"] < .05 and p["onepass"] < .05, f"better than a majority vote: {p}")
    program.run("online", "--quiet", "--data", data, "--out", folder, "--runs", 1, "--methods", "mv,twopass")
    last = {row["method"]: float(row["accuracy"]) for row in table(folder / "online.csv")
            if row["set"] == "mean" and row["chunk"] == "10"}
    check(last["twopass"] > last["mv"], f"better than a majority vote online: {last}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--crowdfold", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, help="test on real data sets only")
    options = parser.parse_args()
    program = Program(options)
    with tempfile.TemporaryDirectory(prefix="crowdfold-paper.") as name:
        folder = pathlib.Path(name)
        if options.data is not None:
            data = pathlib.Path(os.environ.get("CROWDFOLD_DATA", options.data))
            if not (data / "rte").is_dir():
                print(f"{data}: no data sets")
                sys.exit(SKIPPED)
            test_real_data(program, data, folder / "out")
            return
        test_help(program)
        data = program.crowds(folder / "data")
        began = time.monotonic()
        program.run("all", "--quiet", "--data", data, "--out", folder / "out", "--runs", RUNS)
        seconds = time.monotonic() - began
        expected = without_seconds(folder / "out")
        test_shapes(folder / "out")
        test_report(folder / "out")
        test_same_seed(program, data, folder / "same", expected)
        test_killed(program, data, folder / "killed", expected, seconds)
        test_other_data(program, data, folder / "other")
        test_interrupted(program, data, folder / "interrupted")
        test_more_and_fresh(program, data, folder / "more")
        test_bad_input(program, data, folder / "bad-input")
        test_import(program, folder / "import")
        test_signed_rank(program)


if __name__ == "__main__":
    main()
