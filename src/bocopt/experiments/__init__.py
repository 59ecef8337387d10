"""Studies: what the paper reports, run with the public names of the library."""
