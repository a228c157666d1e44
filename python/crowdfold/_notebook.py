"""What a fitted model shows of itself in a notebook, and the page of a report there."""

from __future__ import annotations

import os
from html import escape
from typing import Any, List, Union

import numpy as np

from ._fitted import Fitted
from ._libraries import NO_CLASS
from ._show import STYLE, cell, html_bar, html_interval, share

MOST_CLASSES = 8
MOST_WORKERS = 5
CERTAIN = 0.9


def overview(name: str, fitted: Fitted) -> str:
    """What was fitted, the answers at a glance, and the workers of the least quality."""
    workers = fitted.learned.workers()
    said = int(workers["labels"].sum())
    counts = [f"{len(fitted.tasks):,} tasks", f"{len(workers['labels']):,} workers", f"{said:,} labels",
              f"{len(fitted.class_list()):,} classes"]
    parts = [f"<b>{escape(name)}</b>, fitted to {', '.join(counts)}"]
    if not fitted.converged:
        parts.append("It has not converged: more iterations (<code>n_iter</code>) may change the answers.")
    judged = fitted.estimate != NO_CLASS
    if judged.any():
        certain = float(np.mean(fitted.confidence[judged] >= CERTAIN))
        mean = cell(float(fitted.confidence[judged].mean()))
        parts.append(f"Mean confidence {mean}; {share(certain)} of the answers have {CERTAIN} or more.")
    tables = _answers(fitted, judged) + _workers(fitted, workers)
    return ("<div style='font:13px system-ui,sans-serif'>" + "".join(f"<div>{part}</div>" for part in parts)
            + f"<div style='display:flex;gap:2.5em;flex-wrap:wrap'>{tables}</div></div>")


def _table(caption: str, header: List[str], rows: List[List[str]]) -> str:
    """Cells are HTML."""
    def line(tag: str, cells: List[str]) -> str:
        return "<tr>" + "".join(f"<{tag} style='text-align:left;padding:.15em .8em .15em 0'>{each}</{tag}>" for each in cells) + "</tr>"

    return (f"<table style='{STYLE}'><caption style='text-align:left;font-weight:600'>{caption}</caption>"
            f"{line('th', header)}{''.join(line('td', row) for row in rows)}</table>")


def _answers(fitted: Fitted, judged: Any) -> str:
    tasks = np.bincount(fitted.estimate[judged], minlength=len(fitted.class_list()))
    order = np.argsort(-tasks, kind="stable")[:MOST_CLASSES]
    total = max(1, int(tasks.sum()))
    rows = [[escape(str(fitted.class_list()[k])), f"{tasks[k]:,}", share(tasks[k] / total), html_bar(tasks[k] / total)] for k in order]
    if len(tasks) > len(order):
        rows.append([f"{len(tasks) - len(order):,} more", f"{int(tasks.sum() - tasks[order].sum()):,}", "", ""])
    return _table("Answers", ["class", "tasks", "", ""], rows)


def _workers(fitted: Fitted, workers: Any) -> str:
    names = fitted.worker_list()
    order = np.argsort(workers["quality"], kind="stable")[:MOST_WORKERS]
    rows = [[escape(str(names[i])), cell(workers["quality"][i]),
             html_interval(workers["lower"][i], workers["quality"][i], workers["upper"][i]),
             f"{workers['lower'][i]:.2f} to {workers['upper'][i]:.2f}", f"{int(workers['labels'][i]):,}"] for i in order]
    title = "Workers of the least quality" if len(names) > len(rows) else "Workers"
    return _table(title, ["worker", "quality", "95 % interval", "", "labels"], rows)


class Page:
    """A report: a notebook shows it, and `save` writes it."""

    def __init__(self, html: str, headline: str) -> None:
        self.html = html
        self.headline = headline

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the page, one file that loads nothing else."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        # In a frame of its own: the page has styles and scripts, which must not meet those of the notebook.
        return (f"<iframe srcdoc=\"{escape(self.html, quote=True)}\" style='width:100%;height:640px;border:1px solid #8884' "
                "sandbox='allow-scripts allow-downloads allow-popups'></iframe>")

    def __repr__(self) -> str:
        return f"{self.headline} (save(path) writes the page)"
