"""One class for every method. They are made from the engine's registry; `methods.pyi` says what comes out."""

from ._build import make_classes

_classes = make_classes(__name__)
globals().update(_classes)
__all__ = list(_classes)
