#!/usr/bin/env python3
"""EBCC as one writes it with numpy: a sparse T x M matrix per class, products of it with dense arrays.

    numpy_ebcc.py LABELS.csv STARTS

The same model, starts and stopping rule as crowdfold's ebcc (defaults, seed 0), so the same bounds. Prints
JSON: the seconds of all starts, without reading and drawing, and iterations and bound of the best.
"""

from __future__ import annotations

import csv
import json
import sys
import time

import numpy as np
import scipy.sparse as sp
from scipy.special import digamma, gammaln

SUBTYPES, SUBTYPE_PRIOR, RIGHT, WRONG = 10, 0.1, 4.0, 1.0
ITERATIONS, TOLERANCE = 500, 1e-3


def read(path: str) -> list[sp.csr_matrix]:
    """By class: which worker gave it to which task. Exact duplicates count once."""
    tasks: dict[str, int] = {}
    workers: dict[str, int] = {}
    classes: dict[str, int] = {}
    with open(path, newline="", encoding="utf-8") as file:
        rows = {(tasks.setdefault(row["task"], len(tasks)), workers.setdefault(row["worker"], len(workers)),
                 classes.setdefault(row["label"], len(classes))) for row in csv.DictReader(file)}
    triples = np.array(sorted(rows))
    shape = len(tasks), len(workers)
    return [sp.csr_matrix((np.ones(sum(said)), (triples[said, 0], triples[said, 1])), shape)
            for said in (triples[:, 2] == k for k in range(len(classes)))]


def mix64(x: np.ndarray) -> np.ndarray:
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def shares_at_random(num_tasks: int, num_classes: int, start: int) -> np.ndarray:
    """By task, class and subtype: Dirichlet(1, …, 1), the numbers that crowdfold draws."""
    seed = mix64(np.zeros(1, np.uint64)) + np.uint64(start)
    state = mix64(seed ^ mix64(np.arange(num_tasks, dtype=np.uint64)))
    draws = mix64(state[:, None] + np.arange(num_classes * SUBTYPES, dtype=np.uint64))
    uniform = (draws >> np.uint64(11)).astype(float) * 2.0**-53
    exponential = -np.log1p(-uniform).reshape(num_tasks, num_classes, SUBTYPES)
    return exponential / exponential.sum(2, keepdims=True)


def log_constant(parameters: np.ndarray) -> float:
    """Of Dirichlets along the last axis, summed."""
    return float(np.sum(gammaln(parameters.sum(-1))) - np.sum(gammaln(parameters)))


def expected_logs(parameters: np.ndarray) -> np.ndarray:
    return digamma(parameters) - digamma(parameters.sum(-1, keepdims=True))


def fit(said: list[sp.csr_matrix], shares: np.ndarray) -> tuple[float, int]:
    """Bound and iterations of one start."""
    num_classes = len(said)
    said_by_worker = [matrix.T.tocsr() for matrix in said]
    votes = np.stack([np.asarray(matrix.sum(1)).ravel() for matrix in said], 1)
    of_class = votes / votes.sum(1, keepdims=True)
    q = of_class[:, :, None] * shares
    rho_prior = of_class.sum(0)
    pi_prior = np.full((num_classes, 1, num_classes), WRONG)
    pi_prior[np.arange(num_classes), 0, np.arange(num_classes)] = RIGHT

    num_tasks, states = len(q), num_classes * SUBTYPES
    for iteration in range(1, ITERATIONS + 1):  # noqa: B007 (returned)
        counts = q.sum(0)
        rho = rho_prior + counts.sum(1)
        tau = SUBTYPE_PRIOR / SUBTYPES + counts
        flat = q.reshape(num_tasks, states)
        pi = np.stack([matrix @ flat for matrix in said_by_worker], -1)
        pi = pi.reshape(-1, num_classes, SUBTYPES, num_classes) + pi_prior

        log_rho, log_tau, log_pi = expected_logs(rho), expected_logs(tau), expected_logs(pi)
        by_label = log_pi.reshape(-1, states, num_classes)
        score = sum(matrix @ by_label[:, :, k] for k, matrix in enumerate(said))
        score = score.reshape(q.shape) + log_rho[:, None] + log_tau
        highest = score.max((1, 2), keepdims=True)
        q = np.exp(score - highest)
        total = q.sum((1, 2), keepdims=True)
        q /= total
        before, of_class = of_class, q.sum(2)
        if np.abs(of_class - before).max() <= TOLERANCE:
            break

    tau_prior = np.full_like(tau, SUBTYPE_PRIOR / SUBTYPES)
    bound = float(np.sum(highest) + np.sum(np.log(total)))
    for after, prior, logs in ((rho, rho_prior, log_rho), (tau, tau_prior, log_tau),
                               (pi, np.broadcast_to(pi_prior, pi.shape), log_pi)):
        bound -= log_constant(after) - log_constant(prior) + float(np.sum((after - prior) * logs))
    return bound, iteration


def main() -> None:
    path, starts = sys.argv[1], int(sys.argv[2])
    said = read(path)
    seconds = 0.0
    runs = []
    for start in range(starts):
        shares = shares_at_random(said[0].shape[0], len(said), start)
        begin = time.perf_counter()
        runs.append(fit(said, shares))
        seconds += time.perf_counter() - begin
    bound, iterations = max(runs)
    print(json.dumps({"seconds": seconds, "iterations": iterations, "objective": bound}))


if __name__ == "__main__":
    main()
