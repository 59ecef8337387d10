"""Policies on a series: what they decide, what it costs, and how they compare."""
