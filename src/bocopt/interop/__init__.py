"""Bridges to other libraries: their parts as ours, and ours as theirs."""

from bocopt.interop.regressor import FromSklearn, from_sklearn

__all__ = ["FromSklearn", "from_sklearn"]
