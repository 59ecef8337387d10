"""What numbers need everywhere: noise, weights, resampling, history, machine code."""
