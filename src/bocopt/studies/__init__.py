"""Studies: what is run, how it is summarised, how it is shown. Each declares itself once."""
