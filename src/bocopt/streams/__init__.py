"""Streams of (context, outcome): the paper's process, and replay of arrays and CSV files."""

from bocopt.streams.paper import PaperStream
from bocopt.streams.polynomial import PolynomialCosts
from bocopt.streams.replay import Replay
from bocopt.streams.synthetic import ChangePoint
from bocopt.streams.tables import from_csv

__all__ = ["ChangePoint", "PaperStream", "PolynomialCosts", "Replay", "from_csv"]
