"""Stages from the rows of a table, each with what is known when it is decided."""
