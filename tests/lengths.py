"""The same test at two sizes: a quick one, and a long one for `make full`."""

from typing import Any

import pytest


def long(*values: Any) -> Any:
    """Parameters that are left to `make full`."""
    return pytest.param(*values, marks=pytest.mark.full)
