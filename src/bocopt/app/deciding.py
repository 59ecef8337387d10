"""Decisions for new rows, by what a backtest left: nothing changes, however often one asks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bocopt import checkpoint
from bocopt.app.case import Case
from bocopt.app.features.days import whole_days
from bocopt.app.features.featuriser import Featuriser
from bocopt.app.features.memory import FeaturiserState
from bocopt.app.features.panel_rows import PanelFeaturiser
from bocopt.app.features.rows import TableRow, rows_of
from bocopt.app.features.spec import Spec
from bocopt.app.playing.play import begun
from bocopt.app.reading.columns import Table
from bocopt.core import Status
from bocopt.live import Agent, Ticket
from bocopt.state import CheckpointError, flatten, rebuild

#: Who decided a row of a panel: the agent of its series, or one that has seen nothing.
KNOWN, NEW = "of the backtest", "new"


class Decisions(NamedTuple):
    """Decisions for new rows, as columns of a table with a row for each of them."""

    stages: tuple[int, ...]  # their numbers, after those of the table
    columns: Mapping[str, list[Any]]  # the time where there is one, the decision, its status


def save_features(case: Case) -> None:
    """Write the featuriser and its state after the table, for rows to come, beside the agents."""
    featuriser, state = case.data.featuriser, case.data.state
    if featuriser is None or state is None:
        return
    header = {"featuriser": featuriser.to_json()}
    checkpoint.save(_file(case), header, flatten(state))


def saved_features(case: Case) -> tuple[Featuriser, FeaturiserState]:
    """Return what `save_features` wrote; an error says to play the case first."""
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
    """Return the decisions of a policy, the first by default, for rows after those of the table.

    It knows what the table says, and no outcome of these rows. Where there are several series, each
    row is decided by the agent of its series; one that the backtest did not have, by a new agent.
    """
    name = next(iter(case.policies)) if policy is None else policy
    if name not in case.policies:
        has = ", ".join(case.policies)
        raise ValueError(f"The case '{case.name}' has no policy '{name}'. It has: {has}.")
    if case.panel is not None:
        return _of_panel(case, rows, name)
    featuriser, state = saved_features(case)
    rows = _in_days(case, rows, featuriser.spec)
    found = list(_decided(featuriser, state, case.agent(name), rows_of(rows, featuriser.spec)))
    shown = [featuriser.spec.time] if featuriser.spec.time else []
    return _table(case, found, shown, {})


def _in_days(case: Case, rows: Table, like: Spec) -> Table:
    """Return rows as those of the case's table are, where these make days."""
    if case.source is None or case.source.spec is None:
        return rows
    return whole_days(rows, case.source.spec, like)[0]


class _Decided(NamedTuple):
    """Decision for one row."""

    stage: int
    fields: Mapping[str, object]
    ticket: Ticket


def _decided(
    featuriser: Featuriser, state: FeaturiserState, agent: Agent[Any], rows: Iterable[TableRow]
) -> Iterator[_Decided]:
    for row in rows:
        stage = int(state.t)
        state, x = featuriser.decide(state, row.fields)
        yield _Decided(stage, row.fields, agent.decide(x))


def _of_panel(case: Case, rows: Table, policy: str) -> Decisions:
    """Decide series by series, with one agent at a time; rows come in the order of their times."""
    featuriser = _saved_panel(case)
    spec, each = featuriser.spec, dict[str, list[tuple[int, TableRow]]]()
    for place, row in enumerate(rows_of(_in_days(case, rows, spec), spec)):
        each.setdefault(featuriser.name(row.fields), []).append((place, row))
    found: dict[int, tuple[_Decided, str]] = {}
    for name, own in each.items():
        alone, state, agent, known = _agent_of(case, featuriser, policy, name, own[0][1])
        rest = (row._replace(fields=featuriser.rest(row.fields)) for _, row in own)
        decided = _decided(alone, state, agent, rest)
        for (place, row), one in zip(own, decided, strict=True):
            found[place] = one._replace(fields=row.fields), known
    ordered = [found[place] for place in sorted(found)]
    shown = [*spec.series, *([spec.time] if spec.time else [])]
    beside = {"agent": [known for _, known in ordered]}
    return _table(case, [one for one, _ in ordered], shown, beside)


def _agent_of(
    case: Case, panel: PanelFeaturiser, policy: str, name: str, first: TableRow
) -> tuple[Featuriser, FeaturiserState, Agent[Any], str]:
    """Return the featuriser, its state and the agent that a backtest left, or new ones."""
    one = replace(case, panel=None, results=case.folder_of(name))
    if _file(one).is_file():
        return *saved_features(one), one.agent(policy), KNOWN
    alone = panel.first(first.fields)
    agent = begun(case.policies[policy], case.problem, case.seed_of(name)).agent
    return alone, alone.begin(), agent, NEW


def _saved_panel(case: Case) -> PanelFeaturiser:
    path = case.results / "agents" / "panel.bin"
    if not path.is_file():
        raise ValueError(f"{path} is not there: play the case first, by `bocopt backtest`.")
    header, _ = checkpoint.load(path)
    try:
        return PanelFeaturiser.from_json(header["panel"])
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} does not fit. {error}") from error


def _table(
    case: Case,
    found: Sequence[_Decided],
    shown: Sequence[str],
    beside: Mapping[str, list[Any]],
) -> Decisions:
    z_names = case.decision_names
    z = np.reshape([one.ticket.z for one in found], (len(found), len(z_names)))
    columns: dict[str, list[Any]] = {n: [one.fields[n] for one in found] for n in shown}
    columns |= dict(zip(z_names, z.T.tolist(), strict=True))
    columns["status"] = [Status(one.ticket.status).name.lower() for one in found]
    return Decisions(tuple(one.stage for one in found), {**columns, **beside})


def _file(case: Case) -> Path:
    return case.results / "agents" / "features.bin"
