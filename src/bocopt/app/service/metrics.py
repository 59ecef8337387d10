"""Counters, gauges and response times of the service, in the text format of Prometheus."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from threading import Lock

from bocopt.app.service.stores import EventRow

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_HELP = {
    "bocopt_requests_total": "Commands answered, by what they ask and by status.",
    "bocopt_events_total": "Events logged, by kind.",
    "bocopt_conflicts_total": "Batches done again because another server was quicker.",
    "bocopt_sign_ins_total": "Tokens shown on the page, right or wrong.",
    "bocopt_refused_total": "Commands refused because too many waited.",
}


class Metrics:
    """Counters, a histogram of how long answers took, and what is now."""

    def __init__(self, now: Callable[[], Mapping[str, float]]) -> None:
        self._now, self._lock = now, Lock()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._seconds: Counter[float] = Counter()
        self._sum = 0.0

    def count(self, name: str, labels: str = "", by: int = 1) -> None:
        """Add `by` to a counter; `labels` are text in the form of Prometheus."""
        with self._lock:
            self._counts[name, labels] += by

    def committed(self, rows: Sequence[EventRow]) -> None:
        """Count the events that were logged, by kind."""
        for kind, many in Counter(row.kind for row in rows).items():
            self.count("bocopt_events_total", f'{{kind="{kind}"}}', many)

    def answered(self, command: str, status: int, came: float) -> None:
        """Count a command, and the seconds since it came (on the clock perf_counter)."""
        took = time.perf_counter() - came
        labels = f'{{command="{command.lower()}",status="{status}"}}'
        self.count("bocopt_requests_total", labels)
        with self._lock:
            self._sum += took
            self._seconds[next((b for b in _BUCKETS if took <= b), float("inf"))] += 1

    def text(self) -> str:
        """
        >>> print(Metrics(lambda: {"queue": 2}).text().splitlines()[-1])
        bocopt_queue 2
        """
        with self._lock:
            counts, seconds, total = dict(self._counts), Counter(self._seconds), self._sum
        lines = []
        for name, words in _HELP.items():
            lines += [f"# HELP {name} {words}", f"# TYPE {name} counter"]
            lines += [f"{n}{labels} {c}" for (n, labels), c in sorted(counts.items()) if n == name]
        lines += _histogram("bocopt_answer_seconds", seconds, total)
        for name, value in self._now().items():
            lines += [f"# TYPE bocopt_{name} gauge", f"bocopt_{name} {value:g}"]
        return "\n".join(lines) + "\n"


def _histogram(name: str, seconds: Counter[float], total: float) -> list[str]:
    lines, below = [f"# HELP {name} From asking to answering.", f"# TYPE {name} histogram"], 0
    for bucket in (*_BUCKETS, float("inf")):
        below += seconds[bucket]
        end = "+Inf" if bucket == float("inf") else f"{bucket:g}"
        lines.append(f'{name}_bucket{{le="{end}"}} {below}')
    return [*lines, f"{name}_sum {total:.6f}", f"{name}_count {below}"]
