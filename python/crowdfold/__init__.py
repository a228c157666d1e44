"""crowdfold: one label per task and a quality per worker, from labels that disagree.

    from crowdfold import TwoPass
    labels = TwoPass().fit_predict(frame)  # columns task, worker, label

The API follows crowd-kit and scikit-learn. `help(TwoPass)` describes parameters and results.
"""

from . import datasets, errors, methods, metrics, plot, rounds
from ._base import Aggregator
from ._compare import compare
from ._files import LabelRows, read_labels
from ._gold import GoldMajorityVote
from ._jury import Bounded, Jury
from ._native import version as __version__
from ._plain import Frame, Series
from ._simulate import Crowd, simulate
from ._stream import LiveStream, OpenTask, RefusedLine, TakenLines, TaskUpdate, WorkerQuality
from .errors import ColumnError, CrowdfoldError, DataError, FileError, InternalError, NotFittedError, RefusedLines, UsageError
from .methods import *

__all__ = [
    "Aggregator", "Bounded", "ColumnError", "Crowd", "CrowdfoldError", "DataError", "FileError", "Frame", "GoldMajorityVote",
    "InternalError", "Jury", "LabelRows", "LiveStream", "NotFittedError", "OpenTask", "RefusedLine", "RefusedLines", "Series",
    "TakenLines", "TaskUpdate", "UsageError", "WorkerQuality", "compare", "datasets", "errors", "methods", "metrics", "plot",
    "read_labels", "rounds", "simulate",
]
__all__ += methods.__all__
