"""Demand for electricity in Victoria."""
