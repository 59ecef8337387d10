"""The report of a study, and its decisions as a table."""

from bocopt.app.page.decisions import decisions_csv
from bocopt.app.page.document import page
from bocopt.app.page.panel import panel_page

__all__ = ["decisions_csv", "page", "panel_page"]
