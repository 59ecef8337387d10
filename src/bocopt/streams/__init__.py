"""Streams of (context, outcome): the paper's process, and replay of arrays and CSV files."""

from bocopt.streams.paper import PaperStream
from bocopt.streams.polynomial import PolynomialCosts
from bocopt.streams.replay import Replay, from_csv
from bocopt.streams.synthetic import ChangePoint

__all__ = ["ChangePoint", "PaperStream", "PolynomialCosts", "Replay", "from_csv"]
