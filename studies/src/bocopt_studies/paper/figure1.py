"""Figure 1 of the paper: time-averaged reward and feasibility of its four policies."""

from collections.abc import Mapping

from bocopt.app.text import count
from bocopt_studies.paper.settings import PRINTED, Settings, tasks_of
from bocopt_studies.report.blocks import Chart, Curve, Section
from bocopt_studies.study import Size, Summary
from bocopt_studies.summaries import band, running, shown, stages_shown
from bocopt_studies.work.task import Play, Record


def tasks(size: Size) -> dict[str, Play]:
    """Return the tasks of the paper's four policies, by name."""
    return tasks_of(Settings(), size, PRINTED)


def summarise(size: Size, records: Mapping[str, Record]) -> Summary:
    """Return bands of the running reward and feasibility, by policy."""
    return {
        **size._asdict(),
        "stages": stages_shown(size.horizon),
        "policies": {
            name: {what: band(running(values)) for what, values in shown(record).items()}
            for name, record in records.items()
        },
    }


def show(summary: Summary) -> Section:
    """Return the section: the charts of reward and of feasibility."""
    return Section("Figure 1", [_chart(summary, what) for what in ("reward", "feasibility")])


def _chart(summary: Summary, what: str) -> Chart:
    return Chart(
        name=f"figure1-{what}",
        title=f"Figure 1: {what} of the paper's policies",
        y_label=f"time-averaged {what}",
        curves=[
            Curve(name, summary["stages"], *(series[what][k] for k in ("mean", "low", "high")))
            for name, series in summary["policies"].items()
        ],
        caption=f"Mean and 10-90 percentiles over {count(summary['trials'], 'trial')} of the "
        "average over all stages so far; the last value stands beside each curve.",
    )
