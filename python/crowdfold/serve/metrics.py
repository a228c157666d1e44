"""What the service tells Prometheus."""

from __future__ import annotations

from typing import Mapping, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest

from .._stream import TakenLines

__all__ = ["Metrics"]

SECONDS = (.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10)


class Metrics:
    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self.events = Counter("crowdfold_events", "Events that were taken", registry=self.registry)
        self.repeated = Counter("crowdfold_repeated_events", "Events that came again, and were ignored", registry=self.registry)
        self.refused_lines = Counter("crowdfold_refused_lines", "Lines left out of batches that were taken in part", registry=self.registry)
        self.refused_batches = Counter("crowdfold_refused_batches", "Batches that were refused", registry=self.registry)
        self.alarms = Counter("crowdfold_alarms", "Workers who fell below a project's line", registry=self.registry)
        self.commit_seconds = Histogram("crowdfold_commit_seconds", "Time of a commit", buckets=SECONDS, registry=self.registry)
        self.request_seconds = Histogram("crowdfold_request_seconds", "Time of a request until its head is answered", ["method", "status"],
                                         buckets=SECONDS, registry=self.registry)
        self.open_tasks = Gauge("crowdfold_open_tasks", "Open tasks", ["project"], registry=self.registry)
        self.closed_tasks = Gauge("crowdfold_closed_tasks", "Closed tasks", ["project"], registry=self.registry)
        self.workers = Gauge("crowdfold_workers", "Workers", ["project"], registry=self.registry)
        self.waiting = Gauge("crowdfold_waiting_batches", "Batches that wait to be written", ["project"], registry=self.registry)
        self.log_bytes = Gauge("crowdfold_log_bytes", "Write-ahead log of the state", ["project"], registry=self.registry)
        self.streams = Gauge("crowdfold_event_streams", "Open event streams", registry=self.registry)
        self.deliveries = Counter("crowdfold_webhook_deliveries", "Messages that webhooks took", registry=self.registry)
        self.failures = Counter("crowdfold_webhook_failures", "Tries that webhooks did not take", registry=self.registry)
        self.parked = Counter("crowdfold_webhook_parked", "Messages that were given up", registry=self.registry)
        self.lag = Gauge("crowdfold_webhook_lag_seconds", "Age of the oldest message that waits", ["project", "webhook"],
                         registry=self.registry)

    def taken(self, taken: TakenLines) -> None:
        self.events.inc(taken.accepted)
        self.repeated.inc(taken.repeated)
        self.refused_lines.inc(len(taken.refused))

    def committed(self, project: str, totals: Mapping[str, int], lines: Sequence[bytes]) -> None:
        self.open_tasks.labels(project).set(totals["open_tasks"])
        self.closed_tasks.labels(project).set(totals["closed_tasks"])
        self.workers.labels(project).set(totals["workers"])
        self.alarms.inc(sum(line.startswith(b'{"worker"') for line in lines))

    def forget_project(self, project: str) -> None:
        for gauge in (self.open_tasks, self.closed_tasks, self.workers, self.waiting, self.log_bytes):
            gauge.remove_by_labels({"project": project})

    def text(self) -> bytes:
        return generate_latest(self.registry)
