"""`bocopt reproduce`, and its part for studies on real tables."""

from bocopt_studies.cli.data import data
from bocopt_studies.cli.reproduce import commands

__all__ = ["commands"]

commands.command()(data)
