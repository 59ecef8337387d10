"""Decisions for new rows, by what a backtest left: nothing changes, however often one asks."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bocopt import checkpoint
from bocopt.app.case import Case
from bocopt.app.features.days import whole_days
from bocopt.app.features.featuriser import Featuriser
from bocopt.app.features.memory import FeaturiserState
from bocopt.app.features.rows import after_table, rows_of
from bocopt.app.reading.columns import Table
from bocopt.core import Status
from bocopt.policies.names import names_of
from bocopt.state import CheckpointError, flatten, rebuild


class Decisions(NamedTuple):
    """A row for each row that was decided."""

    stages: tuple[int, ...]  # their numbers, after those of the table
    columns: Mapping[str, list[Any]]  # the time where there is one, the decision, its status


def save_features(case: Case) -> None:
    """What the table leaves behind for rows to come, beside the agents."""
    featuriser, table = case.data.featuriser, case.table
    if featuriser is None or table is None:
        return
    header = {"featuriser": featuriser.to_json()}
    checkpoint.save(_file(case), header, flatten(after_table(featuriser, table)))


def saved_features(case: Case) -> tuple[Featuriser, FeaturiserState]:
    """What `save_features` kept; an error says to play the case first."""
    path = _file(case)
    if not path.is_file():
        raise ValueError(f"{path} is not there: play the case first, by `bocopt backtest`.")
    header, arrays = checkpoint.load(path)
    try:
        featuriser = Featuriser.from_json(header["featuriser"])
        return featuriser, rebuild(featuriser.begin(), arrays)
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} does not fit. {error}") from error


def decide(case: Case, rows: Table, policy: str | None = None) -> Decisions:
    """What a policy, the first by default, decides for rows that come after those of the table.

    It knows what the table says, and no outcome of these rows.
    """
    name = next(iter(case.policies)) if policy is None else policy
    if name not in case.policies:
        has = ", ".join(case.policies)
        raise ValueError(f"The case '{case.name}' has no policy '{name}'. It has: {has}.")
    featuriser, state = saved_features(case)
    agent, spec = case.agent(name), featuriser.spec
    if case.source is not None and case.source.spec is not None:
        rows, _ = whole_days(rows, case.source.spec, spec)
    names = names_of(case.problem, case.policies[name], spec.decisions)
    z_names = names.get("z") or [f"z{i}" for i in range(case.problem.dims.z)]
    columns: dict[str, list[Any]] = {spec.time: []} if spec.time else {}
    columns |= {column: [] for column in (*z_names, "status")}
    stages = []
    for row in rows_of(rows, spec):
        stages.append(int(state.t))
        state, x = featuriser.decide(state, row.fields)
        ticket = agent.decide(x)
        for column, value in zip(z_names, ticket.z.tolist(), strict=True):
            columns[column].append(value)
        columns["status"].append(Status(ticket.status).name.lower())
        if spec.time:
            columns[spec.time].append(row.fields[spec.time])
    return Decisions(tuple(stages), columns)


def _file(case: Case) -> Path:
    return case.results / "agents" / "features.bin"
