"""Machine code of the ways to solve a program."""
