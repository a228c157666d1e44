"""Params of estimators and models: those of all, and those that the engine's registry lists for a method."""

from __future__ import annotations

import inspect
from typing import Any, Dict, List, Tuple

from pyspark.ml.param import Param, Params, TypeConverters

from .. import _native
from ..errors import UsageError

# Options that pyspark.ml has a name for, and one whose name is taken by the names of classes.
NAMES = {"iterations": "maxIter", "tolerance": "tol", "classes": "classPrior"}
# Options whose usual value asks for what does not go in rounds.
DEFAULTS = {"vote_rounds": 2}
CONVERTERS = {"integer": TypeConverters.toInt, "real": TypeConverters.toFloat}


def _param(name: str, meaning: str, converter: Any) -> Any:
    return Param(Params._dummy(), name, meaning, typeConverter=converter)


def _columns(*rows: Tuple[str, str, str]) -> List[Tuple[Any, Any]]:
    return [(_param(name, meaning, TypeConverters.toString), default) for name, default, meaning in rows]


# With their defaults. Those of models, too:
SHARED = _columns(
    ("taskCol", "task", "the column of tasks"),
    ("workerCol", "worker", "the column of workers"),
    ("labelCol", "label", "the column of labels; a null or an empty string is an abstention"),
    ("truthCol", "", "the column of known truths, the same or null in all rows of a task; empty: none are known"),
    ("orderCol", "", "what tells which of a worker's labels on a task is the last, such as a time; empty: nothing does"),
    ("duplicates", "last", "of a worker's labels on a task, which counts by orderCol: last | first | error"),
    ("predictionCol", "prediction", "the answers"),
    ("confidenceCol", "confidence", "the probability that the answer is right"),
    ("probabilityCol", "probability", "a vector with the probability of every class, in the order of `labels`; empty: none"),
) + [(_param("partitions", "how many partitions chunks are in; 0: one for half a million labels", TypeConverters.toInt), 0),
     (_param("modelLimit", "bytes of a model that go to every executor; of a larger one, a chunk gets what is known of its own workers",
             TypeConverters.toInt), 1 << 30)]
OF_ESTIMATORS = [
    (_param("classes", "classes known beforehand, which come first and in this order; others follow by name",
            TypeConverters.toListString), []),
    (_param("seed", "seed of everything that is drawn", TypeConverters.toInt), 0)]
OF_MODELS = [(_param("handleInvalid", "labels by workers, or of classes, that the model does not know: error, or skip (they do not "
                     "count)", TypeConverters.toString), "error")]
CHOICES = {"duplicates": ("last", "first", "error"), "handleInvalid": ("error", "skip")}


def params_of_method(method: Dict[str, Any]) -> Tuple[List[Tuple[Any, Any]], Dict[str, str]]:
    """With their defaults (None: none), and the engine's options by name."""
    params, options = [], {}
    for option in method["options"]:
        name = NAMES.get(option["name"]) or _camel(option["name"])
        converter = CONVERTERS.get(option["type"], TypeConverters.toString)
        default = DEFAULTS.get(option["name"], option["default"])
        params.append((_param(name, f"{option['help']} ({option['range']})", converter),
                       None if option["fitted"] else converter(_number(default, option["type"]))))
        options[name] = option["name"]
    return params, options


def _number(text: Any, kind: str) -> Any:
    return {"integer": int, "real": float}.get(kind, str)(text)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def attributes_of(params: List[Tuple[Any, Any]]) -> Dict[str, Any]:
    """Of a class with these params: the params, and a getter and a setter of each."""
    attributes: Dict[str, Any] = {}
    for param, _ in params:
        attributes[param.name] = param
        attributes["get" + param.name[0].upper() + param.name[1:]] = _getter(param.name, param.doc)
        attributes["set" + param.name[0].upper() + param.name[1:]] = _setter(param.name, param.doc)
    attributes["__signature__"] = inspect.Signature(
        [inspect.Parameter(param.name, inspect.Parameter.KEYWORD_ONLY, default=default) for param, default in params])
    attributes["_defaults"] = {param.name: default for param, default in params if default is not None}
    return attributes


def _getter(name: str, meaning: str) -> Any:
    def get(self: Any) -> Any:
        return self.getOrDefault(name)

    get.__doc__ = f"Of `{name}`: {meaning}."
    return get


def _setter(name: str, meaning: str) -> Any:
    def set_(self: Any, value: Any) -> Any:
        return self._set(**{name: value})

    set_.__doc__ = f"Sets `{name}`: {meaning}."
    return set_


class CrowdParams(Params):
    """Params by name, and what they say to the engine."""

    _defaults: Dict[str, Any] = {}
    _method: str = ""
    _options: Dict[str, str] = {}

    def __init__(self, **params: Any) -> None:
        super().__init__()
        self._setDefault(**self._defaults)
        self.setParams(**params)

    def setParams(self, **params: Any) -> Any:
        """Sets params by name."""
        for name in params:
            if not self.hasParam(name):
                raise UsageError(f"{type(self).__name__} has no param '{name}'; it has: {', '.join(p.name for p in self.params)}")
        return self._set(**{name: value for name, value in params.items() if value is not None})

    def _text(self, name: str) -> str:
        value = str(self.getOrDefault(name))
        if name in CHOICES and value not in CHOICES[name]:
            raise UsageError(f"{name}={value!r}: {' | '.join(CHOICES[name])}")
        return value

    def _settings(self) -> List[Tuple[str, str]]:
        """Options of the engine."""
        settings = []
        for name, option in self._options.items():
            if self.isDefined(name):
                value = self.getOrDefault(name)
                settings.append((option, repr(value) if isinstance(value, float) else str(value)))
        try:
            _native.check_settings(self._method, settings)
        except UsageError as error:
            message = str(error)
            for name, option in self._options.items():
                message = message.replace(f"option {option}=", f"{name}=")
            raise UsageError(message) from None
        return settings
