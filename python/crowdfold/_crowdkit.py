"""Arguments of `fit` and attributes that only some classes have, as crowd-kit's classes of the same name do: their `skills_` and
`probas_` mean what they mean there. `_build.py` assigns them to classes."""

from __future__ import annotations

import functools
import warnings
from typing import Any, Dict, List, Mapping, Optional, Tuple, TypeVar

import numpy as np

from ._base import Aggregator, Path
from ._fitted import Fitted
from ._input import LabelTable, Values, key_columns
from ._libraries import NO_CLASS, as_list, library_of
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


def shares_of(crowd: LabelTable, truths: Any, weights: Any = None) -> Any:
    """Shares of votes, or of the weights behind them: a row per task, a column per class."""
    tasks, workers, classes = crowd.labels.label_rows()
    size = (crowd.labels.num_tasks, crowd.labels.num_classes)
    places = tasks.astype(np.int64) * size[1] + classes
    votes = np.bincount(places, None if weights is None else np.asarray(weights)[workers], size[0] * size[1]).reshape(size)
    known = np.zeros(0, dtype=int) if truths is None else np.flatnonzero(truths != NO_CLASS)
    votes[known] = 0
    votes[known, [] if truths is None else truths[known]] = 1
    sums = votes.sum(axis=1, keepdims=True)
    return np.divide(votes, sums, out=np.full(size, 1 / max(1, size[1])), where=sums != 0)


class LikeCrowdKit(Aggregator):
    """A class that crowd-kit has, too."""

    def __dir__(self) -> List[str]:
        """Scripts for crowd-kit walk over dir(), and take a Series to be called what its attribute is in the singular."""
        return [name for name in super().__dir__() if name != "confidence_"]


class WithSortedTies(LikeCrowdKit):
    """A vote that gives ties to the first class in sorted order, unless `ties` says otherwise."""

    def _read(self, data: Any, reading: Reading, bar: Any) -> LabelTable:
        crowd = super()._read(data, reading, bar)
        if getattr(self, "ties") == "sorted":
            _sort_classes(crowd)
        return crowd

    def _fit_file(self, data: Any, reading: Reading, settings: List[Tuple[str, str]], seed: int, obstacles: List[str]) -> Fitted:
        if getattr(self, "ties") == "sorted":
            obstacles = [*obstacles, "ties='sorted' (the default, unlike ties='first')"]
        return super()._fit_file(data, reading, settings, seed, obstacles)


def _sort_classes(crowd: LabelTable) -> None:
    """Classes that cannot be compared stay in the order of their first appearance."""
    values = as_list(crowd.classes)
    try:
        order = sorted(range(len(values)), key=values.__getitem__)
    except TypeError:
        return
    crowd.labels.order_classes(np.array(order, dtype=np.uint16))
    crowd.classes = crowd.library.select(crowd.classes, np.array(order, dtype=np.uint64))


class WithWeights(LikeCrowdKit):
    """A vote whose last weights are known."""

    @property
    def skills_(self) -> Any:
        """The weight of every worker in the vote: a Series `skill` by worker. `workers_` has qualities."""
        return self._fitted.skills()

    def _add_results(self, fitted: Fitted, crowd: LabelTable, truths: Any, extras: Dict[str, Any]) -> None:
        fitted.skill = fitted.extras.get("weight")  # none without labels


class WithSortedWeights(WithWeights, WithSortedTies):
    """The same, of a vote with ties."""


class WithQualities(LikeCrowdKit):
    """A model of one quality for every worker."""

    @property
    def skills_(self) -> Any:
        """The most likely quality of every worker: a Series `skill` by worker. `workers_` has means and intervals."""
        fitted = self._fitted
        if fitted.skill is None:
            fitted.skill = share_right(fitted)
        return fitted.skills()


def share_right(fitted: Fitted) -> Any:
    """By worker: labels that are right by what was learned, of all; NaN without any."""
    table = fitted.learned.workers()
    return np.divide(table["correct"], table["labels"], out=np.full(len(table["labels"]), np.nan), where=table["labels"] > 0)


class WeightedByFit(WithSortedTies):
    """A vote that takes the weights of workers."""

    @property
    def probas_(self) -> Any:
        """Each class's share of the votes, or of their weights: a DataFrame with one row per task and one column per class.
        `posterior_` has probabilities."""
        return self._fitted.probas()

    @property
    def skills_(self) -> Any:
        """The share of every worker's labels that agree with the vote: a Series `skill`, sorted by worker. `workers_` has
        qualities."""
        fitted = self._fitted
        if fitted.skill is None:
            fitted.skill = share_right(fitted)
        return fitted.table("sorted skills", lambda: fitted.library.by_index(fitted.skills()))

    def _add_results(self, fitted: Fitted, crowd: LabelTable, truths: Any, extras: Dict[str, Any]) -> None:
        weights = extras.get("weight")
        right, seen = crowd.labels.count_right(fitted.estimate)
        counts = seen > 0
        if weights is not None and getattr(self, "on_missing_skill") == "ignore":
            counts &= weights != 0
        fitted.skill = np.divide(right, seen, out=np.full(len(seen), np.nan), where=counts)
        if fitted.posterior is not None and weights is None:
            fitted.shares = functools.partial(shares_of, crowd, truths)

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


class StartedByFit(LikeCrowdKit):
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
        self._error_rows = None
        if initial_error is None:
            return []
        if strategy is None:
            warnings.warn("initial_error has no effect without initial_error_strategy", stacklevel=4)
            return []
        self._error_rows = getattr(initial_error, "index", None)
        matrices, there = _matrices(crowd, initial_error)
        if strategy == "addition":
            return [("counts", matrices)]
        if not there.all():
            raise UsageError(f"initial_error: {int((~there).sum())} of {len(there)} workers have no matrix in it, and "
                             "initial_error_strategy='assign' needs one for each")
        empty = np.argwhere(matrices.sum(axis=2) <= 0)
        if len(empty) > 0:
            worker, truth = as_list(crowd.workers)[empty[0][0]], as_list(classes.get())[empty[0][1]]
            raise UsageError("The sum of each worker's error matrix in initial_error should be 1.0 for every true class, or a number of "
                             f"labels: worker {worker!r} has nothing for {truth!r}")
        return [("confusion", matrices)]

    @property
    def errors_(self) -> Any:
        """Confusion matrices: a DataFrame by worker and label, with the probability of that label for every true class. Its rows
        come in the order of `initial_error`, if that was given and has them all."""
        fitted = self._fitted
        return fitted.table("errors in order", lambda: fitted.library.in_order_of(fitted.errors(), self.__dict__.get("_error_rows")))


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


class WithDifficulties(LikeCrowdKit):
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


class WithSpamming(LikeCrowdKit):
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


class WithScores(WithWeights):
    """Scores of classes: their shares of the weights, some of which may be below 0."""

    @property
    def scores_(self) -> Any:
        """Each class's share of the weights; below 0 for one that only enemies of the others chose. A DataFrame as `probas_`."""
        return self._fitted.probas()

    @property
    def probas_(self) -> Any:
        """The probability of every class: a DataFrame with one row per task and one column per class."""
        return self._fitted.posterior_table()

    def _add_results(self, fitted: Fitted, crowd: LabelTable, truths: Any, extras: Dict[str, Any]) -> None:
        super()._add_results(fitted, crowd, truths, extras)
        if fitted.posterior is not None:
            fitted.shares = functools.partial(shares_of, crowd, truths, fitted.skill)

    def predict_score(self, data: Any, *, columns: Optional[Mapping[str, str]] = None) -> Any:
        """The same as `predict_proba`."""
        return self.predict_proba(data, columns=columns)

    def fit_predict_score(self, data: Any, true_labels: Any = None, *, columns: Optional[Mapping[str, str]] = None,
                          workers: Optional[Path] = None, **reading: Any) -> Any:
        """`fit`, then `scores_`."""
        return self._fit(data, true_labels, Reading.of(columns, reading), workers, True).probas()

    def fit_predict_proba(self, data: Any, true_labels: Any = None, *, columns: Optional[Mapping[str, str]] = None,
                          workers: Optional[Path] = None, **reading: Any) -> Any:
        """`fit`, then `probas_`."""
        return self._fit(data, true_labels, Reading.of(columns, reading), workers, True).posterior_table()
