"""Featurisers that make contexts of further rows, kept beside the agents of a case."""

from pathlib import Path

from bocopt import checkpoint
from bocopt.app.case import Case
from bocopt.app.features.days import whole_days
from bocopt.app.features.featuriser import Featuriser
from bocopt.app.features.memory import FeaturiserState
from bocopt.app.features.spec import Spec
from bocopt.app.reading.columns import Table
from bocopt.state import CheckpointError, flatten, rebuild


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


def in_days(case: Case, rows: Table, like: Spec) -> Table:
    """Return rows as those of the case's table are, where these make days."""
    if case.source is None or case.source.spec is None:
        return rows
    return whole_days(rows, case.source.spec, like)[0]


def _file(case: Case) -> Path:
    return case.results / "agents" / "features.bin"
