"""Decisions from a table of past contexts and outcomes, and a report of how good they are."""

from bocopt.app.backtesting import backtest
from bocopt.app.case import Case
from bocopt.app.deciding import decide
from bocopt.app.features.featuriser import Featuriser
from bocopt.app.features.panel import panel_of
from bocopt.app.features.panel_rows import PanelFeaturiser
from bocopt.app.features.prepare import series_of
from bocopt.app.features.preview import shown
from bocopt.app.features.series import Panel, Series
from bocopt.app.features.spec import Spec
from bocopt.app.margin import BestMargin
from bocopt.app.opening import open_case
from bocopt.app.panels.backtest import backtest_panel
from bocopt.app.reading.frame import frame_of
from bocopt.app.reading.sources import read

__all__ = [
    "BestMargin",
    "Case",
    "Featuriser",
    "Panel",
    "PanelFeaturiser",
    "Series",
    "Spec",
    "backtest",
    "backtest_panel",
    "decide",
    "frame_of",
    "open_case",
    "panel_of",
    "read",
    "series_of",
    "shown",
]
