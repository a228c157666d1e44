"""One fit from a table in memory: its seconds, also those of all processors, and the memory it took beyond the table, as JSON.

    python_fit.py crowdfold|crowdkit CLASS TABLE LABELS [--repeat N] [--threads N] [--shuffle]

TABLE is what LABELS, a file, is made into: `frame` of pandas, as it reads texts by itself, `objects`, a frame of Python's
strings, each text one object, `strings`, the same with an object for every row, `dictionary`, an Arrow table of
dictionaries, or `integers`, numpy arrays.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import pandas as pd

LONG = 5  # seconds: such a fit is not repeated


def status(key: str) -> int:
    """Bytes, from /proc/self/status."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    return 0


def make(table: str, path: str, shuffle: bool):
    """The table, and its size in bytes. Of Python's strings, only the references count."""
    frame = pd.read_csv(path)
    if shuffle:
        frame = frame.sample(frac=1, random_state=0, ignore_index=True)
    if table == "frame":
        return frame, int(frame.memory_usage(index=False, deep=True).sum())
    if table in ("objects", "strings"):
        columns = {}
        for name in frame.columns:
            codes, values = pd.factorize(frame[name])
            texts = np.array([str(value) for value in values], dtype=object)
            column = texts[codes]
            if table == "strings":
                column[:] = [text[:1] + text[1:] for text in column]
            columns[name] = pd.Series(column, dtype=object)
        frame = pd.DataFrame(columns)
        return frame, int(frame.memory_usage(index=False).sum())
    if table == "integers":
        arrays = {name: pd.factorize(frame[name])[0].astype("i4") for name in frame.columns}
        return arrays, sum(array.nbytes for array in arrays.values())
    import pyarrow

    arrays = {name: pyarrow.array(frame[name], type=pyarrow.string()).dictionary_encode() for name in frame.columns}
    made = pyarrow.table(arrays)
    return made, made.nbytes


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("package", choices=("crowdfold", "crowdkit"))
parser.add_argument("name")
parser.add_argument("table")
parser.add_argument("labels")
parser.add_argument("--repeat", type=int, default=1)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--shuffle", action="store_true")
args = parser.parse_args()
if args.package == "crowdfold":
    import crowdfold

    model = getattr(crowdfold, args.name)(n_jobs=args.threads)
else:
    from crowdkit import aggregation

    model = getattr(aggregation, args.name)()
data, size = make(args.table, args.labels, args.shuffle)
seconds = []
processor = []
extra = 0
while len(seconds) < args.repeat and (not seconds or seconds[-1] < LONG):
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = status("VmRSS")
    start, busy = time.perf_counter(), time.process_time()
    answers = model.fit_predict(data)
    seconds.append(time.perf_counter() - start)
    processor.append(time.process_time() - busy)
    extra = max(extra, status("VmHWM") - before)
    assert len(answers) > 0
print(json.dumps({"seconds": min(seconds), "processor": min(processor), "extra": extra, "size": size}))
