"""Zooniverse's Caesar, which asks an external reducer what to make of a subject's extracts.

It sends all extracts of a subject (or the new ones, in running mode), and takes any object back: its rules can retire a subject by
the confidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .label_studio import HookError

__all__ = ["subject_of", "translate"]


def _extracts(message: Any) -> list[Mapping[str, Any]]:
    extracts = message.get("extracts") if isinstance(message, Mapping) else message
    if not isinstance(extracts, list) or not all(isinstance(one, Mapping) for one in extracts):
        raise HookError("this is no message of Caesar: a list of extracts, or an object with them")
    return extracts


def subject_of(message: Any) -> str:
    """The task; empty if there are no extracts."""
    subjects = {one.get("subject_id") for one in _extracts(message)}
    if not subjects:
        return ""
    [subject, *more] = subjects
    if more or not isinstance(subject, (int, str)) or subject == "":
        raise HookError("extracts are of one subject, with its subject_id")
    return str(subject)


def translate(message: Any) -> list[dict[str, Any]]:
    task = subject_of(message)
    return [{"task": task, "worker": _worker(one), "label": label} for one in _extracts(message) if (label := _label(one))]


def _worker(extract: Mapping[str, Any]) -> str:
    if extract.get("machine_data"):
        return f"model:{extract.get('extractor_key')}"
    user = extract.get("user_id")
    # Who is not logged in is somebody else every time.
    return str(user) if isinstance(user, (int, str)) and user != "" else f"not-logged-in-{extract.get('classification_id')}"


def _label(extract: Mapping[str, Any]) -> str:
    data = extract.get("data")
    answers = [key for key, value in data.items() if value and not str(key).startswith("aggregation_")] if isinstance(data, Mapping) else []
    if len(answers) > 1:
        raise HookError(f"classification {extract.get('classification_id')} has {len(answers)} answers, and a label is one")
    return str(answers[0]) if answers else ""
