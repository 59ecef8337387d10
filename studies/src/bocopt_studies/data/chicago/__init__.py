"""Riders of Chicago's elevated trains."""
