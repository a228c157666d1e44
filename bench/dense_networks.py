#!/usr/bin/env python3
"""The networks of laa and bila as one writes them with TensorFlow: dense inputs, automatic gradients.

    dense_networks.py LABELS.csv laa IMITATION ITERATIONS
    dense_networks.py LABELS.csv bila EPOCHS

The same networks as crowdfold's, from the same start (defaults, seed 0), so the same losses as far as
32 bits go. Prints JSON: the seconds of all steps, without reading, drawing and compiling, and the loss in the
first and in the last step (laa) or epoch (bila). One thread.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf

SEED = 0
LAA_RATE, LAA_DIVERGENCE, LAA_SPARSITY, LAA_LEANING = .005, 1e-4, .005, .02
BILA_RATE, BILA_DIVERGENCE, BILA_BATCH, HIDDEN = 1e-4, .1, 50, (64, 32)
NO_SHARE = 1e-10


class Labels:
    """Ids in order of appearance; of a worker's labels on a task the last."""

    def __init__(self, path: str):
        tasks: dict[str, int] = {}
        workers: dict[str, int] = {}
        classes: dict[str, int] = {}
        last: dict[tuple[int, int], int] = {}
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                pair = tasks.setdefault(row["task"], len(tasks)), workers.setdefault(row["worker"], len(workers))
                last[pair] = classes.setdefault(row["label"], len(classes))
        self.tasks, self.workers, self.classes = len(tasks), len(workers), len(classes)
        self.task, self.worker = (np.array(ids) for ids in zip(*last))
        self.label = np.array(list(last.values()))

    def votes(self) -> np.ndarray:
        counts = np.zeros((self.tasks, self.classes))
        np.add.at(counts, (self.task, self.label), 1)
        return counts


# --- the numbers that crowdfold draws ---------------------------------------------------------


def mix64(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        x = x + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


def normals(stream: int, count: int) -> np.ndarray:
    """The first `count` numbers of a stream, by the polar method."""
    start = mix64(np.array([SEED], np.uint64)) ^ mix64(np.array([stream], np.uint64))
    pairs = 2 * count + 40
    draws = mix64(mix64(start) + np.arange(2 * pairs, dtype=np.uint64))
    u, v = (2 * ((draws >> np.uint64(11)).astype(float) * 2.0**-53) - 1).reshape(-1, 2).T
    s = u * u + v * v
    inside = (s > 0) & (s < 1)
    values = u[inside] * np.sqrt(-2 * np.log(s[inside]) / s[inside])
    assert len(values) >= count
    return values[:count]


# --- laa -----------------------------------------------------------------------------------


def log_softmax(x, axis):
    return x - tf.reduce_logsumexp(x, axis, keepdims=True)


def run_laa(labels: Labels, imitation: int, iterations: int) -> dict:
    m, k, t = labels.workers, labels.classes, labels.tasks
    inputs = np.zeros((t, m * k), np.float32)
    inputs[labels.task, labels.worker * k + labels.label] = 1
    votes = labels.votes()
    shares = votes / votes.sum(1, keepdims=True)
    said = (inputs.T @ shares).reshape(m, k, k) + 1 / k  # worker, label, class
    encoder = tf.Variable(tf.zeros((m * k, k)))
    decoder = tf.Variable(LAA_LEANING * np.log(said / said.sum(1, keepdims=True)), dtype=tf.float32)
    encoder_bias = tf.Variable(np.log(np.maximum(shares.mean(0), NO_SHARE)), dtype=tf.float32)
    decoder_bias = tf.Variable(tf.zeros((m, k, 1)))
    weights = [encoder, decoder, encoder_bias, decoder_bias]

    inputs = tf.constant(inputs)
    shares = tf.constant(shares, tf.float32)
    log_shares = tf.math.log(tf.maximum(shares, NO_SHARE))

    def imitate():
        log_q = log_softmax(inputs @ encoder + encoder_bias, 1)
        return -tf.reduce_mean(tf.reduce_sum(shares * log_q, 1))

    def reconstruct():
        log_q = log_softmax(inputs @ encoder + encoder_bias, 1)
        log_said = tf.reshape(log_softmax(decoder + decoder_bias, 1), (m * k, k))
        surprise = -(inputs @ log_said)
        each = surprise / (m * k) + LAA_DIVERGENCE * (log_q - log_shares)
        return (tf.reduce_mean(tf.reduce_sum(tf.exp(log_q) * each, 1))
                + LAA_SPARSITY / (m * k * k) * tf.reduce_sum(tf.abs(encoder)))

    def adam(loss_of):
        moments = [(tf.Variable(tf.zeros_like(w)), tf.Variable(tf.zeros_like(w))) for w in weights]

        @tf.function
        def step(rate):
            with tf.GradientTape() as tape:
                loss = loss_of()
            for w, g, (first, second) in zip(weights, tape.gradient(loss, weights), moments):
                if g is None:
                    continue
                first.assign(.9 * first + .1 * g)
                second.assign(.999 * second + .001 * g * g)
                w.assign_sub(rate * first / (tf.sqrt(second) + 1e-8))
            return loss

        return step.get_concrete_function(tf.TensorSpec([], tf.float32))

    steps = [(adam(imitate), imitation), (adam(reconstruct), iterations)]
    losses = []
    begin = time.perf_counter()
    for step, count in steps:
        for n in range(1, count + 1):
            rate = LAA_RATE * (1 - .999**n)**.5 / (1 - .9**n)
            losses.append(float(step(tf.constant(rate, tf.float32))))
    return {"seconds": time.perf_counter() - begin, "first": losses[0], "last": losses[-1]}


# --- bila ----------------------------------------------------------------------------------


def bila_layer(layer: int, rows: int, columns: int, fan_in: int) -> tf.Variable:
    drawn = np.stack([normals(row * 8 + layer, columns) for row in range(rows)])
    return tf.Variable(1 / (2 * fan_in)**.5 + .05 * drawn, dtype=tf.float32)


def vote_of(task: int, counts: np.ndarray) -> int:
    """Ties are drawn by seed and task."""
    best = np.flatnonzero(counts == counts.max())
    drawn = mix64(mix64(np.array([SEED], np.uint64)) ^ np.array([task], np.uint64))
    return int(best[(int(drawn[0]) * len(best)) >> 64])


def run_bila(labels: Labels, epochs: int) -> dict:
    m, k, t = labels.workers, labels.classes, labels.tasks
    votes = np.array([vote_of(task, counts) for task, counts in enumerate(labels.votes())])
    counts = np.zeros((m, k, k))  # worker, label, class
    np.add.at(counts, (labels.worker, labels.label, votes[labels.task]), 1)
    sums = counts.sum(1, keepdims=True)
    logits = tf.Variable(np.where(sums > 0, counts / np.maximum(sums, 1), 1 / k), dtype=tf.float32)
    h, h2 = HIDDEN
    layers = [bila_layer(0, m, h, m), bila_layer(2, h, h2, h),
              tf.Variable(tf.transpose(bila_layer(4, k, h2, h2)))]
    biases = [bila_layer(1, 1, h, h), bila_layer(3, 1, h2, h2),
              tf.Variable(tf.transpose(bila_layer(5, k, 1, k)))]
    weights = [*layers, *biases, logits]
    squares = [tf.Variable(tf.ones_like(w)) for w in weights]
    log_prior = tf.constant(np.log(np.maximum(np.bincount(labels.label, minlength=k) / len(labels.label), NO_SHARE)),
                            tf.float32)
    inputs = np.full((t, m), -1, np.int32)
    inputs[labels.task, labels.worker] = labels.label

    @tf.function
    def step(batch):
        with tf.GradientTape() as tape:
            hidden = tf.tanh(tf.cast(batch, tf.float32) @ layers[0] + biases[0])
            hidden = tf.tanh(hidden @ layers[1] + biases[1])
            log_q = log_softmax(hidden @ layers[2] + biases[2], 1)
            said = tf.reshape(tf.one_hot(batch, k), (-1, m * k))  # no label: zeros
            score = said @ tf.reshape(log_softmax(logits, 1), (m * k, k))
            each = tf.exp(log_q) * (BILA_DIVERGENCE * (log_q - log_prior) - score)
            loss = tf.reduce_mean(tf.reduce_sum(each, 1))
        for w, g, square in zip(weights, tape.gradient(loss, weights), squares):
            g = tf.clip_by_value(g, -1, 1)
            square.assign(.9 * square + .1 * g * g)
            w.assign_sub(BILA_RATE * g / tf.sqrt(square + 1e-10))
        return loss

    batches = [tf.constant(inputs[first:first + BILA_BATCH]) for first in range(0, t, BILA_BATCH)]
    for batch in (batches[0], batches[-1]):
        step.get_concrete_function(batch)
    losses = []
    begin = time.perf_counter()
    for _ in range(epochs):
        losses.append(sum(float(step(batch)) * len(batch) for batch in batches) / t)
    return {"seconds": time.perf_counter() - begin, "first": losses[0], "last": losses[-1]}


def main() -> None:
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    labels = Labels(sys.argv[1])
    run = {"laa": run_laa, "bila": run_bila}[sys.argv[2]]
    print(json.dumps(run(labels, *map(int, sys.argv[3:]))))


if __name__ == "__main__":
    main()
