"""The results of a fit, and the tables that show them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

import numpy as np

from . import _native
from ._input import Values, text_of
from ._libraries import NO_CLASS, NUMPY, Library, as_list
from .errors import NotFittedError


@dataclass(frozen=True)
class Source:
    """What was fitted, for a report."""

    labels: _native.Labels
    truths: Any
    settings: List[Tuple[str, str]]


@dataclass
class Fitted:
    library: Library
    tasks: Any
    workers: Values
    classes: Values
    estimate: Any  # class by task, NO_CLASS without one
    confidence: Any
    posterior: Any  # or None
    confusion: Any  # or None
    extras: Dict[str, Any]  # results that only this method has, by name
    trace: List[float]
    converged: bool
    learned: _native.Learned
    # What `skills_` and `probas_` show instead of qualities and the posterior, where crowd-kit means something else by them.
    skill: Any = None  # by worker; NaN: not among them
    shares: Any = None  # or a function that makes them: most people do not ask
    source: Optional[Source] = None
    _known: Dict[str, Set[str]] = field(default_factory=dict)
    _tables: Dict[str, Any] = field(default_factory=dict)  # that were made: asked for twice, they are the same object

    @classmethod
    def of(cls, library: Library, tasks: Any, workers: Values, classes: Values, result: _native.Result,
           learned: _native.Learned) -> Fitted:
        return cls(library, tasks, workers, classes, result.estimate, result.confidence, result.posterior,
                   result.confusion, result.extras, list(result.trace), result.converged, learned)

    @classmethod
    def nothing(cls, learned: _native.Learned) -> Fitted:
        workers = Values(NUMPY)
        workers.append_scalars(learned.worker_names())
        none = np.empty(0)
        return cls(NUMPY, np.empty(0, dtype=object), workers, Values(NUMPY), none.astype(np.uint16), none,
                   None, None, {}, [], True, learned)

    def __getstate__(self) -> Dict[str, Any]:
        self._make_shares()
        return {**self.__dict__, "library": self.library.name, "_tables": {}, "source": None,
                "workers": self.workers.get(), "classes": self.classes.get()}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        from ._libraries import ARROW, PANDAS, POLARS

        libraries = {each.name: each for each in (NUMPY, PANDAS, POLARS, ARROW)}
        library = libraries[state["library"]]
        self.__dict__.update(state, library=library, workers=Values(library, [state["workers"]]),
                             classes=Values(library, [state["classes"]]))

    # --- tables -----------------------------------------------------------------------------

    def table(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self._tables:
            self._tables[name] = make()
        return self._tables[name]

    def has(self, result: str) -> bool:
        """Whether there is a result of that name, `labels_` for example."""
        tables = {"probas_": self.posterior, "scores_": self.posterior, "posterior_": self.posterior, "errors_": self.confusion}
        return tables.get(result, self) is not None

    def labels(self) -> Any:
        return self.table("labels", self._labels)

    def _labels(self) -> Any:
        places = np.where(self.estimate == NO_CLASS, -1, self.estimate.astype(np.int64))
        values = self.library.select_or_null(self.classes.get(), places)
        return self.library.series(values, self.tasks, "agg_label", "task")

    def confidence_series(self) -> Any:
        return self.table("confidence", lambda: self.library.series(self.confidence, self.tasks, "confidence", "task"))

    def probas(self) -> Any:
        self._make_shares()
        return self.posterior_table() if self.shares is None else self.table("shares", lambda: self._matrix(self.shares))

    def _make_shares(self) -> None:
        if callable(self.shares):
            self.shares = self.shares()

    def posterior_table(self) -> Any:
        return self.table("posterior", lambda: self._matrix(self.posterior))

    def _matrix(self, rows: Any) -> Any:
        if rows is None:
            raise NotFittedError("there are no probabilities: their table would be large; call fit_predict_proba for it")
        return self.library.matrix(self.tasks, self.classes.get(), rows)

    def skills(self) -> Any:
        return self.table("skills", self._skills)

    def _skills(self) -> Any:
        skill, workers = self.skill, self.workers.get()
        if skill is None:
            skill = self.learned.workers()["quality"]
        there = np.flatnonzero(~np.isnan(skill))
        if len(there) < len(skill):
            skill, workers = skill[there], self.library.select(workers, there.astype(np.uint64))
        return self.library.series(skill, workers, "skill", "worker")

    def workers_table(self) -> Any:
        return self.table("workers", self._workers_table)

    def _workers_table(self) -> Any:
        table = self.learned.workers()
        labels = table["labels"]
        if (labels == np.floor(labels)).all():  # all but those of counts that fade
            table["labels"] = labels.astype(np.int64)
        columns = {name: table[name] for name in ("quality", "lower", "upper", "labels")}
        return self.library.frame(self.workers.get(), "worker", columns, None)

    def errors(self) -> Any:
        return self.table("errors", self._errors)

    def _errors(self) -> Any:
        if self.confusion is None:
            raise NotFittedError("there are no confusion matrices: the method has none, or they would be too large")
        return self.library.confusion(self.workers.get(), self.classes.get(), self.confusion)

    def priors(self) -> Any:
        return self.table("priors", self._priors)

    def _priors(self) -> Any:
        if self.posterior is not None:
            judged = self.posterior[self.estimate != NO_CLASS]
            shares = judged.mean(axis=0) if len(judged) else np.zeros(self.posterior.shape[1])
        else:
            counts = np.bincount(self.estimate[self.estimate != NO_CLASS], minlength=len(self.class_list()))
            shares = counts / max(1, counts.sum())
        return self.library.series(shares, self.classes.get(), "prior", "label")

    def extra(self, name: str) -> Any:
        if name not in self.extras:
            raise NotFittedError("only fit finds this out: neither partial_fit nor load does")
        return self.extras[name]

    # --- one by one -------------------------------------------------------------------------

    def class_list(self) -> List[Any]:
        return as_list(self.classes.get())

    def worker_list(self) -> List[Any]:
        return as_list(self.workers.get())

    def note_workers(self, met: List[Any]) -> None:
        self._note("workers", self.workers, met)

    def note_classes(self, met: List[Any]) -> None:
        self._note("classes", self.classes, met)

    def _note(self, role: str, values: Values, met: List[Any]) -> None:
        """Appends the values of new ids, in the order in which the engine assigned them."""
        if role not in self._known:
            self._known[role] = {text_of(value) for value in as_list(values.get())}
        known = self._known[role]
        self._tables.clear()
        new = []
        for value in met:
            text = text_of(value)
            if text not in known:
                known.add(text)
                new.append(value)
        values.append_scalars(new)

    def take_one(self, task: Any, estimate: Optional[int], confidence: float) -> None:
        self._tables.clear()
        self.skill = self.shares = self.source = None
        self.tasks = self.library.values([task], None)
        self.estimate = np.array([NO_CLASS if estimate is None else estimate], dtype=np.uint16)
        self.confidence = np.array([confidence])
        self.posterior = None
        self.confusion = None
        self.extras = {}
