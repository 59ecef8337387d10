"""The page of a service: the fleet, each stream, and why each decision was taken.

It is written by plain functions, and every text passes through an escape. It needs no build and
nothing from elsewhere, and its policy for browsers forbids both.
"""
