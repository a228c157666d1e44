"""Methods in rounds on Spark, as estimators and models after the conventions of pyspark.ml.

    from crowdfold.spark import FivePass

    model = FivePass(taskCol="photo").fit(labels)    # a DataFrame with the columns photo, worker and label
    answers = model.transform(labels)                # photo, prediction, confidence, probability
    model.workers                                    # worker, quality, lower, upper, labels

A class for each method that goes in rounds is made from the engine's registry.
"""

from ._estimators import CrowdEstimator, CrowdModel, make_classes

_classes = make_classes(__name__)
globals().update(_classes)
__all__ = ["CrowdEstimator", "CrowdModel", *_classes]
