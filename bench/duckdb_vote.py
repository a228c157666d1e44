"""Majority vote by DuckDB: duckdb_vote.py LABELS OUT THREADS. Prints the query's seconds as JSON."""

import json
import sys
import time

import duckdb

labels, out, threads = sys.argv[1:]
connection = duckdb.connect()
connection.execute(f"SET threads = {int(threads)}")
start = time.perf_counter()
connection.execute(f"""
    COPY (
        SELECT task, arg_max(label, n) AS label
        FROM (SELECT task, label, count(*) AS n FROM read_csv('{labels}') GROUP BY task, label)
        GROUP BY task
    ) TO '{out}' (HEADER)
""")
print(json.dumps({"seconds": time.perf_counter() - start}))
