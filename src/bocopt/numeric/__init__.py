"""What numbers need everywhere: noise, weights, resampling, history, stacking, machine code."""
