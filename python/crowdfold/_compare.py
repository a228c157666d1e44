"""Methods side by side on one data set."""

from __future__ import annotations

import warnings
from typing import Any, Dict, Iterable, List, Mapping, Optional, Union

from . import _native
from ._build import METHODS
from ._input import read, truth_columns
from ._reading import Reading

__all__ = ["compare"]


def compare(data: Any, truth: Any, *, methods: Union[str, Iterable[str]] = "all", runs: int = 10,
            settings: Optional[Mapping[str, Any]] = None, columns: Optional[Mapping[str, str]] = None,
            duplicates: str = "last", random_state: int = 0, n_jobs: Optional[int] = None, **reading: Any) -> Any:
    """Accuracy and time of methods, as `crowdfold compare` measures them.

    Returns a table with one row per method: `accuracy`, the mean over the runs, its standard deviation `accuracy_sd`,
    `log_loss`, and `seconds`, the median over the runs, without reading. Each run has its own seed, and draws ties and the
    order of tasks anew. `methods` are names of methods or of classes, as the command line takes them: case, blanks, hyphens
    and underscores do not matter. `settings` are options of the engine; methods without such an option ignore it. `reading`
    are options for files, as in `read_labels`.
    """
    registry = {method["name"]: method for method in _native.registry()}
    chosen = _choose(methods, registry)
    threads = 0 if n_jobs is None or n_jobs < 0 else n_jobs
    crowd = read(data, Reading.of(columns, reading), duplicates=duplicates, threads=threads)
    tasks, labels, library = truth_columns(truth)
    truths, _ = crowd.labels.find_truths(library.native(tasks), library.native(labels))
    asked = [(name, str(value)) for name, value in (settings or {}).items()]
    rows: List[Dict[str, Any]] = []
    for method in chosen:
        most = method["most_classes"]
        if most is not None and crowd.labels.num_classes > most:
            warnings.warn(f"{method['name']} is left out: it is for {most} classes", stacklevel=2)
            continue
        score = _native.score(method["name"], asked, crowd.labels, truths, runs, random_state, threads, None)
        rows.append({"method": method["name"], **score})
    names = crowd.library.values([row["method"] for row in rows], None)
    table = {key: [row[key] for row in rows] for key in ("accuracy", "accuracy_sd", "log_loss", "seconds")}
    return crowd.library.frame(names, "method", table, None)


def _choose(methods: Union[str, Iterable[str]], registry: Dict[str, Dict[str, Any]]) -> List[Dict[str, Any]]:
    if methods == "all":
        return list(registry.values())
    by_class = {names.class_name: name for name, names in METHODS.items()}
    names = [methods] if isinstance(methods, str) else methods
    return [registry[_native.method_named(by_class.get(name, name))] for name in names]
