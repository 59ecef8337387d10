"""Calls to a bank."""
