"""The base of all methods: parameters, fitting, results, and learning as labels come."""

from __future__ import annotations

import inspect
import os
import tempfile
from typing import Any, ClassVar, Dict, FrozenSet, Iterable, List, Mapping, Optional, Tuple, Type, TypeVar, Union

import numpy as np

from . import _native
from ._fitted import Fitted, Source
from ._input import LabelTable, Values, as_texts, read, text_of, truth_columns, truths_by_row, warn_of
from ._libraries import NUMPY, PANDAS, POLARS, as_list
from ._notebook import Page, overview
from ._progress import progress
from ._reading import Reading, arguments_of_fit
from ._show import html_text
from .errors import NotFittedError, UsageError

Self = TypeVar("Self", bound="Aggregator")
Path = Union[str, "os.PathLike[str]"]
OneTask = Union[Mapping[Any, Any], Iterable[Tuple[Any, Any]]]


class Aggregator:
    """Labels in; one label per task and one quality per worker out.

    `data` is a table with the columns task, worker and label: a DataFrame of pandas or polars, any object that exports Arrow,
    a dictionary or tuple of arrays, an iterator of such chunks, or the path of a file. `columns=dict(task=..., worker=...,
    label=...)` names the columns. A null as label is an abstention.

    Results keep the library and the dtypes of `data`.
    """

    _method: ClassVar[str]
    _options: ClassVar[Dict[str, str]]  # parameter -> option of the engine
    _own_defaults: ClassVar[FrozenSet[str]]  # parameters whose default is not the engine's
    _values: ClassVar[Dict[str, Dict[Any, str]]]  # parameter -> crowd-kit's words for its values -> the engine's
    _without_meaning: ClassVar[Dict[str, Any]]  # parameters that must keep their default

    # --- parameters -------------------------------------------------------------------------

    def __new__(cls: Type[Self], *given: Any, **by_name: Any) -> Self:
        """Tells where an argument belongs that is none of the class."""
        for name in by_name:
            if name in arguments_of_fit() and name not in cls._parameter_names():
                raise TypeError(f"{cls.__name__}({name}=...): {name} is an argument of fit, as in {cls.__name__}().fit(data, {name}=...)")
        return super().__new__(cls)

    @classmethod
    def _parameter_names(cls) -> List[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """The parameters of this object, by name."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self: Self, **params: Any) -> Self:
        """Sets parameters by name."""
        known = self._parameter_names()
        for name, value in params.items():
            if name not in known:
                raise UsageError(f"{type(self).__name__} has no parameter '{name}'; it has: {', '.join(known)}")
            setattr(self, name, value)
        return self

    # --- what scikit-learn asks for ---------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        """Labels are no matrix of features, so that scikit-learn's checks of such do not apply."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False),
                    input_tags=InputTags(two_d_array=False, categorical=True, string=True), no_validation=True)

    def score(self, data: Any, true_labels: Any, *, columns: Optional[Mapping[str, str]] = None, **reading: Any) -> float:
        """The share of tasks whose label by `predict` is the truth, of those whose truth is known. `true_labels` as in `fit`."""
        from .metrics import accuracy

        truths = truths_by_row(data, Reading.of(columns, reading), true_labels)
        return accuracy(self.predict(data, columns=columns, **reading), truths)

    def set_output(self: Self, *, transform: Optional[str] = None) -> Self:
        """The library of results: "pandas" or "polars"; "default" for that of the labels. None changes nothing."""
        if transform not in (None, "default", "pandas", "polars"):
            raise UsageError(f"transform={transform!r}: default | pandas | polars")
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}  # scikit-learn's clone() keeps what has this name
        return self

    def __repr__(self) -> str:
        signature = inspect.signature(type(self).__init__)
        changed = [f"{name}={value!r}" for name, value in self.get_params().items()
                   if not _same(value, signature.parameters[name].default)]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _settings(self) -> List[Tuple[str, str]]:
        for name, default in self._without_meaning.items():
            value = getattr(self, name)
            if not _same(value, default):
                raise UsageError(f"{type(self).__name__}: {name}={value!r} has no meaning here; leave it at {default!r}")
        settings = []
        signature = inspect.signature(type(self).__init__)
        for name, option in self._options.items():
            value = getattr(self, name)
            if name not in self._own_defaults and _same(value, signature.parameters[name].default):
                continue  # the engine has the same default
            value = self._values.get(name, {}).get(value, value)
            settings.append((option, repr(value) if isinstance(value, float) else str(value)))
        try:
            _native.check_settings(self._method, settings)
        except UsageError as error:
            text = str(error)
            for name, option in self._options.items():  # the message must use the parameter's Python name
                if name != option:
                    text = text.replace(f"option {option}=", f"{name}=")
            if text == str(error):
                raise
            raise UsageError(text) from None
        return settings

    def _seed(self) -> int:
        state = getattr(self, "random_state")
        if state is None:
            return 0
        if isinstance(state, (int, np.integer)) and 0 <= state < 2**64:
            return int(state)
        raise UsageError(f"random_state={state!r}: a number from 0 to 2**64 - 1, or None")

    def _threads(self) -> int:
        jobs = getattr(self, "n_jobs")
        if not (jobs is None or isinstance(jobs, (int, np.integer))):
            raise UsageError(f"n_jobs={jobs!r}: a number of threads, or None for all cores")
        return 0 if jobs is None or jobs < 0 else min(int(jobs), 2**31 - 1)  # the engine refuses that many

    def _shows_progress(self) -> bool:
        return bool(getattr(self, "verbose")) or not getattr(self, "silent", True)

    # --- whole data sets --------------------------------------------------------------------

    def fit(self: Self, data: Any, true_labels: Any = None, *, columns: Optional[Mapping[str, str]] = None,
            workers: Optional[Path] = None, low_memory: bool = False, **reading: Any) -> Self:
        """Learns from labels and judges their tasks.

        `true_labels` are known truths of some tasks: a Series by task, a table with the columns task and label, a
        dictionary, a path, or an array with the truth of every row's task. `workers` is a file of worker qualities from an
        earlier run, see `save`.
        With `low_memory`, the labels of a file are not kept in memory, which is without truths and earlier qualities:
        methods that learn as labels come read them task by task, if rows are grouped by task; methods that work in rounds,
        such as `FivePass`, read them from a temporary file. Probabilities of all classes are not made.
        `reading` are options for files, such as `fold_case=True`: see `read_labels`.
        """
        self._fit(data, true_labels, Reading.of(columns, reading), workers, False, low_memory)
        return self

    def fit_predict(self, data: Any, true_labels: Any = None, *, columns: Optional[Mapping[str, str]] = None,
                    workers: Optional[Path] = None, low_memory: bool = False, **reading: Any) -> Any:
        """`fit`, then `labels_`."""
        return self._fit(data, true_labels, Reading.of(columns, reading), workers, False, low_memory).labels()

    def fit_predict_proba(self, data: Any, true_labels: Any = None, *, columns: Optional[Mapping[str, str]] = None,
                          workers: Optional[Path] = None, **reading: Any) -> Any:
        """`fit`, then `probas_`."""
        return self._fit(data, true_labels, Reading.of(columns, reading), workers, True).probas()

    def _fit(self, data: Any, true_labels: Any, reading: Reading, workers: Optional[Path],
             posterior: bool, low_memory: bool = False, **given: Any) -> Fitted:
        settings = self._settings()
        seed = self._seed()
        if low_memory:
            known = {"true_labels": true_labels, "workers": workers, **given}
            return self._fit_file(data, reading, settings, seed, [name for name in known if known[name] is not None])
        with progress(self._shows_progress()) as bar:
            crowd = self._read(data, reading, bar)
            true_labels = truths_by_row(data, reading, true_labels)
            class_values = Values(crowd.library, [crowd.classes])
            truths = find_truths(crowd, class_values, true_labels)
            extras = self._extras(crowd, class_values, **given)
            known_workers = crowd.labels.num_workers
            result, learned = _native.fit(self._method, settings, crowd.labels, truths,
                                          None if workers is None else os.fspath(workers), extras, seed,
                                          self._threads(), posterior, bar)
        worker_values = Values(crowd.library, [crowd.workers])
        if crowd.labels.num_workers > known_workers:
            worker_values.append_scalars(crowd.labels.worker_names()[known_workers:])
        self._learned = learned
        self._fitted_ = Fitted.of(crowd.library, crowd.tasks, worker_values, class_values, result, learned)
        self._fitted_.source = None if extras or workers is not None else Source(crowd.labels, truths, settings)
        self._add_results(self._fitted_, crowd, truths, dict(extras))
        return self._fitted_

    def _add_results(self, fitted: Fitted, crowd: LabelTable, truths: Any, extras: Dict[str, Any]) -> None:
        """What a class shows besides what the engine gives."""

    def _fit_file(self, data: Any, reading: Reading, settings: List[Tuple[str, str]], seed: int,
                  obstacles: List[str]) -> Fitted:
        """Fits the labels of a file without keeping them."""
        if not isinstance(data, (str, os.PathLike)):
            raise UsageError(f"low_memory=True is for the path of a file, not for a {type(data).__name__}")
        if obstacles:
            raise UsageError(f"low_memory=True does not fit: {obstacles[0]} needs the labels in memory")
        with progress(self._shows_progress()) as bar:
            result, learned, names, notes = _native.fit_file(self._method, settings, os.fspath(data), reading.native(),
                                                             getattr(self, "duplicates"), seed, self._threads(), bar)
        warn_of(data, notes)
        tasks, workers, classes = (as_texts(each) for each in names)
        self._learned = learned
        self._fitted_ = Fitted.of(NUMPY, tasks, Values(NUMPY, [workers]), Values(NUMPY, [classes]), result, learned)
        return self._fitted_

    def _extras(self, crowd: LabelTable, classes: Values, **given: Any) -> List[Tuple[str, Any]]:
        """The method's extras, by name, from parameters and from arguments of `fit`."""
        return []

    def predict(self, data: Any, *, columns: Optional[Mapping[str, str]] = None, **reading: Any) -> Any:
        """Judges tasks with the worker qualities learned so far. Learns nothing."""
        return self._judge(data, Reading.of(columns, reading)).labels()

    def predict_proba(self, data: Any, *, columns: Optional[Mapping[str, str]] = None, **reading: Any) -> Any:
        """Like `predict`, but returns the probability of every class."""
        return self._judge(data, Reading.of(columns, reading)).probas()

    def _judge(self, data: Any, reading: Reading) -> Fitted:
        learned = self._require_learned()
        with progress(self._shows_progress()) as bar:
            crowd = self._read_more(data, reading, bar)
            result = learned.judge(crowd.labels, bar)
        known = self._fitted
        workers = known.workers.in_library(crowd.library, crowd.workers)
        classes = known.classes.in_library(crowd.library, crowd.classes)
        return Fitted.of(crowd.library, crowd.tasks, workers, classes, result, learned)

    def _read(self, data: Any, reading: Reading, bar: Any) -> LabelTable:
        crowd = read(data, reading, duplicates=getattr(self, "duplicates"), threads=self._threads(), progress=bar)
        wanted = self.__dict__.get("_sklearn_output_config", {}).get("transform", "default")
        return crowd if wanted == "default" else crowd.in_library(PANDAS if wanted == "pandas" else POLARS)

    def _read_more(self, data: Any, reading: Reading, bar: Any) -> LabelTable:
        """Reads labels, and gives known workers and classes the ids they already have."""
        crowd = self._read(data, reading, bar)
        labels, new_workers, new_classes = self._require_learned().renumber(crowd.labels)
        return LabelTable(labels, crowd.library, crowd.tasks, crowd.library.select(crowd.workers, new_workers),
                          crowd.library.select(crowd.classes, new_classes))

    # --- results ----------------------------------------------------------------------------

    def __dir__(self) -> List[str]:
        """Of results, only those that there are."""
        fitted = self.__dict__.get("_fitted_")
        return [name for name in super().__dir__()
                if not name.endswith("_") or name.startswith("_") or (fitted is not None and fitted.has(name))]

    @property
    def _fitted(self) -> Fitted:
        fitted = self.__dict__.get("_fitted_")
        if fitted is None:
            raise NotFittedError(f"this {type(self).__name__} has not seen any labels yet: call fit")
        return fitted  # type: ignore[no-any-return]

    def _require_learned(self) -> _native.Learned:
        self._fitted
        learned: _native.Learned = self._learned
        return learned

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted_" in self.__dict__

    @property
    def labels_(self) -> Any:
        """The label of every task: a Series `agg_label` by task."""
        return self._fitted.labels()

    @property
    def confidence_(self) -> Any:
        """The probability that the label is right: a Series `confidence` by task."""
        return self._fitted.confidence_series()

    @property
    def probas_(self) -> Any:
        """The probability of every class: a DataFrame with one row per task and one column per class."""
        return self._fitted.probas()

    @property
    def posterior_(self) -> Any:
        """The probability of every class, in the meaning of `confidence_` for all classes: a DataFrame as `probas_`."""
        return self._fitted.posterior_table()

    @property
    def skills_(self) -> Any:
        """The quality of every worker, the probability that their next label is right: a Series `skill` by worker."""
        return self._fitted.skills()

    @property
    def workers_(self) -> Any:
        """A DataFrame by worker: `quality`, its 95 % interval `lower` to `upper`, and the number of `labels`."""
        return self._fitted.workers_table()

    @property
    def errors_(self) -> Any:
        """Confusion matrices: a DataFrame by worker and label, with the probability of that label for every true class."""
        return self._fitted.errors()

    @property
    def priors_(self) -> Any:
        """The share of every class among the tasks: a Series `prior` by label."""
        return self._fitted.priors()

    @property
    def loss_history_(self) -> List[float]:
        """The objective after each iteration."""
        return self._fitted.trace

    @property
    def converged_(self) -> bool:
        """Whether the method converged within its iterations."""
        return self._fitted.converged

    # --- for people ---------------------------------------------------------------------------

    def _repr_html_(self) -> str:
        fitted = self.__dict__.get("_fitted_")
        return html_text(repr(self)) if fitted is None else overview(repr(self), fitted)

    def report(self, path: Optional[Path] = None, *, title: Optional[str] = None) -> Page:
        """The report of the last `fit`: tasks to look at first, workers, mix-ups, other methods, advice.

        Without `path`, a notebook shows it. With `path`, it is written to that file, too; a name that ends in .json takes its
        data alone. Truths are compared with, and not learned from. It is that of `crowdfold report`.
        """
        source = self._fitted.source
        if source is None:
            raise UsageError("report: there is none of this fit; it takes labels and truths in memory, "
                             "without skills, initial errors or qualities of an earlier run")
        with tempfile.TemporaryDirectory() as folder, progress(self._shows_progress()) as bar:
            page = os.path.join(folder, "report.html")
            for target in (page, path):
                if target is not None:
                    headline = _native.write_report(source.labels, source.truths, self._method, source.settings, self._seed(),
                                                    self._threads(), title or repr(self), os.fspath(target), bar)
            with open(page, encoding="utf-8") as file:
                return Page(file.read(), headline)

    # --- learning as labels come ------------------------------------------------------------

    def partial_fit(self: Self, data: Any, true_labels: Any = None, *,
                    columns: Optional[Mapping[str, str]] = None, **reading: Any) -> Self:
        """Learns from one more chunk of tasks, and judges them.

        A chunk holds all labels of its tasks. Afterwards, results by task (such as `labels_`) describe the last chunk, and
        results by worker (such as `workers_`) everything learned so far.
        """
        settings = self._settings()
        if "_fitted_" not in self.__dict__:
            learned = _native.Learned(self._method, settings, self._seed())
            learned.require_online()
            self._learned = learned
            self._fitted_ = Fitted.nothing(learned)
        known, learned = self._fitted, self._learned
        with progress(self._shows_progress()) as bar:
            crowd = self._read_more(data, Reading.of(columns, reading), bar)
            true_labels = truths_by_row(data, Reading.of(columns, reading), true_labels)
            workers = known.workers.in_library(crowd.library, crowd.workers)
            classes = known.classes.in_library(crowd.library, crowd.classes)
            truths = find_truths(crowd, classes, true_labels)
            result = learned.observe(crowd.labels, truths, bar)
        self._fitted_ = Fitted.of(crowd.library, crowd.tasks, workers, classes, result, learned)
        return self

    def learn_one(self: Self, task: Any, labels: OneTask, truth: Any = None) -> Self:
        """Learns from one task. `labels` is {worker: label}, or pairs of both; `truth` is the true label, if known."""
        pairs = list(labels.items() if isinstance(labels, Mapping) else labels)
        if "_fitted_" not in self.__dict__:
            self._learned = _native.Learned(self._method, self._settings(), self._seed())
            self._fitted_ = Fitted.nothing(self._learned)
        known = self._fitted
        texts = [(text_of(worker), text_of(label)) for worker, label in pairs]
        if any(not worker for worker, _ in texts):
            raise UsageError(f"learn_one: task {task!r} has a label without a worker")
        truth_text = text_of(truth) or None
        estimate, confidence = self._learned.learn_one(texts, truth_text)
        known.note_workers([worker for worker, _ in pairs])
        said = [label for _, label in pairs] + ([truth] if truth_text else [])
        known.note_classes([label for label in said if text_of(label)])
        known.take_one(task, estimate, confidence)
        return self

    def predict_one(self, labels: OneTask) -> Any:
        """The label of one task, given its `labels`: {worker: label}, or pairs of both. Learns nothing."""
        probabilities = self.predict_proba_one(labels)
        return max(probabilities, key=lambda label: probabilities[label]) if probabilities else None

    def predict_proba_one(self, labels: OneTask) -> Dict[Any, float]:
        """Like `predict_one`, but returns the probability of every class."""
        learned, known = self._require_learned(), self._fitted
        pairs = list(labels.items() if isinstance(labels, Mapping) else labels)
        texts = [(text_of(worker), text_of(label)) for worker, label in pairs if text_of(label)]
        if not texts:
            return {}
        probabilities = learned.judge_one(texts)
        known.note_classes([label for _, label in pairs if text_of(label)])
        return dict(zip(known.class_list(), probabilities))

    def merge(self: Self, other: Aggregator) -> Self:
        """Adds the knowledge of `other`, which learned from other tasks, as if one model had seen the tasks of both."""
        if type(other) is not type(self):
            raise UsageError(f"{type(self).__name__} cannot be merged with {type(other).__name__}")
        learned, theirs = self._require_learned(), other._require_learned()
        learned.merge(theirs)
        self._fitted.note_workers(other._fitted.worker_list())
        self._fitted.note_classes(other._fitted.class_list())
        return self

    def save(self, path: Path, *, details: bool = False) -> None:
        """Writes worker qualities, as `crowdfold aggregate --workers-out` does: CSV, or JSON lines by extension. Confusion
        matrices are not among them: pickle a model to keep all that it knows."""
        self._require_learned().save(os.fspath(path), details)

    def load(self: Self, path: Path) -> Self:
        """Starts from worker qualities that `save` or the command line wrote: `predict`, `partial_fit` and `learn_one`
        go on from these qualities alone. `fit(..., workers=path)` uses them as prior knowledge instead."""
        learned = _native.Learned(self._method, self._settings(), self._seed())
        learned.load(os.fspath(path))
        self._learned = learned
        self._fitted_ = Fitted.nothing(learned)
        return self


def _same(value: Any, default: Any) -> bool:
    """Whether a parameter has its default. A table never equals a default."""
    return value is default or (np.ndim(value) == 0 and bool(value == default))


def find_truths(crowd: LabelTable, classes: Values, true_labels: Any) -> Any:
    """Truths by task for the engine. Also appends to `classes` the values of classes that no label names."""
    if true_labels is None:
        return None
    tasks, labels, library = truth_columns(true_labels)
    truths, new_rows = crowd.labels.find_truths(library.native(tasks), library.native(labels))
    if len(new_rows) > 0:
        new = library.select(labels, new_rows)
        if library is crowd.library:
            classes.append(new)
        else:
            classes.append_scalars(as_list(new))
    return truths
