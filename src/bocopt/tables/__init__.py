"""From a table of past contexts and outcomes to decisions, and to a report of how good they are."""

from bocopt.tables.frame import frame_of, read
from bocopt.tables.prepare import series_of
from bocopt.tables.preview import shown
from bocopt.tables.series import Series
from bocopt.tables.spec import Spec

__all__ = ["Series", "Spec", "frame_of", "read", "series_of", "shown"]
