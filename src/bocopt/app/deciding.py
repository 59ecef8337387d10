"""Decisions for new rows, by what a backtest left: nothing changes, however often one asks."""

from bocopt.app.case import Case
from bocopt.app.features.rows import rows_of
from bocopt.app.findings import Decisions
from bocopt.app.kept_features import in_days, saved_features
from bocopt.app.panels.nights import decide_panel
from bocopt.app.reading.columns import Table
from bocopt.core import Status


def decide(case: Case, rows: Table, policy: str | None = None, *, learn: bool = False) -> Decisions:
    """Return the decisions of a policy, the first by default, for rows after those of the table.

    It knows what the table says, and no outcome of these rows. Where there are several series, each
    row is decided for its series, of which the backtest may know nothing. With `learn`, rows of
    several series that have an outcome are learned from, and what was decided is kept: the next
    rows are decided after these.
    """
    name = next(iter(case.policies)) if policy is None else policy
    if name not in case.policies:
        has = ", ".join(case.policies)
        raise ValueError(f"The case '{case.name}' has no policy '{name}'. It has: {has}.")
    if case.panel is not None:
        return decide_panel(case, rows, name, learn=learn)
    if learn:
        raise ValueError(
            f"The case '{case.name}' has one series: serve it by `bocopt serve` to learn outcomes "
            "as they come."
        )
    featuriser, state = saved_features(case)
    rows = in_days(case, rows, featuriser.spec)
    agent, time, stages = case.agent(name), featuriser.spec.time, list[int]()
    columns = {shown: list[object]() for shown in ([time] if time else [])}
    columns |= {shown: [] for shown in (*case.decision_names, "status")}
    for row in rows_of(rows, featuriser.spec):
        stages.append(int(state.t))
        state, x = featuriser.decide(state, row.fields)
        ticket = agent.decide(x)
        cells = [*ticket.z.tolist(), Status(ticket.status).name.lower()]
        cells = [row.fields[time], *cells] if time else cells
        for column, cell in zip(columns.values(), cells, strict=True):
            column.append(cell)
    return Decisions(tuple(stages), columns)
