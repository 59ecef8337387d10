"""What the paper reports, beside the numbers in print."""
