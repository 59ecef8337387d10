"""Numerics used everywhere: noise, weights, resampling, history, stacking, machine code."""
