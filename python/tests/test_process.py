"""What a process notices: memory, signals, the interpreter's lock."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
import threading
import time

import psutil
import pytest

import crowdfold as cf


def test_ten_thousand_fits_leak_nothing(two_classes: cf.Crowd) -> None:
    frame = two_classes.to_pandas().iloc[:120]
    model = cf.TwoPass(n_jobs=1)
    process = psutil.Process()

    def fits(count: int) -> int:
        for _ in range(count):
            model.fit(frame)
        gc.collect()
        return int(process.memory_info().rss)

    before = fits(1000)
    after = fits(10_000)
    assert after - before < 4 << 20, f"{(after - before) / 2**20:.1f} MB more"


LONG = """
import os, signal, threading, time
import crowdfold as cf
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background has it ignored
crowd = cf.simulate(tasks=60_000, workers=2_000, classes=5, labels_per_task=10, confusion=True)
model = cf.{method}
began = 0.0
def interrupt():
    global began
    time.sleep(1.0)
    began = time.perf_counter()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
try:
    model.fit({data})
    print("finished")
except KeyboardInterrupt:
    print(time.perf_counter() - began)
"""


@pytest.mark.parametrize("method", ["EBCC(n_restarts=100)", "ZeroBasedSkill(n_iter=100_000)", "GLAD(n_iter=1000, tol=0)",
                                    "LAA(n_iter=100_000)", "MACE(n_restarts=1000)", "BiLA(epochs=100_000)"])
def test_ctrl_c_interrupts_within_200_ms(method: str) -> None:
    said = subprocess.check_output([sys.executable, "-c", LONG.format(method=method, data="crowd.data")], text=True)
    assert said.strip() != "finished"
    assert float(said) < 0.2


def test_ctrl_c_interrupts_while_reading() -> None:
    chunks = "(crowd.data for _ in range(100_000))"
    said = subprocess.check_output([sys.executable, "-c", LONG.format(method="OnePass(duplicates='keep')", data=chunks)],
                                   text=True)
    assert float(said) < 0.2


def test_other_threads_run_meanwhile() -> None:
    crowd = cf.simulate(tasks=20_000, workers=500, classes=5, labels_per_task=10)
    counted = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal counted
        while not stop.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    began = time.perf_counter()
    cf.DawidSkene(n_iter=150, tol=0, n_jobs=1).fit(crowd.data)
    seconds = time.perf_counter() - began
    stop.set()
    thread.join()
    assert counted > 50 * seconds


def test_a_progress_bar_that_raises_stops_the_work() -> None:
    script = textwrap.dedent("""
        import crowdfold as cf
        from crowdfold import _progress
        def fail(self, stage, done, total):
            raise RuntimeError("enough")
        _progress.Progress.__call__ = fail
        crowd = cf.simulate(tasks=60_000, workers=500, classes=5, labels_per_task=10)
        try:
            cf.DawidSkene(n_iter=100_000, verbose=True).fit(crowd.data)
        except RuntimeError as error:
            print(error)
    """)
    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "enough"


