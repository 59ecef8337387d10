"""Tables from files and data frames, by columns."""
