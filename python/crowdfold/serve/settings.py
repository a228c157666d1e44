"""What a project is made with, as it comes over HTTP and as its stream takes it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from .._stream import LiveStream

__all__ = ["Settings", "StopRule"]

ClassName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=10_000)]
Count = Annotated[int, Field(ge=0, le=1_000_000)]


class StopRule(BaseModel):
    """When a task closes. A number that is 0 sets no condition."""

    model_config = ConfigDict(extra="forbid", strict=True)

    confidence: Annotated[float, Field(ge=0, le=1, description="at this certainty, with at least min_labels labels")] = 0.0
    min_labels: Count = 3
    max_labels: Annotated[Count, Field(description="with this many labels, however uncertain")] = 0
    labels_per_task: Annotated[Count, Field(description="with this many labels")] = 0

    @model_validator(mode="after")
    def _has_room(self) -> StopRule:
        if 0 < self.max_labels < self.min_labels and "min_labels" in self.model_fields_set:
            raise ValueError("min_labels is above max_labels")
        return self


class Settings(BaseModel):
    """Of one project. Classes and half-life are the state's: they stay."""

    model_config = ConfigDict(extra="forbid", strict=True)

    classes: Annotated[Optional[list[ClassName]], Field(
        min_length=2, max_length=65_534, description="the only ones; none: every label makes its class")] = None
    stop: StopRule = Field(default_factory=StopRule)
    half_life: Annotated[float, Field(ge=0, le=1e16, description=(
        "a label counts half after so many more labels of its worker; 0: never"))] = 0.0
    alarm_below: Annotated[float, Field(ge=0, le=1, description=(
        "tells of workers whose 95 % interval falls below this quality; 0: never"))] = 0.0

    @model_validator(mode="after")
    def _classes_differ(self) -> Settings:
        if self.classes and len(set(self.classes)) < len(self.classes):
            raise ValueError("one of the classes is given twice")
        if any("\0" in name for name in self.classes or ()):
            raise ValueError("a NUL character in a class: no name may hold one")
        return self

    def open(self, path: Path) -> LiveStream:
        stop: dict[str, Any] = self.stop.model_dump()
        return LiveStream(path, classes=self.classes, half_life=self.half_life, alarm_below=self.alarm_below, **stop)
