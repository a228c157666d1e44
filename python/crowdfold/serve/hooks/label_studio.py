"""Webhooks of Label Studio.

They come once, without a retry, and in any order: what is older than what is known of an annotation is left out. A deletion names
annotations alone, so what each one said of whom is remembered.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Optional

__all__ = ["Annotation", "HookError", "Translation", "annotations_of", "translate"]

CREATED = ("ANNOTATION_CREATED", "ANNOTATIONS_CREATED", "ANNOTATION_UPDATED")
DELETED = ("ANNOTATIONS_DELETED", "ANNOTATION_DELETED")


class HookError(Exception):
    """The message is not what the platform sends, or says something that is no one label."""


@dataclasses.dataclass(frozen=True)
class Annotation:
    """What is remembered. One without a task was deleted, and does not come back."""

    id: str
    task: str
    worker: str
    updated_at: str


@dataclasses.dataclass
class Translation:
    events: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    annotations: list[Annotation] = dataclasses.field(default_factory=list)


def _objects(message: Mapping[str, Any], *keys: str) -> list[Mapping[str, Any]]:
    """Label Studio writes one or a list under the same key."""
    for key in keys:
        value = message.get(key)
        if isinstance(value, Mapping):
            return [value]
        if isinstance(value, list) and all(isinstance(one, Mapping) for one in value):
            return value
    raise HookError(f"no {' or '.join(keys)} in this message: it must be sent with its payload")


def annotations_of(message: Any) -> list[str]:
    """The ids of annotations that a message is about; none for messages about other things."""
    if not isinstance(message, Mapping) or not isinstance(message.get("action"), str):
        raise HookError("this is no message of Label Studio: it has no action")
    if message["action"] not in CREATED + DELETED:
        return []
    return [_id(one) for one in _objects(message, "annotation", "annotations")]


def _id(annotation: Mapping[str, Any]) -> str:
    id = annotation.get("id")
    if not isinstance(id, (int, str)):
        raise HookError("an annotation without an id")
    return str(id)


def translate(message: Mapping[str, Any], question: Optional[str], known: Mapping[str, Annotation]) -> Translation:
    """`question` is the from_name to read, where there are several."""
    translation = Translation()
    for annotation in _objects(message, "annotation", "annotations") if annotations_of(message) else ():
        before = known.get(_id(annotation))
        if message["action"] in DELETED:
            if before is not None and before.task:
                translation.events.append({"retract": {"task": before.task, "worker": before.worker}})
            translation.annotations.append(Annotation(_id(annotation), "", "", ""))
        else:
            _take(annotation, before, question, translation)
    return translation


def _take(annotation: Mapping[str, Any], before: Optional[Annotation], question: Optional[str], to: Translation) -> None:
    updated_at = str(annotation.get("updated_at") or annotation.get("created_at") or "")
    if before is not None and (not before.task or updated_at < before.updated_at):
        return
    task, worker = annotation.get("task"), _worker(annotation.get("completed_by"))
    if not isinstance(task, (int, str)) or task == "":
        raise HookError(f"annotation {_id(annotation)} has no task")
    label = None if annotation.get("was_cancelled") else _label(annotation, question)
    if annotation.get("ground_truth"):
        if label is not None:
            to.events.append({"truth": {"task": str(task), "label": label}})
        return
    if before is not None and (before.task, before.worker) != (str(task), worker):
        to.events.append({"retract": {"task": before.task, "worker": before.worker}})
    if label is not None:
        to.events.append({"task": str(task), "worker": worker, "label": label})
    elif before is not None:
        to.events.append({"retract": {"task": str(task), "worker": worker}})
    to.annotations.append(Annotation(_id(annotation), str(task), worker, updated_at))


def _worker(completed_by: Any) -> str:
    if isinstance(completed_by, Mapping):
        completed_by = completed_by.get("email") or completed_by.get("id")
    if not isinstance(completed_by, (int, str)) or completed_by == "":
        raise HookError("an annotation that nobody completed")
    return str(completed_by)


def _answers(results: list[Any]) -> Iterator[tuple[str, list[str]]]:
    """Questions with their answers. What belongs to a region of the task is not about the task."""
    objects = [one for one in results if isinstance(one, Mapping) and isinstance(one.get("value"), Mapping)]
    regions = {one.get("id") for one in objects if one.get("type") not in ("choices", "taxonomy", "rating")}
    for one in objects:
        kind, value = one.get("type"), one["value"]
        if one.get("id") is not None and one.get("id") in regions:
            continue
        if kind == "choices" and isinstance(value.get("choices"), list):
            yield str(one.get("from_name")), [str(choice) for choice in value["choices"]]
        elif kind == "taxonomy" and isinstance(value.get("taxonomy"), list):
            yield str(one.get("from_name")), [" / ".join(map(str, path)) for path in value["taxonomy"] if isinstance(path, list)]
        elif kind == "rating" and isinstance(value.get("rating"), (int, float)):
            yield str(one.get("from_name")), [f"{value['rating']:g}"]


def _label(annotation: Mapping[str, Any], question: Optional[str]) -> Optional[str]:
    results = annotation.get("result")
    answers = list(_answers(results if isinstance(results, list) else []))
    asked = {name for name, _ in answers}
    if question is None and len(asked) > 1:
        raise HookError(f"there are several questions: {', '.join(sorted(asked))}; choose one: ?question=NAME")
    chosen = [answer for name, some in answers if question in (None, name) for answer in some]
    if len(chosen) > 1:
        raise HookError(f"annotation {_id(annotation)} has {len(chosen)} answers, and a label is one")
    return chosen[0] if chosen else None
