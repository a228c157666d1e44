"""Arguments of `fit` and attributes that only some classes have, as crowd-kit's classes of the same name do. `_build.py`
assigns them to classes."""

from __future__ import annotations

import warnings
from typing import Any, List, Mapping, Optional, Tuple, TypeVar

import numpy as np

from ._base import Aggregator, Path
from ._input import LabelTable, Values, key_columns
from ._libraries import as_list, library_of
from ._reading import Reading
from .errors import UsageError

Extras = List[Tuple[str, Any]]

Weighted = TypeVar("Weighted", bound="WeightedByFit")
Started = TypeVar("Started", bound="StartedByFit")


def numbers_by_id(crowd: LabelTable, role: str, given: Any, what: str, column: str) -> Any:
    """Numbers by task, worker or class, NaN where none is given. If `given` is a table, `column` holds them."""
    keys, values, library = key_columns(given, what, role, column)
    count = {"task": crowd.labels.num_tasks, "worker": crowd.labels.num_workers,
             "label": crowd.labels.num_classes}[role]
    try:
        numbers = np.asarray(as_list(values), dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"{what}: a number by {role} is needed") from None
    if np.isinf(numbers).any():
        raise UsageError(f"{what}: numbers must be finite")
    ids = crowd.labels.find_ids(role, library.native(keys))
    known = ids >= 0
    if len(np.unique(ids[known])) < known.sum():
        raise UsageError(f"{what}: there are several numbers for one {role}")
    found = np.full(count, np.nan)
    found[ids[known]] = numbers[known]
    return found


class WeightedByFit(Aggregator):
    """A vote that takes the weights of workers."""

    def fit(self: Weighted, data: Any, skills: Any = None, *, true_labels: Any = None,  # type: ignore[override]
            columns: Optional[Mapping[str, str]] = None, workers: Optional[Path] = None,
            low_memory: bool = False, **reading: Any) -> Weighted:
        """Judges tasks, and learns how often workers agree.

        `skills` are weights of workers: a Series by worker, a dictionary, or a table with the columns worker and skill. Then
        probabilities are shares of the weights. The other arguments are those of all classes; pass `true_labels` by name.
        """
        self._fit(data, true_labels, Reading.of(columns, reading), workers, False, low_memory, skills=skills)
        return self

    def fit_predict(self, data: Any, skills: Any = None, *, true_labels: Any = None,  # type: ignore[override]
                    columns: Optional[Mapping[str, str]] = None, workers: Optional[Path] = None,
                    low_memory: bool = False, **reading: Any) -> Any:
        """`fit`, then `labels_`."""
        return self._fit(data, true_labels, Reading.of(columns, reading), workers, False, low_memory, skills=skills).labels()

    def fit_predict_proba(self, data: Any, skills: Any = None, *, true_labels: Any = None,  # type: ignore[override]
                          columns: Optional[Mapping[str, str]] = None, workers: Optional[Path] = None,
                          **reading: Any) -> Any:
        """`fit`, then `probas_`."""
        return self._fit(data, true_labels, Reading.of(columns, reading), workers, True, skills=skills).probas()

    def _extras(self, crowd: LabelTable, classes: Values, skills: Any = None, **given: Any) -> Extras:
        if skills is None:
            return []
        weights = numbers_by_id(crowd, "worker", skills, "skills", "skill")
        missing = np.isnan(weights)
        if not missing.any():
            return [("weight", weights)]
        if missing.all():
            raise UsageError("skills: none of the workers has one (known truths are given by name: true_labels=)")
        default, rule = getattr(self, "default_skill"), getattr(self, "on_missing_skill")
        if rule == "value" and default is not None:
            weights[missing] = default
        elif rule == "ignore":
            weights[missing] = 0
            alone = crowd.labels.count_tasks_of_only(missing)
            if alone > 0:
                raise UsageError(f"skills: {alone} tasks have labels of workers without a skill only; "
                                 "on_missing_skill='value' and default_skill= give them one")
        elif rule == "error":
            raise UsageError(f"skills: {int(missing.sum())} of {len(missing)} workers have none; "
                             "on_missing_skill='ignore' leaves their labels out, 'value' takes default_skill")
        else:
            raise UsageError(f"on_missing_skill={rule!r}: error | ignore | value, the latter with default_skill=")
        return [("weight", weights)]


class StartedByFit(Aggregator):
    """A method that takes confusion matrices to start from."""

    def fit(self: Started, data: Any, true_labels: Any = None, initial_error: Any = None, *,
            columns: Optional[Mapping[str, str]] = None, workers: Optional[Path] = None,
            low_memory: bool = False, **reading: Any) -> Started:
        """Learns from labels and judges their tasks.

        `initial_error` are confusion matrices to start from, in the form of `errors_`. `initial_error_strategy` is "assign" to
        use them as they are, or "addition" to add them as counts to those of a vote. The other arguments are those of all
        classes.
        """
        self._fit(data, true_labels, Reading.of(columns, reading), workers, False, low_memory, initial_error=initial_error)
        return self

    def fit_predict(self, data: Any, true_labels: Any = None, initial_error: Any = None, *,
                    columns: Optional[Mapping[str, str]] = None, workers: Optional[Path] = None,
                    low_memory: bool = False, **reading: Any) -> Any:
        """`fit`, then `labels_`."""
        return self._fit(data, true_labels, Reading.of(columns, reading), workers, False, low_memory,
                         initial_error=initial_error).labels()

    def fit_predict_proba(self, data: Any, true_labels: Any = None, initial_error: Any = None, *,
                          columns: Optional[Mapping[str, str]] = None, workers: Optional[Path] = None,
                          **reading: Any) -> Any:
        """`fit`, then `probas_`."""
        return self._fit(data, true_labels, Reading.of(columns, reading), workers, True, initial_error=initial_error).probas()

    def _extras(self, crowd: LabelTable, classes: Values, initial_error: Any = None, **given: Any) -> Extras:
        strategy = getattr(self, "initial_error_strategy")
        if strategy not in (None, "assign", "addition"):
            raise UsageError(f"initial_error_strategy={strategy!r}: assign | addition | None")
        if initial_error is None:
            return []
        if strategy is None:
            warnings.warn("initial_error has no effect without initial_error_strategy", stacklevel=4)
            return []
        matrices, there = _matrices(crowd, initial_error)
        if strategy == "addition":
            return [("counts", matrices)]
        if not there.all():
            raise UsageError(f"initial_error: {int((~there).sum())} of {len(there)} workers have no matrix in it, and "
                             "initial_error_strategy='assign' needs one for each")
        return [("confusion", matrices)]


def _matrices(crowd: LabelTable, table: Any) -> Tuple[Any, Any]:
    """Matrices by worker, truth and label, and which workers have one."""
    if list(getattr(getattr(table, "index", None), "names", ())) == ["worker", "label"]:
        table = table.reset_index()
    library = library_of(table)
    names = [] if library is None else list(getattr(table, "column_names", table.columns))
    if library is None or "worker" not in names or "label" not in names:
        raise UsageError("initial_error: a table by worker and label with a column for every class is needed, "
                         "as errors_ is")
    workers = crowd.labels.find_ids("worker", library.native(library.column(table, "worker")))
    labels = crowd.labels.find_ids("label", library.native(library.column(table, "label")))
    truths = [name for name in names if name not in ("worker", "label")]
    known = (workers >= 0) & (labels >= 0)
    count = crowd.labels.num_classes
    matrices = np.zeros((crowd.labels.num_workers, count, count))
    places = crowd.labels.find_ids("label", np.array([*truths, None], dtype=object)[:-1])
    for name, truth in zip(truths, places):
        if truth >= 0:
            values = np.asarray(as_list(library.column(table, name)), dtype=np.float64)
            matrices[workers[known], truth, labels[known]] = values[known]
    there = np.zeros(len(matrices), dtype=bool)
    there[workers[known]] = True
    return matrices, there


class WithDifficulties(Aggregator):
    """Abilities of workers and difficulties of tasks."""

    @property
    def alphas_(self) -> Any:
        """The ability of every worker: a Series `alpha` by worker. 0 is a guesser, below 0 an adversary."""
        fitted = self._fitted
        return fitted.library.series(fitted.extra("ability"), fitted.workers.get(), "alpha", "worker")

    @property
    def betas_(self) -> Any:
        """The logarithm of every task's ease: a Series `beta` by task. The lower, the harder."""
        fitted = self._fitted
        return fitted.library.series(fitted.extra("ease"), fitted.tasks, "beta", "task")

    def _extras(self, crowd: LabelTable, classes: Values, **given: Any) -> Extras:
        found = []
        for name, role, extra in (("labels_priors", "label", "prior"), ("alphas_priors_mean", "worker", "ability"),
                                  ("betas_priors_mean", "task", "ease")):
            value = getattr(self, name)
            if value is not None:
                found.append((extra, numbers_by_id(crowd, role, value, name, extra)))
        for name, numbers in found:
            if name == "prior" and (np.isnan(numbers).any() or (numbers < 0).any() or abs(numbers.sum() - 1) > 1e-6):
                raise UsageError("labels_priors: a probability for every label is needed, which add up to 1")
        return found


class WithSpamming(Aggregator):
    """Workers who know or spam."""

    @property
    def spamming_(self) -> Any:
        """An array with one row per worker: the probabilities that a label is spam, and that it is not."""
        spamming = self._fitted.extra("spamming")
        return np.column_stack([spamming, 1 - spamming])

    @property
    def thetas_(self) -> Any:
        """An array with one row per worker: the probability of every class among spammed labels."""
        strategy = self._fitted.extra("strategy")
        return np.array(strategy).reshape(len(strategy), -1)

    @property
    def theta_priors_(self) -> Any:
        """An array with one row per worker: `alpha` and `beta`."""
        return np.tile([float(getattr(self, "alpha")), float(getattr(self, "beta"))], (len(self.thetas_), 1))

    @property
    def strategy_priors_(self) -> Any:
        """An array with one row per worker: `strategy` for every class."""
        return np.full(self.thetas_.shape, float(getattr(self, "strategy")))

    @property
    def smoothing_(self) -> float:
        """The number that `method="em"` adds to every count."""
        return float(getattr(self, "smoothing") / self.thetas_.shape[1])


class WithScores(Aggregator):
    """Scores of classes: here, the probabilities."""

    @property
    def scores_(self) -> Any:
        """The same as `probas_`."""
        return self.probas_

    def predict_score(self, data: Any, *, columns: Optional[Mapping[str, str]] = None) -> Any:
        """The same as `predict_proba`."""
        return self.predict_proba(data, columns=columns)

    def fit_predict_score(self, data: Any, true_labels: Any = None, *, columns: Optional[Mapping[str, str]] = None,
                          workers: Optional[Path] = None,
                          **reading: Any) -> Any:
        """The same as `fit_predict_proba`."""
        return self.fit_predict_proba(data, true_labels, columns=columns, workers=workers)
