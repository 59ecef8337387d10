"""Certificates: how tight they are, and how often they fail."""
