"""Makes one class per method of the engine. The engine's registry is the one source of parameters, defaults and
documentation. This file only adds the Python names of methods and options, which follow crowd-kit and scikit-learn
where those have a name."""

from __future__ import annotations

import keyword
from dataclasses import dataclass, field
from typing import Any, Dict, List, Tuple, Type

from . import _native
from ._base import Aggregator
from ._crowdkit import (
    LikeCrowdKit,
    StartedByFit,
    WeightedByFit,
    WithDifficulties,
    WithQualities,
    WithScores,
    WithSortedWeights,
    WithSpamming,
)

# When to touch a parameter; those that are not here are best left alone.
ADVICE: Dict[str, str] = {
    "random_state": "Change it to see which answers hang on chance.",
    "duplicates": "Set it if workers may label a task twice.",
    "n_jobs": "Leave it, unless others need the cores.",
    "verbose": "Turn it on for a fit that takes its time.",
    "n_iter": "Raise it if `converged_` is False.",
    "tol": "Leave it; to have all iterations, set 0.",
    "ties": "Leave it, unless ties must be broken by chance or as on the command line.",
    "posterior": "Leave it, unless confidences are to be shares of votes.",
    "soften": "Leave it, unless you measured the calibration of its answers on truths.",
    "doubt": "Leave it, unless you measured the calibration of its answers on truths.",
    "half_life": "Set it if workers change in time.",
    "n_restarts": "Raise it if answers hang on `random_state`.",
}


@dataclass(frozen=True)
class Parameter:
    name: str
    default: Any
    annotation: str
    meaning: str
    option: str = ""  # the engine's option; empty for a parameter of Python's own

    @property
    def advice(self) -> str:
        """Whether to touch it."""
        return ADVICE.get(self.name, "Leave it." if self.option else "")


@dataclass(frozen=True)
class Names:
    """A method's names in Python."""

    class_name: str
    parameters: Dict[str, str] = field(default_factory=dict)  # option -> parameter
    # Parameter -> crowd-kit's words for its values -> the engine's.
    values: Dict[str, Dict[Any, str]] = field(default_factory=dict)
    # Parameters whose default is that of crowd-kit's class and not the engine's.
    defaults: Dict[str, Any] = field(default_factory=dict)
    base: Type[Aggregator] = Aggregator
    own: Tuple[Parameter, ...] = ()  # parameters that `base` handles
    # Parameters of crowd-kit's class that have no meaning here: only their default is accepted.
    without_meaning: Dict[str, Any] = field(default_factory=dict)
    # Parameters that crowd-kit takes by position, in its order.
    positional: Tuple[str, ...] = ()


# Options that are called the same in all methods.
COMMON = {"iterations": "n_iter", "tolerance": "tol", "starts": "n_restarts"}

# crowd-kit's rule for ties: the classes of the engine are in sorted order, so the first is the first of that order.
SORTED_TIES = {"ties": {"sorted": "first"}}

METHODS: Dict[str, Names] = {
    "mv": Names("MajorityVote", values=SORTED_TIES, base=WeightedByFit, own=(
        Parameter("default_skill", None, "Optional[float]", "the skill of workers for whom fit(skills=) has none"),
        Parameter("on_missing_skill", "error", "str",
                  "for workers without a skill: error, ignore (their labels), or value (default_skill)")),
                positional=("default_skill", "on_missing_skill")),
    "onepass": Names("OnePass"),
    "twopass": Names("TwoPass"),
    "threepass": Names("ThreePass"),
    "fivepass": Names("FivePass"),
    "live": Names("Live"),
    "sbic": Names("SBIC"),
    "wawa": Names("Wawa", values=SORTED_TIES, base=WithSortedWeights),
    "zbs": Names("ZeroBasedSkill", {"rate": "lr_init", "halve_after": "lr_steps_to_reduce", "factor": "lr_reduce_factor",
                                    "excess": "eps"}, SORTED_TIES, base=WithSortedWeights,
                 positional=("n_iter", "lr_init", "lr_steps_to_reduce", "lr_reduce_factor", "eps")),
    "iwmv": Names("IWMV"),
    "crh": Names("CRH"),
    "zc": Names("ZenCrowd"),
    "onecoin_ds": Names("OneCoinDawidSkene", base=WithQualities, without_meaning={"initial_error_strategy": None},
                        positional=("n_iter", "tol", "initial_error_strategy")),
    "glad": Names("GLAD", {"rounds": "m_step_max_iter", "slope": "m_step_tol"}, base=WithDifficulties, own=(
        Parameter("silent", True, "bool", "the opposite of verbose"),
        Parameter("labels_priors", None, "Any", "probabilities of classes: a Series by label, or a dictionary"),
        Parameter("alphas_priors_mean", None, "Any", "prior means of abilities: a Series by worker, or a dictionary"),
        Parameter("betas_priors_mean", None, "Any",
                  "prior means of the logarithm of ease: a Series by task, or a dictionary")),
                  positional=("n_iter", "tol", "silent", "labels_priors", "alphas_priors_mean", "betas_priors_mean",
                              "m_step_max_iter", "m_step_tol")),
    "mace": Names("MACE", {"training": "method", "know": "alpha", "spam": "beta", "noise": "default_noise"},
                  {"method": {"vb": "variational"}}, base=WithSpamming,
                  positional=("n_restarts", "n_iter", "method", "smoothing", "default_noise", "alpha", "beta",
                              "random_state", "verbose")),
    "mmsr": Names("MMSR", base=WithScores, positional=("n_iter", "tol", "random_state")),
    "kos": Names("KOS", base=LikeCrowdKit, positional=("n_iter", "random_state")),
    "ds": Names("DawidSkene", defaults={"start": 0.0}, base=StartedByFit, own=(
        Parameter("initial_error_strategy", None, "Optional[str]",
                  "meaning of fit(initial_error=): matrices to start from (assign), or counts added to a vote's (addition)"),),
                positional=("n_iter", "tol", "initial_error_strategy")),
    "fast_ds": Names("FastDawidSkene"),
    "opt_ds": Names("OptDawidSkene"),
    "lfc": Names("LFC"),
    "ibcc": Names("IBCC"),
    "ebcc": Names("EBCC"),
    "bwa": Names("BWA"),
    "laa": Names("LAA"),
    "bila": Names("BiLA"),
}

# Parameters that all classes have: name, default, type, meaning.
SHARED: List[Tuple[str, Any, str, str]] = [
    ("random_state", 0, "Optional[int]", "seed of everything that is drawn"),
    ("duplicates", "last", "str", "a worker's second label on a task: last | first | error | keep"),
    ("n_jobs", None, "Optional[int]", "threads; None: all cores. Results do not depend on it"),
    ("verbose", False, "Union[bool, int]", "show progress"),
]


def _default(option: Dict[str, Any]) -> Tuple[Any, str]:
    if option["fitted"]:  # so that its usual value, too, can be set
        return None, "Optional[float]"
    if option["type"] == "real":
        return float(option["default"]), "float"
    if option["type"] == "integer":
        return int(option["default"]), "int"
    return option["default"], "str"


def parameters_of(method: Dict[str, Any]) -> List[Parameter]:
    """Parameters of a class: the method's options, those of its base, crowd-kit's without meaning, and the shared ones.
    Those that may be given by position come first."""
    names = METHODS[method["name"]]
    found = []
    for option in method["options"]:
        name = names.parameters.get(option["name"], COMMON.get(option["name"], option["name"]))
        default, annotation = _default(option)
        default = names.defaults.get(name, default)
        words = {engine: word for word, engine in names.values.get(name, {}).items()}
        meaning = f"{option['help']} ({option['range']})"
        if names.values.get(name) is SORTED_TIES["ties"]:
            meaning = "best class among equals: the first in sorted order, the first seen, or a seeded draw (sorted | first | random)"
        if option["fitted"]:
            meaning += f"; None: {option['default']} without them"
        found.append(Parameter(name + "_" * keyword.iskeyword(name), words.get(default, default), annotation,
                               meaning, option["name"]))
    found += names.own
    for name, default in names.without_meaning.items():
        found.append(Parameter(name, default, "Any", "for scripts that pass it: only the default is accepted"))
    found += [Parameter(*shared) for shared in SHARED]
    return sorted(found, key=lambda p: names.positional.index(p.name) if p.name in names.positional else 99)


def signature_of(names: Names, parameters: List[Parameter], annotated: bool = False) -> str:
    """The parameter list of a `def`."""
    parts = ["self"]
    for parameter in parameters:
        if parameter.name not in names.positional and "*" not in parts:
            parts.append("*")
        annotation = f": {parameter.annotation} = " if annotated else "="
        parts.append(f"{parameter.name}{annotation}{parameter.default!r}")
    return ", ".join(parts)


def docstring_of(method: Dict[str, Any], parameters: List[Parameter]) -> str:
    summary = method["summary"]
    lines = [summary[0].upper() + summary[1:] + ".", "", method["citation"] + ".", "", "Parameters", "----------"]
    for p in parameters:
        lines.append(f"{p.name} : {p.annotation}, default {p.default!r}")
        lines += [f"    {text}" for text in (p.meaning, p.advice) if text]
    takes = [("known truths", method["takes_truths"]), ("worker qualities of an earlier run", method["takes_workers"]),
             ("chunks, by partial_fit", method["online"])]
    lines += ["", "Takes " + ", ".join(f"{what}: {'yes' if yes else 'no'}" for what, yes in takes) + "."]
    if method["most_classes"] is not None:
        lines.append(f"For {method['most_classes']} classes at most.")
    return "\n".join(lines)


def make_class(method: Dict[str, Any], module: str) -> Type[Aggregator]:
    names = METHODS[method["name"]]
    parameters = parameters_of(method)
    body = "\n".join(f"    self.{p.name} = {p.name}" for p in parameters)
    scope: Dict[str, Any] = {"__name__": module}
    exec(f"def __init__({signature_of(names, parameters)}):\n{body}", scope)  # so that `inspect` sees a real signature
    init = scope["__init__"]
    init.__qualname__ = f"{names.class_name}.__init__"
    return type(names.class_name, (names.base,), {
        "__module__": module,
        "__doc__": docstring_of(method, parameters),
        "__init__": init,
        "_method": method["name"],
        "_options": {p.name: p.option for p in parameters if p.option},
        "_values": names.values,
        "_own_defaults": frozenset(names.defaults),
        "_without_meaning": names.without_meaning,
    })


def make_classes(module: str) -> Dict[str, Type[Aggregator]]:
    made = (make_class(method, module) for method in _native.registry())
    return {each.__name__: each for each in made}
