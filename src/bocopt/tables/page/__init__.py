"""The report of a study, and its decisions as a table."""

from bocopt.tables.page.decisions import decisions_csv
from bocopt.tables.page.document import page

__all__ = ["decisions_csv", "page"]
