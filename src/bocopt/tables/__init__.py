"""From a table of past contexts and outcomes to decisions, and to a report of how good they are."""

from bocopt.tables.reading.frame import frame_of, read
from bocopt.tables.series import Series
from bocopt.tables.study import Study, open_study
from bocopt.tables.timeline.prepare import series_of
from bocopt.tables.timeline.preview import shown
from bocopt.tables.timeline.spec import Spec

__all__ = ["Series", "Spec", "Study", "frame_of", "open_study", "read", "series_of", "shown"]
