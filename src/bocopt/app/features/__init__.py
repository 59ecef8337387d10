"""From the rows of a table to stages, each with what is known when it is decided."""
