"""Studies of what the paper reports, beside the numbers in print."""
