"""Models as judges: what each is worth, whether they err together, and what the panel is worth."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _native
from ._base import find_truths
from ._input import Path, Values, as_table, read, text_of
from ._libraries import as_list
from ._progress import progress
from ._reading import Reading
from .errors import NotFittedError, UsageError

__all__ = ["Bounded", "Jury"]


class Bounded(NamedTuple):
    """A number with its 95 % interval."""

    value: float
    lower: float
    upper: float


class Jury:
    """Judges who label nearly everything, most often models.

    `fit(votes, truths, families)` finds out what each judge is worth, whether judges err together beyond what their qualities
    explain, how many independent votes the panel is worth, and whether a cheaper panel would do as well. What is found is
    shown and changes no answer. A judge who was asked about the same pair in both orders has two names, such as "gpt/ab" and
    "gpt/ba"; versions of a model are "model@version". Labels name the answer, not its place.

    Tables keep the library and the dtypes of the votes. What cannot be told is NaN or None, and `notes_` say why.

    Parameters
    ----------
    method : the method that judges the tasks
    may_lose : accuracy that a cheaper panel may lose; without truths, the share of answers that may change
    orders : the two endings of names in both orders, such as ("/ab", "/ba"); recognised if not given; () for none
    places : the labels for the answer that the first order shows first, and second; by default the two labels, by name
    panels : whether to judge the tasks by smaller panels, too
    random_state : seed of the resamples
    n_jobs : number of threads, all cores by default
    verbose : show progress
    """

    def __init__(self, *, method: str = "threepass", may_lose: float = 0.02, orders: Optional[Sequence[str]] = None,
                 places: Optional[Sequence[Any]] = None, panels: bool = True, random_state: int = 0,
                 n_jobs: Optional[int] = None, verbose: bool = False) -> None:
        self.method = method
        self.may_lose = may_lose
        self.orders = orders
        self.places = places
        self.panels = panels
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, votes: Any, truths: Any = None, families: Any = None, *, columns: Optional[Mapping[str, str]] = None,
            duplicates: str = "last", **reading: Any) -> Jury:
        """Looks at the votes.

        `votes` are labels in any form that methods take, with the judges as workers. `truths` are known truths of some tasks:
        a Series by task, a table with the columns task and label, a dictionary, or a path. `families` are a table with the
        columns judge, family and, if votes cost differently, cost; a dictionary from judge to family; or a path. `reading`
        are options for files, as in `read_labels`.
        """
        threads = 0 if self.n_jobs is None or self.n_jobs < 0 else self.n_jobs
        with progress(self.verbose) as bar:
            crowd = read(votes, Reading.of(columns, reading), duplicates=duplicates, threads=threads, progress=bar)
            known = find_truths(crowd, Values(crowd.library, [crowd.classes]), truths)
            orders = ["none"] if self.orders is not None and len(self.orders) == 0 else list(self.orders or ())
            text = _native.jury(crowd.labels, known, _family_rows(families), orders,
                                [text_of(place) for place in self.places or ()], self.method, float(self.may_lose),
                                bool(self.panels), int(self.random_state), threads, bar)
        self._found: Dict[str, Any] = json.loads(text)
        self._library, self._judges, self._classes = crowd.library, crowd.workers, crowd.labels.class_names()
        self._place = {judge["judge"]: place for place, judge in enumerate(self._found["judges"])}
        return self

    # --- results ----------------------------------------------------------------------------

    @property
    def verdict_(self) -> List[str]:
        """The main results, in sentences that hold with 95 % probability each."""
        return list(self._results["verdict"])

    @property
    def notes_(self) -> List[str]:
        """What cannot be told and why, and what was recognised in names."""
        return list(self._results["notes"])

    @property
    def effective_votes_(self) -> Optional[Bounded]:
        """The number of independent votes that the panel is worth. Without truths it is usually too high."""
        return _bounded(self._results["independent_votes"])

    @property
    def accuracy_(self) -> Optional[Bounded]:
        """The accuracy of the whole panel's answers, by truths."""
        return _bounded(self._results["accuracy"])

    @property
    def confidence_(self) -> float:
        """The mean confidence of the whole panel's answers."""
        return _number(self._results["confidence"])

    @property
    def judges_(self) -> Any:
        """Each judge's `quality` with `lower` and `upper`, `votes`, `missing`, the class they lean to (`leans_to`) and by how
        much, `family`, `model`, `version` and `cost`."""
        judges = self._results["judges"]
        return self._frame(self._judges, "judge", {
            "votes": [judge["votes"] for judge in judges], "missing": [judge["missing"] for judge in judges],
            **_columns("quality", [judge["quality"] for judge in judges], short=True),
            "leans_to": [judge["leans_to"] for judge in judges],
            **_columns("leaning", [judge["leaning"] for judge in judges]),
            **{name: [judge[name] for judge in judges] for name in ("family", "model", "version", "cost")}})

    @property
    def classes_(self) -> Any:
        """Each judge's quality on tasks of each true class: `judge`, `class`, `tasks`, `quality`, `lower`, `upper`."""
        rows = [(judge["judge"], each) for judge in self._results["judges"] for each in judge["classes"]]
        return self._frame(self._named([name for name, _ in rows]), "judge", {
            "class": [each["class"] for _, each in rows], "tasks": [each["tasks"] for _, each in rows],
            **_columns("quality", [each["quality"] for _, each in rows], short=True)})

    @property
    def without_(self) -> Any:
        """The panel without each judge: `votes`, independent ones, with their interval; `accuracy_difference` from the whole
        panel; answers that are `changed`; mean `confidence`."""
        rows = [judge["without"] for judge in self._results["judges"]]
        return self._frame(self._judges, "judge", {
            **_columns("votes", [row["votes"] for row in rows]),
            **_columns("accuracy_difference", [row["accuracy_difference"] for row in rows]),
            "changed": [_number(row["changed"]) for row in rows], "confidence": [_number(row["confidence"]) for row in rows]})

    @property
    def pairs_(self) -> Any:
        """Pairs of judges: `common` tasks, the shares `agreement` and `expected`, their `excess` with its interval, and
        whether it is above 0 with all pairs considered (`marked`)."""
        rows = self._results["pairs"]
        return self._frame(self._named([row["a"] for row in rows]), "a", {
            "b": self._named([row["b"] for row in rows]), "common": [row["common"] for row in rows],
            "agreement": [row["agreed"] / row["common"] for row in rows],
            "expected": [_number(row["expected"]) for row in rows],
            **_columns("excess", [row["excess"] for row in rows]), "marked": [row["marked"] for row in rows]})

    @property
    def excess_(self) -> Dict[str, Optional[Bounded]]:
        """The mean excess agreement of `all` pairs, `within_families` and `between_families`."""
        return {name: _bounded(found["excess"]) for name, found in self._results["excess"].items()}

    @property
    def positions_(self) -> Any:
        """Judges who were asked in both orders: `tasks`, with the `same` answer, `to_first` and `to_second` place in both,
        and the share `chosen_first` with its interval; `marked` if it differs from one half, all judges considered."""
        rows = self._results["positions"]
        return self._frame(self._library.values([row["judge"] for row in rows], None), "judge", {
            **{name: [row[name] for row in rows] for name in ("tasks", "same", "to_first", "to_second")},
            **_columns("chosen_first", [row["chosen_first"] for row in rows]), "marked": [row["marked"] for row in rows]})

    @property
    def versions_(self) -> Any:
        """Pairs of versions of one model: `agreement`, and the `difference` of quality, b minus a, with intervals; `marked`
        if it differs from 0, all pairs considered."""
        rows = self._results["versions"]
        return self._frame(self._library.values([row["model"] for row in rows], None), "model", {
            **{name: [row[name] for row in rows] for name in ("a", "b", "common")},
            **_columns("agreement", [row["agreement"] for row in rows]),
            **_columns("difference", [row["difference"] for row in rows]), "marked": [row["marked"] for row in rows]})

    @property
    def panels_(self) -> Any:
        """Cheaper panels, dearest first: `judges`, `cost` as a share of the whole panel's, the share of the `same` answers,
        `accuracy` and `difference` with intervals, and whether they do as well (`does_as_well`)."""
        rows = self._results["panels"]
        return self._frame(self._library.values([len(row["judges"]) for row in rows], None), "size", {
            "judges": [", ".join(row["judges"]) for row in rows], "cost": [row["cost"] for row in rows],
            **_columns("same", [row["same"] for row in rows]), **_columns("accuracy", [row["accuracy"] for row in rows]),
            "confidence": [_number(row["confidence"]) for row in rows],
            **_columns("difference", [row["difference"] for row in rows]),
            "does_as_well": [row["does_as_well"] for row in rows]})

    # --- inside -----------------------------------------------------------------------------

    @property
    def _results(self) -> Dict[str, Any]:
        if "_found" not in self.__dict__:
            raise NotFittedError("this Jury has not seen any votes yet: call fit")
        return self._found

    def __sklearn_is_fitted__(self) -> bool:
        return "_found" in self.__dict__

    def _named(self, names: List[str]) -> Any:
        """The original values of judges."""
        return self._library.select(self._judges, np.array([self._place[name] for name in names], dtype=np.uint64))

    def _frame(self, index: Any, name: str, columns: Dict[str, Any]) -> Any:
        made = {title: self._library.values(values, None) if isinstance(values, list) else values
                for title, values in columns.items()}
        return self._library.frame(index, name, made, None)


def _number(value: Optional[float]) -> float:
    return float("nan") if value is None else value


def _bounded(found: Optional[Mapping[str, float]]) -> Optional[Bounded]:
    return None if found is None else Bounded(found["value"], found["lower"], found["upper"])


def _columns(name: str, found: Iterable[Optional[Mapping[str, float]]], short: bool = False) -> Dict[str, List[float]]:
    """Three columns of numbers with intervals: name, name_lower, name_upper, or lower and upper for short."""
    rows = [_bounded(row) or Bounded(*[float("nan")] * 3) for row in found]
    prefix = "" if short else f"{name}_"
    return {name: [row.value for row in rows], f"{prefix}lower": [row.lower for row in rows],
            f"{prefix}upper": [row.upper for row in rows]}


def _family_rows(families: Union[None, Path, Mapping[Any, Any], Any]) -> List[Tuple[str, str, float]]:
    if families is None:
        return []
    if isinstance(families, (str, os.PathLike)):
        return _native.read_family_file(os.fspath(families))
    if isinstance(families, Mapping) and not ({"judge", "family"} <= set(families)):
        return [(text_of(judge), text_of(family), 1.0) for judge, family in families.items()]
    table, library = as_table(families)
    names = library.names(table) if library is not None else []
    if library is None or "judge" not in names or "family" not in names:
        raise UsageError("families: give a table with the columns judge and family, a dictionary, or a path")
    judges, kin = (as_list(library.column(table, name)) for name in ("judge", "family"))
    costs = as_list(library.column(table, "cost")) if "cost" in names else [1.0] * len(judges)
    return [(text_of(judge), text_of(family), float(cost)) for judge, family, cost in zip(judges, kin, costs)]
