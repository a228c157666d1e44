"""A method of crowd-kit, fitted to a file of labels.

Prints the seconds of reading and fitting, and of the fastest fit alone, as JSON.
"""

import argparse
import json
import time

import pandas as pd
from crowdkit import aggregation

LONG = 5  # seconds: such a fit is not repeated

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("method")
parser.add_argument("labels")
parser.add_argument("settings", nargs="*", metavar="NAME=NUMBER")
parser.add_argument("--output", help="file of estimates")
parser.add_argument("--repeat", type=int, default=1)
args = parser.parse_args()
options = {name: float(value) if "tol" in name else int(value)
           for name, value in (setting.split("=") for setting in args.settings)}

start = time.perf_counter()
frame = pd.read_csv(args.labels)
reading = time.perf_counter() - start
fits = []
while len(fits) < args.repeat and (not fits or fits[-1] < LONG):
    start = time.perf_counter()
    estimates = getattr(aggregation, args.method)(**options).fit_predict(frame)
    fits.append(time.perf_counter() - start)
if args.output:
    estimates.rename("label").rename_axis("task").to_csv(args.output)
print(json.dumps({"seconds": reading + fits[0], "fit_seconds": min(fits)}))
