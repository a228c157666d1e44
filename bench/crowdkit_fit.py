"""A method of crowd-kit: crowdkit_fit.py METHOD LABELS OUT.

Prints the seconds of reading and fitting, and of fitting alone, as JSON.
"""

import json
import sys
import time

import pandas as pd
from crowdkit.aggregation import DawidSkene, MajorityVote

METHODS = {"MajorityVote": MajorityVote, "DawidSkene": lambda: DawidSkene(n_iter=20)}

method, labels, out = sys.argv[1:]
start = time.perf_counter()
frame = pd.read_csv(labels)
read = time.perf_counter()
estimates = METHODS[method]().fit_predict(frame)
end = time.perf_counter()
estimates.rename("label").rename_axis("task").to_csv(out)
print(json.dumps({"seconds": end - start, "fit_seconds": end - read}))
