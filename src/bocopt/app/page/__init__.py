"""The report of a study, and its decisions as a table."""

from bocopt.app.page.decisions import decisions_csv
from bocopt.app.page.document import page

__all__ = ["decisions_csv", "page"]
