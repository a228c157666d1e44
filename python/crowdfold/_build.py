"""Makes a class of every method that the engine knows. Its registry is the one source of parameters, defaults and
documentation; here are only the names that Python knows methods and options by, which follow crowd-kit and scikit-learn
where those have a name."""

from __future__ import annotations

import keyword
from dataclasses import dataclass, field
from typing import Any, Dict, List, Tuple, Type

from . import _native
from ._base import Aggregator


@dataclass(frozen=True)
class Names:
    """What a method is called in Python."""

    class_name: str
    parameters: Dict[str, str] = field(default_factory=dict)  # option -> parameter
    values: Dict[str, Dict[Any, str]] = field(default_factory=dict)  # parameter -> other words for its values
    # Parameters of crowd-kit's class that mean nothing here: they are accepted as long as they have their default.
    without_meaning: Dict[str, Any] = field(default_factory=dict)
    # Parameters that crowd-kit takes by position.
    positional: Tuple[str, ...] = ()


# Options that are called the same in all methods.
COMMON = {"iterations": "n_iter", "tolerance": "tol", "starts": "n_restarts"}

METHODS: Dict[str, Names] = {
    "mv": Names("MajorityVote", without_meaning={"default_skill": None, "on_missing_skill": "error"}),
    "onepass": Names("OnePass"),
    "twopass": Names("TwoPass"),
    "threepass": Names("ThreePass"),
    "sbic": Names("SBIC"),
    "wawa": Names("Wawa"),
    "zbs": Names("ZeroBasedSkill", {"rate": "lr_init", "halve_after": "lr_steps_to_reduce"},
                 without_meaning={"lr_reduce_factor": 0.5, "eps": 1e-5}, positional=("n_iter",)),
    "iwmv": Names("IWMV"),
    "crh": Names("CRH"),
    "zc": Names("ZenCrowd"),
    "onecoin_ds": Names("OneCoinDawidSkene", without_meaning={"initial_error_strategy": None},
                        positional=("n_iter", "tol")),
    "glad": Names("GLAD", {"rounds": "m_step_max_iter", "slope": "m_step_tol"},
                  without_meaning={"labels_priors": None, "alphas_priors_mean": None, "betas_priors_mean": None},
                  positional=("n_iter", "tol")),
    "mace": Names("MACE", {"training": "method", "know": "alpha", "spam": "beta", "noise": "default_noise"},
                  {"method": {"vb": "variational"}}, positional=("n_restarts", "n_iter")),
    "mmsr": Names("MMSR", positional=("n_iter", "tol")),
    "kos": Names("KOS", positional=("n_iter",)),
    "ds": Names("DawidSkene", without_meaning={"initial_error_strategy": None}, positional=("n_iter", "tol")),
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


@dataclass(frozen=True)
class Parameter:
    name: str
    default: Any
    annotation: str
    meaning: str
    option: str = ""  # of the engine; empty if it is not one


def _default(option: Dict[str, str]) -> Tuple[Any, str]:
    if option["type"] == "real":
        return float(option["default"]), "float"
    if option["type"] == "integer":
        return int(option["default"]), "int"
    return option["default"], "str"


def parameters_of(method: Dict[str, Any]) -> List[Parameter]:
    """Parameters of a class: the method's options, crowd-kit's that mean nothing, and the shared ones."""
    names = METHODS[method["name"]]
    found = []
    for option in method["options"]:
        name = names.parameters.get(option["name"], COMMON.get(option["name"], option["name"]))
        default, annotation = _default(option)
        words = {engine: word for word, engine in names.values.get(name, {}).items()}
        meaning = f"{option['help']} ({option['range']})"
        found.append(Parameter(name + "_" * keyword.iskeyword(name), words.get(default, default), annotation,
                               meaning, option["name"]))
    found.sort(key=lambda p: names.positional.index(p.name) if p.name in names.positional else 99)
    for name, default in names.without_meaning.items():
        found.append(Parameter(name, default, "Any", "for scripts that name it: nothing but its default is accepted"))
    if method["name"] == "glad":
        found.append(Parameter("silent", True, "bool", "the opposite of verbose"))
    found += [Parameter(*shared) for shared in SHARED]
    return found


def signature_of(names: Names, parameters: List[Parameter], annotated: bool = False) -> str:
    """Parameters as they stand in a `def`."""
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
        lines.append(f"    {p.meaning}")
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
    exec(f"def __init__({signature_of(names, parameters)}):\n{body}", scope)  # a signature like any other
    init = scope["__init__"]
    init.__qualname__ = f"{names.class_name}.__init__"
    return type(names.class_name, (Aggregator,), {
        "__module__": module,
        "__doc__": docstring_of(method, parameters),
        "__init__": init,
        "_method": method["name"],
        "_options": {p.name: p.option for p in parameters if p.option},
        "_values": names.values,
        "_without_meaning": names.without_meaning,
    })


def make_classes(module: str) -> Dict[str, Type[Aggregator]]:
    made = (make_class(method, module) for method in _native.registry())
    return {each.__name__: each for each in made}
