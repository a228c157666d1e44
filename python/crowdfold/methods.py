"""One class per method, made from the engine's registry; `methods.pyi` lists them for type checkers."""

from ._build import make_classes

_classes = make_classes(__name__)
globals().update(_classes)
__all__ = list(_classes)
